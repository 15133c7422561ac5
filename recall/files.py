"""M-06: memory files as data. Markdown bytes -> records with exact byte ranges, and edits of bytes. Pure.

A record begins at a marker line (`recall.markers`) and runs to the next marker or the end of the file, blank lines
trimmed. A file without markers is *legacy*: split at ATX headings, read-only. An entry of a repository is one record
with a strict front matter (`recall.team_entry`). Everything doubtful fails closed for the record concerned (or the
file, where it cannot be known which) and is reported as a `Finding`; nothing is renumbered (invariant 3).

Line ends are CRLF, LF or CR, mixed as they come. A byte-order mark is tolerated and left alone; none is ever added.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from recall.canonical import bytes_digest, digest, short_id
from recall.contracts import Frozen, MemoryKind, MemoryLocator, MemoryRecord, RecordState
from recall.legacy import front_matter, sections
from recall.lines import (
    Anchor,
    Flat,
    Landmark,
    Ruler,
    Span,
    between,
    conflicted,
    fences,
    heading,
    landmarks,
)
from recall.markers import FileHome, Malformed, read_marker
from recall.promoted import record_of
from recall.team_entry import parse as read_entry
from recall.team_front import EntryFault

LARGEST = 5 * 1024 * 1024
MOST_RECORDS = 10_000  # of one file: a repository may hold files that were made to keep us busy

UNPAIRED = "A block of ours begins here and does not end, or ends without a beginning: its text is not used."

_COMMENT = re.compile(rb"[ \t]*<!--.*-->[ \t]*")


class RefusalKind(StrEnum):
    """Why a write did not happen."""

    CONFLICT = "conflict"  # the file is not what the caller saw
    UNUSABLE_FILE = "unusable-file"  # not UTF-8, too large, conflict markers, not a plain file
    UNSAFE_TEXT = "unsafe-text"  # the text would read back as something else
    DUPLICATE = "duplicate"
    NOT_FOUND = "not-found"
    READ_ONLY = "read-only"
    OUTSIDE_ROOT = "outside-root"
    UNWRITABLE = "unwritable"  # the system says no: permissions, space


class Refused(Frozen, frozen=True, kw_only=True):
    """A write that did not happen, and what a person can do. False, so that `if result` reads well."""

    kind: RefusalKind
    problem: str

    def __bool__(self) -> bool:
        return False


class Finding(Frozen, frozen=True, kw_only=True):
    """Something in a file that is not used, for `doctor`: where (line, 1-based), what, and of which record."""

    state: RecordState
    line: int
    problem: str
    memory_id: str | None = None


class FileRecord(Frozen, frozen=True, kw_only=True):
    """A record and where it stands. `start`, `end`: the bytes of its block, with marker and trailing blank lines."""

    record: MemoryRecord
    locator: MemoryLocator
    start: int
    end: int


class ParsedFile(Frozen, frozen=True, kw_only=True):
    """What a file holds. `refused`: not-utf-8 | binary | too-large | conflict-markers | too-many-records; then there
    are no records."""

    digest: str
    newline: str
    records: tuple[FileRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    refused: str | None = None


def parse(data: bytes, home: FileHome) -> ParsedFile:
    """The records of a file's bytes. `locator.source_version` is 0: the index knows versions. Never raises."""
    seen, newline = bytes_digest(data), _newline(data)
    reason = _unusable(data)
    if reason is not None:
        return ParsedFile(digest=seen, newline=newline, refused=reason)
    if home.promoted:
        records, findings = _entry(data, home)
        return ParsedFile(digest=seen, newline=newline, records=tuple(records), findings=tuple(findings))
    flat = Flat(data)
    fenced = fences(flat)
    closed = fenced.closed
    marks = None if fenced.more else landmarks(flat, between(flat, closed), MOST_RECORDS)
    if conflicted(flat, between(flat, closed)):
        return ParsedFile(digest=seen, newline=newline, refused="conflict-markers")
    if marks is None:
        return ParsedFile(digest=seen, newline=newline, refused="too-many-records")
    anchors = [mark for mark in marks if isinstance(mark, Anchor)]
    if anchors and not home.provider:
        records, findings = _anchored(flat, anchors, home)
        findings += _swallowed(flat, closed)
    else:
        records, findings = _legacy(flat, marks, home)
    findings.sort(key=lambda finding: finding.line)
    return ParsedFile(digest=seen, newline=newline, records=tuple(records), findings=tuple(findings))


