"""The daemon: one process a user, its sockets, its signals, its end. `python -m host.daemon`.

Theory of operation. Locks come first: whoever holds them is the daemon, a second one says so and goes. Then the
composition root opens the stores; only then are the sockets bound, so that a connection that is accepted is also
served. A watch looks every second whether the names still lead here. SIGTERM, SIGINT, SIGHUP and `shutdown` begin the
drain: accept no more, answer what was received, close the stores, leave. Nothing acknowledged is lost by it.
"""

import argparse
import asyncio
import gc
import importlib
import io
import logging
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TextIO, cast

import msgspec
import structlog

from host.build import running
from host.client import call_sync
from host.clock import SystemClock
from host.config import Config, Paths, ensure_port, environment, http_token, load, locate, make_folders
from host.connection import Methods, Shell
from host.errors import ConfigFault, RemoraError, SocketFault
from host.http import HttpServing, hook_app
from host.namespace import name
from host.sockets import Listener, Lock, bind_loopback, ensure_folder, is_stopped, start_anew, well_again
from host.tasks import Tasks
from host.wire import Connections
from recall.contracts import Frozen

Build = Callable[[Config, Paths, Shell], AbstractAsyncContextManager[Methods]]
Log = structlog.typing.FilteringBoundLogger

DRAIN_SECONDS = 2.5
WATCH_SECONDS = 1.0
LATE_SECONDS = 3.0  # for which hooks leave us alone after an answer was late
FILES = 8192  # open files we would like to have
SPARE_FILES = 64  # of them not for connections
LOCK_ATTEMPTS = 100
LOCK_PAUSE_SECONDS = 0.05
HEALTH_SECONDS = 1.0
LOG_BYTES = 4 * 1024 * 1024
GC_THRESHOLDS = (20_000, 20, 50)  # a pass makes thousands of acyclic things: by default it is collected ten times


class Options(Frozen, frozen=True, kw_only=True):
    """What the command line decides."""

    http: bool = True
    background: bool = False
    revive: bool = False  # nobody asked for it: what a person stopped meanwhile stays so


class Daemon:
    """The `Shell` of the methods it serves."""

    def __init__(self, config: Config, paths: Paths, log: Log, log_file: Path | None = None) -> None:
        self.config = config
        self._log_file = log_file  # where our output goes, if it is for us to keep it small
        self.paths = paths
        self.log = log
        self.tasks = Tasks(log)
        self.ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._connections: Connections | None = None
        self._listeners: list[Listener] = []
        self._servings: list[HttpServing] = []
        self._servers: list[asyncio.Server] = []
        self._http = "off"

    def parts(self) -> dict[str, str]:
        """The state of the sockets: "ok", "off", or what is wrong."""
        return {"socket": self._listeners[0].state if self._listeners else "closed", "http": self._http_state()}

    def statistics(self) -> dict[str, int]:
        """Counters of the wire."""
        if self._connections is None:
            return {}
        return dict(self._connections.counts) | {"open": len(self._connections)}

    def stop(self) -> None:
        self._stop.set()

    async def serve(self, build: Build) -> None:
        """Open everything, serve until `stop`, close everything. Raises RemoraError when it cannot start."""
        running()  # what is on the disk may change while we run
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._unforeseen)
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(sign, self.stop)
        try:
            async with build(self.config, self.paths, self) as methods:
                try:
                    await self._open(methods)
                    self.tasks.spawn(self._watch(), name="watch")
                    self.ready.set()
                    self.log.info("daemon.ready", pid=os.getpid(), http=self._http_state())
                    await self._stop.wait()
                finally:
                    await self._drain()
        finally:
            await self.tasks.close()
            for listener in self._listeners:
                listener.remove()
            self.log.info("daemon.stopped")

    async def _open(self, methods: Methods) -> None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = max(1, min(self.config.daemon.connections, files - SPARE_FILES))
        self._connections = Connections(methods, self, _version(), most)
        well_again(self.paths.socket.parent, SystemClock().now() / 1000, 0)
        start_anew(self.paths.socket.parent)
        await self._listen(Listener(self.paths.socket, self._connections))
        if self.config.daemon.http:
            await self._open_http(methods)
        gc.collect()
        gc.freeze()  # what was made at the start stays: later collections need not look at it
        gc.set_threshold(*GC_THRESHOLDS)

    async def _listen(self, listener: Listener) -> None:
        await listener.open()
        self._listeners.append(listener)

    async def _open_http(self, methods: Methods) -> None:
        """The second Unix socket, and loopback; without port or token the daemon serves all the same and says so."""
        within = HttpServing(hook_app(methods, None, self.log))
        self._servings.append(within)
        try:
            await self._listen(Listener(self.paths.http_socket, within))
            loopback = HttpServing(hook_app(methods, http_token(self.paths), self.log))
            self._servings.append(loopback)
            listening = bind_loopback(ensure_port(self.paths, self.config.daemon.http_port))
        except (ConfigFault, SocketFault) as fault:
            self._http = str(fault)
            self.log.warning("http.unavailable", problem=fault.problem)
            return
        self._servers.append(await asyncio.get_running_loop().create_server(loopback, sock=listening))
        self._http = "ok"

    def _http_state(self) -> str:
        within = self._listeners[1].state if len(self._listeners) > 1 else self._http
        return self._http if within == "ok" else within

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            await self.look()

    async def look(self) -> None:
        """One round of the watch: late clients go, hooks that gave us up may ask again, names that were taken from us
        come back, a long log is put aside."""
        if well_again(self.paths.socket.parent, SystemClock().now() / 1000, LATE_SECONDS):
            self.log.warning("hook.late")
        if self._log_file is not None and _has_grown(self._log_file):
            try:
                _write_to(self._log_file)
            except OSError as error:  # no new file can be had: the open one goes on, and the next round tries again
                self.log.warning("log.kept", problem=error.strerror)
        if self._connections is not None:
            self._connections.sweep(asyncio.get_running_loop().time())
        for listener in self._listeners:
            before = listener.state
            if await listener.watch():
                self.log.warning("socket.rebound", file=listener.path.name)
            elif listener.state != before:
                self.log.error("socket.lost", file=listener.path.name, problem=listener.state)

    async def _drain(self) -> None:
        for listener in self._listeners:
            listener.close()
        for server in self._servers:
            server.close()
        drains = [serving.drain(DRAIN_SECONDS) for serving in self._servings]
        if self._connections is not None:
            drains.append(self._connections.drain(DRAIN_SECONDS))
        await asyncio.gather(*drains)

    def _unforeseen(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What no one awaited: its kind, never its text, which may hold what a client sent."""
        self.log.error("loop.failed", error=type(context.get("exception")).__name__)


# ------------------------------------------------------------------------------------------------------------ starting


def run(load_build: Callable[[], Build], options: Options) -> int:
    """Become the daemon and serve until told to stop: the exit code. `load_build` is called once the locks are held.

    Raises RemoraError when it cannot start.
    """
    paths = locate(environment())
    config = load(paths)
    make_folders(paths)
    ensure_folder(paths.socket.parent)
    if options.background:
        _write_to(paths.log_file)
    if not options.http:
        config = msgspec.structs.replace(config, daemon=msgspec.structs.replace(config.daemon, http=False))
    locks = (Lock(paths.lock), Lock(paths.data_lock))
    if not _become_the_one(locks[0], paths):
        return 0
    try:
        if options.revive and is_stopped(paths.socket.parent):
            return 0
        if paths.data_lock != paths.lock and not locks[1].take():  # a socket in the data folder: one lock is both
            problem = f"Another daemon (pid {locks[1].holder()}) uses the data folder {paths.data}."
            raise SocketFault(problem, "Stop it, or name another data folder.")
        _raise_file_limit()
        asyncio.run(_serve(load_build, config, paths, paths.log_file if options.background else None))
    finally:
        for lock in locks:
            lock.release()
    return 0


async def _serve(load_build: Callable[[], Build], config: Config, paths: Paths, log_file: Path | None) -> None:
    await Daemon(config, paths, configured_log(config), log_file).serve(load_build())


def configured_log(config: Config) -> Log:
    """JSON lines on standard error. Libraries speak up only when something is wrong."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s %(levelname)s")
    for library in ("aiosqlite", "asyncio", "watchfiles"):  # their debug lines hold parameters: event text
        logging.getLogger(library).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(config.daemon.log_level),
        logger_factory=lambda *_: structlog.WriteLogger(cast(TextIO, Unbreakable(sys.stderr))),
    )
    log: Log = structlog.get_logger()
    return log


