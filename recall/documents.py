"""Memory files on disk: scanning a root, reading one file, and the write transaction (M-06).

Every path below a root is walked folder by folder without following symlinks, so nothing outside the root is read or
written; a root whose own path has become a symlink since it was resolved (a checkout can do that) is gone.
Writing: one queue a file → read and compare the expected digest → edit (pure, checked by reading back) → temporary file
in the same folder, fsync → compare again → swap the two names (`recall.exchange`), compare what was replaced → fsync of
the folder → read and compare. When someone else changed the file in between, their change stands and the edit is made
anew, or refused when it named what it saw.
"""

import asyncio
import errno
import itertools
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath

from recall.canonical import bytes_digest
from recall.contracts import Frozen
from recall.exchange import exchange
from recall.files import LARGEST, RefusalKind, Refused

SUFFIXES = (".md", ".markdown", ".mdc")
ATTEMPTS = 8
PROVIDER_FILES, PROVIDER_BYTES = 200, 8 * 1024 * 1024  # of a folder of rules: a repository may hold any number of them
ENTRIES_A_FILE = 20  # of such a folder are looked at, for each file that may be taken
FOLDER_MODE, FILE_MODE = 0o700, 0o600
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Edit = Callable[[bytes], bytes | Refused]


class Document(Frozen, frozen=True, kw_only=True):
    """A file's bytes as read, and the stamp (size, times, inode) that tells cheaply whether it may have changed."""

    data: bytes
    stamp: str


class Unreadable(Frozen, frozen=True, kw_only=True):
    """A file that is not read. `reason`: gone | link | hard-link | not-a-file | too-large | no-access."""

    reason: str


class Scan(Frozen, frozen=True, kw_only=True):
    """The memory files below a root: relative path -> stamp; and what was passed over, with the reason."""

    files: Mapping[str, str]
    passed_over: Mapping[str, str]


def scan(base: str, most: int | None = None) -> Scan | None:
    """All Markdown files below a folder (a real path), hidden ones left out; None when there is no such folder.

    `most`: so many files at most, and so many bytes, of a folder that anyone may have filled; the folder itself is
    passed over then as `too-many-files`.
    """
    files: dict[str, str] = {}
    passed_over: dict[str, str] = {}
    if not _is_itself(base):
        return None
    waiting = [""]
    left = None if most is None else most * ENTRIES_A_FILE
    size = 0
    while waiting and left != 0:
        folder = waiting.pop()
        entries = _listed(os.path.join(base, folder), left)
        if entries is None:
            passed_over[folder] = "no-access"
            continue
        left = None if left is None else left - len(entries)
        for entry in entries:
            if most is not None and (len(files) == most or size > PROVIDER_BYTES):
                left = 0
            elif not entry.name.startswith("."):
                relative = f"{folder}/{entry.name}" if folder else entry.name
                _take_note(entry, base, relative, (files, passed_over, waiting))
                size += _to_read(files.get(relative))
    if left == 0:
        passed_over[""] = "too-many-files"
    return Scan(files=files, passed_over=passed_over)


def read(base: str, relative: str, *, alone: bool = False) -> Document | Unreadable:
    """One file below a root, whole. Nothing is read through a symlink.

    `alone`: a file with another name (a hard link) is not read either: in a folder that anyone may have filled it could
    be anybody's, and through git it cannot have come.
    """
    try:
        with _open_folder(base, PurePosixPath(relative).parent) as folder:
            return _read_at(folder, PurePosixPath(relative).name, alone=alone)
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

    async def remove(self, base: str, relative: str, expected: str) -> Refused | None:
        """Take one file below `base` away; None: it is gone, also when it was before. `expected`: the digest that the
        caller saw; any other is `conflict`, and the file stays."""
        return await asyncio.shield(asyncio.ensure_future(self._removed(base, relative, expected)))

    async def _queued(self, base: str, relative: str, edit: Edit, expected: str | None) -> str | Refused:
        async with self._queues.setdefault(os.path.join(base, relative), asyncio.Lock()):
            return await asyncio.to_thread(_transact, base, relative, edit, expected)

    async def _removed(self, base: str, relative: str, expected: str) -> Refused | None:
        async with self._queues.setdefault(os.path.join(base, relative), asyncio.Lock()):
            return await asyncio.to_thread(_remove, base, relative, expected)


