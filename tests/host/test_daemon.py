"""The daemon: one a user, ready when it accepts, watched over its names, drained at its end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path

import msgspec
import pytest

from host.client import DaemonAbsent, call_sync, connect
from host.config import Config, DaemonSettings, Paths, ensure_port, http_token, locate, make_folders
from host.connection import Methods, Shell
from host.daemon import LOG_BYTES, Daemon, Unbreakable, main
from host.errors import SocketFault, StoreFault
from host.namespace import LATE_FILE, env
from host.sockets import Lock, bind, bind_loopback, ensure_folder, inode, is_stopped, leave_stopped
from tests.support.methods import FakeMethods, FakeShell

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environ(run_dir: Path) -> dict[str, str]:
    return {env("data"): str(run_dir / "data"), env("socket"): str(run_dir / "s" / "d.sock")}


@pytest.fixture
def paths(environ: dict[str, str]) -> Paths:
    found = locate(environ)
    make_folders(found)
    ensure_folder(found.socket.parent)
    return found


class World:
    """A daemon in this process, over methods that remember."""

    def __init__(self, paths: Paths, http: bool) -> None:
        self.paths = paths
        self.methods = FakeMethods()
        self.log = FakeShell()
        self.events: list[str] = []
        self.daemon = Daemon(Config(daemon=DaemonSettings(http=http)), paths, self.log.log)

    @asynccontextmanager
    async def build(self, config: Config, paths: Paths, shell: Shell) -> AsyncIterator[Methods]:
        self.events.append("opened" if inode(paths.socket) is None else "opened late")
        try:
            yield self.methods
        finally:
            self.events.append("closed")

    @asynccontextmanager
    async def running(self) -> AsyncIterator["World"]:
        serving = asyncio.create_task(self.daemon.serve(self.build))
        ready = asyncio.create_task(self.daemon.ready.wait())
        async with asyncio.timeout(10):
            await asyncio.wait([serving, ready], return_when=asyncio.FIRST_COMPLETED)
            try:
                yield self
            finally:
                ready.cancel()
                self.daemon.stop()
                await serving


@pytest.fixture
def world(paths: Paths) -> World:
    return World(paths, http=False)


@pytest.fixture
def open_world(paths: Paths) -> World:
    return World(paths, http=True)


async def test_it_serves_when_it_is_ready_and_leaves_no_socket_behind(world: World) -> None:
    async with world.running():
        async with connect(world.paths.socket) as client:
            assert await client.call("echo", {"a": 1}) == {"a": 1}
        assert world.daemon.parts() == {"socket": "ok", "http": "off"}
        assert world.daemon.statistics()["requests"] == 1

    assert world.events == ["opened", "closed"]
    assert inode(world.paths.socket) is None
    assert [line["event"] for line in world.log.lines] == ["daemon.ready", "daemon.stopped"]


async def test_shutdown_ends_it(world: World) -> None:
    async with world.running(), connect(world.paths.socket) as client:
        assert await client.call("shutdown") == {"stopping": True}
        async for _ in client.notifications():
            raise AssertionError("nothing is said unasked")

    assert world.events == ["opened", "closed"]


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains_what_is_under_way(world: World, sign: signal.Signals) -> None:
    async with world.running(), connect(world.paths.socket) as client:
        calls = [asyncio.create_task(client.call(method)) for method in ("wait", "echo", "echo")]
        await world.methods.waiting.wait()

        os.kill(os.getpid(), sign)
        while inode(world.paths.socket) is not None and world.daemon.parts()["socket"] == "ok":
            await asyncio.sleep(0)
        world.methods.go.set()

        assert await asyncio.gather(*calls) == ["waited", {}, {}]
        with pytest.raises(DaemonAbsent):
            async with connect(world.paths.socket):
                pass

    assert world.events == ["opened", "closed"]
    assert [line["event"] for line in world.log.lines] == ["daemon.ready", "daemon.stopped"]


async def test_http_is_served_on_both_its_doors(open_world: World) -> None:
    async with open_world.running():
        request = b"POST /hook/known HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n%s\r\n{}"
        reader, writer = await asyncio.open_unix_connection(str(open_world.paths.http_socket))
        writer.write(request % b"")
        assert (await reader.read()).endswith(open_world.methods.say)
        writer.close()
        token = http_token(open_world.paths).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", ensure_port(open_world.paths))
        writer.write(request % (b"Authorization: Bearer " + token + b"\r\n"))
        assert (await reader.read()).endswith(open_world.methods.say)
        writer.close()
        assert open_world.daemon.parts() == {"socket": "ok", "http": "ok"}

    assert inode(open_world.paths.http_socket) is None


async def test_a_port_that_something_else_holds_is_said_and_the_rest_serves(open_world: World) -> None:
    with closing(bind_loopback(ensure_port(open_world.paths))):
        async with open_world.running():
            assert "port" in open_world.daemon.parts()["http"]
            async with connect(open_world.paths.socket) as client:
                assert await client.call("echo") == {}


async def test_a_damaged_token_is_said_and_the_rest_serves(open_world: World) -> None:
    http_token(open_world.paths)
    open_world.paths.token_file.write_text("short")

    async with open_world.running():
        assert "token" in open_world.daemon.parts()["http"]
        async with connect(open_world.paths.socket) as client:
            assert await client.call("echo") == {}


async def test_a_second_http_socket_that_something_else_holds_is_said_too(open_world: World) -> None:
    with closing(bind(open_world.paths.http_socket)):
        async with open_world.running():
            assert "serves" in open_world.daemon.parts()["http"]


async def test_a_deleted_socket_file_comes_back_and_open_connections_live_on(open_world: World) -> None:
    async with open_world.running(), connect(open_world.paths.socket) as before:
        open_world.paths.socket.unlink()
        open_world.paths.http_socket.unlink()

        await open_world.daemon.look()

        async with connect(open_world.paths.socket) as after:
            assert await before.call("echo") == await after.call("echo") == {}
    assert [line["event"] for line in open_world.log.lines].count("socket.rebound") == 2


async def test_hooks_that_gave_it_up_may_ask_again(world: World) -> None:
    """At once when it starts, and while it runs once the mark is a few seconds old."""
    mark = world.paths.socket.parent / LATE_FILE
    mark.touch()
    async with world.running():
        assert not mark.exists()
        mark.touch()
        await world.daemon.look()
        assert mark.exists()
        os.utime(mark, (1000, 1000))
        await world.daemon.look()
        assert not mark.exists()
    assert [line["event"] for line in world.log.lines].count("hook.late") == 1


async def test_a_socket_that_was_taken_over_is_reported_once(world: World) -> None:
    async with world.running():
        world.paths.socket.unlink()
        with closing(bind(world.paths.socket)):
            await world.daemon.look()
            await world.daemon.look()
            assert "serves" in world.daemon.parts()["socket"]
        await world.daemon.look()
        assert world.daemon.parts()["socket"] == "ok"

    assert [line["event"] for line in world.log.lines].count("socket.lost") == 1


async def test_a_socket_that_cannot_be_bound_ends_it_with_the_stores_closed(world: World) -> None:
    with closing(bind(world.paths.socket)) as held:
        with pytest.raises(SocketFault, match="serves"):
            await world.daemon.serve(world.build)
        assert held.fileno() > 0

    assert world.events == ["opened late", "closed"]


async def test_stores_that_cannot_be_opened_end_it(world: World) -> None:
    @asynccontextmanager
    async def build(config: Config, paths: Paths, shell: Shell) -> AsyncIterator[Methods]:
        raise StoreFault("The database is newer.", "Install the newer one.")
        yield world.methods

    with pytest.raises(StoreFault):
        await world.daemon.serve(build)
    assert inode(world.paths.socket) is None


async def test_what_nobody_awaited_is_logged_by_kind_without_its_words(world: World) -> None:
    async with world.running():
        loop = asyncio.get_running_loop()
        loop.call_exception_handler({"message": "a canary", "exception": RuntimeError("a canary")})

    assert {"event": "loop.failed", "error": "RuntimeError"} in world.log.lines
    assert "canary" not in json.dumps(world.log.lines)


def test_a_log_that_cannot_be_written_breaks_nothing() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream:
        log = Unbreakable(stream)
        assert log.write("x" * 100_000) == 100_000
        log.flush()
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, write)
        os.close(devnull)


@pytest.mark.promise("field-cases")
async def test_a_runtime_folder_with_a_long_name_is_served_under_a_short_one(run_dir: Path) -> None:
    """Case socket-path-too-long."""
    environ = {env("data"): str(run_dir / "data"), env("socket"): f"{run_dir}/{'x' * 150}/d.sock"}
    paths = locate(environ)
    make_folders(paths)
    ensure_folder(paths.socket.parent)
    try:
        async with World(paths, http=True).running(), connect(locate(environ).socket) as client:
            assert await client.call("echo") == {}
            assert len(os.fsencode(paths.socket)) <= 103
    finally:
        paths.socket.parent.rmdir()


# ---------------------------------------------------------------------------------------------------------- processes

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(environ: dict[str, str]) -> Iterator[Start]:
    """Starts daemon processes on the test's folders, and ends them."""
    with ExitStack() as stack:

        def starting(*words: str, **more: str) -> "subprocess.Popen[str]":
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.fake_daemon", *words],
                cwd=ROOT,
                env={name: os.environ[name] for name in ("PATH", "HOME")} | environ | more,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield starting


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    _, said = process.communicate(timeout=20)
    return process.returncode, said


