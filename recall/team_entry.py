"""An entry of a repository's memory: a file with 13 fields, a marker line and a body (team.md 11). Pure.

    ---
    id: mem_0123456789abcdef0123456789abcdef
    type: work_method
    …
    ---
    <!-- memory:mem_0123456789abcdef0123456789abcdef -->
    Publish only from the release branch.

What is read and written again has the same bytes: a field that is spelled in its own way keeps that until its value
changes. So an entry that is superseded differs from what it was in two lines.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from typing import Literal, cast

import msgspec

from recall.canonical import digest
from recall.contracts import Frozen, MemoryKind
from recall.team_front import MOST_TEXT, EntryFault, Front, read_front, spelled, value_of, write_front

__all__ = [
    "FIELDS",
    "KINDS",
    "CommitRef",
    "Entry",
    "EntryConfidence",
    "EntryEvidence",
    "EntryFault",
    "EntryStatus",
    "EntryType",
    "entry_path",
    "parse",
    "render",
    "slug",
    "superseded",
]

EntryType = Literal["work_fact", "work_task", "work_method", "work_artifact"]
EntryStatus = Literal["approved", "deprecated"]
EntryConfidence = Literal["high", "medium", "low"]

KINDS: Mapping[str, MemoryKind] = MappingProxyType(
    {
        "work_fact": MemoryKind.SEMANTIC,
        "work_artifact": MemoryKind.SEMANTIC,
        "work_task": MemoryKind.EPISODIC,
        "work_method": MemoryKind.PROCEDURAL,
    }
)
FIELDS = (
    *("id", "type", "status", "priority", "confidence", "provenance_strength", "claim_support", "limitations"),
    *("scope", "scene", "occurred", "evidence", "superseded_by"),
)
MOST_CITED = 32  # commits of an entry, and paths
MOST_SCENE = 200  # characters of a scene's name
LONGEST_SLUG, SLUG_WORDS = 48, 8

_ID = re.compile(r"mem_[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MARKER = re.compile(r"<!-- memory:(mem_[0-9a-f]{32}) -->\n")
_ANY_MARKER = re.compile(r"^[ \t]*<!--[ \t]*memory:", re.MULTILINE | re.IGNORECASE)
_SECOND_FRONT = re.compile(rf"^---[ \t]*\n(?:{'|'.join(FIELDS)})[ \t]*:", re.MULTILINE)
_WORDS = re.compile(r"[A-Za-z0-9]+")
_UNSAID = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # controls, line ends, halves of characters
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


class CommitRef(Frozen, frozen=True, kw_only=True):
    """A commit. `repo`: host/org/repo, None where the repository has no public name; `hash`: the full one."""

    repo: str | None
    hash: str


class EntryEvidence(Frozen, frozen=True, kw_only=True):
    """What is public of the evidence. `paths`: relative to the repository."""

    commits: tuple[CommitRef, ...] = ()
    paths: tuple[str, ...] = ()


class Entry(Frozen, frozen=True, kw_only=True):
    """An entry as its file says it. `body`: all after the marker line; `occurred`: UTC dates, sorted. `written`: the
    fields whose spelling in the file is not ours, so that they keep it."""

    id: str
    type: EntryType
    status: EntryStatus
    priority: int
    confidence: EntryConfidence
    provenance_strength: str
    claim_support: str
    limitations: tuple[str, ...]
    occurred: tuple[str, ...]
    evidence: EntryEvidence
    body: str
    scope: str = "repo"
    scene: str | None = None
    superseded_by: str | None = None
    written: tuple[tuple[str, str], ...] = ()

    @property
    def content(self) -> str:
        """What it says, without the lines around it."""
        return self.body.strip("\n")


def parse(data: bytes) -> Entry | EntryFault:
    """The entry of a file's bytes, or why it is none. Never raises; linear in the length."""
    front = read_front(data, FIELDS)
    if isinstance(front, EntryFault):
        return front
    for name in FIELDS:
        if problem := _CHECKS[name](front.values[name]):
            return EntryFault(code="bad-value", line=front.lines[name], problem=f"{name}: {problem}")
    if front.values["superseded_by"] is not None and front.values["status"] == "approved":
        problem = "An approved entry has no successor: one that has one is deprecated."
        return EntryFault(code="bad-value", line=front.lines["superseded_by"], problem=problem)
    marker = _MARKER.match(front.body)
    if marker is None:
        return _no_marker(front)
    if marker[1] != front.values["id"]:
        return EntryFault(
            code="identity-mismatch", line=front.line, problem="The marker has another id than the front matter."
        )
    body = front.body[marker.end() :]
    return _bad_body(body, front.line + 1) or _entry(front, body)