def record_digest(record: MemoryRecord) -> str:
    """The digest of what a record says: its text (LF line ends) and the attributes that change its meaning.

    Identity, place, author, tags and rank leave it alone: two records that say the same have one digest.
    """
    return digest(
        {
            "text": record.text,
            "title": record.title,
            "kind": record.kind,
            "status": record.status,
            "risk": record.risk_level,
            "validFrom": record.valid_from,
            "expires": record.expires_at,
            "supersededBy": record.superseded_by,
            "occurred": record.occurred,
        }
    )


def unclosed_fence(data: bytes) -> str:
    """The code fence that a text opens and never closes; empty when there is none."""
    return fences(Flat(data)).open.decode("ascii")


# -- reading


def _unusable(data: bytes) -> str | None:
    if len(data) > LARGEST:
        return "too-large"
    if b"\0" in data:
        return "binary"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "not-utf-8"
    return None


def _newline(data: bytes) -> str:
    windows = data.count(b"\r\n")
    return "\r\n" if windows > data.count(b"\n") - windows else "\n"


def _anchored(flat: Flat, anchors: Sequence[Anchor], home: FileHome) -> tuple[list[FileRecord], list[Finding]]:
    ruler = Ruler(flat)
    findings = _orphan_content(flat, anchors[0].start)
    announced: list[tuple[MemoryRecord, int, Span, int]] = []  # record without text, line and place of its marker, end
    for mark, following in itertools.zip_longest(anchors, anchors[1:]):
        number = ruler.line(mark.start)
        try:
            record = read_marker(flat.data[mark.start : mark.end].decode("utf-8"), home)
        except Malformed as error:
            findings.append(Finding(state=RecordState.MALFORMED_ANCHOR, line=number, problem=str(error)))
            continue
        announced.append((record, number, Span(*mark), following.start if following else len(flat.data)))
    times = Counter(record.memory_id for record, _, _, _ in announced)
    records: list[FileRecord] = []
    ruler = Ruler(flat)
    for record, number, mark, end in announced:
        body = flat.trimmed(mark.end, end)
        if times[record.memory_id] > 1:
            problem, state = "The same id twice in one file.", RecordState.DUPLICATE_ANCHOR
        elif body is None:
            problem, state = "A marker without text.", RecordState.ORPHAN_ANCHOR
        else:
            own = None if record.title else heading(flat.data[body.start : flat.line_end(body.start)])
            whole = msgspec.structs.replace(
                record, text=flat.text(body), title=record.title or (own and own[1]) or None
            )
            records.append(_placed(whole, body, Span(mark.start, end), home.path, ruler))
            continue
        findings.append(Finding(state=state, line=number, problem=problem, memory_id=record.memory_id))
    return records, findings


def _entry(data: bytes, home: FileHome) -> tuple[list[FileRecord], list[Finding]]:
    """The one record of an entry's file. Whatever is wrong with the file keeps all of it out."""
    entry = read_entry(data)
    if isinstance(entry, EntryFault):
        mismatch = entry.code == RecordState.IDENTITY_MISMATCH
        state = RecordState.IDENTITY_MISMATCH if mismatch else RecordState.MALFORMED_ENTRY
        return [], [Finding(state=state, line=entry.line, problem=entry.problem)]
    flat = Flat(data)
    body = flat.trimmed(len(data) - len(entry.body.encode("utf-8")), len(data))
    if body is None:
        return [], [Finding(state=RecordState.MALFORMED_ENTRY, line=1, problem="An entry without text.")]
    own = heading(flat.data[body.start : flat.line_end(body.start)])
    record = msgspec.structs.replace(record_of(entry, home), text=flat.text(body), title=(own and own[1]) or None)
    return [_placed(record, body, Span(0, len(data)), home.path, Ruler(flat))], []


