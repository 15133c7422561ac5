"""Decide upon a note in a process of its own, which kills itself at a named point, and tell what is there.

    python -m tests.reliability.deciding prepare FOLDER
    python -m tests.reliability.deciding keep|archive|replace FOLDER POINT
    python -m tests.reliability.deciding finish FOLDER
    python -m tests.reliability.deciding look FOLDER

`prepare` has a user say something, and a note of it wait beside an older memory; `replace` keeps the note in that
memory's place. `finish` is the next start.
"""

import asyncio
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.reliability.forming import killed_at
from tests.support.asking import Asking
from tests.support.formed import ON
from tests.support.noted import NOTE, SAID, a_note, said
from tests.support.reviewing import decide, waiting
from tests.support.world import a_world

OLD = "Releases ship on Tuesdays."
OLD_ID = f"mem_{1:032x}"


async def act(folder: Path, verb: str, point: str) -> None:
    async with a_world(folder / "data", formation=ON, fault=killed_at(point)) as world:
        remora, where = Asking(world), world.workspace()
        if verb == "prepare":
            await world.remember(OLD, where, memory_id=OLD_ID)
            await said(remora, where, SAID)
            await a_note(remora, where)
        elif verb == "finish":
            await remora.ask("memory.list", workspace=where)
            assert await world.parts.projector.drain() == 0, world.parts.projector.problem
        else:
            (one,) = await waiting(remora, where)
            replaces = {"replaces": [OLD_ID]} if verb == "replace" else {}
            await decide(remora, where, one["item"], "archive" if verb == "archive" else "keep", **replaces)


def look(folder: Path) -> dict[str, Any]:
    """What stands in the stores and files, read by nobody of ours."""
    data = folder / "data"
    with closing(sqlite3.connect(f"file:{data / 'governance.db'}?mode=ro", uri=True)) as connection:

        def rows(statement: str) -> list[Any]:
            return connection.execute(statement).fetchall()

        found = {
            "item": rows("SELECT state, revision FROM queue")[0],
            "decisions": rows("SELECT count(*) FROM decision")[0][0],
            "note": rows("SELECT version FROM note")[0][0],
            "lives": rows("SELECT state, count(*) FROM memory GROUP BY state"),
            "sources": rows("SELECT count(*) FROM memory_source")[0][0],
            "graves": rows("SELECT count(*) FROM tombstone")[0][0],
            "waits": rows("SELECT count(*) FROM outbox WHERE done_at IS NULL")[0][0],
        }
    files = "\n".join(path.read_text() for path in data.glob("memory/**/*.md"))
    lines = [json.loads(one)["line"] for path in data.glob("records/*.jsonl") for one in path.read_text().splitlines()]
    return found | {"text": files.count(NOTE), "superseded": files.count("superseded"), "lines": sorted(lines)}


def main() -> None:
    verb, folder, *rest = sys.argv[1:]
    if verb == "look":
        print(json.dumps(look(Path(folder))))
    else:
        asyncio.run(act(Path(folder), verb, rest[0] if rest else ""))


if __name__ == "__main__":
    main()
