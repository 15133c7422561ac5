"""Programs speak to the daemon: calls side by side, steps, notifications, and plain words when nobody answers."""

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.client import TOO_LARGE, Client, DaemonAbsent, DaemonSilent, Refused, call_sync, connect
from host.connection import Peer
from host.errors import SocketFault
from host.protocol import Request, decode_params
from host.sockets import Credentials, Listener, Lock, bind
from host.wire import Connections
from tests.support.builders import a_cursor, a_prompt
from tests.support.methods import FakeMethods, FakeShell


class Stepping(FakeMethods):
    """Also answers `step` and the inbox, as the real ones do."""

    def __init__(self) -> None:
        super().__init__()
        self.params: dict[str, Any] = {}
        self.packet: dict[str, Any] | None = None

    async def answer(self, request: Request, peer: Peer) -> object:
        if request.method == "step" or request.method.startswith("inbox."):
            self.params[request.method] = decode_params(request, dict[str, Any])
            done = {"accepted": 1, "duplicates": 0, "cursor": a_cursor(), "packet": self.packet}
            return done | ({"claimId": "c1"} if self.packet else {"reason": "none-pending"})
        return await super().answer(request, peer)


@pytest.fixture
async def methods(run_dir: Path) -> AsyncIterator[Stepping]:
    made = Stepping()
    connections = Connections(made, FakeShell(), "1", 8)
    listener = Listener(run_dir / "s", connections)
    await listener.open()
    yield made
    made.go.set()
    listener.close()
    await connections.drain(2)


@pytest.fixture
async def client(methods: Stepping, run_dir: Path) -> AsyncIterator[Client]:
    async with asyncio.timeout(10), connect(run_dir / "s") as made:
        yield made


# ----------------------------------------------------------------------------------------------------------- connected


async def test_a_call_gives_the_result(client: Client) -> None:
    assert await client.call("echo", {"a": 1}) == {"a": 1}
    assert await client.call_as(dict[str, int], "echo", {"a": 1}) == {"a": 1}


async def test_calls_side_by_side_get_their_own_answers(client: Client) -> None:
    answers = await asyncio.gather(*(client.call("echo", {"n": n}) for n in range(50)))

    assert answers == [{"n": n} for n in range(50)]


async def test_an_error_is_raised_with_the_daemons_own_words(client: Client) -> None:
    with pytest.raises(Refused) as caught:
        await client.call("fail")

    fault = caught.value
    assert (fault.kind, fault.code, fault.problem, fault.next_step) == (
        "conflict",
        -32000,
        "It differs.",
        "Send another.",
    )


async def test_a_step_reports_claims_and_settles(client: Client, methods: Stepping) -> None:
    methods.packet = {"packetId": "p1", "rendered": "remember", "items": []}

    done = await client.step([a_prompt("hi")], surface="post-tool", wait_ms=50, request_id="r1")
    await client.delivered(done)
    await client.release(done, "unused")

    assert done.packet is not None and done.packet.rendered == "remember"
    assert methods.params["step"]["claim"] == {"surface": "post-tool", "waitMs": 50, "requestId": "r1"}
    owner = {"sessionId": "session-1", "agentId": "main", "packetId": "p1", "claimId": "c1"}
    assert methods.params["inbox.delivered"] == owner
    assert methods.params["inbox.release"] == owner | {"reason": "unused"}


async def test_a_step_without_a_surface_claims_nothing(client: Client, methods: Stepping) -> None:
    done = await client.step([{"sessionId": "s", "agentId": "a"}])
    assert methods.params["step"]["host"] == "socket"
    await client.delivered(done)

    assert (done.packet, done.reason, done.owner) == (None, "none-pending", ("s", "a"))
    assert "claim" not in methods.params["step"] and "inbox.delivered" not in methods.params


async def test_a_step_says_what_the_agent_runs_in(client: Client, methods: Stepping) -> None:
    await client.step([a_prompt("hi")], surface="pre-step", host="langchain")

    assert methods.params["step"]["host"] == "langchain"


async def test_notifications_come_until_the_connection_ends(client: Client, methods: Stepping) -> None:
    await client.call("subscribe")
    methods.peers[-1].notify("tick", {"n": 2})
    heard = []
    with pytest.raises(Refused):
        await client.call("break")  # closes the connection

    async for notice in client.notifications():
        heard.append((notice.method, msgspec.json.decode(notice.params)))

    assert heard == [("tick", {"n": 1}), ("tick", {"n": 2})]
    with pytest.raises(DaemonAbsent):
        await client.call("echo")


