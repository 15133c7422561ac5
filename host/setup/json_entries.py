"""Entries of ours in a product's JSON settings (pure): put in, found again by their marks, and taken out.

An entry stands in a container below some keys: `hooks.Stop`, `mcpServers`. It carries a mark: our name, and the
outermost container that had to be made for it. So a removal finds exactly what was written, whatever was added around
it since, and leaves no empty container of ours behind.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from host.errors import ConfigFault
from host.setup.json_text import Node, cut, has_notes, has_notes_or_commas, insert, scan, value_of
from host.setup.registrar import Entry, Refused, SettingsFile, Wanted
from recall.contracts import Frozen

FILE = "file"  # the mark of what was made in a new file


class Ours(Frozen, frozen=True, kw_only=True):
    """One entry of ours in a text, and the way to it: each container from the root, with the number of the next."""

    what: str
    value: object
    mark: str
    way: tuple[tuple[Node, int], ...]


class Kind(Protocol):
    """A kind of entries in a file: hooks, a server, a plugin. `made`: the marks, by how many containers an entry needed
    to be made; the last is FILE. `carried`: such entries have no room for a mark, and others carry it under this name.
    """

    @property
    def made(self) -> tuple[str, ...]: ...

    @property
    def carried(self) -> str: ...

    def find(self, text: str, tree: Node) -> Sequence[Ours]:
        """Ours, in file order. Raises ConfigFault when the text has another shape than the product takes."""
        ...

    def wanted(self, wanted: Wanted) -> Sequence["Put"]:
        """What has to be there."""
        ...

    def entry(self, ours: Ours, current: bool) -> Entry:
        """What to tell of one."""
        ...


class Put(Frozen, frozen=True, kw_only=True):
    """An entry to put below `keys`: an element, or a member under `key`. `wraps`: how many containers `item` adds."""

    what: str
    keys: tuple[str, ...]
    value: Callable[[str], object]  # mark -> the entry as the host reads it
    item: Callable[[object], object] = lambda value: value  # the entry -> what is put, with what it is wrapped in
    wraps: int = 0
    key: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonFile:
    """The text work for one JSON file with entries of some kinds. `opening`: what a new file is before they are put;
    `theirs`: members that the product itself adds to any file."""

    kinds: tuple[Kind, ...]
    opening: str = "{}\n"
    theirs: frozenset[str] = frozenset()

    def at(self, path: Path, holds: str, *, private: bool = False, refuses: Collection[Refused] = ()) -> SettingsFile:
        """The file at `path` that is edited so."""
        return SettingsFile(
            path=path,
            holds=holds,
            plan=self.plan,
            remove=self.remove,
            installed=self.installed,
            private=private,
            refuses=frozenset(refuses),
        )

    def plan(self, text: str | None, wanted: Wanted) -> str:
        """`text` with our entries in it, everything else as it was. A text that has them comes back unchanged."""
        if text is None or _is_blank(text):
            return self._filled(self.opening, wanted, new=True)
        if all(self._is_current(text, kind, wanted) for kind in self.kinds):
            return text
        cleared = self.remove(text)
        return self._filled(cleared or self.opening, wanted, new=cleared is None)

    def remove(self, text: str) -> str | None:
        """`text` without our entries and the containers made for them. None: the file was ours alone."""
        if _is_blank(text):
            return text
        marks: set[str] = set()
        for kind in reversed(self.kinds):
            while found := kind.find(text, root(text)):
                marks.add(first_word(found[-1].mark))
                text = _without(text, found[-1], kind.made)
        return None if FILE in marks and self._is_opening(text) else text

    def installed(self, text: str | None, wanted: Wanted | None) -> tuple[Entry, ...]:
        """What of ours is in `text`."""
        if text is None or _is_blank(text):
            return ()
        tree = root(text)
        return tuple(
            kind.entry(ours, wanted is None or _says(ours, kind, wanted))
            for kind in self.kinds
            for ours in kind.find(text, tree)
        )

    def _is_current(self, text: str, kind: Kind, wanted: Wanted) -> bool:
        found = kind.find(text, root(text))
        puts = kind.wanted(wanted)
        return sorted(o.what for o in found) == sorted(p.what for p in puts) and all(
            _says(o, kind, wanted) for o in found
        )

    def _filled(self, text: str, wanted: Wanted, *, new: bool) -> str:
        before = root(text)
        carried = "".join(
            f" {kind.carried}={_mark(before, kind, put, new)}"
            for kind in self.kinds
            if kind.carried
            for put in kind.wanted(wanted)
        )
        for kind in self.kinds:
            for put in kind.wanted(wanted):
                mark = _mark(before, kind, put, new) + ("" if kind.carried else carried)
                text = _with(text, put, put.item(put.value(mark)))
        return text

    def _is_opening(self, text: str) -> bool:
        tree, opening = root(text), value_of(self.opening, scan(self.opening))
        beside = text[: tree.start].strip("\ufeff \t\r\n") + text[tree.end :].strip()
        said = value_of(text, tree)
        left = {key: value for key, value in said.items() if key not in self.theirs} if isinstance(said, dict) else said
        return not beside and not has_notes(text, tree) and left == opening


def root(text: str) -> Node:
    """The tree of a settings text. Raises ConfigFault."""
    try:
        tree = scan(text)
    except ValueError as error:
        raise ConfigFault(f"The settings are no JSON: {error}.", "Correct them, then try again.") from error
    if tree.opened != "{":
        raise ConfigFault("The settings are no JSON object.", "Correct them; the product cannot read them as they are.")
    return tree


def below(tree: Node, keys: tuple[str, ...], opened: str) -> list[tuple[Node, int]]:
    """The way to the container under `keys`: each container and the number of the next; empty when it is not there.

    Raises ConfigFault when something else than containers is on the way.
    """
    way, node = list[tuple[Node, int]](), tree
    for depth, key in enumerate(keys, start=1):
        number = node.at(key)
        if number is None:
            return []
        way.append((node, number))
        node = node.items[number].value
        if node.opened != (opened if depth == len(keys) else "{"):
            what = "list" if opened == "[" and depth == len(keys) else "object"
            raise ConfigFault(
                f"`{'.'.join(keys[:depth])}` in the settings is no {what}.",
                "Correct it; the product cannot read it as it is.",
            )
    return way


def unread(text: str, refuses: Collection[Refused]) -> str:
    """What of a text its product does not read, as a predicate: "holds comments". Empty: nothing."""
    notes, commas = has_notes_or_commas(text)
    there: dict[Refused, tuple[bool, str]] = {
        "comments": (notes, "holds comments"),
        "commas": (commas, "holds trailing commas"),
        "mark": (text.startswith("\ufeff"), "begins with a byte order mark"),
        "blank": (_is_blank(text), "is empty"),
    }
    return " and ".join(said for refused, (is_there, said) in there.items() if is_there and refused in refuses)


def _says(ours: Ours, kind: Kind, wanted: Wanted) -> bool:
    """Whether an entry says what it must. What else its user put into it is his."""
    return any(put.what == ours.what and _within(put.value(ours.mark), ours.value) for put in kind.wanted(wanted))


def _within(wanted: object, said: object) -> bool:
    if isinstance(wanted, dict) and isinstance(said, dict):
        return all(key in said and said[key] == value for key, value in wanted.items())
    return wanted == said


def _is_blank(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")


def first_word(mark: str) -> str:
    """A mark without what it carries for others."""
    return mark.partition(" ")[0]


def _mark(before: Node, kind: Kind, put: Put, new: bool) -> str:
    """The outermost container that has to be made for an entry."""
    return FILE if new else kind.made[_missing(before, put.keys) + put.wraps]


def _missing(tree: Node, keys: tuple[str, ...]) -> int:
    """How many of the containers under `keys` are not there."""
    node: Node | None = tree
    for depth, key in enumerate(keys):
        node = node.member(key) if node is not None else None
        if node is None:
            return len(keys) - depth
    return 0


def _with(text: str, put: Put, item: object) -> str:
    node = root(text)
    for depth, key in enumerate(put.keys):
        inner = node.member(key)
        if inner is None:
            nested: object = [item] if put.key is None else {put.key: item}
            for outer in reversed(put.keys[depth + 1 :]):
                nested = {outer: nested}
            return insert(text, node, nested, key, len(put.keys) - depth - (put.key is None))
        node = inner
    return insert(text, node, item, put.key)


def _without(text: str, ours: Ours, made: tuple[str, ...]) -> str:
    """`text` without one entry, and without the outermost container that was made for it and holds nothing else."""
    mark = first_word(ours.mark)
    most = made.index(mark) if mark in made else 0
    container, number = ours.way[-1]
    for depth, (outer, place) in enumerate(reversed(ours.way[:-1]), start=1):
        if depth > most or len(container.items) > 1 or has_notes(text, container):
            break
        container, number = outer, place
    return cut(text, container, number)
