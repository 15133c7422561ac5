"""What the agent and the user did in the steps after a packet, read from the log's events. Pure.

A packet says something; what it names can be looked for: files, commands. Nothing here knows whether the packet was
given or kept back, so both are judged alike.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import PurePosixPath

import msgspec

from governance.outcomes import Outcome
from host.gate_signals import failure_marks
from host.gate_words import corrects
from host.observer import observe
from host.steps import counted
from recall.contracts import EventEnvelope, EventPayload, EventType, Frozen, SourceKind

_EXTENSIONS = """
bash c cc cfg cjs cpp cs css csv env go gradle h hpp html ini ipynb java js json jsonl jsx kt kts less lock lua md mdx
mjs mk php pl po proto ps1 py pyi r rb rs rst scala scss sh sql svelte svg swift tf toml ts tsx txt vue xml
yaml yml zig zsh
"""
_NAMES = "Makefile|Dockerfile|Justfile|Rakefile|Gemfile|Procfile|Jenkinsfile"
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://\S+")
_FILE = re.compile(
    rf"(?<![\w.@/~-])(?:~?/)?(?:[\w@.+-]+/)*(?:[\w@+-][\w@.+-]*\.(?:{'|'.join(_EXTENSIONS.split())})|{_NAMES})(?![\w/-])",
    re.ASCII,  # Chinese stands beside a name without a space
)
_SPAN = re.compile(r"`([^`\n]{3,300})`")
_PROMPTED = re.compile(r"^[ \t]*\$ +(\S.{1,298})$", re.MULTILINE)
_FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CUT = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=\S*")
_PROGRAM = re.compile(r"(?:\.{0,2}/)?[A-Za-z0-9][\w.+/-]*")
_PLACEHOLDER = re.compile(r"[<‹\[{$…].*|\.{2,}|[A-Z][A-Z0-9_]+")  # what the reader is to put something else for
_PROGRAMS = """
alembic ansible apt aws bazel brew bun bundle cargo cmake composer conda curl deno docker dotnet gcloud gh git go gradle
helm just kubectl make mvn mypy nox npm npx pip pnpm podman poetry pre-commit psql pytest python python3 rake ruff
rustup systemctl terraform tox uv uvx yarn
"""
_PLAIN = re.compile(rf"(?<![\w./-])({'|'.join(_PROGRAMS.split())}) ([\w@:/=.-]*\w)(?: ([\w@:/=.-]*\w))?", re.ASCII)
_STOP = frozenset(
    {
        *("a", "an", "and", "as", "at", "before", "by", "for", "from", "if", "in", "into", "is", "it", "not", "of"),
        *("on", "or", "that", "the", "then", "to", "was", "when", "with"),
    }
)
_BEFORE_PROGRAM = frozenset({"sudo", "time", "env", "exec", "command"})
_SHELL = "shell"

_payload = msgspec.json.Decoder(EventPayload)


class Facts(Frozen, frozen=True, kw_only=True):
    """What a packet names. A command is its words, the program first, placeholders left out.

    Commands are found in code of two words or more and, outside code, where a known program is followed by one or two.
    """

    files: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()


class Scene(Frozen, frozen=True, kw_only=True):
    """One agent's events around a packet, in order: `before` ends with the one that triggered it, `after` goes on. Its
    session stood at `step`; outcomes are looked for in the next `steps` of them."""

    before: tuple[EventEnvelope, ...]
    after: tuple[EventEnvelope, ...]
    step: int
    steps: int


def facts(texts: Iterable[str], places: Iterable[str]) -> Facts:
    """What the texts of a packet name. `places`: the files that its records stand in and are about."""
    said = [_URL.sub(" ", text) for text in texts]
    files = dict.fromkeys([*places, *(name for text in said for name in _FILE.findall(text))])
    commands = dict.fromkeys(command for text in said for command in _commands(text))
    return Facts(files=tuple(files), commands=tuple(commands))


def happened(named: Facts, scene: Scene, *, failed: bool) -> dict[Outcome, bool] | None:
    """Which outcomes came. One that could not come is absent: no file or command named that the agent had not used just
    before, no failure before (`failed`). None: the session went no step further, and nothing could be changed."""
    within = tuple(_within(scene))
    if not any(step > scene.step for step, _ in within):
        return None
    events = [event for _, event in within]
    found = {Outcome.CORRECTED: any(_corrects(event) for event in events)}
    files = [name for name in named.files if not any(_opens(event, [name]) for event in scene.before)]
    commands = [command for command in named.commands if not any(_runs(event, [command]) for event in scene.before)]
    if files:
        found[Outcome.FILE_OPENED] = any(_opens(event, files) for event in events)
    if commands:
        found[Outcome.COMMAND_USED] = any(_runs(event, commands) for event in events)
    if failed:
        found[Outcome.FAILURE_REPEATED] = _repeats(scene.before, events)
    return found


def complete(scene: Scene) -> bool:
    """Whether the scene goes beyond the steps that count: no later event could change what happened."""
    return sum(1 for _ in _within(scene)) < len(scene.after)


def _within(scene: Scene) -> Iterator[tuple[int, EventEnvelope]]:
    """The events of the steps that count, with their step."""
    step, replied = scene.step, False
    for event in scene.before:
        _, replied = counted(event, 0, replied)
    for event in scene.after:
        step, replied = counted(event, step, replied)
        if step > scene.step + scene.steps:
            return
        yield step, event


def _corrects(event: EventEnvelope) -> bool:
    if event.event_type != EventType.USER_MESSAGE:
        return False
    segment = observe(event, 0)
    return segment is not None and segment.source_kind is SourceKind.USER and corrects(segment.text)


def _opens(event: EventEnvelope, files: Sequence[str]) -> bool:
    """A tool was called on one of the files, or a shell command names it."""
    payload = _of(event, EventType.TOOL_CALL)
    if payload is None:
        return False
    paths = [payload.path] if payload.path else []
    if payload.tool == _SHELL and payload.args:
        paths += [word.strip("'\"") for word in payload.args.split()]
    return any(_same_file(name, path) for path in paths for name in files)


def _same_file(name: str, path: str) -> bool:
    """Whether a path ends with all of a name's parts: a name is often shorter than the path."""
    named, given = (tuple(part for part in PurePosixPath(one).parts if part not in ("/", "~")) for one in (name, path))
    return bool(named) and given[-len(named) :] == named


