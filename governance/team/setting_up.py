"""The repository's part of `init`: the folder of its memory, with the files that git needs beside it (team.md 10).

Nothing of the user's is taken away: a file that is there keeps its lines, and gets ours if it lacks it.
"""

import asyncio
from contextlib import suppress

import msgspec

from governance.team.contracts.base import Bound
from governance.team.contracts.results import Initialised
from governance.team.disk import FILE_MODE, NEW, Disk, Plain, beside
from governance.team.errors import Kind, TeamFault
from governance.team.formats import MARKER, Formats
from governance.team.placing import put_over

IGNORED = f".{MARKER}-*"  # what a promotion has in the making
LINE_ENDS = "memory/** text eol=lf"  # a checkout must not change bytes that digests name
LARGEST = 64 * 1024  # bytes of a file that a line is added to


def index_file(formats: Formats) -> bytes:
    """`index.json`: a mark that this is a memory folder. No list: there is nothing to merge."""
    return msgspec.json.encode({"format": formats.document("memory-index")}) + b"\n"


async def set_up(bound: Bound, formats: Formats) -> tuple[str, ...]:
    """Make what is missing. Returns its paths, relative to the worktree's top; once more makes nothing.

    Raises TeamFault: `target-path-invalid` where a link or something else stands in the way, `io-error`.
    """
    return await asyncio.to_thread(_set_up, bound, formats)


def initialised(formats: Formats, created: tuple[str, ...], trusted: bool | None, entries: int) -> Initialised:
    """The answer of the operation."""
    return Initialised(format=formats.document("initialised"), created=created, trusted=trusted, entries=entries)


def _set_up(bound: Bound, formats: Formats) -> tuple[str, ...]:
    disk = Disk(bound.root)
    try:
        created = _folders(disk, formats.memory_root)
        return (*created, *(path for path, data in _wanted(formats).items() if _file(disk, path, data)))
    except OSError as error:
        problem = f"The folder of the repository's memory cannot be made: {error.strerror}."
        raise TeamFault(Kind.IO_ERROR, problem, "Check its permissions and the disk, and try again.") from error


def _wanted(formats: Formats) -> dict[str, bytes]:
    """The files, and what must stand in them."""
    return {
        f"{formats.memory_root}/index.json": index_file(formats),
        f"{formats.folder}/.gitignore": f"{IGNORED}\n".encode(),
        f"{formats.folder}/.gitattributes": f"{LINE_ENDS}\n".encode(),
    }


def _folders(disk: Disk, memory: str) -> tuple[str, ...]:
    try:
        missing = disk.missing(f"{memory}/x")
    except OSError as error:
        raise _in_the_way(memory) from error
    for one in missing:
        disk.make_folder(one)
    return missing


def _file(disk: Disk, path: str, data: bytes) -> bool:
    """Whether a file was made, or a line added to it."""
    seen = disk.look(path)
    if seen is None:
        return _put(disk, path, None, data)
    if not isinstance(seen, Plain) or seen.links > 1:
        raise _in_the_way(path)
    if path.endswith(".json") or data.strip() in seen.data.splitlines():
        return False
    if len(seen.data) > LARGEST:
        raise _in_the_way(path)
    ended = seen.data if not seen.data or seen.data.endswith(b"\n") else seen.data + b"\n"
    return _put(disk, path, seen, ended + data)


def _put(disk: Disk, path: str, seen: Plain | None, data: bytes) -> bool:
    """Whole or not at all, and only over what was looked at: a kill leaves no half line that nobody mends."""
    hidden = _hidden(path)
    disk.drop(hidden)
    disk.write(hidden, data, FILE_MODE if seen is None else seen.mode)
    try:
        if seen is None:
            disk.put_back(hidden, path)
        elif not put_over(disk, path, seen, hidden):
            raise FileExistsError
    except FileExistsError as error:
        disk.drop(hidden)
        raise TeamFault(Kind.TARGET_DRIFT, f"{path} was changed at this moment.", "Try again.") from error
    return True


def tidied(root: str, formats: Formats) -> None:
    """Take away what a set-up that was killed left under hidden names; what cannot be reached stays. Blocks."""
    disk = Disk(root)
    for path in _wanted(formats):
        with suppress(OSError):
            disk.drop(_hidden(path))


def _hidden(path: str) -> str:
    return beside(path, "init", NEW)


def _in_the_way(path: str) -> TeamFault:
    problem = f"{path} is a link, or something else than it must be."
    return TeamFault(Kind.TARGET_PATH_INVALID, problem, "Look at what it is, and take it away if it is not yours.")