@pytest.mark.promise("field-cases")
def test_of_many_starts_one_wins_the_others_say_so_and_a_killed_one_is_replaced(start: Start, paths: Paths) -> None:
    """Cases stale-socket-file and, for the pid in the lock, pid-file-reused."""
    racing = [start() for _ in range(4)]
    lines = [first_line(process) for process in racing]
    winner = next(process for process, line in zip(racing, lines, strict=True) if "daemon.ready" in line)
    for process, line in zip(racing, lines, strict=True):
        if process is not winner:
            assert f"runs already (pid {winner.pid})" in line
            assert ended(process)[0] == 0
    winner.kill()
    winner.wait()
    assert inode(paths.socket) is not None, "a killed daemon leaves its socket behind"

    following = start()

    assert "daemon.ready" in first_line(following)
    assert msgspec.json.decode(call_sync(paths.socket, "health"))["ready"] is True
    call_sync(paths.socket, "shutdown")
    assert ended(following)[0] == 0
    assert inode(paths.socket) is None


def test_sigterm_ends_it_in_time_without_noise(start: Start, paths: Paths) -> None:
    process = start("http")
    assert "daemon.ready" in first_line(process)

    process.send_signal(signal.SIGTERM)

    code, said = ended(process)
    assert code == 0
    assert [json.loads(line)["event"] for line in said.splitlines()] == ["daemon.stopped"]


