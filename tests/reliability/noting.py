"""A program that notes a conversation window by window and saves each, and that kills itself where it is told to.

`python -m tests.reliability.noting FOLDER [POINT]`: goes on where the store in FOLDER says that the conversation is.
POINT is a named point of the commit, or the number of the SQL statement before which it sends itself SIGKILL; none:
it runs to its end. Each call of the model is a line in FOLDER/calls. Prints how many statements its commits took.
"""

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path

import msgspec

from governance.formation.contracts import ModelRequest, ModelResponse
from governance.formation.notes import extract_l1
from governance.formation.queue import Queue
from governance.formation.saving import Occasion, Saving
from governance.formation.store import notes
from governance.migrations import queue_steps
from host.database import open_database
from host.models.scripted import Scripted
from tests.support.clock import START
from tests.support.noting import SCOPE, STREAM, a_message, a_model, a_request, a_setting, candidate_of, submits

FILE, CALLS = "governance.db", "calls"
MESSAGES = tuple(a_message(number) for number in range(50))
REQUEST = a_request(*MESSAGES)
OCCASION = Occasion(at=START, scope_key=SCOPE, stream_id=STREAM)


class Written:
    """A model whose every call is on the disk before it answers: three notes of whichever window it is shown."""

    id = "scripted:written"

    def __init__(self, file: Path) -> None:
        self._file = file

    async def complete(self, request: ModelRequest) -> ModelResponse:
        shown = [one for one in MESSAGES if f'"messageId":"{one.id}"' in request.messages[0].content]
        new = [one for one in shown if f'"messageId":"{one.id}"' in _new_lines(request)]
        with self._file.open("a") as file:
            file.write(f"{new[0].id}\n")
            file.flush()
            os.fsync(file.fileno())
        model: Scripted = a_model(submits(*(candidate_of(one) for one in new[:3])))
        return await model.complete(request)


def _new_lines(request: ModelRequest) -> str:
    return "\n".join(line for line in request.messages[0].content.split("\n") if '"use":"new"' in line)


async def noted(folder: Path, point: str) -> int:
    """Note until nothing is left. Returns how many statements the commits took."""
    seen = 0

    def begins(_: str) -> None:
        nonlocal seen
        seen += 1
        if point == str(seen):
            os.kill(os.getpid(), signal.SIGKILL)

    def fault(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_database(folder / FILE, queue_steps()) as database:
        saving = Saving(database=database, queue=Queue(database, b"k" * 32), fault=fault)
        model = Written(folder / CALLS)
        while True:
            place = await database.read(lambda connection: notes.stream_of(connection, SCOPE, STREAM))
            if place is not None and place.continuation is None:
                return seen
            request = msgspec.structs.replace(REQUEST, continuation=None if place is None else place.continuation)
            result = await extract_l1(model, request, a_setting())
            await database.write(lambda connection: connection.set_trace_callback(begins))
            await saving.save(result, OCCASION)
            await database.write(_untraced)


def _untraced(connection: sqlite3.Connection) -> None:
    connection.set_trace_callback(None)


if __name__ == "__main__":
    print(asyncio.run(noted(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")))
