"""Settings files of other products: read as they are, written atomically, a backup beside them while ours is in."""

import os
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from host.errors import ConfigFault
from host.namespace import name

HIDDEN = "•••"


def read(path: Path) -> str | None:
    """The file's text, its line ends as they are; None when there is no file. Raises ConfigFault."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigFault(f"{path} is not UTF-8 text.", "Repair the file, or move it away.") from error
    except OSError as error:
        raise ConfigFault(f"{path} cannot be read: {error.strerror}.", "Check the file and its folder.") from error


def write(path: Path, text: str | None, mode: int = 0o600) -> None:
    """Put `text` in the file's place; None takes the file away. A link is followed. An existing file keeps
    its mode, but with our name in it, and thereby our token, it is its owner's alone.

    The text from before our first change stays beside it, private, until a text without our name is written.
    Raises ConfigFault.
    """
    target = Path(os.path.realpath(path))
    backup = target.with_name(f"{target.name}.{name()}.bak")
    try:
        before = target.read_bytes() if target.exists() else None
        if text is None:
            target.unlink(missing_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            if before is not None and name().encode() not in before:
                _replace(backup, before, 0o600)
            keep = 0o600 if name() in text else 0o777
            _replace(target, text.encode("utf-8"), mode if before is None else target.stat().st_mode & keep)
        if text is None or name() not in text:
            backup.unlink(missing_ok=True)
        if text is None and not any(target.parent.iterdir()):
            target.parent.rmdir()
    except OSError as error:
        raise _unwritable(path, error) from error


def rewrite(path: Path, text: str) -> None:
    """Put `text` in the place of a file that is none of ours, whole or not at all: no backup, and its mode stays.

    A link is followed. Raises ConfigFault.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, text.encode("utf-8"), target.stat().st_mode & 0o777 if target.exists() else 0o644)
    except OSError as error:
        raise _unwritable(path, error) from error


def replace(path: Path | None, before: str | None, after: str | None) -> None:
    """Put `after` in the place of `before`, in a file that is none of ours; None: there is no file. Where both are the
    same nothing is touched. Raises ConfigFault."""
    if path is None or before == after:
        return
    if after is not None:
        rewrite(path, after)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error


def diff(path: Path, before: str | None, after: str | None, secrets: Sequence[str] = ()) -> str:
    """The difference as a unified diff, each of `secrets` left out."""
    lines = unified_diff(
        (before or "").splitlines(keepends=True),
        (after or "").splitlines(keepends=True),
        fromfile=str(path) if before is not None else "/dev/null",
        tofile=str(path) if after is not None else "/dev/null",
    )
    shown = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    for secret in filter(None, secrets):
        shown = shown.replace(secret, HIDDEN)
    return shown


def _unwritable(path: Path, error: OSError) -> ConfigFault:
    return ConfigFault(f"{path} cannot be written: {error.strerror}.", "Check the folder's owner and mode.")


def _replace(path: Path, data: bytes, mode: int) -> None:
    """Write beside, flush, put in place: a reader sees the old bytes or the new ones."""
    beside = path.with_name(f".{path.name}.{name()}.tmp")
    beside.unlink(missing_ok=True)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
