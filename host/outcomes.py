"""What the agent and the user did in the steps after a packet, read from the log's events. Pure.

A packet says something; what it names can be looked for: files, commands. Nothing here knows whether the packet was
given or kept back, so both are judged alike.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
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
    rf"(?<![\w.@/~+-])(?:~?/)?(?:[\w@.+-]+/)*(?:[\w@+-][\w@.+-]*\.(?:{'|'.join(_EXTENSIONS.split())})|{_NAMES})(?![\w/-])",
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
# In prose a word after a program may be part of the sentence ("make sure", "pytest says"): what belongs to a command is
# told by a sign that no word has (`-x`, `tests/host`), or stands here.
_LETTERS = re.compile(r"[A-Za-z]+")
_SUBCOMMANDS = """
add api apply audit bench blame branch build check checkout ci clean clippy clone commit compile compose config create
delete deploy describe destroy dev diff doc downgrade env exec fetch fmt format freeze generate get init install lint
list lock logs merge mod mv outdated pack package pip plan pr publish pull push rebase release remote remove reset
restart restore revert revision rm rollout run scale serve show start stash stop submodule sync tag tap test tidy
uninstall up update upgrade validate verify version vet watch worktree
"""
_ARGUMENTS_ALONE = (
    "curl just mypy npx psql pytest python python3 uvx"  # no subcommands, or such as are a sentence's words
)
_LEADS_ON = "-e -m compose exec mod pip pr remote run stash submodule worktree"  # a name follows
_STOP = """
a again alone an and are as at because before but by can dies does ends fails failed for from has if in instead into is
it must needs not of on once only or prints reports runs says sets should so takes that the then to was when while will
with works
"""
_subcommands, _alone, _leads_on, _stop = (
    frozenset(words.split()) for words in (_SUBCOMMANDS, _ARGUMENTS_ALONE, _LEADS_ON, _STOP)
)
_BEFORE_PROGRAM = frozenset({"sudo", "time", "env", "exec", "command"})
SHELL = "shell"

MOST_NAMED = 64  # files, and commands, of a packet that are looked for
LONGEST_COMMAND = 8_192  # characters of a shell call that are looked at: beyond are the files it writes
_payload = msgspec.json.Decoder(EventPayload)


class Facts(Frozen, frozen=True, kw_only=True):
    """What a packet names. A command is its words, the program first, placeholders left out.

    Commands are found in code of two words or more and, outside code, where a known program is followed by its words.
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
    return Facts(files=tuple(files)[:MOST_NAMED], commands=tuple(commands)[:MOST_NAMED])


def happened(named: Facts, scene: Scene, *, failed: bool) -> dict[Outcome, bool] | None:
    """Which outcomes came. One that could not come is absent: no file or command named that the agent had not used just
    before, no failure before (`failed`). None: the session went no step further, and nothing could be changed."""
    within = tuple(_within(scene))
    if not any(step > scene.step for step, _ in within):
        return None
    events = [event for _, event in within]
    found = {Outcome.CORRECTED: any(_corrects(event) for event in events)}
    earlier, later = _acts(scene.before), _acts(events)
    known, ran = opened(named.files, earlier), run(named.commands, earlier)
    files = [name for name in named.files if name not in known]
    commands = [command for command in named.commands if command not in ran]
    if files:
        found[Outcome.FILE_OPENED] = bool(opened(files, later))
    if commands:
        found[Outcome.COMMAND_USED] = bool(run(commands, later))
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


class Acts(Frozen, frozen=True, kw_only=True):
    """What some events did: paths that tools were called on or that shell commands name, and the words of each command,
    its program first."""

    paths: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def acts(calls: Iterable[EventPayload]) -> Acts:
    """What these calls did; each path and command once: what is looked for in it may be much."""
    paths, lines = dict[str, None](), dict[tuple[str, ...], None]()
    for payload in calls:
        if payload.path:
            paths[payload.path] = None
        if payload.tool == SHELL and payload.args:
            args = payload.args[:LONGEST_COMMAND]
            paths |= dict.fromkeys(word.strip("'\"") for word in args.split())
            lines |= dict.fromkeys(tuple(words) for line in _CUT.split(args) if (words := _words(line)))
    return Acts(paths=tuple(paths), lines=tuple(lines))


def _acts(events: Iterable[EventEnvelope]) -> Acts:
    calls = (_of(event, EventType.TOOL_CALL) for event in events)
    return acts(payload for payload in calls if payload is not None)


def opened(names: Iterable[str], acts: Acts) -> set[str]:
    """Which of the files a path of the acts names. A name is often shorter than the path: all its parts end it."""
    ends: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name in names:
        parts = _parts(name)
        if parts:
            ends.setdefault(parts[-1], []).append((name, parts))
    found: set[str] = set()
    for path in acts.paths:
        last = path.rstrip("/").rpartition("/")[2]
        if last in ends or last == ".":
            given = _parts(path)
            same = ends.get(given[-1], ()) if given else ()
            found |= {name for name, parts in same if given[-len(parts) :] == parts}
    return found


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(path).parts if part not in ("/", "~"))


def run(commands: Iterable[tuple[str, ...]], acts: Acts) -> set[tuple[str, ...]]:
    """Which of the commands were run: the same program with at least the words that were named."""
    wanted: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for command in commands:
        wanted.setdefault((_program(command[0]), command[1]), []).append(command)
    found: set[tuple[str, ...]] = set()
    for line in acts.lines:
        program, words = _program(line[0]), frozenset(line[1:])
        for word in words:
            found |= {command for command in wanted.get((program, word), ()) if words.issuperset(command[1:])}
    return found


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
            if words and named and _PROGRAM.fullmatch(words[0]) and not _PLACEHOLDER.fullmatch(words[0]):
                yield (words[0], *named)
    plain = _FENCED.sub(" ", _SPAN.sub(" ", text))
    for match in _PLAIN.finditer(plain):
        named = list(_named(match[1], match[2], match[3] or ""))
        if named:
            yield (match[1], *named)


def _named(program: str, first: str, second: str) -> Iterator[str]:
    """Those of the two words behind a program in prose that belong to the command."""
    bare = _LETTERS.fullmatch(first) is not None
    if _PLACEHOLDER.fullmatch(first) or (bare and (program in _alone or first not in _subcommands)):
        return
    yield first
    is_own = not _LETTERS.fullmatch(second) or (first in _leads_on and second.lower() not in _stop)
    if second and is_own and not _PLACEHOLDER.fullmatch(second) and not _ASSIGNED.fullmatch(second):
        yield second


def _words(line: str) -> list[str]:
    """A simple command's words from its program on, quotes off."""
    words = [word.strip("'\"") for word in line.split()]
    while words and (words[0] in _BEFORE_PROGRAM or _ASSIGNED.fullmatch(words[0])):
        words = words[1:]
    return [word for word in words if word]


def _program(word: str) -> str:
    return word.rpartition("/")[2]