def _listed(folder: str, most: int | None) -> list[os.DirEntry[str]] | None:
    """The entries of a folder by name, `most` of them; None when it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(itertools.islice(entries, most), key=lambda entry: entry.name)
    except OSError:
        return None


def _to_read(seen: str | None) -> int:
    """How many bytes a file with this stamp will be read of: none of one that is too large."""
    size = int(seen.partition(":")[0]) if seen else 0
    return size if size <= LARGEST else 0


def _take_note(
    entry: os.DirEntry[str], base: str, relative: str, seen: tuple[dict[str, str], dict[str, str], list[str]]
) -> None:
    """What an entry means for a scan: a file, a folder to look into, a link that leads out, or nothing."""
    files, passed_over, waiting = seen
    if not _is_text(relative):
        return
    try:
        if entry.is_symlink():
            if (entry.is_dir() or entry.name.endswith(SUFFIXES)) and _leaves(base, relative):
                passed_over[relative] = "link-outside-root"
        elif entry.is_dir(follow_symlinks=False):
            waiting.append(relative)
        elif entry.name.endswith(SUFFIXES):
            files[relative] = stamp_of(entry.stat(follow_symlinks=False))
    except OSError:  # gone since the folder was listed
        return


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


def _remove(base: str, relative: str, expected: str) -> Refused | None:
    path = PurePosixPath(relative)
    try:
        with _open_folder(base, path.parent) as folder:
            return _unlinked(folder, path.name, expected)
    except FileNotFoundError:
        return None
    except OSError as error:
        kind = RefusalKind.OUTSIDE_ROOT if _why(error) == "link" else RefusalKind.UNWRITABLE
        return Refused(kind=kind, problem=f"{relative} cannot be taken away: {error.strerror or error}.")


def _unlinked(folder: int, name: str, expected: str) -> Refused | None:
    """Put the file under another name, look at what that is, and only then let it go: now, or after a crash."""
    aside, there = f".{name}.tmp", _exists(folder, name)
    if there:
        before = _read_at(folder, name)
        if not isinstance(before, Document) or bytes_digest(before.data) != expected:
            return _conflict(name)
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
    found = _read_at(folder, aside)
    if isinstance(found, Document) and bytes_digest(found.data) == expected:
        os.unlink(aside, dir_fd=folder)
        os.fsync(folder)
    elif there:
        with suppress(FileExistsError):  # written anew meanwhile: that one stays, and so does ours, aside
            os.link(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.unlink(aside, dir_fd=folder)
        return _conflict(name)
    return None


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
    same = isinstance(now, Document) and now.data == before.data and _exists(folder, name) == bool(before.stamp)
    if not (same and _put(folder, temporary, name, before)):
        os.unlink(temporary, dir_fd=folder)
        return _conflict(name) if expected is not None else None
    os.fsync(folder)
    result = _read_or_empty(folder, name)
    if not isinstance(result, Document) or result.data != after:
        return _conflict(name)
    return bytes_digest(after)


def _put(folder: int, temporary: str, name: str, before: Document) -> bool:
    """Give the temporary file its name. False: what has the name is not what we read; it stays, and so does ours.

    Between the last look and this step somebody may write all the same. So nothing is overwritten: a new name is made,
    which fails when there is one, and two names are swapped, so that what was replaced can be looked at once more.
    """
    try:
        if not before.stamp:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        elif exchange(folder, temporary, name):
            replaced = _read_or_empty(folder, temporary)
            if not isinstance(replaced, Document) or replaced.data != before.data:
                exchange(folder, temporary, name)
                return False
        else:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            return True
    except (FileExistsError, FileNotFoundError):
        return False
    except OSError as error:
        if before.stamp or error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)  # a file system without links
        return True
    os.unlink(temporary, dir_fd=folder)
    return True


def _conflict(name: str) -> Refused:
    return Refused(kind=RefusalKind.CONFLICT, problem=f"{name} was changed by someone else; look at it and try again.")


def _read_or_empty(folder: int, name: str) -> Document | Unreadable:
    """The file, or no bytes with an empty stamp when there is none."""
    try:
        return _read_at(folder, name)
    except FileNotFoundError:
        return Document(data=b"", stamp="")


def _read_at(folder: int, name: str, *, alone: bool = False) -> Document | Unreadable:
    handle = os.open(name, _FILE, dir_fd=folder)
    seen = os.fstat(handle)
    if not stat.S_ISREG(seen.st_mode):
        os.close(handle)
        return Unreadable(reason="not-a-file")
    if seen.st_size > LARGEST or (alone and seen.st_nlink > 1):
        os.close(handle)
        return Unreadable(reason="too-large" if seen.st_size > LARGEST else "hard-link")
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(seen.st_size + 1)
        if len(data) > seen.st_size:  # it has grown since
            data += stream.read(LARGEST)
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
