"""The roots that were adopted since the start: which of them a path belongs to, and which are followed (M-06).

A root that nobody asked for in a day, or in an hour when its folder is gone, is let go: it is not followed until
somebody asks again. Its records stay, and what concerns them is looked up here all the same.
"""

import os
from collections.abc import Iterable, Iterator, Mapping

from recall.documents import SUFFIXES, Document, read, stamp
from recall.entries import Place, Root
from recall.files import parse
from recall.intake import emptied

DAY_SECONDS, HOUR_SECONDS = 86_400.0, 3_600.0
Asked = dict[str, set[str] | None]  # root -> relative paths of files; None: all of it


class Adopted:
    """Roots by their real path. Times are given, never read."""

    def __init__(self) -> None:
        self._roots: dict[str, tuple[Root, Place]] = {}
        self._asked: dict[str, float] = {}  # those that are followed, and when they were last asked for
        self._ticked: dict[str, str | None] = {}  # what could be seen of each at the last tick, first when it was put

    def put(self, root: Root, place: Place, now: float) -> bool:
        """Add or renew a root. Whether it was there as it is given, and followed."""
        same = self._roots.get(place.path) == (root, place) and place.path in self._asked
        self._roots[place.path] = (root, place)
        self._asked[place.path] = now
        if not same:
            self._ticked[place.path] = _state(place)
        return same

    def get(self, path: str) -> tuple[Root, Place] | None:
        return self._roots.get(path)

    def paths(self) -> list[str]:
        return list(self._roots)

    def followed(self) -> list[str]:
        return list(self._asked)

    def let_go(self, now: float) -> None:
        """Follow no longer what nobody asked for in a long time."""
        for path, at in list(self._asked.items()):
            _, place = self._roots[path]
            if now - at > DAY_SECONDS or (now - at > HOUR_SECONDS and not os.path.isdir(place.folder)):
                del self._asked[path]
                self._ticked.pop(path, None)

    # -- what follows may run on a worker thread, beside the above

    def find(self, path: str) -> tuple[str, str] | None:
        """(root, relative path) of a file that lies in an adopted root; the innermost root counts."""
        return max(self._holding(_real(path)), key=lambda one: len(one[0]), default=None)

    def named(self, paths: Iterable[str]) -> Asked:
        """The roots and files meant by absolute paths. A folder below a root means all of the root, so does a name
        that is gone and may have been a folder's."""
        asked: Asked = {}
        for path in map(_real, paths):
            if path in self._roots:
                asked[path] = None
            for key, name in self._holding(path):
                single = self._roots[key][1].file is not None
                if not single and not _is_memory_file(name):
                    if _is_folder(path):
                        asked[key] = None
                    continue
                names = asked.setdefault(key, set())
                if names is not None:
                    names.add(name)
        return asked

    def changed(self, seen: Iterable[tuple[str, str, str]]) -> Asked:
        """Of (root, relative path, stamp), the files that may have changed; a root that is missing changes nothing,
        unless its repository is there without it."""
        found: Asked = {}
        for path, relative, before in seen:
            root = self._roots.get(path)
            if root is None or stamp(root[1].folder, relative) == before:
                continue
            if os.path.isdir(root[1].folder) or emptied(root[1]):
                add(found, {path: {relative}})
        return found

    def digests_in(self, path: str) -> dict[str, str]:
        """Memory id -> record digest, as a file says now; nothing when it is not of an adopted root, or unreadable."""
        found = self.find(path)
        if found is None:
            return {}
        root, place = self._roots[found[0]]
        document = read(place.folder, found[1], alone=root.shared)
        if not isinstance(document, Document):
            return {}
        parsed = parse(document.data, place.home(root, found[1]))
        return {one.record.memory_id: one.locator.record_digest for one in parsed.records}

    def folders(self) -> frozenset[str]:
        """What is watched: the folders that are there. Single files are looked at every tick instead: editors replace
        a file, and the watch would stay with the old one."""
        places = [self._roots[path][1] for path in list(self._asked)]
        return frozenset(place.folder for place in places if place.file is None and os.path.isdir(place.folder))

    def looks(self, path: str, *, whole: bool) -> None:
        """A root is about to be looked at: what a tick sees otherwise from now on is news, though none came in between.
        Of a folder that is gone only a look at all of it settles that."""
        found = self._roots.get(path)
        if found is not None and path in self._asked:
            now = _state(found[1])
            if whole or now is not None:
                self._ticked[path] = now

    def by_tick(self) -> list[str]:
        """Roots that no notification tells of, single files and missing folders, and that are not as they were."""
        news: list[str] = []
        for path in list(self._asked):
            now = _state(self._roots[path][1])
            if self._ticked.get(path) != now:
                news.append(path)
            self._ticked[path] = now
        return news

    def _holding(self, path: str) -> Iterator[tuple[str, str]]:
        """(root, relative path) of every root that a real path lies in."""
        found = self._roots.get(path)
        if found is not None and found[1].file is not None:
            yield path, found[1].file
        above = os.path.dirname(path)
        while above:
            found = self._roots.get(above)
            if found is not None and found[1].file is None:
                yield above, path[len(above) :].lstrip(os.sep)
            above = os.path.dirname(above) if above != os.sep else ""


def add(asked: Asked, more: Mapping[str, Iterable[str] | None]) -> None:
    """Ask for more."""
    for path, names in more.items():
        known = asked.setdefault(path, set())
        if names is None or known is None:
            asked[path] = None
        else:
            known.update(names)


def take_away(asked: Asked, done: Mapping[str, Iterable[str] | None]) -> None:
    """Ask no more for what is done."""
    for path, names in done.items():
        left = asked.get(path)
        if names is None:
            asked.pop(path, None)
        elif left is not None:
            left.difference_update(names)
            if not left:
                del asked[path]


def _real(path: str) -> str:
    """The path, its symlinks resolved; empty for what can be none."""
    return os.path.realpath(path) if path and "\0" not in path else ""


def _state(place: Place) -> str | None:
    """What a tick can see of a root: a single file's stamp, or that a folder is there."""
    if place.file is not None:
        return stamp(place.folder, place.file)
    return "there" if os.path.isdir(place.folder) else None


def _is_memory_file(name: str) -> bool:
    return name.endswith(SUFFIXES) and not any(part.startswith(".") for part in name.split("/"))


def _is_folder(path: str) -> bool:
    """Whether a path is a folder, or is gone and may have been one."""
    return os.path.isdir(path) or not (os.path.exists(path) or "." in os.path.basename(path))
