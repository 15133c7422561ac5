"""Files of other products on the disk: read as they are, written whole or not at all, and through links."""

import glob
import os
import stat
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from host.errors import ConfigFault
from host.namespace import name

HIDDEN = "•••"
NEW_MODE = 0o644
PRIVATE_MODE = 0o600
MOST_BYTES = 8 * 1024 * 1024  # beyond which looking through it takes minutes
_WRITABLE = 0o222


def read(path: Path) -> str | None:
    """The file's text, its line ends as they are; None when there is no file. Raises ConfigFault, also for what is no
    plain file, or is too large to be settings: a device or a pipe would never end."""
    try:
        _check_plain(path, path.stat())
        # What is there may have changed since: opening a pipe must not wait for a writer either.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
            _check_plain(path, os.fstat(file.fileno()))
            return file.read(MOST_BYTES).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise ConfigFault(f"{path} is not UTF-8 text.", "Repair the file, or move it away.") from error
    except OSError as error:
        raise ConfigFault(f"{path} cannot be read: {error.strerror}.", "Check the file and its folder.") from error


def _check_plain(path: Path, about: os.stat_result) -> None:
    """Raise ConfigFault when what a path leads to cannot be settings."""
    place = shown(path)
    if not stat.S_ISREG(about.st_mode):
        raise ConfigFault(
            f"{place} is no plain file but a {_kind(about.st_mode)}.", "Put a file in its place, or move it away."
        )
    if about.st_size > MOST_BYTES:
        raise ConfigFault(
            f"{place} has {about.st_size / 2**20:.0f} MiB; settings of more than {MOST_BYTES // 2**20} are not edited.",
            "Take out what are no settings, or move it away.",
        )


def _kind(mode: int) -> str:
    kinds = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}
    return kinds.get(stat.S_IFMT(mode), "device")


def mode_of(path: Path) -> int | None:
    """The permissions of what a path leads to; None when there is nothing."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return None


def check_writable(path: Path) -> None:
    """Raise ConfigFault when the file, or the folder that holds it, is read-only. What is read-only was made so."""
    target = Path(os.path.realpath(path))
    if target.exists():
        _check_plain(path, target.stat())
    mode = mode_of(target)
    if mode is not None and not mode & _WRITABLE:
        raise ConfigFault(f"{shown(path)} is read-only.", "Make it writable, then try again: chmod u+w.")
    folder = next(folder for folder in target.parents if folder.exists())
    if not folder.is_dir():
        raise ConfigFault(f"{folder} is no folder, but {target.name} would lie below it.", "Move it away.")
    if not folder.stat().st_mode & _WRITABLE or not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigFault(f"The folder {folder} is read-only.", "Make it writable, then try again: chmod u+w.")


def make_folders(path: Path) -> tuple[Path, ...]:
    """Make the folders above what a path leads to; answers which were missing, outermost first. Raises ConfigFault."""
    target = Path(os.path.realpath(path))
    missing = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(target.parent, error) from error
    return tuple(reversed(missing))


def remove_folders(folders: Sequence[Path]) -> None:
    """Remove folders that we made, the innermost first, as far as nothing else is in them."""
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            return


def put(path: Path, text: str | None, mode: int = NEW_MODE) -> None:
    """Put `text` in the place of what a path leads to; None takes it away. A link stays. Raises ConfigFault."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists():  # a device would be replaced by a file
            _check_plain(path, target.stat())
        if text is None:
            target.unlink(missing_ok=True)
        else:
            _replace(target, text.encode("utf-8"), mode)
    except OSError as error:
        raise _unwritable(path, error) from error


def diff(path: Path, before: str | None, after: str | None, secrets: Sequence[str] = ()) -> str:
    """The difference as a unified diff, each of `secrets` left out."""
    place = shown(path)
    lines = unified_diff(
        (before or "").splitlines(keepends=True),
        (after or "").splitlines(keepends=True),
        fromfile=place if before is not None else "/dev/null",
        tofile=place if after is not None else "/dev/null",
    )
    told = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    for secret in filter(None, secrets):
        told = told.replace(secret, HIDDEN)
    return told


def shown(path: Path) -> str:
    """The path, and where a link in it leads."""
    return f"{path} -> {os.path.realpath(path)}" if path.is_symlink() else str(path)


def _unwritable(path: Path, error: OSError) -> ConfigFault:
    return ConfigFault(f"{path} cannot be written: {error.strerror}.", "Check the folder's owner and mode.")


def _is_at_work(draft: Path) -> bool:
    """Whether the run that writes a draft lives; its process stands in the name."""
    process = draft.name.removesuffix(".tmp").rpartition(".")[2]
    if not process.isdigit() or int(process) == os.getpid():
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's
    return True


def _replace(path: Path, data: bytes, mode: int) -> None:
    """Write beside, flush, put in place: a reader sees the old bytes or the new ones. The owner stays."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.{name()}.*tmp"):
        if not _is_at_work(left):
            left.unlink(missing_ok=True)
    beside = path.with_name(f".{path.name}.{name()}.{os.getpid()}.tmp")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE_MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if os.geteuid() == 0 and path.exists():  # as another user's administrator
                os.fchown(file.fileno(), path.stat().st_uid, path.stat().st_gid)
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
