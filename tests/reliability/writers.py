"""Programs that write while a daemon runs: an editor that rewrites files over and over, and an agent that remembers.

`python -m tests.reliability.writers edit FOLDER STOP`: rewrites FILES files in turn, one way after the other (through a
temporary file and a rename; in place, cut to nothing and written in two pieces) until the file STOP exists; prints the
number of the last round.
`python -m tests.reliability.writers append SOCKET WORKSPACE NAME COUNT`: remembers COUNT records through a connection
of its own; prints {memory id: text} of what was acknowledged.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from recall.contracts import MemoryRecord, Origin, ScopeRef
from recall.edits import render
from recall.markers import FileHome
from tests.support.builders import a_memory, a_memory_id, a_user_scope
from tests.support.daemon import Wire

FILES = 4
RECORDS = 6  # of each file
PAUSE = 0.004
FIRST = 1_000  # number of the first record of the editor's files


def edited(file: int, turn: int) -> bytes:
    """What the editor writes: the same ids every time, their texts, lengths and order another one."""
    records = [
        a_memory(
            f"Edited file {file}, note {number}: quagga count, turn {turn}.{' And more.' * ((turn + number) % 4)}",
            memory_id=a_memory_id(FIRST + file * 100 + number),
            scope=a_user_scope(),
        )
        for number in range(RECORDS)
    ]
    shift = turn % RECORDS
    return rendered([*records[shift:], *records[:shift]], a_user_scope())


def rendered(records: Sequence[MemoryRecord], scope: ScopeRef) -> bytes:
    """A memory file of these records, for a folder of that scope."""
    home = FileHome(path="/m/a.md", relative="a.md", scope=scope, origin=Origin.USER)
    return b"\n".join(render(record, home) for record in records)


def name_of(file: int) -> str:
    return f"edited-{file}.md"


def half(data: bytes) -> bytes:
    """The first piece of a file that is written in place."""
    return data[: len(data) * 2 // 3]


def edit(folder: Path, stop: Path) -> int:
    turn = 0
    while not stop.exists():
        turn += 1
        for file in range(FILES):
            path, data = folder / name_of(file), edited(file, turn)
            if (turn + file) % 2:
                temporary = path.with_name(f".{path.name}.swp")
                temporary.write_bytes(data)
                temporary.rename(path)
            else:
                with path.open("wb", buffering=0) as stream:
                    stream.write(half(data))
                    os.sched_yield()
                    stream.write(data[len(half(data)) :])
            time.sleep(PAUSE)
    return turn


def append(socket: Path, workspace: str, name: str, count: int) -> dict[str, str]:
    kept = {}
    with Wire(socket) as wire:
        for number in range(count):
            text = (
                f"{name}{number} {name}: the switch {name}x{number} stays down before lot {name}y{number * 7} is cast."
            )
            kept[wire.call("memory.remember", text=text, workspace=workspace)["memoryId"]] = text
    return kept


if __name__ == "__main__":
    if sys.argv[1] == "edit":
        print(edit(Path(sys.argv[2]), Path(sys.argv[3])))
    else:
        print(json.dumps(append(Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))))