def test_two_daemons_never_share_a_data_folder(start: Start, environ: dict[str, str], run_dir: Path) -> None:
    first = start()
    assert "daemon.ready" in first_line(first)

    second = start(**{env("socket"): str(run_dir / "other" / "d.sock")})

    code, said = ended(second)
    assert code == 1
    assert f"pid {first.pid}" in said and "data folder" in said


def test_one_that_nobody_asked_for_leaves_what_a_person_stopped(start: Start, paths: Paths) -> None:
    leave_stopped(paths.socket.parent)
    assert ended(start("revive")) == (0, "")
    assert "daemon.ready" in first_line(start()) and not is_stopped(paths.socket.parent)


def test_the_socket_may_lie_in_the_data_folder(start: Start, paths: Paths) -> None:
    process = start(**{env("socket"): str(paths.data / "d.sock")})
    assert "daemon.ready" in first_line(process)
    second = start(**{env("socket"): str(paths.data / "d.sock")})
    assert ended(second)[0] == 0
    call_sync(paths.data / "d.sock", "shutdown")
    assert ended(process)[0] == 0


def test_in_the_background_it_writes_to_its_log_file(start: Start, paths: Paths) -> None:
    paths.log_file.write_text("x" * (4 * 1024 * 1024 + 1))
    process = start("background")
    with closing(bind_loopback(0)):
        before = paths.log_file.with_name("daemon.log.1")
        while not (before.exists() and paths.log_file.exists() and "daemon.ready" in paths.log_file.read_text()):
            assert process.poll() is None

    assert paths.log_file.stat().st_mode & 0o777 == 0o600
    call_sync(paths.socket, "shutdown")
    assert ended(process) == (0, "")


def test_in_the_background_a_log_that_grows_is_put_aside(start: Start, paths: Paths) -> None:
    process = start("background")
    while not (paths.log_file.exists() and "daemon.ready" in paths.log_file.read_text()):
        assert process.poll() is None

    os.truncate(paths.log_file, LOG_BYTES + 1)
    while not paths.log_file.with_name("daemon.log.1").exists():
        assert process.poll() is None

    call_sync(paths.socket, "shutdown")
    assert ended(process) == (0, "")
    assert "daemon.stopped" in paths.log_file.read_text()


def test_a_holder_of_the_lock_that_does_not_answer_is_said(
    paths: Paths, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("host.daemon.LOCK_ATTEMPTS", 2)
    monkeypatch.setattr("host.daemon.LOCK_PAUSE_SECONDS", 0)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    lock = Lock(paths.lock)
    assert lock.take()

    assert main(["--no-http"]) == 1

    said = capsys.readouterr().err
    assert f"pid {os.getpid()}" in said and "does not answer" in said
    lock.release()
