"""The marker line that begins a record in a memory file, and its attributes (M-06). Pure. Invariant 3 lives in it: the
id stands in the text, and moves with it.

    <!-- memory:mem_0123456789abcdef0123456789abcdef kind="semantic" tags=["ci"] -->

Attributes are `key=value` with JSON values; what is absent has its default. An unknown attribute, a value of the wrong
kind or a scope wider than the folder's makes the marker malformed: the record fails closed and is reported. A folder
that others write into, a repository's, says of its records neither who wrote them, nor for whom else they are, nor that
every session must begin with them, also when it is trusted.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import Meta

from recall.canonical import MAX_INT
from recall.contracts import (
    SHARED,
    CodeAnchor,
    Flag,
    Frozen,
    MemoryKind,
    MemoryRecord,
    Millis,
    Origin,
    Period,
    Risk,
    Scope,
    ScopeRef,
    Status,
)

LONGEST = 65_536  # characters of a marker's line
ENTRIES = "entries/"  # below a repository's memory folder: what was promoted

_LOOKS = re.compile(rb" {0,3}<!--[ \t]*memory:")
_MARKER = re.compile(r"<!--[ \t]*memory:(mem_[0-9a-f]{32})(?=[ \t]|-->)")
_PAIR = re.compile(r'([A-Za-z]+)=("(?:[^"\\]|\\.)*"|\[(?:[^\[\]"]|"(?:[^"\\]|\\.)*")*\]|[^ \t"\[\]]+)(?:[ \t]+|$)')
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NARROWER: dict[Scope, frozenset[Scope]] = {
    Scope.USER: frozenset({Scope.WORKSPACE, Scope.SESSION, Scope.TURN, Scope.EXTERNAL}),
    Scope.WORKSPACE: frozenset({Scope.SESSION, Scope.TURN, Scope.EXTERNAL}),
    Scope.SESSION: frozenset({Scope.TURN, Scope.EXTERNAL}),
    Scope.TURN: frozenset({Scope.EXTERNAL}),
    Scope.EXTERNAL: frozenset(),
}
_Moment = Annotated[int, Meta(ge=-MAX_INT, le=MAX_INT)] | str
_Line = Annotated[int, Meta(ge=1, le=MAX_INT)]
_Words = Annotated[str, Meta(min_length=1, max_length=1024)]
_Percent = Annotated[int, Meta(ge=0, le=100)]


class FileHome(Frozen, frozen=True, kw_only=True):
    """Where a file stands: its absolute path, its path below the root, and what the root says of its records.

    `provider`: the agent product whose file it is (`recall.providers`): its markers are not believed, all of it is
    legacy. `top`: the real folder below which its path is what tells it from other files of that scope.
    """

    path: str
    relative: str
    scope: ScopeRef
    origin: Origin
    provider: str = ""
    top: str = ""

    @property
    def promoted(self) -> bool:
        """Whether a file there is an entry of a repository: one record with a front matter of its own (team.md 11)."""
        entries = self.relative[: len(ENTRIES)].lower() == ENTRIES  # a file system may not tell the cases apart
        return entries and bool(self.top) and not self.provider and self.origin in SHARED


class Malformed(ValueError):
    """A marker that cannot be used; the message says why."""


class _Attributes(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The attributes as written. Times are ISO 8601 (UTC unless they say otherwise) or epoch milliseconds."""

    kind: MemoryKind = MemoryKind.SEMANTIC
    scope: str | None = None
    created: _Moment = 0
    origin: Origin | None = None
    status: Status = Status.ACTIVE
    risk: Risk = Risk.LOW
    tags: tuple[str, ...] = ()
    title: str | None = None
    pinned: bool = False
    valid_from: _Moment | None = None
    expires: _Moment | None = None
    superseded_by: Annotated[str, Meta(pattern="^mem_[0-9a-f]{32}$")] | None = None
    importance: _Percent | None = None
    priority: Annotated[int, Meta(ge=-1, le=100)] | None = None
    occurred: Annotated[tuple[_Moment, ...], Meta(min_length=1, max_length=2)] | None = None
    flags: tuple[Flag, ...] = ()
    about: tuple[_Words, _Line, _Words] | None = None


_decoder = msgspec.json.Decoder(_Attributes)


def looks_like_marker(line: bytes) -> bool:
    """Whether a line begins as a marker does: such a line is a marker or malformed, never content."""
    return _LOOKS.match(line) is not None


