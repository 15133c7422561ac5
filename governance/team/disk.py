"""Files of a repository as a promotion touches them (team.md 9). Everything here blocks, and raises OSError.

Every path is walked folder by folder from the repository's top, without following a link: a folder that has become one
is no folder any more. Nothing is written over: a name is made only where it is free. What was done is on the disk when
a method returns. Before each call of the system that changes something, `fault` hears its name: tests stop there.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath

from governance.formation.contracts import Fault, no_fault
from governance.team.formats import MARKER
from governance.team.renaming import rename_free, swapped
from recall.canonical import bytes_digest, digest
from recall.contracts import Frozen

FILE_MODE, FOLDER_MODE = 0o644, 0o755
LARGEST = 8 * 1024 * 1024  # no plan has more in all
NEW, HOLD, UNDO, PROBE, PROBED = "new", "hold", "undo", "probe", "probed"  # steps that have a hidden name
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
_FULL = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone leaves it in the drive's own memory


class Plain(Frozen, frozen=True, kw_only=True):
    """A regular file. `inode`: tells two files with the same bytes apart. `links`: how many names it has."""

    data: bytes
    mode: int
    inode: tuple[int, int]
    links: int = 1

    @property
    def digest(self) -> str:
        return bytes_digest(self.data)


class Odd(Frozen, frozen=True, kw_only=True):
    """What stands there is no file of ours. `reason`: link | not-a-file | too-large | no-access."""

    reason: str


RenameFree = Callable[[int, str, str], bool]
Seen = Plain | Odd | None  # None: nothing has that name


def beside(path: str, plan_id: str, step: str) -> str:
    """The hidden name, in a target's own folder, for one step of one plan: `.rpx-<32 hex>.new`, or `.hold`."""
    name = digest({"planId": plan_id, "path": path, "step": step})[:32]
    suffix = NEW if step in (NEW, PROBE) else HOLD
    return str(PurePosixPath(path).parent / f".{MARKER}-{name}.{suffix}")


def is_led_astray(error: OSError) -> bool:
    """Whether a walk met a link, or a file, where a folder was."""
    return error.errno in (errno.ELOOP, errno.ENOTDIR)


