"""Folders of others, read so that nobody can lead us elsewhere: every step is opened from the one above it, no link is
followed, and a file is read when it is a plain one with one name (team.md 9, 11).
"""

import itertools
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from governance.team.paths import in_the_making
from recall.contracts import Frozen
from recall.team_front import MOST_BODY, MOST_FRONT

LARGEST = MOST_FRONT + MOST_BODY  # bytes of a file
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Seen(Frozen, frozen=True, kw_only=True):
    """A name in a folder, and what was there when it was listed."""

    name: str
    mode: int
    links: int
    size: int
    identity: tuple[int, int]
    stamp: tuple[int, int]


def names(folder: int, most: int) -> list[str]:
    """Up to `most` names in an open folder. Raises OSError."""
    with os.scandir(folder) as scanned:
        return [entry.name for entry in itertools.islice(scanned, most)]


def looked_at(folder: int, names: Sequence[str]) -> list[Seen]:
    found: list[Seen] = []
    for name in names:
        try:
            seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue
        found.append(
            Seen(
                name=name,
                mode=seen.st_mode,
                links=seen.st_nlink,
                size=seen.st_size,
                identity=(seen.st_dev, seen.st_ino),
                stamp=(seen.st_mtime_ns, seen.st_ctime_ns),
            )
        )
    return found


def told(listing: Sequence[Seen]) -> list[Seen]:
    return [seen for seen in listing if not in_the_making(seen.name)]


def unreadable(seen: Seen, making: int) -> tuple[str, str] | None:
    """Code and problem of what is not read. `making`: names that a promotion in the making has for this very file."""
    if stat.S_ISLNK(seen.mode):
        return "symlink", "A link: links are not followed."
    if not stat.S_ISREG(seen.mode):
        return "not-a-file", "No plain file."
    if seen.links > 1 + making:
        return "hard-link", "The file has another name elsewhere: through git it cannot have come."
    if seen.size > LARGEST:
        return "too-large", f"The file has more than {LARGEST} bytes."
    return None


def read(folder: int, seen: Seen) -> bytes | tuple[str, str]:
    try:
        handle = os.open(seen.name, _FILE, dir_fd=folder)
    except OSError as error:
        return "no-access", f"The file cannot be read: {error.strerror or error}."
    with os.fdopen(handle, "rb") as stream:
        now = os.fstat(handle)
        if (now.st_dev, now.st_ino) != seen.identity or not stat.S_ISREG(now.st_mode):
            return "no-access", "The file was replaced while it was read."
        data = stream.read(LARGEST + 1)
    return data if len(data) <= LARGEST else ("too-large", f"The file has more than {LARGEST} bytes.")


@contextmanager
def opened(root: str, folder: str) -> Iterator[tuple[int, tuple[int, int]]]:
    """A handle of the memory folder, each step of the way opened without following a link, and what it is. Raises
    OSError."""
    handle = os.open(root, FOLDER)
    try:
        for part in folder.split("/"):
            inner = os.open(part, FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        seen = os.fstat(handle)
        yield handle, (seen.st_dev, seen.st_ino)
    finally:
        os.close(handle)
