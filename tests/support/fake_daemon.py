"""The daemon's own process with methods of a test: `python -m tests.support.fake_daemon`, placed by the environment."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from host.config import Config, Paths
from host.connection import Methods, Shell
from host.daemon import Options, run
from host.errors import RemoraError
from tests.support.methods import FakeMethods


@asynccontextmanager
async def build(config: Config, paths: Paths, shell: Shell) -> AsyncIterator[Methods]:
    """Methods that wait for nothing."""
    methods = FakeMethods()
    methods.go.set()
    yield methods


if __name__ == "__main__":
    try:
        words = sys.argv[1:]
        options = Options(http="http" in words, background="background" in words, revive="revive" in words)
        code = run(lambda: build, options)
    except RemoraError as error:
        sys.stderr.write(f"Error: {error}\n")
        code = 1
    sys.exit(code)
