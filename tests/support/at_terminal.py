"""The command line at a terminal of its own: what it shows, and which keys are pressed upon what it shows."""

import contextlib
import os
import pty
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
START = (
    "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"  # this terminal is the process's own
    "from host.cli.main import main; main()"
)
PATIENCE_SECONDS = 30.0


class AtTerminal:
    """A command's process at a pseudo-terminal. Use as a block: at its end the terminal is closed."""

    def __init__(self, folder: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> None:
        self._ours, theirs = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100", **(environ or {})},
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()

    def until(self, text: str) -> str:
        """What is shown up to this text and with it; reads on until it is there."""
        while text not in self.shown:
            ready, _, _ = select.select([self._ours], [], [], PATIENCE_SECONDS)
            assert ready, f"not shown: {text!r} in {self.shown!r}"
            try:
                piece = os.read(self._ours, 65_536)
            except OSError:  # the other end is closed
                piece = b""
            assert piece, f"ended without {text!r}: {self.shown!r}"
            self.shown += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def ended(self) -> int:
        """The exit code, once the process has ended; what it still says is read."""
        with contextlib.suppress(OSError):
            while select.select([self._ours], [], [], PATIENCE_SECONDS)[0] and (piece := os.read(self._ours, 65_536)):
                self.shown += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        return self.process.wait(timeout=PATIENCE_SECONDS)

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed does."""
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1
