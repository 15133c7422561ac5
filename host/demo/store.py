"""Writes a recording's store as the memory files that it would be: a folder a scope, a file a month."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from host.demo.recording import Stored, millis
from host.runtime import USER_KEY
from recall.contracts import MemoryRecord, Origin, ScopeRef
from recall.edits import append
from recall.files import Refused
from recall.markers import FileHome


def write_store(memories: Iterable[Stored], keys: Mapping[str, str], folder: Path) -> int:
    """Write every memory below `folder`; returns how many files that made.

    `keys`: workspace name -> workspace key. A memory of a workspace lands in the folder of its key, one of the user in
    the user's. Statuses, kinds and dates are kept; ids stay.
    """
    files: dict[Path, list[MemoryRecord]] = defaultdict(list)
    for memory in sorted(memories, key=lambda memory: (memory.created, memory.id)):
        record = _record(memory, keys)
        files[folder / record.scope.key / "records" / f"{memory.created[:7]}.md"].append(record)
    for path, records in files.items():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(_document(path, records))
    return len(files)


def _record(memory: Stored, keys: Mapping[str, str]) -> MemoryRecord:
    return MemoryRecord(
        memory_id=memory.id,
        anchor_id=f"memory:{memory.id}",
        kind=memory.kind,
        scope=ScopeRef(kind=memory.scope, key=USER_KEY if memory.workspace is None else keys[memory.workspace]),
        text=memory.text,
        created_at=millis(memory.created),
        status=memory.status,
    )


def _document(path: Path, records: list[MemoryRecord]) -> bytes:
    data = b""
    home = FileHome(path=str(path), relative=path.name, scope=records[0].scope, origin=Origin.USER)
    for record in records:
        grown = append(data, home, record)
        if isinstance(grown, Refused):
            raise ValueError(f"{record.memory_id} cannot be written: {grown.problem}")
        data = grown
    return data
