"""A place where the demo can play: temporary folders and a real daemon process, gone without trace afterwards."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TypeVar

import msgspec

from host.client import DaemonAbsent, call_sync
from host.config import Paths, environment, locate
from host.evaluation.session_store import write_store
from host.evaluation.sessions import Recording
from host.launch import launch, wait_until_ready
from host.namespace import env, name
from recall.workspace import workspace_key

T = TypeVar("T")
TIMEOUT_SECONDS = 30.0
STOP_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Theatre:
    """Where one playing happens. `ask` is a `host.demo.playing.Ask`."""

    paths: Paths
    workspace: Path
    files: int  # memory files written

    def ask(self, method: str, params: Mapping[str, object], answer: type[T]) -> T:
        """One request to this theatre's daemon."""
        raw = call_sync(self.paths.socket, method, dict(params), timeout=TIMEOUT_SECONDS)
        return msgspec.json.decode(raw, type=answer)


@contextmanager
def theatre(recording: Recording) -> Iterator[Theatre]:
    """Set up folders, memory files and a daemon; take all of it away at the end, on Ctrl-C and on SIGTERM too."""
    previous = signal.signal(signal.SIGTERM, _as_interrupt)
    folder = Path(tempfile.mkdtemp(prefix=f"{name('demo')}-")).resolve()
    try:
        yield from _opened(recording, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGTERM, previous)


def _opened(recording: Recording, folder: Path) -> Iterator[Theatre]:
    names = {memory.workspace for memory in recording.memories if memory.workspace} | {recording.labels.workspace}
    homes = {each: folder / "w" / each for each in sorted(names)}
    for home in homes.values():
        home.mkdir(parents=True)
    socket_folder = folder / "s"
    socket_folder.mkdir(mode=0o700)
    own = {
        env("data"): str(folder / "data"),
        env("socket"): str(socket_folder / "d.sock"),
        env("config"): str(folder / "none.toml"),
    }
    surroundings = {**environment(), **own}
    paths = locate(surroundings)
    keys = {each: workspace_key(str(home)) for each, home in homes.items()}
    files = write_store(recording.memories, keys, paths.data / "memory")
    log = folder / "daemon.log"
    launched = launch(["--no-http"], surroundings, log)
    try:
        wait_until_ready(launched, paths.socket)
        place = Theatre(paths=paths, workspace=homes[recording.labels.workspace], files=files)
        for home in homes.values():  # the index holds every workspace, as it would after a year of work
            place.ask("memory.list", {"workspace": str(home), "limit": 1}, msgspec.Raw)
        yield place
    finally:
        _stop(launched.process, paths)


def _stop(process: "subprocess.Popen[bytes]", paths: Paths) -> None:
    try:
        call_sync(paths.socket, "shutdown", {})
        process.wait(STOP_SECONDS)
    except (DaemonAbsent, subprocess.TimeoutExpired):
        process.kill()
        process.wait()


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
