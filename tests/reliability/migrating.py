"""A program that is killed while it brings a database up to date, wherever it can be.

`python -m tests.reliability.migrating SOURCE FOLDER`: opens copies of SOURCE with the main schema as a daemon does,
each in a process of its own that sends itself SIGKILL before the first, the second … statement that SQLite runs for
it, until one comes to its end. Leaves the copies in FOLDER, named by the statement, and prints how many were killed.
"""

import asyncio
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from host import database
from host.main_tables import main_schema


async def opened(path: Path, stop_before: int) -> None:
    """Open the database, or die before that statement."""
    seen = 0
    prepare = database._prepare

    def watched(connection: sqlite3.Connection, file: Path, migrations: Sequence[str], durable: bool) -> None:
        def begins(_: str) -> None:
            nonlocal seen
            seen += 1
            if seen == stop_before:
                os.kill(os.getpid(), signal.SIGKILL)

        connection.set_trace_callback(begins)
        prepare(connection, file, migrations, durable)
        connection.set_trace_callback(None)

    database._prepare = watched
    async with database.open_database(path, main_schema()):
        pass


def killed(source: Path, copy: Path, stop_before: int) -> bool:
    """Whether it was killed there; else it had come to its end before, and left no copy."""
    shutil.copy(source, copy)
    child = os.fork()
    if child == 0:
        asyncio.run(opened(copy, stop_before))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


if __name__ == "__main__":
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    number = 1
    while killed(source, folder / f"{number}.db", number):
        number += 1
    print(number - 1)