class Unbreakable(io.TextIOBase):
    """A stream whose reader may go, or whose disk may be full: what cannot be written is let go."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            pass


def _become_the_one(lock: Lock, paths: Paths) -> bool:
    """Take the lock. False: a healthy daemon has it. One that is just starting or ending is waited for."""
    for _ in range(LOCK_ATTEMPTS):
        if lock.take():
            return True
        if _is_healthy(paths.socket):
            sys.stderr.write(f"{name()} runs already (pid {lock.holder()}).\n")
            return False
        time.sleep(LOCK_PAUSE_SECONDS)
    raise SocketFault(
        f"Another daemon (pid {lock.holder()}) holds {paths.lock} and does not answer.", "End it, then start again."
    )


def _is_healthy(socket: Path) -> bool:
    try:
        call_sync(socket, "health", timeout=HEALTH_SECONDS)
    except RemoraError:
        return False
    return True


def _raise_file_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _write_to(file: Path) -> None:
    """Standard output and error into a private file; one that has grown is put aside first."""
    if _has_grown(file):
        file.replace(file.with_name(f"{file.name}.1"))
    number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(number, 1)
    os.dup2(number, 2)
    os.close(number)


def _has_grown(file: Path) -> bool:
    try:
        return file.stat().st_size > LOG_BYTES
    except OSError:
        return False


def _version() -> str:
    try:
        return version(name())
    except PackageNotFoundError:
        return "0"


def _compose() -> Build:
    """The composition root, loaded once the locks are held: a second daemon leaves without having loaded it."""
    build: Build = importlib.import_module("host.compose").build
    return build


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of the daemon's own process: the exit code."""
    parser = argparse.ArgumentParser(prog="python -m host.daemon", description="Serve until told to stop.")
    parser.add_argument("--no-http", action="store_true", help="do not listen for HTTP hooks")
    parser.add_argument("--background", action="store_true", help="log to the log file in the state folder")
    parser.add_argument("--revive", action="store_true", help="leave it if a person stopped the daemon")
    chosen = parser.parse_args(arguments)
    try:
        return run(_compose, Options(http=not chosen.no_http, background=chosen.background, revive=chosen.revive))
    except RemoraError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
