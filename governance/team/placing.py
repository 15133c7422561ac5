"""Files of the user's that something of ours goes into: where a name leads, and how the new bytes get there
(team.md 10). Blocking.

A link is followed inside the worktree only, and never to what git or the repository's memory keeps. What is written is
whole, and takes the place of just those bytes that were looked at.
"""

import difflib
import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import PurePosixPath

from governance.formation.contracts import Fault, no_fault
from governance.team.disk import FILE_MODE, NEW, Disk, Odd, Plain, beside
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.paths import is_git_name
from recall.contracts import Frozen

MOST_WAITING = 128  # open files
AT_ONCE = 8  # files that are flushed at one time
_AGAIN = "Look at it, then assemble again."
_ODD = {
    "link": "a link leads out of the worktree, or in a circle",
    "not-a-file": "it is no plain file",
    "too-large": "it is too large",
    "no-access": "it cannot be read",
}


class Place(Frozen, frozen=True, kw_only=True):
    """`path`: where a name leads, relative to the worktree's top. `before`: what stands there; None: nothing."""

    path: str
    before: Plain | None

    @property
    def data(self) -> bytes:
        return b"" if self.before is None else self.before.data


class Write(Frozen, frozen=True, kw_only=True):
    """The bytes that are to stand at a place."""

    place: Place
    data: bytes

    @property
    def changes(self) -> bool:
        return self.place.before is None or self.place.before.data != self.data


def place(disk: Disk, path: str, formats: Formats) -> Place:
    """Where a name leads, and what stands there.

    Raises TeamFault (`assembly-conflict`): it leads where it must not, or what stands there is no plain file with one
    name.
    """
    real = _followed(disk.root, path, formats)
    seen = disk.look(real)
    if isinstance(seen, Odd):
        raise _conflict(f"{path} is not written: {_ODD.get(seen.reason, seen.reason)}.")
    if seen is not None and seen.links > 1:
        problem = f"{path} has another name somewhere, by a hard link: it would fall away from that."
        raise _conflict(problem, "Make it a file of its own, or a symbolic link.")
    return Place(path=real, before=seen)


class Gathering(Disk):
    """A disk that flushes many files at once: their system then has to write its own books once, and not for each.

    What was done since the last flush may not be on the disk yet.
    """

    def __init__(self, root: str, fault: Fault = no_fault) -> None:
        super().__init__(root, fault)
        self._files: dict[tuple[int, int], int] = {}
        self._folders: dict[tuple[int, int], int] = {}

    def settle_files(self) -> None:
        """Have the bytes of all files on the disk, whatever their names are. Raises OSError."""
        self._settle(self._files)

    def settle(self) -> None:
        """Have all of it on the disk. Raises OSError."""
        self.settle_files()
        self._settle(self._folders)

    def _flush(self, handle: int) -> None:
        self._gather(self._files, handle)

    def _flush_folder(self, handle: int) -> None:
        self._gather(self._folders, handle)

    def _gather(self, waiting: dict[tuple[int, int], int], handle: int) -> None:
        info = os.fstat(handle)
        identity = (info.st_dev, info.st_ino)
        if identity not in waiting:
            waiting[identity] = os.dup(handle)
        if len(waiting) >= MOST_WAITING:
            self._settle(waiting)

    def _settle(self, waiting: dict[tuple[int, int], int]) -> None:
        flush = super()._flush_folder
        try:
            if len(waiting) <= 2:
                for handle in waiting.values():
                    flush(handle)
            else:  # at once: the system joins what it writes in its books
                with ThreadPoolExecutor(AT_ONCE) as pool:
                    deque(pool.map(flush, tuple(waiting.values())), maxlen=0)
        finally:
            for handle in waiting.values():
                os.close(handle)
            waiting.clear()


