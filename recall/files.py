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
from recall.markers import FileHome, Malformed, looks_like_marker, marker_line, read_marker

LARGEST = 5 * 1024 * 1024
BOM = b"\xef\xbb\xbf"

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_CONFLICT = re.compile(rb"(<<<<<<<|=======|>>>>>>>)(?:[ \t].*)?")
_FRONT = re.compile(rb"(description|title|name):[ \t]*(.+)")
_HIDDEN = re.compile(rb"[ \t]*<!--.*-->[ \t]*")


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
    """A record and where it stands. `start`, `end`: all bytes of its block, marker and trailing blank lines included."""

    record: MemoryRecord
    locator: MemoryLocator
    start: int
    end: int


class ParsedFile(Frozen, frozen=True, kw_only=True):
    """What a file holds. `refused`: not-utf-8 | binary | too-large | conflict-markers; then there are no records."""

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
        lines = _fenced(list(_lines(data)))
        reason = "conflict-markers" if _conflicted(lines) else None
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


def _fenced(lines: Sequence[_Line]) -> list[_Line]:
    """The lines with those inside a closed code fence marked. A fence that nothing closes hides nothing."""
    found = list(lines)
    opened: tuple[int, bytes] | None = None  # (place, fence characters)
    for place, line in enumerate(lines):
        match = _FENCE.fullmatch(line.text)
        if match is None:
            continue
        if opened is None:
            if match[1][:1] != b"`" or b"`" not in match[2]:
                opened = place, match[1]
        elif match[1].startswith(opened[1]) and not match[2].strip():
            for inner in range(opened[0], place + 1):
                found[inner] = msgspec.structs.replace(lines[inner], fenced=True)
            opened = None
    return found


def _conflicted(lines: Iterable[_Line]) -> bool:
    """Whether git left a conflict: its three markers in order. A text about conflicts keeps them in a code fence."""
    wanted = itertools.cycle([b"<<<<<<<", b"=======", b">>>>>>>"])
    expected = next(wanted)
    for line in lines:
        match = None if line.fenced else _CONFLICT.fullmatch(line.text)
        if match is not None and match[1] == expected:
            if expected == b">>>>>>>":
                return True
            expected = next(wanted)
    return False


def _anchored(
    data: bytes, lines: Sequence[_Line], marks: Sequence[int], home: FileHome
) -> tuple[list[FileRecord], list[Finding]]:
    findings = [
        Finding(state=RecordState.ORPHAN_CONTENT, line=line.number, problem="Text before the first marker.")
        for line in _first_content(lines[: marks[0]])
    ]
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