def _legacy(flat: Flat, marks: Sequence[Landmark], home: FileHome) -> tuple[list[FileRecord], list[Finding]]:
    """One record for each section that has a body. Its id comes from its place: scope, file, headings, ordinal."""
    front = front_matter(flat)
    found, unpaired = sections(flat, front.end if front.second is None else front.second_end, marks)
    ruler = Ruler(flat)
    file = home.path.removeprefix(f"{home.top}/") if home.top else home.relative
    records: list[FileRecord] = []
    for section in found:
        place = {"scope": home.scope.key, "file": file, "headings": section.headings, "ordinal": section.ordinal}
        memory_id = short_id("mem_", place | {"piece": section.piece} if section.piece else place)
        titles = [title for title in section.headings if title]
        record = MemoryRecord(
            memory_id=memory_id,
            anchor_id=f"memory:{memory_id}",
            kind=MemoryKind.SEMANTIC,
            scope=home.scope,
            text=flat.text(section.body),
            created_at=0,
            title=" > ".join([front.name, *titles] if front.name and not records else titles) or None,
            tags=front.tags,
            origin=home.origin,
            state=RecordState.LEGACY,
        )
        records.append(_placed(record, section.body, section.body, home.path, ruler))
    findings = [
        Finding(state=RecordState.MALFORMED_ANCHOR, line=Ruler(flat).line(at), problem=UNPAIRED) for at in unpaired[:9]
    ]
    if front.second is not None:
        line = Ruler(flat).line(front.second)
        findings.append(Finding(state=RecordState.ORPHAN_CONTENT, line=line, problem="A second front matter."))
    return records, findings


def _placed(record: MemoryRecord, body: Span, block: Span, path: str, ruler: Ruler) -> FileRecord:
    locator = MemoryLocator(
        memory_id=record.memory_id,
        anchor_id=record.anchor_id,
        source_file=path,
        source_version=0,
        line_start=ruler.line(body.start),
        line_end=ruler.line(body.end),
        byte_start=body.start,
        byte_end=body.end,
        record_digest=record_digest(record),
    )
    return FileRecord(record=record, locator=locator, start=block.start, end=block.end)


def _orphan_content(flat: Flat, end: int) -> list[Finding]:
    """The first line before all markers that is more than front matter, a heading or a comment: nobody's text."""
    front = front_matter(flat).end
    at = front if front <= end else flat.first
    while (rest := flat.trimmed(at, end)) is not None:
        line = flat.line(rest.start)
        text = flat.data[line.start : line.end]
        if heading(text) is None and not _COMMENT.fullmatch(text):
            number = Ruler(flat).line(line.start)
            return [Finding(state=RecordState.ORPHAN_CONTENT, line=number, problem="Text before the first marker.")]
        at = line.end
    return []


def _swallowed(flat: Flat, closed: Sequence[Span]) -> list[Finding]:
    """Markers inside a code fence are text; in a file with markers that may be an accident worth a word."""
    ruler = Ruler(flat)
    marks = landmarks(flat, closed, MOST_RECORDS) or ()
    problem = "A marker inside a code fence is text; close the fence above it if a record was meant."
    return [
        Finding(state=RecordState.ORPHAN_ANCHOR, line=ruler.line(mark.start), problem=problem)
        for mark in marks
        if isinstance(mark, Anchor)
    ]


# -- coverage


class Read(msgspec.Struct, frozen=True):
    """What a tool's read showed: bytes [start, end) of a file whose bytes had that digest when it was read."""

    file_digest: str
    byte_start: int
    byte_end: int


class Fresh(Frozen, frozen=True, kw_only=True):
    """The read showed this share of the record as it stands: 0 < ratio ≤ 1."""

    ratio: float


class Stale(Frozen, frozen=True, kw_only=True):
    """The read was of another version of the file: it proves nothing and asks for re-indexing."""


class OutOfRange(Frozen, frozen=True, kw_only=True):
    """The read did not touch the record."""


Coverage = Fresh | Stale | OutOfRange


def coverage(read: Read, locator: MemoryLocator, file_digest: str | None) -> Coverage:
    """How much of a record a read showed. `file_digest`: the file's as indexed, None when it is not.

    A stale read is not coverage 0: it forms no evidence either way.
    """
    if read.file_digest != file_digest:
        return Stale()
    shown = min(read.byte_end, locator.byte_end) - max(read.byte_start, locator.byte_start)
    if shown <= 0:
        return OutOfRange()
    return Fresh(ratio=shown / (locator.byte_end - locator.byte_start))
