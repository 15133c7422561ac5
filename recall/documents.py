"""Memory files on disk: scanning a root, reading one file, and the write transaction (M-06).

Every path below a root is walked folder by folder without following symlinks, so nothing outside the root is read or
written; a root whose own path has become a symlink since it was resolved (a checkout can do that) is gone.
Writing: one queue a file → read and compare the expected digest → edit (pure, checked by reading back) → temporary file
in the same folder, fsync → compare again → rename → fsync of the folder → read and compare. When someone else changed
the file in between, their change stands and the edit is made anew, or refused when it named what it saw.
"""

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath

from recall.canonical import bytes_digest
from recall.contracts import Frozen
from recall.files import LARGEST, RefusalKind, Refused

SUFFIXES = (".md", ".markdown", ".mdc")
ATTEMPTS = 8
FOLDER_MODE, FILE_MODE = 0o700, 0o600
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Edit = Callable[[bytes], bytes | Refused]


class Document(Frozen, frozen=True, kw_only=True):
    """A file's bytes as read, and the stamp (size, times, inode) that tells cheaply whether it may have changed."""

    data: bytes
    stamp: str


class Unreadable(Frozen, frozen=True, kw_only=True):
    """A file that is not read. `reason`: gone | link | not-a-file | too-large | no-access."""

    reason: str


class Scan(Frozen, frozen=True, kw_only=True):
    """The memory files below a root: relative path -> stamp; and what was passed over, with the reason."""

    files: Mapping[str, str]
    passed_over: Mapping[str, str]


def scan(base: str) -> Scan | None:
    """All Markdown files below a folder (a real path), hidden ones left out; None when there is no such folder."""
    files: dict[str, str] = {}
    passed_over: dict[str, str] = {}
    if not _is_itself(base):
        return None
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(os.path.join(base, folder)), key=lambda entry: entry.name)
        except OSError:
            passed_over[folder] = "no-access"
            continue
        for entry in entries:
            relative = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith(".") or not _is_text(relative):
                continue
            try:
                if entry.is_symlink():
                    if (entry.is_dir() or entry.name.endswith(SUFFIXES)) and _leaves(base, relative):
                        passed_over[relative] = "link-outside-root"
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(relative)
                elif entry.name.endswith(SUFFIXES):
                    files[relative] = stamp_of(entry.stat(follow_symlinks=False))
            except OSError:  # gone since the folder was listed
                continue
    return Scan(files=files, passed_over=passed_over)


def read(base: str, relative: str) -> Document | Unreadable:
    """One file below a root, whole. Nothing is read through a symlink."""
    try:
        with _open_folder(base, PurePosixPath(relative).parent) as folder:
            return _read_at(folder, PurePosixPath(relative).name)
    except FileNotFoundError:
        return Unreadable(reason="gone")
    except OSError as error:
        return Unreadable(reason=_why(error))


def stamp(base: str, relative: str) -> str | None:
    """The stamp of one file now; None when it is gone or is no plain file."""
    try:
        seen = os.lstat(os.path.join(base, relative))
    except OSError:
        return None
    return stamp_of(seen) if stat.S_ISREG(seen.st_mode) else None


def stamp_of(seen: os.stat_result) -> str:
    """A hint, never a proof: equal stamps let a scan skip reading. It enters no version."""
    return f"{seen.st_size}:{seen.st_mtime_ns}:{seen.st_ctime_ns}:{seen.st_ino}"


class Documents:
    """The write transaction, one at a time for each file: whoever changes memory files goes through one of these."""

    def __init__(self) -> None:
        self._queues: dict[str, asyncio.Lock] = {}

    async def transact(self, base: str, relative: str, edit: Edit, expected: str | None = None) -> str | Refused:
        """Change one file below `base` (made if missing, mode 0600 in folders of 0700); the new digest.

        `edit` gets the bytes (empty when there is no file) and returns the new ones; it is pure and may run again.
        `expected`: the digest the caller saw; any other is `conflict`. Without it, others' changes are taken in.
        Cancelling the caller does not stop a transaction that was begun, nor lets a second one in beside it.
        """
        return await asyncio.shield(asyncio.ensure_future(self._queued(base, relative, edit, expected)))

    async def _queued(self, base: str, relative: str, edit: Edit, expected: str | None) -> str | Refused:
        async with self._queues.setdefault(os.path.join(base, relative), asyncio.Lock()):
            return await asyncio.to_thread(_transact, base, relative, edit, expected)


def _transact(base: str, relative: str, edit: Edit, expected: str | None) -> str | Refused:
    path = PurePosixPath(relative)
    try:
        with _open_folder(base, path.parent, make=True) as folder:
            for _ in range(ATTEMPTS):
                done = _attempt(folder, path.name, edit, expected)
                if done is not None:
                    return done
    except OSError as error:
        if _why(error) == "link":
            return Refused(kind=RefusalKind.OUTSIDE_ROOT, problem=f"{relative} is, or lies behind, a symlink.")
        return Refused(kind=RefusalKind.UNWRITABLE, problem=f"{relative}: {error.strerror or error}.")
    return _conflict(relative)