def read_marker(line: str, home: FileHome) -> MemoryRecord:
    """The record that a marker line announces, its text still empty. Raises Malformed."""
    if len(line) > LONGEST:
        raise Malformed(f"longer than {LONGEST} characters")
    said = line.strip()
    match = _MARKER.match(said)
    if match is None or not said.endswith("-->"):
        raise Malformed("not of the form <!-- memory:mem_<32 hex digits> key=value … -->")
    shared = home.origin in SHARED
    try:
        written = _decoder.decode(_document(said[match.end() : -3].strip(" \t")))
        return MemoryRecord(
            memory_id=match[1],
            anchor_id=f"memory:{match[1]}",
            kind=written.kind,
            scope=_scope(written.scope, home),
            text="",
            created_at=_millis(written.created),
            title=" ".join(written.title.split()) or None if written.title else None,
            tags=written.tags,
            status=written.status,
            flags=written.flags,
            superseded_by=written.superseded_by,
            risk_level=written.risk,
            origin=home.origin if shared else written.origin or home.origin,
            valid_from=None if written.valid_from is None else _millis(written.valid_from),
            expires_at=None if written.expires is None else _millis(written.expires),
            pinned=written.pinned and not shared,
            priority=None if shared else written.priority,
            importance=None if shared else written.importance,
            occurred=_period(written.occurred),
            about=_place(written.about),
        )
    except (msgspec.DecodeError, ValueError, OverflowError) as error:
        raise Malformed(str(error)) from error


def marker_line(record: MemoryRecord, home: FileHome) -> str:
    """The marker of a record for a file of that home. Attributes at their default are left out, `created` never is."""
    occurred, about = record.occurred, record.about
    every: dict[str, tuple[object, object]] = {  # name -> (value, default)
        "kind": (record.kind, MemoryKind.SEMANTIC),
        "scope": (f"{record.scope.kind}:{record.scope.key}", f"{home.scope.kind}:{home.scope.key}"),
        "created": (_moment(record.created_at), 0),
        "origin": (record.origin, home.origin),
        "status": (record.status, Status.ACTIVE),
        "risk": (record.risk_level, Risk.LOW),
        "title": (record.title, None),
        "tags": (record.tags, ()),
        "pinned": (record.pinned, False),
        "priority": (record.priority, None),
        "importance": (record.importance, None),
        "validFrom": (_moment(record.valid_from), None),
        "expires": (_moment(record.expires_at), None),
        "occurred": ([_moment(at) for at in (occurred.start, occurred.end) if at is not None] if occurred else [], []),
        "supersededBy": (record.superseded_by, None),
        "about": ([about.path, about.line, about.snippet] if about else None, None),
        "flags": (record.flags, ()),
    }
    pairs = [f"{name}={_json(value)}" for name, (value, default) in every.items() if value != default]
    return " ".join([f"<!-- memory:{record.memory_id}", *pairs, "-->"])


def _document(pairs: str) -> str:
    """`key=value key=value` as the text of one JSON object."""
    members: dict[str, str] = {}
    place = 0
    while place < len(pairs):
        pair = _PAIR.match(pairs, place)
        if pair is None:
            raise Malformed(f"expected key=value with a JSON value at {pairs[place : place + 24]!r}")
        if pair[1] in members:
            raise Malformed(f"the attribute {pair[1]} is given twice")
        members[pair[1]] = pair[2]
        place = pair.end()
    return "{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}"


def _json(value: object) -> str:
    """JSON on one line that cannot end or nest the comment: no `<`, no `>`, no `--`."""
    text = msgspec.json.encode(value).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "\\u002d\\u002d")


def _scope(written: str | None, home: FileHome) -> ScopeRef:
    """The folder's scope, or the narrower one that is written as `Kind` or `Kind:key`.

    A session's or turn's id is known to its workspace alone, yet holds in every one: a shared folder names none.
    """
    if written is None:
        return home.scope
    kind, _, key = written.partition(":")
    scope = ScopeRef(kind=Scope(kind), key=key or home.scope.key)
    narrower = key and scope.kind in _NARROWER[home.scope.kind] and home.origin not in SHARED
    if scope == home.scope or narrower:
        return scope
    raise Malformed(f"the scope {written!r} is wider than its folder's, or another's")


def _millis(moment: int | str) -> Millis:
    if isinstance(moment, int):
        return moment
    at = datetime.fromisoformat(moment)
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(milliseconds=1)


def _moment(at: Millis | None) -> str | Millis | None:
    """A time as people read it, ISO 8601 in UTC with milliseconds; beyond the calendar the bare number."""
    if at is None:
        return None
    try:
        return (_EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except OverflowError:
        return at


def _place(written: tuple[str, int, str] | None) -> CodeAnchor | None:
    """A place in the workspace: its path cannot lead out of it, and the snippet is one line."""
    if written is None:
        return None
    path, line, snippet = written
    parts = path.split("/")
    if not path.isprintable() or "\\" in path or parts[0].endswith(":") or {"", ".", ".."}.intersection(parts):
        raise Malformed(f"the path {path!r} is not one below the workspace")
    if "\n" in snippet or "\r" in snippet or not snippet.strip():
        raise Malformed("the snippet of a place is one line")
    return CodeAnchor(path=path, line=line, snippet=snippet)


def _period(written: tuple[int | str, ...] | None) -> Period | None:
    if written is None:
        return None
    start, *end = (_millis(moment) for moment in written)
    return Period(start=start, end=end[0] if end else None)