def render(entry: Entry) -> bytes:
    """The file of an entry. Raises ValueError, with the problem, when it would not read back as this entry."""
    now = _current(entry)
    own = dict(now.written)
    said = _said(now)
    front = write_front([(name, own[name] if name in own else spelled(said[name])) for name in FIELDS])
    try:
        data = f"{front}<!-- memory:{now.id} -->\n{now.body}".encode()
    except UnicodeEncodeError as error:
        raise ValueError("The text holds half of a character.") from error
    back = parse(data)
    if isinstance(back, EntryFault):
        raise ValueError(back.problem)
    if back != now:
        raise ValueError("The entry would not read back as it is.")
    return data


def superseded(entry: Entry, by: str) -> Entry:
    """The entry once another has taken its place."""
    return _current(msgspec.structs.replace(entry, status="deprecated", superseded_by=by))


def entry_path(content: str, memory_id: str, entry_type: str) -> str:
    """Where a new entry lies below the memory root: named after its first words and what tells it from all others."""
    name = slug(content) or entry_type
    return f"entries/{name}-{digest({'content': content, 'memoryId': memory_id})[:8]}.md"


def slug(text: str) -> str:
    """The first words of a text in ASCII letters and digits, cut at a word; empty when there are none."""
    kept = ""
    for _, found in zip(range(SLUG_WORDS), _WORDS.finditer(text), strict=False):
        longer = f"{kept}-{found[0].lower()}" if kept else found[0].lower()[:LONGEST_SLUG]
        if len(longer) > LONGEST_SLUG:
            break
        kept = longer
    return kept


def _current(entry: Entry) -> Entry:
    """The entry without the spelling of values that it has no more."""
    said = _said(entry)
    kept = tuple((name, raw) for name, raw in entry.written if _still(raw, said[name]))
    return entry if kept == entry.written else msgspec.structs.replace(entry, written=kept)


def _still(raw: str, value: object) -> bool:
    try:
        return value_of(raw) == value
    except ValueError:
        return False


def _said(entry: Entry) -> dict[str, object]:
    """The values of the fields as JSON has them."""
    values = {name: getattr(entry, name) for name in FIELDS}
    commits = [{"repo": one.repo, "hash": one.hash} for one in entry.evidence.commits]
    evidence = {"commits": commits, "paths": list(entry.evidence.paths)}
    lists = {"limitations": list(entry.limitations), "occurred": list(entry.occurred)}
    return values | lists | {"evidence": evidence}


def _entry(front: Front, body: str) -> Entry:
    values = front.values
    own = tuple((name, front.written[name]) for name in FIELDS if front.written[name] != spelled(values[name]))
    return Entry(
        id=str(values["id"]),
        type=cast(EntryType, values["type"]),
        status=cast(EntryStatus, values["status"]),
        priority=cast(int, values["priority"]),
        confidence=cast(EntryConfidence, values["confidence"]),
        provenance_strength=str(values["provenance_strength"]),
        claim_support=str(values["claim_support"]),
        limitations=tuple(cast(list[str], values["limitations"])),
        scope=str(values["scope"]),
        scene=cast("str | None", values["scene"]),
        occurred=tuple(cast(list[str], values["occurred"])),
        evidence=msgspec.convert(values["evidence"], EntryEvidence),
        superseded_by=cast("str | None", values["superseded_by"]),
        body=body,
        written=own,
    )


def _no_marker(front: Front) -> EntryFault:
    if front.body.startswith("---\n"):
        return EntryFault(code="second-front-matter", line=front.line, problem="A second front matter.")
    return EntryFault(
        code="no-marker", line=front.line, problem="After the front matter comes the line <!-- memory:mem_… -->."
    )


