"""Hooks of ours in JSON settings of the form `hooks.EVENT` (pure): in groups, or straight in the event's list."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from host.errors import ConfigFault
from host.namespace import name
from host.setup.json_entries import FILE, Ours, Put, below
from host.setup.json_text import Node, value_of
from host.setup.registrar import Entry, Wanted
from host.transport import command

IN_GROUPS = ("entry", "group", "event", "hooks", FILE)
IN_LISTS = ("entry", "event", "hooks", FILE)
_MARKS = frozenset((*IN_GROUPS, *IN_LISTS))
_SHELL_MARK = f" # {name()}:"
_ARGUMENT_MARK = f"{name()}:"
HEADER = "X-" + name().title()
BACKGROUND = " in the background"  # what an entry is called that its product does not wait for
Hook = dict[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hooks:
    """The hooks of one product. `hook`: (event, wanted, mark) -> the entry. `matchers`: of the groups that need one.

    An event of `events` may stand there a second time, with BACKGROUND behind it: its hook says `async`.
    """

    events: tuple[str, ...]
    hook: Callable[[str, Wanted, str], Hook]
    grouped: bool = True
    matchers: Mapping[str, str] = field(default_factory=dict)
    carried: str = ""

    @property
    def made(self) -> tuple[str, ...]:
        return IN_GROUPS if self.grouped else IN_LISTS

    def find(self, text: str, tree: Node) -> Sequence[Ours]:
        way = below(tree, ("hooks",), "{")
        if not way:
            return ()
        hooks = way[0][0].items[way[0][1]].value
        odd = [member.key for member in hooks.items if member.key in self.events and member.value.opened != "["]
        if odd:
            raise ConfigFault(f"`hooks.{odd[0]}` in the settings is no list.", "Correct it, then try again.")
        return list(self._found(text, way, hooks))

    def wanted(self, wanted: Wanted) -> Sequence[Put]:
        return [
            Put(
                what=event,
                keys=("hooks", event_of(event)),
                value=partial(self.hook, event, wanted),
                item=partial(self._wrapped, event),
                wraps=1 if self.grouped else 0,
            )
            for event in self.events
        ]

    def entry(self, ours: Ours, current: bool) -> Entry:
        return told(ours.what, ours.value, current)

    def _wrapped(self, event: str, hook: object) -> object:
        matcher = {"matcher": self.matchers[event]} if event in self.matchers else {}
        return {**matcher, "hooks": [hook]} if self.grouped else hook

    def _found(self, text: str, way: list[tuple[Node, int]], hooks: Node) -> Iterator[Ours]:
        for number, member in enumerate(hooks.items):
            if member.value.opened != "[":  # a switch that a product keeps among the events
                continue
            event, here = member.key or "", (*way, (hooks, number))
            if not self.grouped:
                yield from _marked(text, event, here, member.value)
                continue
            for group, element in enumerate(member.value.items):
                entries = element.value.member("hooks")
                if entries is not None:
                    yield from _marked(text, event, (*here, (member.value, group)), entries)


def event_of(what: str) -> str:
    """The event under which an entry stands."""
    return what.removesuffix(BACKGROUND)


def shell(host: str, wanted: Wanted, mark: str, *, starts: bool = False, revives: bool = False) -> str:
    """The shell line of a command hook, with our mark as its comment. `starts` and `revives`: see
    host.transport.command."""
    return f"{command(host, wanted.tools, starts=starts, revives=revives)}{_SHELL_MARK}{mark}"


def mark_of(hook: object) -> str | None:
    """The mark of a hook of ours; None: it is somebody else's, also where that only holds our name."""
    mark = _noted(hook)
    return mark if mark is not None and mark.partition(" ")[0] in _MARKS else None


def _noted(hook: object) -> str | None:
    match hook:
        case {"type": "http", "headers": {**headers}} if isinstance(mark := headers.get(HEADER), str):
            return mark
        case {"args": [*_, str(last)]} if last.startswith(_ARGUMENT_MARK):  # as earlier versions wrote it
            return last.removeprefix(_ARGUMENT_MARK)
        case {"command": str(command)} if _SHELL_MARK in command:
            return command.rpartition(_SHELL_MARK)[2]
    return None


def told(event: str, hook: object, current: bool) -> Entry:
    """What to tell of a hook of ours."""
    match hook:
        case {"type": "http", "url": str(url), "headers": {**headers}}:
            token = str(headers.get("Authorization", "")).removeprefix("Bearer ")
            port = url.removeprefix("http://127.0.0.1:").partition("/")[0]
            number = int(port) if port.isdigit() else 0
            return Entry(what=event, kind="http", current=current, line=url, port=number, token=token)
        case {"command": str(command), "args": [*arguments]}:
            words = [command, *(str(argument) for argument in arguments)]
            return Entry(what=event, kind="command", current=current, line=" ".join(words), paths=absolute(words))
        case {"command": str(command)}:
            line = command.rpartition(_SHELL_MARK)[0]
            return Entry(what=event, kind="command", current=current, line=line, paths=absolute(_words(line)))
    return Entry(what=event, kind="command", current=False, line="")


def absolute(words: Sequence[str]) -> tuple[str, ...]:
    """The absolute paths among words, each once."""
    return tuple(dict.fromkeys(word for word in words if word.startswith("/") and len(word) > 1))


def _words(line: str) -> list[str]:
    """The words of a shell line, as far as paths go: quotes and operators set them apart."""
    for sign in "'\"`();|&<>=${}\\":
        line = line.replace(sign, " ")
    return line.split()


def _marked(text: str, event: str, way: tuple[tuple[Node, int], ...], entries: Node) -> Iterator[Ours]:
    for number, item in enumerate(entries.items):
        if item.value.opened == "{":
            hook = value_of(text, item.value)
            if (mark := mark_of(hook)) is not None:
                waits = not (isinstance(hook, dict) and hook.get("async") is True)
                what = event if waits else event + BACKGROUND
                yield Ours(what=what, value=hook, mark=mark, way=(*way, (entries, number)))
