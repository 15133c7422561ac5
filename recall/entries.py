"""From a file's bytes to rows of the index: what is new, what only moved, what is gone. Pure, CPU only.

A record that reads as before keeps its row and its terms; only its place is written anew. So an append to a large file
costs the analysis of one record.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from recall.analyzer import terms
from recall.canonical import bytes_digest
from recall.contracts import (
    SHARED,
    Flag,
    Frozen,
    MemoryRecord,
    Millis,
    Origin,
    RecordState,
    ScopeRef,
    Status,
    consolidated,
)
from recall.documents import Document, Unreadable
from recall.files import FileRecord, Finding, parse
from recall.markers import FileHome

INDEXED = 262_144  # characters of a record's text that can be found: a longer one is no memory but a file
TITLE_WEIGHT = 2  # a word of the title counts as often as that many in the text
SEARCHED, ASIDE = 1, 2  # what `eligible` says of a record that may be proposed: for its words, or by its own source
DOCUMENTS, DOCUMENT_FOLDERS = ("persona.md", "doctrine.md"), ("scenes/", "skills/")  # formation.md 3
KEPT_OUT = frozenset({Flag.QUARANTINED, Flag.RECHECK, Flag.CORRECTED})
_pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(MemoryRecord).decode

Span = tuple[int, int, int, int]  # line start, line end, byte start, byte end


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One record as the index stores it. `words`: its distinct terms, one a line, the most frequent first; `counts`:
    how often, of those that occur more than once, at most 255 times; `length`: of all, with repeats."""

    memory_id: str
    scope: ScopeRef
    digest: str
    mark: str
    legacy: bool
    eligible: int
    pinned: bool
    priority: int | None
    created: Millis
    valid_from: Millis | None
    expires: Millis | None
    span: Span
    length: int
    words: str
    counts: bytes
    body: bytes


class Root(Frozen, frozen=True, kw_only=True):
    """A folder of memory files, or one file (CLAUDE.md: legacy), and whose its records are.

    `writable`: ours to write (`remember`, `forget`). `inside`: a folder that the root, its symlinks resolved, must not
    leave — a repository's memory folder could be a link into someone else's. `provider`: the agent product whose own
    files these are (`recall.providers`). `origin`: of its records; reviewed for a repository that the user trusts.
    """

    path: str
    scope: ScopeRef
    origin: Origin
    writable: bool = False
    inside: str = ""
    provider: str = ""

    @property
    def shared(self) -> bool:
        """Whether others write into it, too: what lies there could be anybody's."""
        return self.origin in SHARED


class Place(Frozen, frozen=True, kw_only=True):
    """Where a root lies: its real path, the folder its files are relative to, and, if it is one file, its name.

    `top`: the real path of the folder that it must not leave. `ours`: no agent product's, so that documents may lie in
    it (`is_document`).
    """

    path: str
    folder: str
    file: str | None = None
    top: str = ""
    ours: bool = False

    def home(self, root: Root, relative: str) -> FileHome:
        """What a file of the root is told of where it stands."""
        return FileHome(
            path=f"{self.folder}/{relative}",
            relative=relative,
            scope=root.scope,
            origin=root.origin,
            provider=root.provider,
            top=self.top,
        )


def is_document(relative: str) -> bool:
    """Whether what lies there in a memory folder of ours is a scene, a persona, a doctrine or a skill: made of records,
    and none itself. What they say would be recalled twice."""
    return relative in DOCUMENTS or relative.startswith(DOCUMENT_FOLDERS)


class Known(msgspec.Struct, frozen=True, gc=False):
    """What the index holds of a record of the file already."""

    row: int
    mark: str
    span: Span


class FileChange(msgspec.Struct, frozen=True):
    """A file's new state against the index. `refused`: why nothing of it is used.

    `seen`: the rows of the file's records when the two were compared, in order; when there are others by the time of
    writing, the comparison is worth nothing.
    """

    relative: str
    digest: str
    stamp: str
    same: bool = False  # the bytes are those of the index: only the stamp is news
    refused: str | None = None
    findings: tuple[Finding, ...] = ()
    added: tuple[Entry, ...] = ()
    moved: tuple[tuple[int, Span], ...] = ()  # (row, where it stands now)
    dropped: tuple[int, ...] = ()
    seen: tuple[int, ...] | None = None
    vouched: tuple[Entry, ...] = ()  # `added`, as they are when somebody vouches for the file: see Guard


@dataclass(frozen=True, slots=True)
class Guard:
    """Which texts are never proposed to a pass, and by which rules (`id`): supplied by the composition root, for the
    screen lives above us. A poisoned record must not take the place of a good one. `admits`: a record, by its id and
    digest, that a person let through all the same. `clean`: a text as the index may hold it: what a file says that is
    no memory (a password) stays in the file. `vouches`: a file, by workspace key and digest, was written by us after a
    person's yes, so that its record is reviewed in a repository that nobody trusts."""

    id: str = "open"
    keeps_out: Callable[[str], bool] = lambda text: False
    admits: Callable[[str, str], bool] = lambda memory_id, digest: False
    clean: Callable[[str], str] = lambda text: text
    vouches: Callable[[str, str], bool] = lambda workspace, digest: False


OPEN = Guard()