def put(disk: Gathering, writes: Sequence[Write], key: str) -> None:
    """Have the bytes stand at their places. First all of them are on the disk beside, then each gets its name. `key`:
    of whoever writes, for the hidden names.

    Raises TeamFault (`assembly-conflict`) when something else stands somewhere by now, and OSError. What got its name
    before that is whole.
    """
    hidden = {_hidden(write.place.path, key): write for write in writes}
    left: set[str] = set()
    try:
        _folders(disk, writes)
        for name, write in hidden.items():
            left.add(name)
            _beside(disk, name, write)
        disk.settle_files()
        for name, write in hidden.items():
            _named(disk, write.place, name)
            left.discard(name)
    finally:
        for name in sorted(left):
            with suppress(OSError):
                disk.drop(name)
        disk.settle()


def drop_left(disk: Disk, path: str, key: str) -> None:
    """Take away what a `put` that was killed left beside a place. Raises OSError."""
    disk.drop(_hidden(path, key))


def _hidden(path: str, key: str) -> str:
    return beside(path, key, f"assemble{NEW}")


def _folders(disk: Disk, writes: Sequence[Write]) -> None:
    for path in sorted({str(PurePosixPath(write.place.path).parent) for write in writes}):
        for folder in disk.missing(f"{path}/x"):
            disk.make_folder(folder)


def _beside(disk: Disk, hidden: str, write: Write) -> None:
    mode = FILE_MODE if write.place.before is None else write.place.before.mode
    try:
        disk.write(hidden, write.data, mode)
    except FileExistsError:  # of one that was killed
        disk.drop(hidden)
        disk.write(hidden, write.data, mode)


def _named(disk: Disk, place: Place, hidden: str) -> None:
    """Give what was written its name, if what stands there is what was looked at."""
    if place.before is not None:
        if not put_over(disk, place.path, place.before, hidden):
            raise _conflict(f"{place.path} was changed meanwhile.")
        return
    try:
        disk.put_back(hidden, place.path)
    except FileExistsError as error:
        raise _conflict(f"{place.path} was made meanwhile.") from error


def put_over(disk: Disk, path: str, before: Plain, hidden: str) -> bool:
    """Have a hidden file of ours take the place of what was looked at. False: something else stands there by now, and
    stays; the hidden file is for the caller to drop. Raises OSError.

    The two are swapped first and looked at then: what an editor saves between a look and a renaming is not lost.
    """
    if disk.look(path) != before:
        return False
    ours = disk.look(hidden)
    if not disk.swap(hidden, path):
        disk.replace(hidden, path)
        return True
    if disk.look(hidden) == before:
        disk.drop(hidden)
        return True
    disk.swap(hidden, path)
    if disk.look(hidden) != ours:  # saved once more, between the two: the latest stays
        disk.swap(hidden, path)
    return False


def diff(write: Write) -> str:
    """What a write would change, as a unified diff."""
    was, now = (data.decode("utf-8", "replace").splitlines(keepends=True) for data in (write.place.data, write.data))
    name = write.place.path
    rows = difflib.unified_diff(was, now, "/dev/null" if write.place.before is None else f"a/{name}", f"b/{name}")
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def _followed(root: str, path: str, formats: Formats) -> str:
    """The path without the links on its way. Raises TeamFault (`assembly-conflict`)."""
    real = os.path.realpath(f"{root}/{path}")
    if not real.startswith(f"{root}/"):
        raise _conflict(f"{path} is a link that leads out of the worktree.")
    found = real.removeprefix(f"{root}/")
    if found != path and not os.path.lexists(real):
        raise _conflict(f"{path} is a link to {found}, which is not there.")
    names = found.split("/")
    if any(is_git_name(name) for name in names) or names[0] == formats.folder:
        raise _conflict(f"{path} leads to {found}, which is not ours to write.")
    return found


def _conflict(problem: str, next_step: str = _AGAIN) -> TeamFault:
    return TeamFault(Kind.ASSEMBLY_CONFLICT, problem, next_step)
