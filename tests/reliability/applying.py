"""A program that keeps a merge of two scenes, and puts it away again, and that kills itself where it is told to.

`python -m tests.reliability.applying FOLDER ACT [POINT]`: `prepare` makes two scenes and proposes to merge them; `keep`
and `archive` decide upon it; `settle` is what a start does. POINT is a named point of the work (`file:2` is the second
time it is met), or the number of the SQL statement before which it sends itself SIGKILL; none: it runs to its end.
Prints, as JSON, what stands there then.
"""

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from governance.migrations import queue_steps
from governance.review import Act
from host.database import open_database
from tests.support.clock import START, FakeClock
from tests.support.drafting import SUBMIT, WHY, a_scene, call, creates, reads
from tests.support.noting import SCOPE
from tests.support.shelved import Shelved

RELEASES, TESTS = a_scene(name="Releases"), a_scene(name="Tests")
MERGE: dict[str, Any] = {
    "sources": [RELEASES.id, TESTS.id],
    "into": RELEASES.id,
    "summary": "Both",
    "content": "Check.",
}


async def prepare(shelf: Shelved) -> None:
    for name in ("Releases", "Tests"):
        (item,) = await shelf.scenes(creates(name), SUBMIT)
        await shelf.kept(item)
    await shelf.scenes(reads(RELEASES), reads(TESTS), call("merge", **MERGE, **WHY), SUBMIT)


async def act(shelf: Shelved, name: str) -> None:
    if name == "prepare":
        await prepare(shelf)
    elif name == "settle":
        await shelf.documents.settle()
    elif name != "look":
        (merge,) = [one for one in await shelf.items() if one.target == "merge"]
        await shelf.decide(merge, Act(name))


async def stands(shelf: Shelved) -> dict[str, Any]:
    """The files, the item's state, how often it was decided, and the scenes with their versions and heat."""
    standing = await shelf.documents.standing(SCOPE)
    items = [await shelf.item(one.item_id) for one in await shelf.items() if one.target == "merge"]
    return {
        "files": shelf.files(),
        "hidden": sorted(path.name for path in shelf.folder.rglob(".*")),
        "items": [[one.state, len(one.decisions)] for one in items],
        "scenes": {one.name: [one.version, one.meta.heat] for one in standing.of(RELEASES.kind)},
        "missing": list(standing.missing),
    }


async def main(folder: Path, name: str, point: str) -> None:
    met: Counter[str] = Counter()
    statements = 0

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def fault(at: str) -> None:
        met[at] += 1
        if point in (at, f"{at}:{met[at]}"):
            die()

    def counted(_: str) -> None:
        nonlocal statements
        statements += 1
        if point == str(statements):
            die()

    clock = FakeClock(START + int(name != "prepare") * 60_000)
    async with open_database(folder / "governance.db", queue_steps()) as database:
        shelf = Shelved(folder, database, fault, clock)
        await database.write(lambda connection: sqlite3.Connection.set_trace_callback(connection, counted))
        await act(shelf, name)
        await database.write(lambda connection: sqlite3.Connection.set_trace_callback(connection, None))
        seen = statements
        print(json.dumps({"statements": seen, **await stands(shelf)}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""))