def changed(
    found: Document | Unreadable, stamp: str, home: FileHome, known: Mapping[str, Known], guard: Guard = OPEN
) -> FileChange:
    """Compare a file as it is now with what the index knows of it (by memory id)."""
    everything = tuple(sorted(one.row for one in known.values()))
    if isinstance(found, Unreadable):
        return FileChange(home.relative, "", stamp, refused=found.reason, dropped=everything, seen=everything)
    parsed = parse(found.data, home)
    whole = parsed.digest if home.promoted else ""  # any byte of an entry's file tells whether it is what we wrote
    added: list[Entry] = []
    moved: list[tuple[int, Span]] = []
    kept: set[int] = set()
    for one in parsed.records:
        record = _cleaned(one.record, guard)
        before = known.get(record.memory_id)
        if before is None or before.mark != _mark(_pack(record), whole):
            fresh = entry(record, one.locator.record_digest, _span(one), guard)
            added.append(msgspec.structs.replace(fresh, mark=_mark(fresh.body, whole)) if whole else fresh)
            continue
        kept.add(before.row)
        if before.span != _span(one):
            moved.append((before.row, _span(one)))
    return FileChange(
        relative=home.relative,
        digest=parsed.digest,
        stamp=found.stamp,
        refused=parsed.refused,
        findings=parsed.findings,
        added=tuple(added),
        moved=tuple(moved),
        dropped=tuple(row for row in everything if row not in kept),
        seen=everything,
        vouched=_reviewed(found.data, home, added, guard) if added and home.promoted else (),
    )


def _reviewed(data: bytes, home: FileHome, added: Sequence[Entry], guard: Guard) -> tuple[Entry, ...]:
    """An entry's record as it is in a repository that is trusted; under its own mark, for what is compared is the
    file."""
    if home.origin is Origin.REVIEWED:
        return ()
    trusted = parse(data, msgspec.structs.replace(home, origin=Origin.REVIEWED))
    records = [_cleaned(one.record, guard) for one in trusted.records]
    return tuple(
        msgspec.structs.replace(one, body=_pack(record), priority=record.priority)
        for one, record in zip(added, records, strict=True)
    )


def _cleaned(record: MemoryRecord, guard: Guard) -> MemoryRecord:
    title = record.title and guard.clean(record.title)
    text, tags = guard.clean(record.text), tuple(map(guard.clean, record.tags))
    if (title, text, tags) == (record.title, record.text, record.tags):
        return record
    return msgspec.structs.replace(record, title=title, text=text, tags=tags)


def entry(record: MemoryRecord, digest: str, span: Span, guard: Guard = OPEN) -> Entry:
    """A record as a row of the index, analysed."""
    body = _pack(record)
    words = terms(record.text[:INDEXED])
    if record.title:
        words += terms(record.title) * TITLE_WEIGHT
    if record.tags:
        words += terms(" ".join(record.tags))
    found = Counter(words)
    often = sorted([one for one in found.items() if one[1] > 1], key=_count)
    return Entry(
        memory_id=record.memory_id,
        scope=record.scope,
        digest=digest,
        mark=_mark(body),
        legacy=record.state is RecordState.LEGACY,
        eligible=_eligible(record, guard),
        pinned=record.pinned,
        priority=record.priority,
        created=record.created_at,
        valid_from=record.valid_from,
        expires=record.expires_at,
        span=span,
        length=len(words),
        words="\n".join([*[term for term, _ in often], *[term for term, count in found.items() if count == 1]]),
        counts=bytes([min(count, 255) for _, count in often]),
        body=body,
    )


def _eligible(record: MemoryRecord, guard: Guard) -> int:
    """Whether it may be proposed, and how. Episodes are many and repeat themselves: they stay out of what others are
    weighed by."""
    if record.status is not Status.ACTIVE or not KEPT_OUT.isdisjoint(record.flags):
        return 0
    if guard.keeps_out("\n".join([record.title or "", record.text, *record.tags])):
        return 0
    return ASIDE if consolidated(record) else SEARCHED


def admitted(change: FileChange, guard: Guard) -> FileChange:
    """The change with what a person let through, or said yes to: asked where the index is written, whoever read the
    file."""
    if change.vouched and guard.vouches(change.vouched[0].scope.key, change.digest):
        change = msgspec.structs.replace(change, added=change.vouched)
    if not any(not one.eligible and guard.admits(one.memory_id, one.digest) for one in change.added):
        return change
    return msgspec.structs.replace(change, added=tuple(_admitted(one, guard) for one in change.added))


def _admitted(one: Entry, guard: Guard) -> Entry:
    if one.eligible or not guard.admits(one.memory_id, one.digest):
        return one
    record = unpack(one.body)
    flags = tuple(flag for flag in record.flags if flag is not Flag.QUARANTINED)
    return msgspec.structs.replace(one, eligible=_eligible(msgspec.structs.replace(record, flags=flags), OPEN))


def _count(one: tuple[str, int]) -> int:
    return -one[1]


def _mark(body: bytes, whole: str = "") -> str:
    return bytes_digest(body + whole.encode())[:32]


def _span(one: FileRecord) -> Span:
    at = one.locator
    return at.line_start, at.line_end, at.byte_start, at.byte_end
