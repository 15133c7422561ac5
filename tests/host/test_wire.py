"""A connection answers in order, in bounds, and never lets one client stand in another's way."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host import wire
from host.namespace import PROTOCOL, name
from host.protocol import FRAME_BYTES, LARGE_FRAMES
from host.wire import HALF_FRAME_SECONDS, IDLE_SECONDS
from tests.support.frames import append, frames
from tests.support.served import ServedSocket


@pytest.fixture
async def world(run_dir: Path) -> AsyncIterator[ServedSocket]:
    made = ServedSocket(run_dir / "s", 8)
    await made.listener.open()
    yield made
    made.methods.go.set()
    made.listener.close()
    await made.connections.drain(2)
    assert len(made.connections) == 0


async def test_a_request_is_answered(world: ServedSocket) -> None:
    async with world.client() as client:
        assert await client.ask("echo", a=[1]) == {"jsonrpc": "2.0", "id": 1, "result": {"a": [1]}}

    (peer,) = world.methods.peers
    assert (peer.uid, peer.pid) == (os.getuid(), os.getpid())


async def test_pipelined_requests_are_answered_in_order(world: ServedSocket) -> None:
    async with world.client() as client:
        for number in range(200):
            client.send("echo" if number % 3 else "fail", number)
        answers = [await client.receive() for _ in range(200)]

    assert [answer["id"] for answer in answers] == list(range(200))
    assert all(("error" in answer) is (answer["id"] % 3 == 0) for answer in answers)


async def test_a_waiting_request_does_not_hold_up_another_connection(world: ServedSocket) -> None:
    async with world.client() as slow, world.client() as quick:
        slow.send("wait")
        await world.methods.waiting.wait()

        assert (await quick.ask("echo"))["result"] == {}
        world.methods.go.set()
        assert (await slow.receive())["result"] == "waited"


async def test_hello_says_what_we_are_and_can(world: ServedSocket) -> None:
    async with world.client() as client:
        said = (await client.ask("hello", client="test", protocol=PROTOCOL, capabilities=["x"]))["result"]
        await client.ask("echo")

    assert (said["server"], said["version"], said["protocol"], said["channel"]) == (name(), "1.2", PROTOCOL, "pre")
    assert said["limits"]["frameBytes"] == FRAME_BYTES and LARGE_FRAMES in said["capabilities"]
    assert (world.methods.peers[0].client, world.methods.peers[0].capabilities) == ("test", frozenset({"x"}))


async def test_another_protocol_is_refused(world: ServedSocket) -> None:
    async with world.client() as client:
        answer = await client.ask("hello", protocol="other/9")

    assert answer["error"]["data"]["kind"] == "unsupported-protocol"


async def test_large_frames_come_with_hello(world: ServedSocket) -> None:
    text = "x" * (FRAME_BYTES + 10)
    async with world.client() as client:
        await client.ask("hello", capabilities=[LARGE_FRAMES])

        assert (await client.ask("echo", text=text))["result"] == {"text": text}


async def test_shutdown_is_answered_and_begins_the_end(world: ServedSocket) -> None:
    async with world.client() as client:
        assert (await client.ask("shutdown"))["result"] == {"stopping": True}

    assert world.shell.stopped.is_set()


async def test_notifications_reach_the_client_and_end_with_it(world: ServedSocket) -> None:
    async with world.client() as client:
        client.send("subscribe")
        assert await client.receive() == {"jsonrpc": "2.0", "method": "tick", "params": {"n": 1}}
        assert (await client.receive())["result"] == {"subscribed": True}
        (peer,) = world.methods.peers
    async with asyncio.timeout(5):
        await peer.closed.wait()

    assert not peer.notify("tick", {})


async def test_a_notification_of_the_client_is_done_and_not_answered(world: ServedSocket) -> None:
    async with world.client() as client:
        client.writer.write(b'{"jsonrpc":"2.0","method":"hand"}\n')
        await client.ask("echo")

    assert world.methods.asked == ["hand", "echo"]
    assert world.methods.settled == ["lost"]


async def test_a_client_that_has_said_all_still_gets_its_answers(world: ServedSocket) -> None:
    async with world.client() as client:
        client.send("echo")
        client.writer.write_eof()

        assert (await client.receive())["result"] == {}
        assert await client.receive() is None


# -------------------------------------------------------------------------------------------------- written, or lost


async def test_what_follows_an_answer_happens_after_it_was_written(world: ServedSocket) -> None:
    async with world.client() as client:
        await client.ask("hand")
        await client.ask("echo")

    assert world.methods.settled == ["written"]


async def test_an_answer_that_nobody_waits_for_is_lost(world: ServedSocket) -> None:
    async with world.client() as client:
        client.send("wait")
        await world.methods.waiting.wait()
        client.writer.transport.abort()
    world.methods.go.set()
    await world.connections.drain(5)

    assert world.methods.settled == ["lost"]


async def test_a_result_that_is_no_json_is_an_internal_error_and_lost(world: ServedSocket) -> None:
    async with world.client() as client:
        assert (await client.ask("odd"))["error"]["code"] == -32603

    assert world.methods.settled == ["lost"]


async def test_an_answer_counts_as_written_only_when_its_last_byte_left(world: ServedSocket) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        client.connect(str(world.listener.path))
        client.send(b'{"jsonrpc":"2.0","id":1,"method":"large","params":{"bytes":400000}}\n')
        async with world.client() as other, asyncio.timeout(10):
            while "large" not in world.methods.asked:
                await other.ask("echo")
            await other.ask("echo")
            before = list(world.methods.settled)
            while not world.methods.settled:
                await loop.sock_recv(client, 65536)

    assert (before, world.methods.settled) == ([], ["written"])


async def test_a_failing_method_is_an_internal_error_without_its_words_and_closes(world: ServedSocket) -> None:
    async with world.client() as client:
        answer = await client.ask("break")
        assert answer["error"]["data"]["kind"] == "internal"
        assert await client.receive() is None
    async with world.client() as client:
        assert (await client.ask("echo"))["result"] == {}

    assert "canary" not in json.dumps([answer, world.shell.lines])
    assert world.shell.lines[0]["error"] == "RuntimeError"


@pytest.mark.promise("bad-input")
async def test_every_adversarial_frame_gets_an_answer_or_a_closed_connection_and_the_next_client_is_served(
    world: ServedSocket,
) -> None:
    for kind, _, data in frames():
        async with world.client() as client:
            client.writer.write(data + b"\n" if b"\n" not in data else data.replace(b"\n", b" ") + b"\n")
            client.writer.write_eof()
            answers = 0
            while (answer := await client.receive()) is not None:
                assert "error" in answer, kind
                answers += 1
            assert answers == 1 or kind in ("empty", "blank"), kind
        async with world.client() as client:
            assert (await client.ask("echo"))["result"] == {}


@pytest.mark.promise("bad-input")
async def test_a_frame_too_large_is_answered_and_the_connection_closed(world: ServedSocket) -> None:
    async with world.client() as client:
        client.writer.write(append(b"x" * (2 * FRAME_BYTES)))
        assert (await client.receive())["error"]["data"]["kind"] == "frame-too-large"
        assert await client.receive() is None
        client.send("echo")

    async with world.client() as client:
        assert (await client.ask("echo"))["result"] == {}
    assert world.methods.asked == ["echo"]


async def test_who_never_ends_a_line_that_is_too_large_is_cut_off(world: ServedSocket) -> None:
    async with world.client() as client:
        client.writer.write(b"x" * (FRAME_BYTES + 1))
        assert (await client.receive())["error"]["data"]["kind"] == "frame-too-large"

        world.connections.sweep(asyncio.get_running_loop().time() + HALF_FRAME_SECONDS + 1)

        assert await client.receive() is None
    assert world.connections.counts["timed-out"] == 1


@pytest.mark.promise("bad-input")
async def test_a_malformed_line_leaves_the_connection_usable(world: ServedSocket) -> None:
    async with world.client() as client:
        client.writer.write(b"nonsense\n[]\n{}\n")
        kinds = [(await client.receive())["error"]["data"]["kind"] for _ in range(3)]
        assert (await client.ask("no.such"))["error"]["code"] == -32601
        assert (await client.ask("echo"))["result"] == {}

    assert kinds == ["parse-error", "batch-refused", "invalid-request"]
    assert world.connections.counts["parse-error"] == 1


@pytest.mark.promise("bad-input")
async def test_a_client_that_stops_in_mid_frame_changes_nothing(world: ServedSocket) -> None:
    async with world.client() as client:
        client.writer.write(b'{"jsonrpc":"2.0","id":1,"method":"ec')
        client.writer.write_eof()
        assert await client.receive() is None

    assert world.methods.asked == []


# -------------------------------------------------------------------------------------------------------------- bounds


async def test_connections_beyond_the_cap_are_told_so(world: ServedSocket) -> None:
    async with asyncio.timeout(10):
        lines = [await asyncio.open_unix_connection(str(world.listener.path)) for _ in range(9)]
        refused = json.loads(await lines[-1][0].readline())

        assert refused["error"]["data"]["kind"] == "too-many-connections"
        assert len(world.connections) == 8
        for _, writer in lines:
            writer.close()
            await writer.wait_closed()


@pytest.mark.promise("bad-input")
async def test_a_client_that_never_reads_is_cut_off_and_costs_little(
    world: ServedSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "DRAIN_SECONDS", 0.0)
    hog = socket.socket(socket.AF_UNIX)
    with hog:
        hog.setblocking(False)
        hog.connect(str(world.listener.path))
        sent, request = 0, b'{"jsonrpc":"2.0","id":1,"method":"large","params":{"bytes":100000}}\n' * 50
        async with world.client() as other:
            while not world.connections.counts["too-slow"]:
                try:
                    sent += hog.send(request)
                except BlockingIOError:
                    pass
                except OSError:
                    break
                assert (await other.ask("echo"))["result"] == {}

    assert world.methods.settled.count("lost") <= 1
    assert sent < 8 * 1024 * 1024


async def test_a_flood_of_tiny_requests_starves_nobody(world: ServedSocket) -> None:
    flood = b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}\n' * 4000
    async with world.client() as hog, world.client() as other:
        hog.writer.write(flood)
        assert (await hog.receive())["result"] == {}

        await other.ask("hand")

        assert world.methods.asked.index("hand") < 4000
        for _ in range(3999):
            await hog.receive()
    assert world.methods.asked.count("echo") == 4000


async def test_many_connections_that_come_and_go_leave_nothing_behind(world: ServedSocket) -> None:
    for _ in range(300):
        _, writer = await asyncio.open_unix_connection(str(world.listener.path))
        writer.close()
        await writer.wait_closed()
    async with world.client() as client:
        assert (await client.ask("echo"))["result"] == {}
        assert len(world.connections) == 1


async def test_a_subscriber_that_does_not_read_is_cut_off(world: ServedSocket) -> None:
    hog = socket.socket(socket.AF_UNIX)
    with hog:
        hog.connect(str(world.listener.path))
        hog.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe"}\n')
        async with world.client() as other:
            while not world.methods.peers:
                await other.ask("hello")
        (peer,) = world.methods.peers
        told = 0
        while peer.notify("tick", {"text": "x" * 50_000}) and told < 1000:
            told += 1

    assert told < 1000
    assert world.connections.counts["too-slow"] == 1


async def test_a_line_that_is_begun_and_not_ended_is_closed_by_the_deadline(world: ServedSocket) -> None:
    loop = asyncio.get_running_loop()
    async with world.client() as client:
        await client.ask("echo")
        client.writer.write(b"{")
        await asyncio.sleep(0)
        async with world.client() as other:
            await other.ask("echo")
            begun = loop.time()
            client.writer.write(b"{")  # one more byte buys no time
            await other.ask("echo")
            world.connections.sweep(begun + HALF_FRAME_SECONDS - 1)
            assert (await other.ask("echo"))["result"] == {}
            world.connections.sweep(begun + HALF_FRAME_SECONDS + 1)
            assert await client.receive() is None
            assert (await other.ask("echo"))["result"] == {}

    assert world.connections.counts["timed-out"] == 1


async def test_a_connection_idle_for_long_is_closed_but_no_subscriber(world: ServedSocket) -> None:
    async with world.client() as idle, world.client() as subscriber:
        await idle.ask("echo")
        subscriber.send("subscribe")
        await subscriber.receive()
        await subscriber.receive()

        world.connections.sweep(asyncio.get_running_loop().time() + IDLE_SECONDS + 1)

        assert (await subscriber.ask("echo"))["result"] == {}
        assert await idle.receive() is None


async def test_another_users_process_is_turned_away(world: ServedSocket, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: stranger)
    async with asyncio.timeout(5):
        reader, writer = await asyncio.open_unix_connection(str(world.listener.path))
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()

    assert world.connections.counts["foreign-uid"] == 1
    assert len(world.connections) == 0


# ------------------------------------------------------------------------------------------------------------ draining


async def test_a_drain_answers_what_was_received_and_admits_nobody(world: ServedSocket) -> None:
    async with world.client() as client:
        client.send("wait", 1)
        client.send("echo", 2)
        await world.methods.waiting.wait()
        draining = asyncio.create_task(world.connections.drain(5))
        await asyncio.sleep(0)
        async with world.client() as late:
            assert (await late.receive())["error"]["data"]["kind"] == "too-many-connections"
        world.methods.go.set()

        assert [(await client.receive())["id"] for _ in range(2)] == [1, 2]
        assert await client.receive() is None
        await draining


async def test_a_drain_does_not_wait_for_ever_and_makes_no_noise(world: ServedSocket) -> None:
    async with world.client() as client:
        client.send("wait")
        await world.methods.waiting.wait()

        await world.connections.drain(0)

        assert await client.receive() is None
    assert world.shell.lines == []
