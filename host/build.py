"""Which code this is: a stamp of the files that are installed. A daemon from before an update has another one."""

from functools import cache
from pathlib import Path

from recall.canonical import short_id

PACKAGES = ("host", "governance", "recall")
SUFFIXES = frozenset({".py", ".sql", ".js"})


def stamp(root: Path | None = None) -> str:
    """A short id of the names, sizes and times of our code files, as they are on the disk now. `root`: the folder that
    holds the packages; None: where this module lies."""
    top = root or Path(__file__).parents[1]
    files = [file for package in PACKAGES for file in (top / package).rglob("*") if file.suffix in SUFFIXES]
    told = [f"{file.relative_to(top)}:{(at := file.stat()).st_size}:{at.st_mtime_ns}" for file in sorted(files)]
    return short_id("code_", told)


@cache
def running() -> str:
    """The stamp of the code that this process runs: as it was when it was asked for first, at the daemon's start."""
    return stamp()
