"""Hooks over HTTP fail open, tell strangers off, and know when their answer was out."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from host.connection import Reply
from host.http import BODY_BYTES, HASTY_SECONDS, HttpServing, Patience, hook_app
from host.sockets import Listener, bind_loopback
from tests.support.methods import FakeMethods, FakeShell

TOKEN = "t" * 43
OURS = {"Authorization": f"Bearer {TOKEN}"}


class World:
    """The app on both of its doors."""

    def __init__(self, run_dir: Path) -> None:
        self.methods = FakeMethods()
        self.shell = FakeShell()
        self.within = HttpServing(hook_app(self.methods, None, self.shell.log))
        self.loopback = HttpServing(hook_app(self.methods, TOKEN, self.shell.log))
        self.listener = Listener(run_dir / "h", self.within)
        self.port = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator["World"]:
        await self.listener.open()
        listening = bind_loopback(0)
        self.port = listening.getsockname()[1]
        server = await asyncio.get_running_loop().create_server(self.loopback, sock=listening)
        try:
            yield self
        finally:
            self.methods.go.set()
            server.close()
            self.listener.close()
            await self.within.drain(2)
            await self.loopback.drain(2)

    async def post(self, path: str, body: bytes = b"{}", headers: dict[str, str] = OURS) -> httpx2.Response:
        async with asyncio.timeout(10), httpx2.AsyncClient(trust_env=False) as client:
            return await client.post(f"http://127.0.0.1:{self.port}{path}", content=body, headers=headers)


@pytest.fixture
async def world(run_dir: Path) -> AsyncIterator[World]:
    async with World(run_dir).open() as opened:
        yield opened


async def test_a_hook_is_answered_and_then_settled(world: World) -> None:
    answer = await world.post("/hook/known", b'{"event":1}')
    while not world.methods.settled:
        await asyncio.sleep(0)

    assert (answer.status_code, answer.content) == (200, world.methods.say)
    assert answer.headers["content-type"] == "application/json"
    assert world.methods.hooks == [("known", b'{"event":1}')]
    assert world.methods.settled == ["written"]


async def test_silence_is_an_empty_answer(world: World) -> None:
    world.methods.say = b""

    answer = await world.post("/hook/known")

    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.promise("silence-has-a-reason")
@pytest.mark.parametrize("host", ["broken", "unhappy"])
async def test_whatever_goes_wrong_inside_is_silence_for_the_agent(world: World, host: str) -> None:
    answer = await world.post(f"/hook/{host}")

    assert (answer.status_code, answer.content) == (200, b"")
    assert world.shell.lines[0]["event"] in ("hook.failed", "hook.refused")


async def test_a_hook_that_takes_too_long_is_silence_and_is_seen_to_its_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent goes on; what the hook told is kept, and the text that came too late is given back."""
    monkeypatch.setattr("host.http.HOOK_SECONDS", 0.0)

    answer = await world.post("/hook/slow")

    assert (answer.status_code, answer.content) == (200, b"")
    assert not world.methods.settled
    world.methods.go.set()
    while not world.methods.settled:
        await asyncio.sleep(0)
    assert world.methods.settled == ["lost"]


