"""M-06: memory files as data. Markdown bytes -> records with exact byte ranges, and edits of bytes. Pure.

A record begins at a marker line (`recall.markers`) and runs to the next marker or the end of the file, blank lines
trimmed. A file without markers is *legacy*: split at ATX headings, read-only. Everything doubtful fails closed for the
record concerned (or the file, where it cannot be known which) and is reported as a `Finding`; nothing is renumbered.

Line ends are CRLF, LF or CR, mixed as they come. A byte-order mark is tolerated and left alone; none is ever added.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import msgspec

from recall.canonical import bytes_digest, digest, short_id
from recall.contracts import Frozen, MemoryKind, MemoryLocator, MemoryRecord, RecordState
from recall.markers import FileHome, Malformed, looks_like_marker, read_marker

LARGEST = 5 * 1024 * 1024
MOST_RECORDS = 10_000  # of one file: a repository may hold files that were made to keep us busy
BOM = b"\xef\xbb\xbf"

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_CONFLICT = re.compile(rb"(<<<<<<<|=======|>>>>>>>)(?:[ \t].*)?")
_FRONT = re.compile(rb"(description|title|name):[ \t]*(.+)")
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


class _Line(msgspec.Struct, frozen=True, gc=False):
    """One line: its content without the line end, the byte range of that content, and whether a code fence holds it."""

    number: int
    text: bytes
    start: int
    end: int
    fenced: bool = False


def parse(data: bytes, home: FileHome) -> ParsedFile:
    """The records of a file's bytes. `locator.source_version` is 0: the index knows versions. Never raises."""
    seen, newline = bytes_digest(data), _newline(data)
    lines: list[_Line] = []
    reason = _unusable(data)
    if reason is None:
        lines, _ = _fenced(list(_lines(data)))
        reason = "conflict-markers" if _conflicted(lines) else "too-many-records" if _crowded(lines) else None
    if reason is not None:
        return ParsedFile(digest=seen, newline=newline, refused=reason)
    marks = [place for place, line in enumerate(lines) if not line.fenced and looks_like_marker(line.text)]
    if marks:
        records, findings = _anchored(data, lines, marks, home)
    else:
        records, findings = _legacy(data, lines, home), []
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
    return _fenced(list(_lines(data)))[1].decode("ascii")


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


def _lines(data: bytes) -> Iterator[_Line]:
    first = len(BOM) if data.startswith(BOM) else 0
    for number, match in enumerate(_LINE.finditer(data, first), start=1):
        text = match[0].rstrip(b"\r\n")
        yield _Line(number, text, match.start(), match.start() + len(text))


def _fenced(lines: Sequence[_Line]) -> tuple[list[_Line], bytes]:
    """The lines, those inside a closed code fence marked; and the fence that nothing closes (it hides nothing)."""
    found = list(lines)
    fences = [(place, match[1], match[2]) for place, line in enumerate(lines) if (match := _FENCE.fullmatch(line.text))]
    longest: list[dict[bytes, int]] = [{}]  # from each fence line on: the longest one that can close, by character
    for _, marks, rest in reversed(fences):
        after = longest[-1]
        if not rest.strip():
            after = {**after, marks[:1]: max(len(marks), after.get(marks[:1], 0))}
        longest.append(after)
    longest.reverse()
    opened, unclosed = -1, b""
    opener = b""
    for number, (place, marks, rest) in enumerate(fences):
        if opener:
            if marks.startswith(opener) and not rest.strip():
                found[opened : place + 1] = [
                    msgspec.structs.replace(line, fenced=True) for line in lines[opened : place + 1]
                ]
                opener = b""
        elif marks[:1] == b"~" or b"`" not in rest:
            if longest[number + 1].get(marks[:1], 0) >= len(marks):
                opened, opener = place, marks
            else:
                unclosed = unclosed or marks
    return found, unclosed


def _conflicted(lines: Iterable[_Line]) -> bool:
    """Whether git left a conflict: its three markers in order. A text about conflicts keeps them in a code fence."""
    expected = [b">>>>>>>", b"=======", b"<<<<<<<"]
    for line in lines:
        match = None if line.fenced else _CONFLICT.fullmatch(line.text)
        if match is not None and match[1] == expected[-1]:
            expected.pop()
            if not expected:
                return True
    return False


def _crowded(lines: Iterable[_Line]) -> bool:
    """Whether a file has more markers and headings than any that a person keeps."""
    starts = (
        line for line in lines if not line.fenced and (looks_like_marker(line.text) or _HEADING.fullmatch(line.text))
    )
    return next(itertools.islice(starts, MOST_RECORDS, None), None) is not None


