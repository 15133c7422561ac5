"""Edits of a memory file's bytes: append, replace, remove (M-06). Pure; what they do not touch stays byte for byte.

Every edit is checked by reading its result back: the other records are what they were, the new one is exactly what was
meant, and nothing doubtful came up. So a text cannot forge a marker, end a fence early or hide its neighbour.
"""

from collections.abc import Sequence

import msgspec

from recall.contracts import MemoryRecord, RecordState
from recall.files import FileRecord, ParsedFile, RefusalKind, Refused, parse, unclosed_fence
from recall.lines import BOM
from recall.markers import FileHome, marker_line

EditResult = bytes | Refused


def append(data: bytes, home: FileHome, record: MemoryRecord) -> EditResult:
    """The file with one more record at its end. No other record moves."""
    done = append_all(data, home, [record])
    if isinstance(done, Refused):
        return done
    after, (refused,) = done
    return after if refused is None else refused


def append_all(
    data: bytes, home: FileHome, records: Sequence[MemoryRecord]
) -> tuple[bytes, tuple[Refused | None, ...]] | Refused:
    """The file with these records at its end, and for each of them why it is not there, or None. A Refused alone when
    the file can take none. The file is read once before and once after, however many they are."""
    before = parse(data, home)
    unusable = _not_editable(before, home)
    if unusable is not None:
        return unusable
    known = _known(before)
    meant: list[MemoryRecord | Refused] = []
    for record in records:
        if record.memory_id in known:
            problem = f"{record.memory_id} is in {home.relative} already."
            meant.append(Refused(kind=RefusalKind.DUPLICATE, problem=problem))
            continue
        known.add(record.memory_id)
        meant.append(_meant(record, home))
    good = [one for one in meant if isinstance(one, MemoryRecord)]
    blocks = [render(one, home, before.newline) for one in good]
    after = _ended(data, before.newline) + before.newline.encode().join(blocks) if blocks else data
    checked = _checked(after, home, before, [*_records(before), *good])
    if isinstance(checked, Refused):
        return checked if len(records) == 1 else _one_by_one(data, home, records)
    return after, tuple(one if isinstance(one, Refused) else None for one in meant)


def _one_by_one(
    data: bytes, home: FileHome, records: Sequence[MemoryRecord]
) -> tuple[bytes, tuple[Refused | None, ...]]:
    """Records that cannot stand together (halves of a conflict, say): as many of them as can."""
    refused: list[Refused | None] = []
    for record in records:
        done = append(data, home, record)
        if isinstance(done, Refused):
            refused.append(done)
        else:
            data = done
            refused.append(None)
    return data, tuple(refused)


def _ended(data: bytes, newline: str) -> bytes:
    """The file with a blank line at its end, if anything stands in it."""
    if not data.removeprefix(BOM).strip():
        return data
    data = data if data.endswith((b"\n", b"\r")) else data + newline.encode()
    return data if data.endswith((b"\n\n", b"\n\r\n", b"\r\r")) else data + newline.encode()


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
    if home.provider or any(known.state is RecordState.LEGACY for known in _records(parsed)):
        return Refused(kind=RefusalKind.READ_ONLY, problem=f"{home.relative} has no records of ours and is read-only.")
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
