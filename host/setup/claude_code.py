"""Claude Code's settings: our hooks put in, brought up to date, and taken back (pure text to text).

One command hook at SessionStart, which takes no other kind and starts the daemon; http hooks on loopback for the rest.
Every entry of ours carries a mark: our name, and the outermost container that we had to make for it. So a removal
finds exactly what was written, whatever was added around it since, and leaves no empty container of ours behind.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from host.errors import ConfigFault
from host.namespace import name
from host.setup.json_text import Node, cut, insert, scan
from recall.contracts import Frozen

HEADER = "X-" + name().title()
HOST = "claude-code"
START_EVENT = "SessionStart"
EVENTS = (
    START_EVENT,
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
)
HTTP_SECONDS = 1  # after which the agent goes on without us
START_SECONDS = 5  # starts the daemon when there is none
MADE = ("group", "event", "hooks", "file")  # what an entry needed to be made, from the inside out


class Wanted(Frozen, frozen=True, kw_only=True):
    """What the hooks must say: the interpreter and hook client (absolute paths), the daemon's port and bearer token."""

    python: str
    hook: str
    port: int
    token: str


def settings_path(level: str, repository: Path, home: Path) -> Path:
    """The settings file of a level: `project`, private to this user and not committed, or `user`."""
    return home / ".claude" / "settings.json" if level == "user" else repository / ".claude" / "settings.local.json"


def plan(text: str | None, wanted: Wanted) -> str:
    """`text` with our hooks in it, everything else as it was. Text that has them already comes back unchanged.

    None or blank text is a new file. Raises ConfigFault when the text is not strict JSON or has other shapes.
    """
    if text is None or not text.strip():
        return _with_hooks("{}\n", wanted, "file")
    present = list(_ours(text))
    current = all(ours.hook == _hook(ours.event, wanted, ours.mark) for ours in present)
    if current and sorted(ours.event for ours in present) == sorted(EVENTS):
        return text
    cleared = remove(text)
    return _with_hooks("{}\n", wanted, "file") if cleared is None else _with_hooks(cleared, wanted, "hooks")


def remove(text: str) -> str | None:
    """`text` without our hooks and the containers made for them. None: the file was ours alone.

    Raises ConfigFault when the text is not strict JSON or has other shapes.
    """
    marks: set[str] = set()
    while (ours := next(_ours(text), None)) is not None:
        marks.add(ours.mark)
        text = _without(text, ours)
    return None if "file" in marks and not _tree(text).items else text


def installed(text: str | None) -> tuple[str, ...]:
    """The events for which our hooks are in `text`, in file order."""
    return tuple(ours.event for ours in _ours(text)) if text and text.strip() else ()


class Ours(Frozen, frozen=True, kw_only=True):
    """One hook of ours in a text, with the way to it: each container, and the number of the next in it.

    `mark`: the outermost container that was made for it, one of MADE.
    """

    event: str
    hook: object
    mark: str
    way: tuple[tuple[Node, int], ...]  # root, hooks, the event's groups, the group's entries


def _hook(event: str, wanted: Wanted, mark: str) -> dict[str, object]:
    """An entry. Our mark is the last argument of a command, or a header: both are what the host takes."""
    if event == START_EVENT:
        arguments = ["-I", "-S", wanted.hook, HOST, f"{name()}:{mark}"]
        return {"type": "command", "command": wanted.python, "args": arguments, "timeout": START_SECONDS}
    return {
        "type": "http",
        "url": f"http://127.0.0.1:{wanted.port}/hook/{HOST}",
        "headers": {"Authorization": f"Bearer {wanted.token}", HEADER: mark},
        "timeout": HTTP_SECONDS,
    }


def _mark_of(hook: object) -> str | None:
    match hook:
        case {"type": "command", "args": [*_, str(last)]} if last.startswith(f"{name()}:"):
            return last.removeprefix(f"{name()}:")
        case {"type": "http", "headers": {**headers}} if isinstance(mark := headers.get(HEADER), str):
            return mark
    return None


def _ours(text: str) -> Iterator[Ours]:
    """Our hooks in file order."""
    tree = _tree(text)
    place, hooks = tree.at("hooks"), tree.member("hooks")
    if place is None or hooks is None:
        return
    for number, member in enumerate(hooks.items):
        for group, element in enumerate(member.value.items):
            entries = element.value.member("hooks")
            if entries is None:
                continue
            for entry, item in enumerate(entries.items):
                hook = json.loads(text[item.value.start : item.value.end])
                if (mark := _mark_of(hook)) is not None:
                    way = ((tree, place), (hooks, number), (member.value, group), (entries, entry))
                    yield Ours(event=member.key or "", hook=hook, mark=mark, way=way)


def _with_hooks(text: str, wanted: Wanted, mark: str) -> str:
    """`text`, which holds none of our hooks, with all of them. `mark`: what is made when there is no `hooks` yet."""
    for event in EVENTS:
        hooks = _tree(text).member("hooks")
        if hooks is None:
            every = {each: [{"hooks": [_hook(each, wanted, mark)]}] for each in EVENTS}
            return insert(text, _tree(text), every, "hooks")
        groups = hooks.member(event)
        made = {"hooks": [_hook(event, wanted, "event" if groups is None else "group")]}
        text = insert(text, hooks, [made], event) if groups is None else insert(text, groups, made)
    return text


def _without(text: str, ours: Ours) -> str:
    """`text` without one hook, and without the outermost container that was made for it and holds nothing else."""
    root, hooks, groups, entries = ours.way
    for (container, number), made_inside in ((entries, "entry"), (groups, "group"), (hooks, "event")):
        if len(container.items) > 1 or ours.mark == made_inside:
            return cut(text, container, number)
    return cut(text, *root)


def _tree(text: str) -> Node:
    """The tree of a settings text whose hooks have the shape that the host takes."""
    try:
        tree = scan(text)
    except ValueError as error:
        raise ConfigFault(
            f"The settings are not strict JSON: {error}.",
            "Take comments and trailing commas out, or add the hooks by hand as the documentation shows.",
        ) from error
    hooks = tree.member("hooks")
    groups = [item.value for item in hooks.items] if hooks is not None else []
    shapes = [(tree, "{"), *([(hooks, "{")] if hooks is not None else []), *((group, "[") for group in groups)]
    if any(node.opened != opened for node, opened in shapes):
        raise ConfigFault(
            "The settings' `hooks` is not an object of lists.", "Repair it; the host ignores it as it is."
        )
    return tree
