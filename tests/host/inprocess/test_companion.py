"""Whatever the daemon does, an exchange ends soon and raises nothing; what it missed is told when it is there again."""

import asyncio
import contextlib
import socket
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host import launch as launching
from host.errors import ProtocolFault
from host.inprocess import companion as module
from host.inprocess.companion import Companion
from host.inprocess.outbox import CALL_BYTES
from host.inprocess.talk import Call
from host.protocol import refusal
from host.sockets import bind, leave_stopped
from tests.host.inprocess.daemons import Scripted, listening, scripted
from tests.support.methods import FakeMethods


def told(number: int) -> Call:
    return Call(method="event.append", params={"events": ({"eventId": f"e{number}"},), "host": "h"})


CLAIM = Call(method="inbox.claim", params={"sessionId": "s", "agentId": "main"})


def ids(daemon: Scripted) -> list[str]:
    return [event["eventId"] for event in daemon.events]


@pytest.fixture
def path(run_dir: Path) -> Path:
    return run_dir / "s"


@pytest.fixture
def companion(path: Path) -> Companion:
    return Companion("/project", socket=path, seconds=5)


async def both(companion: Companion, *calls: Call) -> list[msgspec.Raw | None]:
    """The exchange in both colours, one after the other."""
    return [await companion.exchange(calls), await asyncio.to_thread(companion.exchange_sync, calls)]


# ---------------------------------------------------------------------------------------------------------- all is well


async def test_calls_are_made_in_order_and_the_last_one_answers(companion: Companion, path: Path) -> None:
    async with scripted(path) as daemon:
        daemon.packets = ["one", "two"]
        answers = await both(companion, told(1), CLAIM)

    assert daemon.methods == ["event.append", "inbox.claim"] * 2
    given = [msgspec.json.decode(answer)["packet"]["rendered"] for answer in answers if answer is not None]
    assert given == ["one", "two"]
    assert companion.problem == ""


async def test_a_daemon_that_was_started_again_is_simply_found(companion: Companion, path: Path) -> None:
    for _ in range(2):
        async with scripted(path) as daemon:
            assert None not in await both(companion, told(1))
            assert ids(daemon) == ["e1", "e1"]


async def test_nothing_to_say_asks_nothing(companion: Companion) -> None:
    assert await both(companion) == [None, None]
    assert companion.problem == ""


