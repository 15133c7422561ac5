"""A child process: whoever waits gets an answer or a fault, and the process is gone in the end."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from recall.child import MOST_WAITING, Child
from recall.errors import EngineFault
from recall.frames import Done, EngineState, EngineStatus, Hello, Report, frame
from tests.support.running_engines import SURROUNDINGS

ECHO = """
import os, sys
from recall.frames import *
frames = Frames()
while data := os.read(0, 65536):
    for one in frames.requests(data):
        os.write(1, frame(Report(status=EngineStatus(state=EngineState.READY, records=one.number))))
        os.write(1, frame(Done(number=one.number)))
"""
SILENT = "import sys; sys.stdin.read()"


class Heard:
    """What a child says unasked, and how it ended."""

    def __init__(self) -> None:
        self.statuses: list[EngineStatus] = []
        self.ends: list[str] = []


@asynccontextmanager
async def a_child(program: str, patience: float = 30.0) -> AsyncIterator[tuple[Child, Heard]]:
    heard = Heard()
    child = Child(heard.statuses.append, lambda _, problem: heard.ends.append(problem), patience)
    await child.start((sys.executable, "-c", program), SURROUNDINGS)
    try:
        async with asyncio.timeout(20):
            yield child, heard
    finally:
        child.give_up("The test is over.")
        async with asyncio.timeout(5):
            await child.gone.wait()


async def test_each_request_gets_its_own_answer() -> None:
    async with a_child(ECHO) as (child, heard):
        answers = await asyncio.gather(*(child.ask(Hello(number=child.number())) for _ in range(5)))

    assert answers == [Done(number=number) for number in range(1, 6)]
    assert [status.records for status in heard.statuses] == [1, 2, 3, 4, 5]


async def test_who_stops_waiting_spoils_nothing() -> None:
    async with a_child(ECHO) as (child, _):
        child.ask(Hello(number=child.number())).cancel()

        assert await child.ask(Hello(number=child.number())) == Done(number=2)


async def test_it_ends_by_itself_when_its_input_does() -> None:
    async with a_child(SILENT) as (child, heard):
        waiting = child.ask(Hello(number=1))
        child.dismiss()

        await child.gone.wait()
        with pytest.raises(EngineFault, match="stopped"):
            await waiting
        with pytest.raises(EngineFault, match="gone"):
            child.ask(Hello(number=2))
    assert heard.ends == []


def kill(child: Child) -> None:
    os.kill(child.pid, signal.SIGKILL)


def nothing(child: Child) -> None:
    pass


@pytest.mark.parametrize(
    ("program", "act", "patience", "problem"),
    [
        (SILENT, kill, 30, "ended|closed its pipe"),
        (SILENT, nothing, 0.0, "no answer"),
        ("print('Traceback (most recent call last):', flush=True); input()", nothing, 30, "announced|no message"),
        ("import os; os.close(1); input()", nothing, 30, "closed its pipe"),
        ("raise SystemExit(3)", nothing, 30, "ended|closed its pipe"),
    ],
    ids=["killed", "hangs", "garbage", "closes-its-pipe", "exits"],
)
async def test_a_process_that_is_of_no_use_is_reaped_and_said_once(
    program: str, act: Callable[[Child], None], patience: float, problem: str
) -> None:
    async with a_child(program, patience) as (child, heard):
        waiting = child.ask(Hello(number=1))
        act(child)

        with pytest.raises(EngineFault, match=problem):
            await waiting
        await child.gone.wait()
        assert len(heard.ends) == 1
        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)


async def test_one_that_does_not_keep_up_is_asked_no_more() -> None:
    async with a_child(SILENT) as (child, _):
        for _ in range(MOST_WAITING):
            child.ask(Hello(number=child.number()))

        with pytest.raises(EngineFault, match="keep up"):
            child.ask(Hello(number=child.number()))


async def test_a_program_that_is_not_there_is_an_error() -> None:
    child = Child(lambda _: None, lambda *_: None, 1.0)

    with pytest.raises(FileNotFoundError):
        await child.start(("/nonexistent/program",), {})
    child.give_up("It never began.")
    assert child.gone.is_set() and child.pid == 0


def replies(*statuses: EngineStatus) -> Sequence[bytes]:
    return [frame(Report(status=status)) for status in statuses]


async def test_half_a_message_waits_for_its_other_half() -> None:
    heard = Heard()
    child = Child(heard.statuses.append, lambda *_: None, 1.0)
    (whole,) = replies(EngineStatus(state=EngineState.READY))

    child.pipe_data_received(1, whole[:5])
    assert heard.statuses == []
    child.pipe_data_received(1, whole[5:])

    assert [status.state for status in heard.statuses] == [EngineState.READY]