def _anchored(
    data: bytes, lines: Sequence[_Line], marks: Sequence[int], home: FileHome
) -> tuple[list[FileRecord], list[Finding]]:
    findings = [*_orphan_content(lines[: marks[0]]), *_swallowed(lines)]
    announced: list[tuple[MemoryRecord, _Line, _Line | None]] = []  # record without text, its marker, the next one
    for mark, following in itertools.zip_longest(marks, marks[1:]):
        line = lines[mark]
        try:
            record = read_marker(line.text.decode("utf-8"), home)
        except Malformed as error:
            findings.append(Finding(state=RecordState.MALFORMED_ANCHOR, line=line.number, problem=str(error)))
            continue
        announced.append((record, line, None if following is None else lines[following]))
    times = Counter(record.memory_id for record, _, _ in announced)
    records: list[FileRecord] = []
    for record, line, following_line in announced:
        stop = following_line.number - 1 if following_line else len(lines)
        body = _trimmed(lines[line.number : stop])
        if times[record.memory_id] > 1:
            problem, state = "The same id twice in one file.", RecordState.DUPLICATE_ANCHOR
        elif not body:
            problem, state = "A marker without text.", RecordState.ORPHAN_ANCHOR
        else:
            text = _text(data, body)
            title = record.title or _own_heading(body)
            whole = msgspec.structs.replace(record, text=text, title=title)
            end = following_line.start if following_line else len(data)
            records.append(_placed(whole, body, home.path, (line.start, end)))
            continue
        findings.append(Finding(state=state, line=line.number, problem=problem, memory_id=record.memory_id))
    return records, sorted(findings, key=lambda finding: finding.line)


def _legacy(data: bytes, lines: Sequence[_Line], home: FileHome) -> list[FileRecord]:
    """One record for each section that has a body. Its id comes from its place: scope, file, headings, ordinal."""
    front, rest = _front_matter(lines)
    named = next((match[2] for line in front if (match := _FRONT.fullmatch(line.text))), b"")
    path: list[tuple[int, str]] = []
    sections: list[tuple[tuple[str, ...], list[_Line]]] = [((), [])]
    for line in rest:
        heading = None if line.fenced else _HEADING.fullmatch(line.text)
        if heading is None:
            sections[-1][1].append(line)
            continue
        level, words = len(heading[1]), (heading[2] or b"").decode("utf-8").strip()
        path = [(upper, title) for upper, title in path if upper < level] + [(level, words)]
        sections.append((tuple(title for _, title in path), []))
    records: list[FileRecord] = []
    times: Counter[tuple[str, ...]] = Counter()
    for headings, content in sections:
        ordinal = times[headings]
        times[headings] += 1
        body = _trimmed(content)
        if not body:
            continue
        place = {"scope": home.scope.key, "file": home.relative, "headings": headings, "ordinal": ordinal}
        memory_id = short_id("mem_", place)
        record = MemoryRecord(
            memory_id=memory_id,
            anchor_id=f"memory:{memory_id}",
            kind=MemoryKind.SEMANTIC,
            scope=home.scope,
            text=_text(data, body),
            created_at=0,
            title=" > ".join(title for title in headings if title) or named.decode("utf-8").strip(" \t'\"") or None,
            origin=home.origin,
            state=RecordState.LEGACY,
        )
        records.append(_placed(record, body, home.path, (body[0].start, body[-1].end)))
    return records


def _placed(record: MemoryRecord, body: Sequence[_Line], path: str, block: tuple[int, int]) -> FileRecord:
    locator = MemoryLocator(
        memory_id=record.memory_id,
        anchor_id=record.anchor_id,
        source_file=path,
        source_version=0,
        line_start=body[0].number,
        line_end=body[-1].number,
        byte_start=body[0].start,
        byte_end=body[-1].end,
        record_digest=record_digest(record),
    )
    return FileRecord(record=record, locator=locator, start=block[0], end=block[1])


def _trimmed(lines: Sequence[_Line]) -> Sequence[_Line]:
    """The lines without blank ones at either end."""
    full = [place for place, line in enumerate(lines) if line.text.strip()]
    return lines[full[0] : full[-1] + 1] if full else ()


def _text(data: bytes, body: Sequence[_Line]) -> str:
    raw = data[body[0].start : body[-1].end]
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return raw.decode("utf-8")


def _own_heading(body: Sequence[_Line]) -> str | None:
    heading = _HEADING.fullmatch(body[0].text)
    return (heading[2] or b"").decode("utf-8").strip() or None if heading else None


def _front_matter(lines: Sequence[_Line]) -> tuple[Sequence[_Line], Sequence[_Line]]:
    """(lines inside the front matter, all lines after it)."""
    if lines and lines[0].text.rstrip() == b"---":
        for place, line in enumerate(lines[1:], start=1):
            if line.text.rstrip() in (b"---", b"..."):
                return lines[1:place], lines[place + 1 :]
    return (), lines


def _orphan_content(lines: Sequence[_Line]) -> Iterator[Finding]:
    """The first line before all markers that is more than front matter, a heading or a comment: nobody's text."""
    for line in _front_matter(lines)[1]:
        if line.text.strip() and not _HEADING.fullmatch(line.text) and not _COMMENT.fullmatch(line.text):
            yield Finding(state=RecordState.ORPHAN_CONTENT, line=line.number, problem="Text before the first marker.")
            return


def _swallowed(lines: Sequence[_Line]) -> Iterator[Finding]:
    """Markers inside a code fence are text; in a file with markers that may be an accident worth a word."""
    for line in lines:
        if line.fenced and looks_like_marker(line.text):
            problem = "A marker inside a code fence is text; close the fence above it if a record was meant."
            yield Finding(state=RecordState.ORPHAN_ANCHOR, line=line.number, problem=problem)


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
