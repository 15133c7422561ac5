"""One promotion at a time for a repository, over all processes of this installation (team.md 9, row 0).

A lock of the system on a file in the data folder: it ends with the process that holds it, however that ends.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

from governance.team.errors import Kind, TeamFault

Given = ParamSpec("Given")
T = TypeVar("T")
PAUSE_SECONDS = 0.05
WAIT_SECONDS = 5.0
_MODE, _FOLDER_MODE = 0o600, 0o700


@asynccontextmanager
async def locked(folder: Path, repository_key: str, wait_seconds: float = WAIT_SECONDS) -> AsyncIterator[int]:
    """Hold the lock of a repository; its handle is for `holding`.

    Raises TeamFault: `lock-busy` when another one holds it for longer than that; `io-error`.
    """
    try:
        handle = await asyncio.to_thread(_opened, folder / f"{repository_key}.lock")
    except OSError as error:
        problem = f"The lock of this repository cannot be made: {error.strerror or error}."
        raise TeamFault(
            Kind.IO_ERROR, problem, "See that the data folder can be written, then promote again."
        ) from error
    try:
        tries = int(wait_seconds / PAUSE_SECONDS)
        while not _taken(handle):
            if tries <= 0:
                raise TeamFault(
                    Kind.LOCK_BUSY,
                    "Another promotion is at work in this repository.",
                    "Wait until it is done, and promote again.",
                )
            tries -= 1
            await asyncio.sleep(PAUSE_SECONDS)
        yield handle
    finally:
        os.close(handle)  # the lock goes with it


def holding(lock: int, work: Callable[Given, T]) -> Callable[Given, T]:
    """The work, which holds the lock by itself until it is done: a thread goes on when whoever started it is gone."""
    own = os.dup(lock)

    def held(*given: Given.args, **named: Given.kwargs) -> T:
        try:
            return work(*given, **named)
        finally:
            os.close(own)

    return held


def _opened(path: Path) -> int:
    path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
