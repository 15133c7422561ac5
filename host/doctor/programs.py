"""Programs on this machine: where they are, and what they answer. The one place of `doctor` that runs any: an agent
product's `--version` where its package does not say it, Codex's server for what it trusts, and our own MCP server.
Nothing out of a memory or a repository is ever run, and a program inside the checked repository is left alone.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from host.capability import numbers
from host.errors import ConfigFault
from host.setup.settings_file import read
from recall.contracts import Frozen

ANSWER_BYTES = 256 * 1024
RUN_SECONDS = 10.0
VERSION_SECONDS = 10.0  # some take seconds to say it
PACKAGE = "package.json"
PACKAGE_DEPTH = 4  # how far above a program its package may be


class Ran(Frozen, frozen=True, kw_only=True):
    """What became of a program: its exit code (None: it was ended, as it took too long) and what it printed."""

    code: int | None
    out: str


class Programs:
    """The programs that a search path leads to."""

    def __init__(self, environ: Mapping[str, str], beyond: Path | None = None) -> None:
        """`beyond`: a folder whose programs do not count."""
        self.environ = environ
        self._beyond = beyond
        self._versions: dict[str, str] = {}

    def all_of(self, name: str) -> list[Path]:
        """Every file of that name that can be run, in the order of the search path; names of one file once."""
        found: dict[str, Path] = {}
        for folder in self.environ.get("PATH", os.defpath).split(os.pathsep):
            path = Path(folder) / name
            if os.path.isabs(folder) and not self._is_beyond(path) and path.is_file() and os.access(path, os.X_OK):
                found.setdefault(os.path.realpath(path), path)
        return list(found.values())

    def which(self, name: str) -> str | None:
        """The first of them."""
        return next((str(path) for path in self.all_of(name)), None)

    def version(self, path: str) -> str:
        """The numbers that a program gives for its version, empty when it gives none. Each is asked once, and one whose
        package says them is not run: that may take seconds, and leave files behind."""
        if path not in self._versions:
            self._versions[path] = ".".join(map(str, numbers(_packaged(path)) or self._told(path)))
        return self._versions[path]

    def _told(self, path: str) -> Sequence[int]:
        ran = self.run([path, "--version"], seconds=VERSION_SECONDS)
        return () if ran is None else numbers(ran.out) or ()

    def _is_beyond(self, path: Path) -> bool:
        """Whether it lies in the folder whose programs do not count, whatever name leads there."""
        folder = Path(os.path.realpath(path.parent))
        return self._beyond is not None and folder.is_relative_to(os.path.realpath(self._beyond))

    def run(self, command: Sequence[str], given: str = "", seconds: float = RUN_SECONDS) -> Ran | None:
        """Run a program to its end, or for so many seconds. None: it cannot be started. What it writes to standard
        error is not looked at; its children end with it."""
        try:
            process = subprocess.Popen(
                command,
                env=dict(self.environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError):
            return None
        try:
            out, _ = process.communicate(given.encode(), timeout=seconds)
        except subprocess.TimeoutExpired as late:
            self._end(process)
            return Ran(code=None, out=_text(late.stdout))
        return Ran(code=process.returncode, out=_text(out))

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with process:
            pass


def _packaged(path: str) -> str:
    """The version of the package that a program is of, as its own file says; empty where there is none that names this
    very file as a program."""
    real = os.path.realpath(path)
    for folder in list(Path(real).parents)[:PACKAGE_DEPTH]:
        try:
            said = json.loads(read(folder / PACKAGE) or "null")
        except (ConfigFault, ValueError, RecursionError):
            continue
        match said:
            case {"version": str(version), "bin": str(program)}:
                named = [program]
            case {"version": str(version), "bin": {**programs}}:
                named = [program for program in programs.values() if isinstance(program, str)]
            case _:
                continue
        if any(os.path.realpath(folder / program) == real for program in named):
            return version
    return ""


def _text(out: bytes | None) -> str:
    return (out or b"")[:ANSWER_BYTES].decode("utf-8", "replace")
