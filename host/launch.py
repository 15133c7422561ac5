"""Starts a daemon of its own in the background and waits until it answers. Used by `start`, by commands that find no
daemon, and by the demo."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from host.client import DaemonAbsent, call_sync
from host.errors import RemoraError

PATIENCE = 200  # looks
PAUSE_SECONDS = 0.05
LAST_LINES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Launched:
    """A daemon's process, its log, and how many bytes of that are older than the process."""

    process: "subprocess.Popen[bytes]"
    log: Path
    older: int


def launch(options: Sequence[str], environment: Mapping[str, str], log: Path) -> Launched:
    """Start `python -m host.daemon`, detached from this terminal. `-P` keeps a folder named `host` in the current
    directory from standing in for our package."""
    for folder in (log.parent.parent, log.parent):  # the outer one may be the data folder: parents get the usual mode
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    log.touch(mode=0o600)
    with log.open("ab") as written:
        older = written.tell()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "host.daemon", *options],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            start_new_session=True,
        )
    return Launched(process=process, log=log, older=older)


def wait_until_ready(launched: Launched, socket: Path) -> None:
    """Return once a daemon answers `health` on the socket. Raises RemoraError when the process ended or is too slow."""
    for _ in range(PATIENCE):
        try:
            call_sync(socket, "health", {})
        except DaemonAbsent:
            code = launched.process.poll()
            if code not in (None, 0):  # 0: another daemon was there first, and is about to answer
                said = _last_lines(launched)
                problem = f"The daemon ended with code {code}" + (f":\n{said}" if said else ".")
                raise RemoraError(problem, f"The log is {launched.log}.") from None
            time.sleep(PAUSE_SECONDS)
        else:
            return
    seconds = PATIENCE * PAUSE_SECONDS
    raise RemoraError(f"The daemon did not answer within {seconds:.0f} s.", f"Look into its log, {launched.log}.")


def _last_lines(launched: Launched) -> str:
    """The last of what this daemon said. A log that is shorter than it was has been put aside, and begun anew."""
    with launched.log.open("rb") as log:
        size = log.seek(0, os.SEEK_END)
        log.seek(launched.older if size >= launched.older else 0)
        said = log.read().decode(errors="replace")
    return "\n".join(said.splitlines()[-LAST_LINES:])