async def test_a_connection_that_breaks_ends_the_calls_under_way(client: Client, methods: Stepping) -> None:
    calling = asyncio.create_task(client.call("wait"))
    await methods.waiting.wait()
    assert methods.peers[-1].notify("junk", msgspec.Raw(b'{"a":}'))

    with pytest.raises(DaemonAbsent, match="broke"):
        await calling


# ------------------------------------------------------------------------------------------------------------ one call


async def test_one_question_needs_no_loop(methods: Stepping, run_dir: Path) -> None:
    raw = await asyncio.to_thread(call_sync, run_dir / "s", "echo", {"a": "b\nc"})

    assert msgspec.json.decode(raw) == {"a": "b\nc"}
    with pytest.raises(Refused):
        await asyncio.to_thread(call_sync, run_dir / "s", "fail")


@pytest.mark.parametrize("letters", [1_000_000, 1_100_000, 4_194_304])
async def test_a_long_call_asks_for_long_frames_by_itself(
    methods: Stepping, client: Client, run_dir: Path, letters: int
) -> None:
    params = {"text": "x" * letters}

    alone = await asyncio.to_thread(call_sync, run_dir / "s", "echo", params)
    twice = [await client.call("echo", params) for _ in range(2)]

    assert msgspec.json.decode(alone) == params
    assert twice == [params, params]


async def test_a_call_that_no_daemon_takes_is_refused_before_it_is_sent(
    methods: Stepping, client: Client, run_dir: Path
) -> None:
    params = {"text": "x" * (4_194_304 + 65_536)}

    with pytest.raises(Refused) as alone:
        call_sync(run_dir / "s", "echo", params)
    with pytest.raises(Refused) as connected:
        await client.call("echo", params)

    assert alone.value.kind == connected.value.kind == TOO_LARGE
    assert await client.call("echo", {"a": 1}) == {"a": 1}


def _nothing(path: Path) -> None:
    """No file at all."""


def _stale(path: Path) -> None:
    bind(path).close()


@pytest.mark.parametrize("before", [_nothing, _stale])
async def test_no_daemon_is_said_plainly(run_dir: Path, before: Callable[[Path], None]) -> None:
    before(run_dir / "s")

    with pytest.raises(DaemonAbsent, match="start"):
        call_sync(run_dir / "s", "health")
    with pytest.raises(DaemonAbsent, match="start"):
        async with connect(run_dir / "s"):
            pass


async def test_no_folder_is_no_daemon_and_an_open_folder_is_not_trusted(run_dir: Path) -> None:
    with pytest.raises(DaemonAbsent):
        call_sync(run_dir / "none" / "s", "health")
    run_dir.chmod(0o777)
    with pytest.raises(SocketFault, match="not safe"):
        call_sync(run_dir / "s", "health")


def answering(path: Path, answer: bytes | None) -> socket.socket:
    """Something that accepts once, hears a line, and says `answer`; None: says nothing until it is closed."""
    listening = bind(path)
    listening.setblocking(True)

    def serve() -> None:
        with contextlib.suppress(OSError):
            connected, _ = listening.accept()
            with connected:
                connected.recv(65536)
                if answer is None:
                    connected.recv(1)
                else:
                    connected.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return listening


@pytest.mark.parametrize(
    ("answer", "fault"),
    [(None, DaemonSilent), (b"garbage\n", DaemonSilent), (b"", DaemonAbsent), (b'{"id":1,"res', DaemonAbsent)],
)
def test_who_does_not_speak_our_protocol_is_not_waited_for(
    run_dir: Path, answer: bytes | None, fault: type[Exception]
) -> None:
    with closing(answering(run_dir / "s", answer)), pytest.raises(fault):
        call_sync(run_dir / "s", "health", timeout=0.05)


async def test_a_socket_of_another_user_is_not_spoken_to(
    methods: Stepping, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = Credentials(os.getuid() + 1, 1)
    monkeypatch.setattr("host.client.credentials", lambda connected: stranger)

    with pytest.raises(SocketFault, match="Another user"):
        async with connect(run_dir / "s"):
            pass
    assert methods.asked == []


@pytest.mark.promise("field-cases")
def test_stopping_goes_through_the_socket_and_never_by_a_written_pid(run_dir: Path) -> None:
    """Case pid-file-reused: the lock file names an unrelated live process."""
    unrelated = threading.Event()
    lock = Lock(run_dir / "lock")
    assert lock.take() and lock.holder() == str(os.getpid())

    with pytest.raises(DaemonAbsent):
        call_sync(run_dir / "s", "shutdown")

    assert not unrelated.is_set(), "this very process, which the file names, lives on"
    lock.release()
