"""Forget a kept note in a process of its own, which is killed before the nth write to a database or file.

    python -m tests.reliability.forgetting prepare|again FOLDER
    python -m tests.reliability.forgetting forget FOLDER N

`again` is the next start, and the person asks once more. Prints the id, and the files that hold the words.
"""

import asyncio
import itertools
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from host.database import SqliteDatabase
from tests.support.asking import Asking
from tests.support.formed import ON
from tests.support.noted import a_note, said
from tests.support.reviewing import decide
from tests.support.world import a_world

SECRET = "The vault of Heronsgate-4711 opens with the blue key."


def stopping(after: int) -> None:
    """Have this process killed before its nth write."""
    numbers = itertools.count(1)

    def counted(owner: Any, name: str) -> None:
        own = getattr(owner, name)

        async def act(self: Any, *given: Any, **more: Any) -> Any:
            if next(numbers) == after:
                os.kill(os.getpid(), signal.SIGKILL)
            return await own(self, *given, **more)

        setattr(owner, name, act)

    counted(SqliteDatabase, "write")


async def act(folder: Path, verb: str, number: int) -> None:
    async with a_world(folder / "data", formation=ON) as world:
        remora, where = Asking(world), world.workspace()
        kept = folder / "id"
        if verb == "prepare":
            await said(remora, where, SECRET)
            done = await decide(remora, where, await a_note(remora, where, SECRET, SECRET), "keep")
            kept.write_text(done["memoryId"])
            return
        if verb == "forget":
            await remora.ask("memory.list", workspace=where)
            stopping(number)
        await remora.ask("memory.forget", memoryId=kept.read_text(), workspace=where)
        await world.parts.projector.drain()


def main() -> None:
    verb, folder, *rest = sys.argv[1:]
    asyncio.run(act(Path(folder), verb, int(rest[0]) if rest else 0))
    words = SECRET.split()[3].encode()
    data = Path(folder) / "data"
    held = [path.name for path in data.rglob("*") if path.is_file() and words in path.read_bytes()]
    print(json.dumps([name for name in held if not name.startswith("log.db")]))


if __name__ == "__main__":
    main()
