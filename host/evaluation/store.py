"""The documents of a set as memory files in a temporary folder: what the library takes in like any others.

A document becomes one record, its number the record's id, so that equal scores are in the order of the set.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from host.evaluation.datasets import Document
from host.observer import readable
from recall.contracts import MemoryKind, MemoryRecord, Origin, ScopeRef
from recall.edits import append_all
from recall.files import Refused
from recall.markers import FileHome

RECORDS, BYTES = 200, 256 * 1024  # of a file


def memory_id(number: int) -> str:
    """The record's id of the document with that number."""
    return f"mem_{number:032x}"


def number_of(memory_id: str) -> int:
    """The number of the document behind a record's id."""
    return int(memory_id.removeprefix("mem_"), 16)


def write(folder: Path, documents: Sequence[Document], scope: ScopeRef, first: int) -> list[int]:
    """Write the documents, numbered from `first`; the numbers of those that no memory file can hold."""
    folder.mkdir(parents=True)
    home = FileHome(path="", relative="", scope=scope, origin=Origin.USER)
    left_out: list[int] = []
    for number, records in enumerate(_chunks(_records(documents, home, first))):
        data, refused = _file(records, home)
        if any(refused):  # something looks like a marker or a conflict: indented, it is text
            records = [_indented(one) if no else one for one, no in zip(records, refused, strict=True)]
            data, refused = _file(records, home)
        left_out += [number_of(one.memory_id) for one, no in zip(records, refused, strict=True) if no]
        (folder / f"{number:06d}.md").write_bytes(data)
    return left_out


def _records(documents: Iterable[Document], home: FileHome, first: int) -> Iterator[MemoryRecord]:
    for number, document in enumerate(documents, start=first):
        own = memory_id(number)
        yield MemoryRecord(
            memory_id=own,
            anchor_id=f"memory:{own}",
            kind=MemoryKind.SEMANTIC,
            scope=home.scope,
            text=readable(document.text),
            created_at=number,
            origin=home.origin,
        )


def _file(records: Sequence[MemoryRecord], home: FileHome) -> tuple[bytes, list[bool]]:
    """The file of these records, and for each whether it is refused."""
    done = append_all(b"", home, records)
    if isinstance(done, Refused):
        return b"", [True] * len(records)
    return done[0], [one is not None for one in done[1]]


def _indented(record: MemoryRecord) -> MemoryRecord:
    lines = "\n".join(f"    {line}" for line in record.text.splitlines())
    return msgspec.structs.replace(record, text=lines)


def _chunks(records: Iterable[MemoryRecord]) -> Iterator[list[MemoryRecord]]:
    """The records in files of bounded number and size."""
    held: list[MemoryRecord] = []
    size = 0
    for record in records:
        own = len(record.text.encode("utf-8"))
        if held and (len(held) == RECORDS or size + own > BYTES):
            yield held
            held, size = [], 0
        held.append(record)
        size += own
    if held:
        yield held
