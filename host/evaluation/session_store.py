"""Writes a recording's store as the memory files that it would be: a folder a scope, a file a month."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from host.errors import RemoraError
from host.evaluation.sessions import Stored, millis
from host.runtime import USER_KEY
from recall.canonical import short_id
from recall.contracts import MemoryRecord, Origin, Scope, ScopeRef
from recall.edits import append
from recall.files import Refused
from recall.markers import FileHome

_OURS = re.compile(r"mem_[0-9a-f]{32}\Z")


def stored_id(memory_id: str) -> str:
    """The id that a memory of the recording has in its file: its own, if a file can hold it."""
    return memory_id if _OURS.match(memory_id) else short_id("mem_", {"recorded": memory_id})


def write_store(memories: Iterable[Stored], keys: Mapping[str, str], folder: Path) -> int:
    """Write every memory below `folder`; returns how many files that made.

    `keys`: workspace name -> workspace key. A memory of a workspace lands in the folder of its key, one of the user in
    the user's. Statuses, kinds and dates are kept. Raises RemoraError for a text that no memory file can hold.
    """
    files: dict[Path, list[MemoryRecord]] = defaultdict(list)
    for memory in sorted(memories, key=lambda memory: (millis(memory.created), memory.id)):
        record = _record(memory, keys)
        files[folder / record.scope.key / "records" / f"{memory.created[:7]}.md"].append(record)
    for path, records in files.items():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(_document(path, records))
    return len(files)


def _record(memory: Stored, keys: Mapping[str, str]) -> MemoryRecord:
    own = stored_id(memory.id)
    user = memory.scope is Scope.USER or memory.workspace is None
    return MemoryRecord(
        memory_id=own,
        anchor_id=f"memory:{own}",
        kind=memory.kind,
        scope=ScopeRef(kind=memory.scope, key=USER_KEY if user else keys[memory.workspace or ""]),
        text=memory.text,
        created_at=millis(memory.created),
        status=memory.status,
    )


def _document(path: Path, records: list[MemoryRecord]) -> bytes:
    data = b""
    home = FileHome(path=str(path), relative=path.name, scope=records[0].scope, origin=Origin.USER)
    for record in records:
        grown = append(data, home, record)
        if isinstance(grown, Refused):  # something looks like a marker or a conflict: indented, it is text
            grown = append(data, home, msgspec.structs.replace(record, text=_indented(record.text)))
        if isinstance(grown, Refused):
            raise RemoraError(f"The memory {record.memory_id} cannot be written: {grown.problem}")
        data = grown
    return data


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
