"""Edits of a memory file's bytes: append, replace, remove (M-06). Pure; what they do not touch stays byte for byte.

Every edit is checked by reading its result back: the other records are what they were, the new one is exactly what was
meant, and nothing doubtful came up. So a text cannot forge a marker, end a fence early or hide its neighbour.
"""

import msgspec

from recall.contracts import MemoryRecord, RecordState
from recall.files import BOM, FileRecord, ParsedFile, RefusalKind, Refused, parse, unclosed_fence
from recall.markers import FileHome, marker_line

EditResult = bytes | Refused


def append(data: bytes, home: FileHome, record: MemoryRecord) -> EditResult:
    """The file with one more record at its end. No other record moves."""
    before = parse(data, home)
    refused = _not_editable(before, home)
    if refused is not None:
        return refused
    if record.memory_id in _known(before):
        return Refused(kind=RefusalKind.DUPLICATE, problem=f"{record.memory_id} is in {home.relative} already.")
    meant = _meant(record, home)
    if isinstance(meant, Refused):
        return meant
    newline = before.newline.encode()
    head = data
    if head.removeprefix(BOM).strip():
        head = head if head.endswith((b"\n", b"\r")) else head + newline
        head = head if head.endswith((b"\n\n", b"\n\r\n", b"\r\r")) else head + newline
    after = head + render(meant, home, before.newline)
    return _checked(after, home, before, [*_records(before), meant])


def replace(data: bytes, home: FileHome, record: MemoryRecord) -> EditResult:
    """The file with the record of that id as given: marker and text, at the same place."""
    before = parse(data, home)
    old, meant = _find(before, record.memory_id, home), _meant(record, home)
    if isinstance(old, Refused):
        return old
    if isinstance(meant, Refused):
        return meant
    block = render(meant, home, before.newline).rstrip(b"\r\n")
    after = data[: old.start] + block + data[old.locator.byte_end :]
    wanted = [meant if known.memory_id == meant.memory_id else known for known in _records(before)]
    return _checked(after, home, before, wanted)


def remove(data: bytes, home: FileHome, memory_id: str) -> EditResult:
    """The file without that record: its marker, its text and the blank lines after it."""
    before = parse(data, home)
    old = _find(before, memory_id, home)
    if isinstance(old, Refused):
        return old
    head, tail = data[: old.start], data[old.end :]
    if not tail and head.removeprefix(BOM):
        head = head.rstrip(b"\r\n \t") + before.newline.encode()
    return _checked(head + tail, home, before, [known for known in _records(before) if known.memory_id != memory_id])


def render(record: MemoryRecord, home: FileHome, newline: str = "\n") -> bytes:
    """Marker line and text, as they stand in a file."""
    return f"{marker_line(record, home)}\n{record.text}\n".replace("\n", newline).encode("utf-8")


def _meant(record: MemoryRecord, home: FileHome) -> MemoryRecord | Refused:
    """The record as it will read back, with line ends made one and an open code fence closed; or why it cannot."""
    text = "\n".join(_without_blank_ends(record.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
    try:
        fence = unclosed_fence(text.encode("utf-8"))
        meant = msgspec.structs.replace(record, text=f"{text}\n{fence}" if fence else text, state=RecordState.ANCHORED)
        alone = parse(render(meant, home), home)
    except UnicodeEncodeError:
        return Refused(kind=RefusalKind.UNSAFE_TEXT, problem="The text holds a lone surrogate.")
    if alone.refused or alone.findings or len(alone.records) != 1:
        problem = (
            "The text cannot stand in a memory file: it is empty, or holds a marker line, conflict markers or NUL."
        )
        return Refused(kind=RefusalKind.UNSAFE_TEXT, problem=problem)
    back = alone.records[0].record
    if msgspec.structs.replace(back, title=None) != msgspec.structs.replace(meant, title=None):
        problem = "The record's attributes do not read back: its scope is wider than the folder's, or a value is odd."
        return Refused(kind=RefusalKind.UNSAFE_TEXT, problem=problem)
    return back


def _without_blank_ends(lines: list[str]) -> list[str]:
    full = [place for place, line in enumerate(lines) if line.strip(" \t\v\f")]
    return lines[full[0] : full[-1] + 1] if full else []


def _checked(after: bytes, home: FileHome, before: ParsedFile, wanted: list[MemoryRecord]) -> EditResult:
    """The result, if it reads back as `wanted` and has no finding that was not there."""
    parsed = parse(after, home)
    if parsed.refused:
        return Refused(kind=RefusalKind.UNUSABLE_FILE, problem=f"{home.relative} would be {parsed.refused}.")
    if _records(parsed) != wanted or len(parsed.findings) > len(before.findings):
        problem = f"The edit would change other records of {home.relative}; is a code fence left open in it?"
        return Refused(kind=RefusalKind.UNUSABLE_FILE, problem=problem)
    return after


def _not_editable(parsed: ParsedFile, home: FileHome) -> Refused | None:
    if parsed.refused:
        return Refused(kind=RefusalKind.UNUSABLE_FILE, problem=f"{home.relative} is {parsed.refused}; mend it first.")
    if any(known.state is RecordState.LEGACY for known in _records(parsed)):
        return Refused(kind=RefusalKind.READ_ONLY, problem=f"{home.relative} has no markers and is read-only.")
    return None


def _find(parsed: ParsedFile, memory_id: str, home: FileHome) -> FileRecord | Refused:
    refused = _not_editable(parsed, home)
    if refused is not None:
        return refused
    found = next((known for known in parsed.records if known.record.memory_id == memory_id), None)
    return found or Refused(kind=RefusalKind.NOT_FOUND, problem=f"{memory_id} is not in {home.relative}, or not once.")


def _known(parsed: ParsedFile) -> set[str]:
    return {known.memory_id for known in _records(parsed)} | {f.memory_id for f in parsed.findings if f.memory_id}


def _records(parsed: ParsedFile) -> list[MemoryRecord]:
    return [known.record for known in parsed.records]
