"""Where the tests put their files: a folder in memory where there is one, so that no test waits for a disk.

That nothing is lost when a process is killed is proved on a disk: the suite `reliability` keeps the usual folder. So
does everything where memory is short or may hold no programs.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

IN_MEMORY = Path("/dev/shm")
ROOM = 2**30  # bytes; the folder of a test goes with the test


def folder_in_memory(folder: Path = IN_MEMORY) -> str | None:
    """The folder, if everything that tests do can be done in it; None: the usual one."""
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        return None
    programs = not os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0)
    return str(folder) if programs and shutil.disk_usage(folder).free >= ROOM else None


def pytest_configure(config: pytest.Config) -> None:
    if "not reliability" in config.option.markexpr and "TMPDIR" not in os.environ:
        tempfile.tempdir = folder_in_memory()


@pytest.fixture
def run_dir() -> Iterator[Path]:
    """A folder with a short path: a Unix socket's name has room for about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        yield Path(folder)