def _bad_body(body: str, line: int) -> EntryFault | None:
    if not body.strip():
        return EntryFault(code="no-body", line=line, problem="There is no text after the marker.")
    if len(body.strip("\n").encode()) > MOST_TEXT:
        return EntryFault(code="too-large", line=line, problem=f"The text has more than {MOST_TEXT} bytes.")
    if found := _ANY_MARKER.search(body):
        at = line + body.count("\n", 0, found.start())
        return EntryFault(code="second-marker", line=at, problem="A second marker: a file holds one entry.")
    if found := _SECOND_FRONT.search(body):
        at = line + body.count("\n", 0, found.start())
        return EntryFault(code="second-front-matter", line=at, problem="A second front matter.")
    return None


def _one_of(*allowed: str) -> Callable[[object], str]:
    return lambda value: "" if value in allowed else f"one of {', '.join(allowed)}."


def _id(value: object) -> str:
    return "" if isinstance(value, str) and _ID.fullmatch(value) else "mem_ and 32 hex digits."


def _successor(value: object) -> str:
    return "" if value is None else _id(value)


def _priority(value: object) -> str:
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100
    return "" if sound else "a number of 0 to 100."


def _scene(value: object) -> str:
    return "" if value is None or _words(value, MOST_SCENE) else f"null, or a line of at most {MOST_SCENE} characters."


def _limitations(value: object) -> str:
    sound = isinstance(value, list) and _distinct(value) and all(_words(one, MOST_SCENE) for one in value)
    return "" if sound else "a list of different words."


def _occurred(value: object) -> str:
    sound = isinstance(value, list) and all(_is_date(one) for one in value)
    return "" if sound and value == sorted(set(cast(list[str], value))) else "a sorted list of dates as 2026-11-12."


def _evidence(value: object) -> str:
    if not isinstance(value, dict) or set(value) != {"commits", "paths"}:
        return 'of the form {"commits":[],"paths":[]}.'
    commits, paths = value["commits"], value["paths"]
    if not isinstance(commits, list) or len(commits) > MOST_CITED or not all(_is_commit(one) for one in commits):
        return f'at most {MOST_CITED} commits of the form {{"repo":"host/org/name","hash":"…"}}.'
    if not isinstance(paths, list) or len(paths) > MOST_CITED or not all(_is_path(one) for one in paths):
        return f"at most {MOST_CITED} paths, relative to the repository."
    return "" if _distinct(paths) else "a path is there twice."


def _is_commit(value: object) -> bool:
    if not isinstance(value, dict) or set(value) != {"repo", "hash"}:
        return False
    named = value["repo"] is None or _words(value["repo"], 1_024)
    return named and isinstance(value["hash"], str) and _HASH.fullmatch(value["hash"]) is not None


def _is_path(value: object) -> bool:
    if not isinstance(value, str) or not _words(value, 1_024):
        return False
    steps = value.split("/")
    return not (value.startswith(("/", "~", "\\")) or _DRIVE.match(value) or ".." in steps or "" in steps)


def _is_date(value: object) -> bool:
    if not isinstance(value, str) or len(value) != 10 or not value.isascii():
        return False
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _words(value: object, most: int) -> bool:
    """Whether this is a line of text that says something."""
    return isinstance(value, str) and value.strip() != "" and len(value) <= most and not _UNSAID.search(value)


def _distinct(values: list[object]) -> bool:
    return all(isinstance(one, str) for one in values) and len(set(values)) == len(values)


_CHECKS: Mapping[str, Callable[[object], str]] = MappingProxyType(
    {
        "id": _id,
        "type": _one_of(*KINDS),
        "status": _one_of("approved", "deprecated"),
        "priority": _priority,
        "confidence": _one_of("high", "medium", "low"),
        "provenance_strength": _one_of("direct", "observed", "candidate", "contextual", "unknown"),
        "claim_support": _one_of("typed-fact", "human-confirmed", "mixed"),
        "limitations": _limitations,
        "scope": _one_of("repo"),
        "scene": _scene,
        "occurred": _occurred,
        "evidence": _evidence,
        "superseded_by": _successor,
    }
)