def _attempt(folder: int, name: str, edit: Edit, expected: str | None) -> str | Refused | None:
    """One try at the whole transaction. None: someone changed the file meanwhile and nobody said what they saw."""
    before = _read_or_empty(folder, name)
    if isinstance(before, Unreadable):
        return Refused(kind=RefusalKind.UNUSABLE_FILE, problem=f"{name} cannot be changed: {before.reason}.")
    if expected is not None and bytes_digest(before.data) != expected:
        return _conflict(name)
    after = edit(before.data)
    if isinstance(after, Refused):
        return after
    if len(after) > LARGEST:
        return Refused(kind=RefusalKind.UNUSABLE_FILE, problem=f"{name} would be larger than {LARGEST} bytes.")
    temporary = f".{name}.tmp"
    _write_temporary(folder, temporary, after, _mode(folder, name))
    now = _read_or_empty(folder, name)
    if not isinstance(now, Document) or now.data != before.data or _exists(folder, name) != bool(before.stamp):
        os.unlink(temporary, dir_fd=folder)
        return _conflict(name) if expected is not None else None
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)
    result = _read_or_empty(folder, name)
    if not isinstance(result, Document) or result.data != after:
        return _conflict(name)
    return bytes_digest(after)


def _conflict(name: str) -> Refused:
    return Refused(kind=RefusalKind.CONFLICT, problem=f"{name} was changed by someone else; look at it and try again.")


def _read_or_empty(folder: int, name: str) -> Document | Unreadable:
    """The file, or no bytes with an empty stamp when there is none."""
    try:
        return _read_at(folder, name)
    except FileNotFoundError:
        return Document(data=b"", stamp="")


def _read_at(folder: int, name: str) -> Document | Unreadable:
    handle = os.open(name, _FILE, dir_fd=folder)
    seen = os.fstat(handle)
    if not stat.S_ISREG(seen.st_mode):
        os.close(handle)
        return Unreadable(reason="not-a-file")
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(LARGEST + 1)
    return Document(data=data, stamp=stamp_of(seen)) if len(data) <= LARGEST else Unreadable(reason="too-large")


def _write_temporary(folder: int, name: str, data: bytes, mode: int) -> None:
    """Write and fsync. The queue makes us the only writer of this name: one that exists is a crash's leftover."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(name, flags, mode, dir_fd=folder)
    except FileExistsError:
        os.unlink(name, dir_fd=folder)
        handle = os.open(name, flags, mode, dir_fd=folder)
    with os.fdopen(handle, "wb") as stream:
        os.fchmod(stream.fileno(), mode)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _mode(folder: int, name: str) -> int:
    """A file keeps its mode; a new one is the owner's alone."""
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return FILE_MODE


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _open_folder(base: str, below: PurePosixPath, *, make: bool = False) -> Iterator[int]:
    """A handle of a folder below `base`, each step opened without following a link. Raises OSError."""
    if below.is_absolute() or ".." in below.parts:
        raise NotADirectoryError(errno.ENOTDIR, "The path leaves its root", str(below))
    if make:
        _make_base(base)
    handle = os.open(base, _FOLDER)
    try:
        if not _is_itself(base):
            raise OSError(errno.ELOOP, "The root has become a symlink", base)
        for part in below.parts:
            if make:
                _make_folder(part, handle)
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _is_itself(base: str) -> bool:
    """Whether a root's path still leads through real folders alone to one."""
    return os.path.isdir(base) and os.path.realpath(base) == base


def _make_base(base: str) -> None:
    """The root and what is missing above it, each the owner's alone (makedirs would ask the umask for those above)."""
    missing: list[str] = []
    while not os.path.isdir(base):
        missing.append(base)
        base = os.path.dirname(base)
    for folder in reversed(missing):
        os.mkdir(folder, FOLDER_MODE)


def _make_folder(name: str, parent: int) -> None:
    try:
        os.mkdir(name, FOLDER_MODE, dir_fd=parent)
    except FileExistsError:
        pass


def _why(error: OSError) -> str:
    return "link" if isinstance(error, NotADirectoryError) or error.errno == errno.ELOOP else "no-access"


def _leaves(base: str, relative: str) -> bool:
    """Whether a symlink leads out of the root. One that stays inside leads to what is indexed on its own."""
    target = os.path.realpath(os.path.join(base, relative))
    return target != base and not target.startswith(base.rstrip(os.sep) + os.sep)


def _is_text(name: str) -> bool:
    """Names that are not UTF-8 have no canonical form."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