def test_a_companion_knows_where_it_is_and_when(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = Companion(), Companion("sub")

    assert (one.workspace, other.workspace) == (str(tmp_path), str(tmp_path / "sub"))
    assert one.now() > 1_700_000_000_000
    made = {one.mark(), one.mark(), other.mark()}
    monkeypatch.setattr("host.inprocess.companion.os.getpid", lambda: 7)  # a server that forks its workers
    assert len({*made, one.mark(), other.mark()}) == 5
    assert Companion(seconds=0.1).wait_ms == 50 and one.wait_ms == 150


# ------------------------------------------------------------------------------------------------------------ no daemon


async def test_what_nobody_heard_is_told_first_the_next_time(companion: Companion, path: Path) -> None:
    assert await both(companion, told(1), CLAIM) == [None, None]
    assert "start" in companion.problem
    async with scripted(path) as daemon:
        await companion.exchange([told(2)])

    assert ids(daemon) == ["e1", "e1", "e2"]
    assert daemon.methods == ["event.append"] * 3, "a claim of a request that has gone is not repeated"
    assert companion.problem == ""


async def test_no_more_is_kept_than_fits(companion: Companion, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.inprocess.outbox.KEPT_BYTES", 3 * CALL_BYTES)
    for number in range(8):
        await companion.exchange([told(number)])
    async with scripted(path) as daemon:
        await companion.exchange([told(8)])

    assert ids(daemon) == ["e5", "e6", "e7", "e8"]


async def test_a_socket_that_is_not_safe_is_not_used(companion: Companion, path: Path) -> None:
    async with scripted(path) as daemon:
        path.parent.chmod(0o777)
        answers = await both(companion, told(1))
        path.parent.chmod(0o700)

    assert answers == [None, None] and daemon.told == []
    assert "not safe" in companion.problem


# ------------------------------------------------------------------------------------------------ a daemon that is slow


@pytest.mark.parametrize("colour", ["async", "sync"])
async def test_one_that_does_not_answer_costs_one_time_out_and_is_then_left_alone(path: Path, colour: str) -> None:
    companion = Companion("/project", socket=path, seconds=0.3)
    methods = FakeMethods()
    wait = Call(method="wait", params={})
    async with listening(path, methods):
        if colour == "async":
            first = await companion.exchange([wait])
        else:
            first = await asyncio.to_thread(companion.exchange_sync, [wait])
        problem, asked = companion.problem, len(methods.asked)
        later = await both(companion, wait)

    assert first is None and later == [None, None]
    assert "does not answer" in problem
    assert len(methods.asked) == asked == 1


async def test_after_the_pause_it_is_asked_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    companion = Companion("/project", socket=path, seconds=0.05)
    companion._pause = 0.0
    silent = bind(path)
    assert await companion.exchange([told(1)]) is None
    silent.close()
    path.unlink()
    async with scripted(path) as daemon:
        await companion.exchange([told(2)])

    assert ids(daemon) == ["e1", "e2"]


async def test_a_cancelled_exchange_is_cancelled_and_tells_later_what_it_had_to_tell(
    companion: Companion, path: Path
) -> None:
    methods = FakeMethods()
    async with listening(path, methods):
        asking = asyncio.create_task(companion.exchange([Call(method="wait", params={}), told(1)]))
        await methods.waiting.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    async with scripted(path) as daemon:
        await companion.exchange([told(2)])

    assert ids(daemon) == ["e1", "e2"]


async def test_what_is_given_back_goes_at_once_or_later(companion: Companion, path: Path) -> None:
    await asyncio.to_thread(companion.give_back, [told(1)])
    async with scripted(path) as daemon:
        await asyncio.to_thread(companion.give_back, [told(2)])
        companion.give_back([])

    assert ids(daemon) == ["e1", "e2"]


# ----------------------------------------------------------------------------------------- a daemon that does not agree


async def test_of_several_events_the_one_that_is_refused_is_left_out(companion: Companion, path: Path) -> None:
    several = Call(method="event.append", params={"events": ({"eventId": "e1"}, {"eventId": "e2"}), "host": "h"})
    conflict = refusal("conflict", "It differs.", "Send another.")
    async with scripted(path) as daemon:
        daemon.faults["event.append"] = [conflict, conflict]
        answer = await companion.exchange([several])
        daemon.faults["event.append"] = [conflict, conflict]
        await asyncio.to_thread(companion.exchange_sync, [several])

    assert ids(daemon) == ["e2", "e2"] and answer is not None
    assert "It differs." in companion.problem


async def test_what_cannot_be_stored_now_is_told_again(companion: Companion, path: Path) -> None:
    async with scripted(path) as daemon:
        daemon.faults["event.append"] = [refusal("store-unavailable", "The disk is full.", "Make room.")]
        assert await companion.exchange([told(1)]) is None
        assert "full" in companion.problem
        await companion.exchange([told(2)])

    assert ids(daemon) == ["e1", "e2"]


# ------------------------------------------------------------------------------------------------------------- starting


class Starts:
    """Stands in for starting a daemon's process: counts, and says that one runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, problem: ProtocolFault | None = None) -> None:
        self.count = 0
        self.done = threading.Event()
        self._problem = problem
        monkeypatch.setattr(module, "launch", self._launch)
        monkeypatch.setattr(module, "wait_until_ready", self._ready)

    def _launch(self, options: Any, environment: Any, log: Path) -> Any:
        self.count += 1

        class Launched:
            class process:
                wait = staticmethod(lambda: 0)

        return Launched

    def _ready(self, launched: Any, socket: Path) -> None:
        self.done.set()
        if self._problem is not None:
            raise self._problem


async def test_a_daemon_is_started_beside_once_in_a_while_when_that_is_wanted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = Starts(monkeypatch)
    companion = Companion("/project", socket=path, start=True)

    await both(companion, told(1))
    await both(companion, told(1))

    assert await asyncio.to_thread(starts.done.wait, 10)
    assert starts.count == 1


async def test_none_is_started_unless_that_is_wanted(companion: Companion, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = Starts(monkeypatch)
    await both(companion, told(1))

    assert not companion.ready() and "start" in companion.problem
    assert starts.count == 0


async def test_none_is_started_beside_that_a_person_stopped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that waits for it says itself that it is wanted."""
    starts = Starts(monkeypatch)
    leave_stopped(path.parent)
    companion = Companion("/project", socket=path, start=True)

    await both(companion, told(1))

    assert companion._started_from <= companion._clock.micros() and starts.count == 0
    assert companion.ready() and starts.count == 1


async def test_a_program_may_wait_until_it_is_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = Starts(monkeypatch)
    companion = Companion("/project", socket=path, start=True)
    assert companion.ready() and starts.count == 1
    async with scripted(path):
        assert await asyncio.to_thread(companion.ready)
    assert starts.count == 1 and companion.problem == ""


def test_one_that_does_not_come_up_is_a_problem_and_no_exception(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Starts(monkeypatch, ProtocolFault("internal", "The daemon ended with code 3.", "Look into its log."))
    companion = Companion("/project", socket=path, start=True)

    assert not companion.ready()
    assert "code 3" in companion.problem


def test_what_it_starts_is_what_the_command_line_starts() -> None:
    assert module.launch is launching.launch and module.wait_until_ready is launching.wait_until_ready


async def test_who_does_not_speak_our_protocol_is_silence(path: Path) -> None:
    companion = Companion("/project", socket=path, seconds=1)
    listening_socket = bind(path)
    listening_socket.setblocking(True)

    def babble() -> None:
        with contextlib.suppress(OSError):
            connected, _ = listening_socket.accept()
            with connected:
                connected.recv(65536)
                connected.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    threading.Thread(target=babble, daemon=True).start()
    answer = await companion.exchange([told(1)])
    with contextlib.suppress(OSError):
        listening_socket.shutdown(socket.SHUT_RDWR)
    listening_socket.close()

    assert answer is None and companion.problem