def _runs(event: EventEnvelope, commands: Sequence[tuple[str, ...]]) -> bool:
    """A shell call holds a command of the same program with at least the words that were named."""
    payload = _of(event, EventType.TOOL_CALL)
    if payload is None or payload.tool != _SHELL or not payload.args:
        return False
    lines = [_words(line) for line in _CUT.split(payload.args)]
    return any(
        _program(line[0]) == _program(command[0]) and set(command[1:]) <= set(line[1:])
        for line in lines
        if line
        for command in commands
    )


def _repeats(before: Sequence[EventEnvelope], events: Sequence[EventEnvelope]) -> bool:
    """A result failed with a mark of the failure that ends `before`: its text, its call, or an error that it names."""
    marks = _marks(before[-1], before)
    return any(not marks.isdisjoint(_marks(event, (*before, *events))) for event in events) if marks else False


def _marks(event: EventEnvelope, around: Iterable[EventEnvelope]) -> frozenset[str]:
    """What a failing result is known by; nothing for any other event. `around` holds the call that it answers."""
    payload = _of(event, EventType.TOOL_RESULT)
    result = None if payload is None or payload.ok is not False else observe(event, 0)
    if result is None:
        return frozenset()
    calls = [one for one in around if one.call_id == event.call_id and one.event_type == EventType.TOOL_CALL]
    segments = [segment for call in calls if (segment := observe(call, 0)) is not None]
    return frozenset(failure_marks(result, segments))


def _of(event: EventEnvelope, event_type: EventType) -> EventPayload | None:
    """What an event of this type says."""
    if event.event_type != event_type:
        return None
    try:
        return _payload.decode(event.payload)
    except msgspec.DecodeError:
        return None


def _commands(text: str) -> Iterator[tuple[str, ...]]:
    """The commands that a text names."""
    code = [*_SPAN.findall(text), *_PROMPTED.findall(text), *_FENCED.findall(text)]
    for piece in code:
        for part in _CUT.split(piece):
            words = _words(part.strip().removeprefix("$ "))
            named = [word for word in words[1:] if not _PLACEHOLDER.fullmatch(word)]
            if words and named and _PROGRAM.fullmatch(words[0]):
                yield (words[0], *named)
    plain = _FENCED.sub(" ", _SPAN.sub(" ", text))
    for match in _PLAIN.finditer(plain):
        named = list(takewhile(lambda word: word and word.lower() not in _STOP, match.groups()[1:]))
        if named:
            yield (match[1], *named)


def _words(line: str) -> list[str]:
    """A simple command's words from its program on, quotes off."""
    words = [word.strip("'\"") for word in line.split()]
    while words and (words[0] in _BEFORE_PROGRAM or _ASSIGNED.fullmatch(words[0])):
        words = words[1:]
    return [word for word in words if word]


def _program(word: str) -> str:
    return word.rpartition("/")[2]
