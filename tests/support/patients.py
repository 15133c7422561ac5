"""A scratch installation for `doctor` to look at: a home, a checkout, a search path of its own, and a real daemon when
a test wants one. What is broken in it is broken for real."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from host.config import Config, Paths, ensure_port, http_token, install_key, locate, make_folders
from host.database import open_database
from host.doctor.checks import examine
from host.doctor.connections import wanted_now
from host.doctor.findings import Finding
from host.doctor.scene import Check, Scene, look
from host.setup import REGISTRARS
from host.setup.registrar import Level, Places
from host.setup.settings_file import read
from tests.support.checkouts import a_checkout
from tests.support.daemon import RunningDaemon

Answer = Callable[[bytes], bytes]


class Patient:
    """An installation below `folder`, whose path is short enough for a socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.daemon = RunningDaemon(folder, env={"PATH": str(self.programs)})
        self.repository = a_checkout(folder / "project")
        for made in (self.programs, self.daemon.home):
            made.mkdir()

    @property
    def environ(self) -> dict[str, str]:
        return self.daemon.environment()

    @property
    def home(self) -> Path:
        return self.daemon.home

    @property
    def paths(self) -> Paths:
        return locate(self.environ)

    def scene(self, **environ: str) -> Scene:
        return look(self.environ | environ, self.repository)

    def found(self, *checks: Check, **environ: str) -> list[Finding]:
        return examine(self.scene(**environ), checks)

    def states(self, *checks: Check, **environ: str) -> list[str]:
        return [one.state for one in self.found(*checks, **environ)]

    def the(self, *checks: Check, **environ: str) -> Finding:
        """The one finding, which says all that a finding must."""
        (one,) = self.found(*checks, **environ)
        assert one.what and one.why and one.todo
        return one

    def configure(self, text: str) -> None:
        """Write our own configuration."""
        self.paths.config_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.paths.config_file.write_text(text, "utf-8")

    def settle(self) -> Paths:
        """What a first start makes, without a daemon: folders, key, token and port."""
        paths = self.paths
        make_folders(paths)
        install_key(paths)
        http_token(paths)
        ensure_port(paths)
        paths.socket.parent.mkdir(mode=0o700, exist_ok=True)
        return paths

    def run(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Our command line, in the checkout."""
        return subprocess.run(
            [sys.executable, "-c", "from host.cli.main import main; main()", *words],
            cwd=self.repository,
            env=self.environ | {"COLUMNS": "200"} | environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def connect(self, host: str, level: Level = "project") -> list[Path]:
        """Connect a product as `init` would: the files that were written."""
        scene = self.scene()
        assert scene.homes is not None
        places = Places(home=scene.homes.home, repository=scene.repository, environ=scene.environ)
        written = []
        for file in REGISTRARS[host].files(level, places):
            text = file.plan(read(file.path), wanted_now(scene))
            if text is not None:
                file.path.parent.mkdir(parents=True, exist_ok=True)
                file.path.write_text(text, "utf-8")
                file.path.chmod(0o600)
                written.append(file.path)
        return written

    def program(self, name: str, script: str, folder: str = "bin") -> Path:
        """A program of that name on the search path: a shell script."""
        path = self.folder / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n", "utf-8")
        path.chmod(0o755)
        return path


async def a_database(path: Path, schema: tuple[str, ...]) -> None:
    """A database of ours as the daemon leaves it."""
    async with open_database(path, schema):
        pass


@contextmanager
def serving(path: Path) -> Iterator[socket.socket]:
    """Somebody listens at a socket's name, and says nothing."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen(8)
        yield listening
    path.unlink(missing_ok=True)


def mode(path: Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def settings(**given: Any) -> Config:
    return Config(**given)
