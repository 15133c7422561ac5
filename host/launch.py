"""Starts a daemon of its own in the background and waits until it answers. Used by `start`, by commands that find no
daemon, and by the demo."""

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from host.client import DaemonAbsent, call_sync
from host.errors import RemoraError

PATIENCE = 200  # looks
PAUSE_SECONDS = 0.05
LAST_LINES = 5


def launch(options: Sequence[str], environment: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
    """Start `python -m host.daemon`, detached from this terminal. `-P` keeps a folder named `host` in the current
    directory from standing in for our package."""
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("ab") as written:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "host.daemon", *options],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            start_new_session=True,
        )


def wait_until_ready(process: "subprocess.Popen[bytes]", socket: Path, log: Path) -> None:
    """Return once a daemon answers `health` on the socket. Raises RemoraError when the process ended or is too slow."""
    for _ in range(PATIENCE):
        try:
            call_sync(socket, "health", {})
        except DaemonAbsent:
            code = process.poll()
            if code not in (None, 0):  # 0: another daemon was there first, and is about to answer
                raise RemoraError(
                    f"The daemon ended with code {code}:\n{_last_lines(log)}", f"The log is {log}."
                ) from None
            time.sleep(PAUSE_SECONDS)
        else:
            return
    seconds = PATIENCE * PAUSE_SECONDS
    raise RemoraError(f"The daemon did not answer within {seconds:.0f} s.", f"Look into its log, {log}.")


def _last_lines(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:])
