"""A program in a terminal of its own: what it shows, and keys for it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

ROWS, COLUMNS = 50, 160
CONTROL = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78]")


class Terminal:
    """Runs `command` while its block lasts, and reads what it writes whenever something is waited for."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment | {"TERM": "xterm-256color"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._written = b""

    def shown(self) -> str:
        """All that was ever written, without control sequences: a cell that was drawn twice stands twice."""
        return re.sub(r"\s+", " ", CONTROL.sub(b" ", self._written).decode("utf-8", "replace"))

    def listens(self) -> bool:
        """Whether the program takes keys one by one now: what is typed before may be thrown away."""
        return not termios.tcgetattr(self._master)[3] & termios.ICANON

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait(self, condition: Callable[[], bool], seconds: float = 40) -> None:
        """Read until `condition` holds. Raises TimeoutError with what was shown."""
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError(self.shown()[-3000:])
            ready, _, _ = select.select([self._master], [], [], 0.05)
            if ready:
                try:
                    self._written += os.read(self._master, 1 << 16)
                except OSError:  # the program has ended
                    return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._master)