class Disk:
    """The files below `root`, the real path of a worktree's top. Paths are relative to it, with slashes.

    `rename`: gives a free name, in one step, where the system can.
    """

    def __init__(self, root: str, fault: Fault = no_fault, rename: RenameFree = rename_free) -> None:
        self.root = root
        self._fault = fault
        self._rename = rename

    def look(self, path: str) -> Seen:
        """What has that name now; what cannot be read is odd."""
        try:
            return self.see(path)
        except OSError:
            return Odd(reason="no-access")

    def see(self, path: str) -> Seen:
        """The same; raises OSError when it cannot be read: that says nothing about whose it is."""
        try:
            with self._folder(path) as (folder, name):
                self._fault("disk:read")
                return _seen(folder, name)
        except FileNotFoundError:
            return None
        except OSError as error:
            if is_led_astray(error):
                return Odd(reason="link")
            raise

    def missing(self, path: str) -> tuple[str, ...]:
        """The folders above a path that are not there, outermost first. Raises OSError: one is no folder."""
        above = [str(folder) for folder in reversed(PurePosixPath(path).parents) if folder.name]
        for place, folder in enumerate(above):
            try:
                with self._folder(f"{folder}/x"):
                    continue
            except FileNotFoundError:
                return tuple(above[place:])
        return ()

    def make_folder(self, path: str) -> None:
        """Make one folder, if it is not there."""
        with self._folder(path) as (folder, name):
            self._fault("disk:mkdir")
            try:
                os.mkdir(name, FOLDER_MODE, dir_fd=folder)
            except FileExistsError:
                return
            made = os.open(name, _FOLDER, dir_fd=folder)
            try:
                os.fchmod(made, FOLDER_MODE)  # whatever the umask is: others read this repository, too
                self._flush(made)
            finally:
                os.close(made)
            self._flush_folder(folder)

    def drop_folder(self, path: str) -> None:
        """Take an empty folder away. One that is not empty, or not there, is left."""
        try:
            with self._folder(path) as (folder, name):
                self._fault("disk:rmdir")
                os.rmdir(name, dir_fd=folder)
                self._flush_folder(folder)
        except OSError:
            return

    def write(self, path: str, data: bytes, mode: int) -> None:
        """Make a file where there is none. Raises FileExistsError. One that could not be written whole is gone."""
        self.draft(path, data, mode)
        try:
            self.flush_file(path)
            self.flush_folder(path)
        except OSError:
            with suppress(OSError):
                self.unlink(path)
            raise

    def draft(self, path: str, data: bytes, mode: int) -> None:
        """The same; but it is not on the disk before `flush_file` and `flush_folder`: of many files the system then
        writes its own books once."""
        with self._folder(path) as (folder, name):
            self._fault("disk:create")
            handle = os.open(name, _FRESH, mode, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as stream:
                    os.fchmod(stream.fileno(), mode)
                    self._fault("disk:write")
                    stream.write(data)
            except OSError:
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
                raise

    def flush_file(self, path: str) -> None:
        """Have the bytes of a file on the disk. Raises FileNotFoundError."""
        with self._folder(path) as (folder, name):
            handle = os.open(name, _FILE, dir_fd=folder)
            try:
                self._flush(handle)
            finally:
                os.close(handle)

    def capture(self, path: str, hold: str) -> None:
        """Take whatever has the name `path`, and give it the name `hold` beside it, in one step.

        Raises FileNotFoundError: there is nothing; FileExistsError: `hold` is taken.
        """
        with self._folder(path) as (folder, name):
            other = PurePosixPath(hold).name
            self._fault("disk:rename")
            if not self._rename(folder, name, other):
                if _exists(folder, other):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), hold)
                os.rename(name, other, src_dir_fd=folder, dst_dir_fd=folder)
            self._flush_folder(folder)

    def put_back(self, hold: str, path: str) -> None:
        """Give what has the name `hold` the name `path` again, whatever it is. Raises FileExistsError: it is taken."""
        with self._folder(path) as (folder, name):
            other = PurePosixPath(hold).name
            self._fault("disk:rename")
            if not self._rename(folder, other, name):
                try:
                    os.link(other, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                    os.unlink(other, dir_fd=folder)
                except OSError as error:
                    if error.errno not in _NO_LINKS:
                        raise
                    if _exists(folder, name):
                        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from error
                    os.rename(other, name, src_dir_fd=folder, dst_dir_fd=folder)
            self._flush_folder(folder)

    def link(self, source: str, path: str) -> None:
        """Give a file of ours a second name, which is free. Without links in this file system it gets that name alone.

        Raises FileExistsError: the name is taken.
        """
        with self._folder(path) as (folder, name):
            other = PurePosixPath(source).name
            if not self._linked(folder, other, name):
                raise OSError(errno.ENOTSUP, "This file system has neither links nor a renaming that spares", path)
            self._flush_folder(folder)

    def swap(self, hidden: str, path: str) -> bool:
        """Give a hidden file and what stands at `path` each other's name: what was there can be looked at before it is
        gone. False: this system cannot. No step of a promotion does this."""
        with self._folder(path) as (folder, name):
            self._fault("disk:rename")
            if not swapped(folder, PurePosixPath(hidden).name, name):
                return False
            self._flush_folder(folder)
        return True

    def replace(self, source: str, path: str) -> None:
        """Give a hidden file of ours the name of what stands there, where nothing can be swapped. No step of a
        promotion does this."""
        with self._folder(path) as (folder, name):
            self._fault("disk:rename")
            os.rename(PurePosixPath(source).name, name, src_dir_fd=folder, dst_dir_fd=folder)
            self._flush_folder(folder)

    def unlink(self, path: str) -> None:
        """Take a name of ours away; it may be gone. It may come back after a power cut until its folder is on the disk:
        `flush_folder`."""
        with suppress(FileNotFoundError), self._folder(path) as (folder, name):
            self._fault("disk:unlink")
            os.unlink(name, dir_fd=folder)

    def drop(self, path: str) -> None:
        """Take a name of ours away for good; it may be gone."""
        with suppress(FileNotFoundError), self._folder(path) as (folder, name):
            self._fault("disk:unlink")
            os.unlink(name, dir_fd=folder)
            self._flush_folder(folder)

    def flush_folder(self, path: str) -> None:
        """Have the names in the folder of a path on the disk. A folder that is gone has none."""
        with suppress(FileNotFoundError), self._folder(path) as (folder, _):
            self._flush_folder(folder)

    def can_name_freely(self, path: str, plan_id: str) -> bool:
        """Whether a name can be given in the folder of `path` without replacing one: it is tried, with hidden names.

        Of a folder that is not there yet, the nearest one that is gets asked.
        """
        at = next(iter(self.missing(path)), path)
        one, other = beside(at, plan_id, PROBE), beside(at, plan_id, PROBED)
        with self._folder(at) as (folder, _):
            names = [PurePosixPath(hidden).name for hidden in (one, other)]
            try:
                _drop_all(folder, names)
                os.close(os.open(names[0], _FRESH, FILE_MODE, dir_fd=folder))
                return self._linked(folder, names[0], names[1])
            finally:
                _drop_all(folder, names)

    def drop_probe(self, path: str, plan_id: str) -> None:
        """Take away what a probe left that was killed."""
        with suppress(OSError):
            at = next(iter(self.missing(path)), path)
            with self._folder(at) as (folder, _):
                _drop_all(folder, [PurePosixPath(beside(at, plan_id, step)).name for step in (PROBE, PROBED)])

    @contextmanager
    def _folder(self, path: str) -> Iterator[tuple[int, str]]:
        """A handle of the folder of a path, and the last name. Each step is opened without following a link."""
        steps = PurePosixPath(path)
        if steps.is_absolute() or ".." in steps.parts or not steps.name:
            raise NotADirectoryError(errno.ENOTDIR, "The path leaves its repository", path)
        handle = os.open(self.root, _FOLDER)
        try:
            if os.path.realpath(self.root) != self.root:
                raise OSError(errno.ELOOP, "The repository's top is reached through a link now", self.root)
            for part in steps.parent.parts:
                inner = os.open(part, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle, steps.name
        finally:
            os.close(handle)

    def _linked(self, folder: int, name: str, free: str) -> bool:
        """Give a file the free name, too, or instead. False: this file system can do neither."""
        try:
            self._fault("disk:link")
            os.link(name, free, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return self._rename(folder, name, free)
        return True

    def _flush(self, handle: int) -> None:
        self._fault("disk:fsync")
        flush(handle)

    def _flush_folder(self, handle: int) -> None:
        self._fault("disk:fsync-folder")
        try:
            flush(handle)
        except OSError as error:
            if error.errno not in _NO_FOLDER_SYNC:
                raise


def flush(handle: int) -> None:
    """Have it on the disk, and not only in the memory of the system or of the drive."""
    if _FULL is not None:
        with suppress(OSError):  # not every file system can
            fcntl.fcntl(handle, _FULL)
            return
    os.fsync(handle)


def _seen(folder: int, name: str) -> Seen:
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    info = os.fstat(handle)
    if not stat.S_ISREG(info.st_mode):
        os.close(handle)
        return Odd(reason="not-a-file")
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        return Odd(reason="too-large")
    return Plain(data=data, mode=stat.S_IMODE(info.st_mode), inode=(info.st_dev, info.st_ino), links=info.st_nlink)


def _drop_all(folder: int, names: Sequence[str]) -> None:
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