async def test_a_late_hook_does_not_hold_up_the_next_one_of_its_connection(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.http.HOOK_SECONDS", 0.0)
    ask = b"POST /hook/%s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n%s\r\n{}"
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_unix_connection(str(world.listener.path))
        writer.write(ask % (b"slow", b""))
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        monkeypatch.setattr("host.http.HOOK_SECONDS", 5.0)
        writer.write(ask % (b"known", b"Connection: close\r\n"))

        assert (await reader.read()).endswith(world.methods.say)
        writer.close()


async def test_an_agent_waits_for_a_late_daemon_twice_and_again_once_it_is_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patience, loop = Patience(), asyncio.get_running_loop()
    seconds: list[float] = []
    async with asyncio.timeout(10):
        for _ in range(2):
            monkeypatch.setattr("host.http.HOOK_SECONDS", 0.0)
            late: asyncio.Future[Reply] = patience.watch(loop.create_future())
            for _ in range(3):  # its time passes with the next rounds of the loop
                await asyncio.sleep(0)
            late.set_result(Reply(result=b""))
            await asyncio.sleep(0)
            monkeypatch.setattr("host.http.HOOK_SECONDS", 5.0)
            seconds.append(patience.seconds)
        quick: asyncio.Future[Reply] = patience.watch(loop.create_future())
        quick.set_result(Reply(result=b""))
        await asyncio.sleep(0)

    assert [*seconds, patience.seconds] == [5.0, HASTY_SECONDS, 5.0]


async def test_while_hooks_are_late_the_next_one_is_hardly_waited_for_though_none_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patience, loop = Patience(), asyncio.get_running_loop()
    monkeypatch.setattr("host.http.HOOK_SECONDS", 0.0)
    stuck = [patience.watch(loop.create_future()) for _ in range(2)]
    async with asyncio.timeout(10):
        while patience.seconds != HASTY_SECONDS:
            await asyncio.sleep(0)
    assert not any(one.done() for one in stuck)


@pytest.mark.parametrize("host", ["stuck", "broken-late"])
async def test_a_late_hook_is_given_up_at_last_and_says_so_in_the_log(
    world: World, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.http.HOOK_SECONDS", 0.0)
    monkeypatch.setattr("host.http.LATE_SECONDS", 0.0 if host == "stuck" else 5.0)
    if host == "broken-late":
        monkeypatch.setattr(world.methods, "hook", broken_late)

    assert (await world.post("/hook/slow")).content == b""
    while len(world.shell.lines) < 2:
        await asyncio.sleep(0)

    assert [line["event"] for line in world.shell.lines] == ["hook.late", "hook.failed"]
    assert not world.methods.settled


async def broken_late(host: str, raw: bytes) -> Reply:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    raise RuntimeError("inside")


async def test_a_body_that_stays_away_is_not_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.http.BODY_SECONDS", 0.0)

    answer = await spoken(world.listener.path, b"POST /hook/known HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")

    assert answer.startswith(b"HTTP/1.1 408") and not world.methods.hooks


async def test_a_connection_that_asks_nothing_is_closed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.http.HEAD_SECONDS", 0.0)

    assert await spoken(world.listener.path, b"POST /hook/known HTTP/1.1\r\nHost:") == b""


async def test_a_stranger_is_told_off_once_and_closed(world: World) -> None:
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", world.port)
        writer.write(b"POST /hook/known HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")

        assert (await reader.read()).startswith(b"HTTP/1.1 401")
        writer.close()


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/hook/known", {}, 401),
        ("/hook/known", {"Authorization": "Bearer wrong"}, 401),
        ("/hook/known", {"Authorization": TOKEN}, 401),
        ("/hook/known", {"Authorization": "Bearer ä"}, 401),
        ("/hook/known", OURS | {"Origin": "http://127.0.0.1"}, 403),
        ("/hook/known", OURS | {"Origin": "null"}, 403),
        ("/hook/known", OURS | {"Host": "rebound.test"}, 403),
        ("/hook/known", OURS | {"Host": "127.0.0.1.rebound.test:80"}, 403),
        ("/hook/known", OURS | {"Host": "localhost:80"}, 200),
        ("/hook/known", OURS | {"Host": "[::1]:80"}, 200),
        ("/hook/nobody", OURS, 404),
        ("/elsewhere", OURS, 404),
        ("/elsewhere", {}, 401),
        ("/health", OURS, 405),
    ],
)
async def test_who_may_ask(world: World, path: str, headers: dict[str, str], status: int) -> None:
    assert (await world.post(path, headers={k: v.encode("latin-1") for k, v in headers.items()})).status_code == status
    if status != 200:
        assert world.methods.hooks in ([], [("nobody", b"{}")])


async def test_a_body_may_be_large_but_not_too_large(world: World) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES // 65536 + 1):
            yield b"x" * 65536

    assert (await world.post("/hook/known", b"x" * BODY_BYTES)).status_code == 200
    assert (await world.post("/hook/known", b"x" * (BODY_BYTES + 1))).status_code == 413
    async with httpx2.AsyncClient(trust_env=False) as client:
        streamed = await client.post(f"http://127.0.0.1:{world.port}/hook/known", content=pieces(), headers=OURS)
    assert streamed.status_code == 413
    assert len(world.methods.hooks) == 1


async def spoken(path: Path, request: bytes) -> bytes:
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(request)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer


async def test_the_second_socket_needs_no_token(world: World) -> None:
    head = b"POST /hook/known HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n"

    answer = await spoken(world.listener.path, head + b"\r\n{}")
    page = await spoken(world.listener.path, head + b"Origin: http://page.test\r\n\r\n{}")

    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(world.methods.say)
    assert page.startswith(b"HTTP/1.1 403")


async def test_health_is_a_plain_word(world: World) -> None:
    answer = await spoken(world.listener.path, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert answer.endswith(b"ok\n")


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize(
    "request_bytes", [b"\x00\x01\r\n\r\n", b"POST /hook/known HTTP/1.1\r\nContent-Length: x\r\n\r\n"]
)
async def test_what_is_no_http_is_refused_quietly(
    world: World, request_bytes: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (await spoken(world.listener.path, request_bytes)).startswith(b"HTTP/1.1 400")
    assert capfd.readouterr() == ("", "")


async def test_an_answer_that_nobody_waits_for_is_lost(world: World) -> None:
    async with asyncio.timeout(10):
        _, writer = await asyncio.open_unix_connection(str(world.listener.path))
        writer.write(b"POST /hook/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        await world.methods.waiting.wait()
        writer.transport.abort()
        await spoken(world.listener.path, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        world.methods.go.set()
        while not world.methods.settled:
            await asyncio.sleep(0)

    assert world.methods.settled == ["lost"]


async def test_a_drain_lets_an_answer_out_and_closes_idle_connections(world: World) -> None:
    async with asyncio.timeout(10):
        idle_reader, idle = await asyncio.open_unix_connection(str(world.listener.path))
        reader, writer = await asyncio.open_unix_connection(str(world.listener.path))
        writer.write(b"POST /hook/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        await world.methods.waiting.wait()
        draining = asyncio.create_task(world.within.drain(5))
        assert await idle_reader.read() == b""
        world.methods.go.set()

        assert json.loads((await reader.read()).partition(b"\r\n\r\n")[2]) == json.loads(world.methods.say)
        await draining
        idle.close()
        writer.close()


async def test_a_drain_does_not_wait_for_ever(world: World) -> None:
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_unix_connection(str(world.listener.path))
        writer.write(b"POST /hook/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        await world.methods.waiting.wait()

        await world.within.drain(0)

        assert b"additionalContext" not in await reader.read()
        writer.close()
