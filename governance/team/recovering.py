"""Bytes that had to give way are kept in the data folder: `recovered/<plan>/<target path>` (team.md 9). Blocks."""

import os
from contextlib import suppress
from pathlib import Path

from governance.team.disk import flush

_MODE, _FOLDER_MODE = 0o600, 0o700
DRAFT = ".new"
MOST = 1000  # different bytes that one target is kept of


def keep(folder: Path, plan_id: str, path: str, data: bytes) -> str:
    """Keep these bytes of a target, and return where. Kept already, they are not kept twice. Raises OSError."""
    place = folder / plan_id / path
    _make(place.parent)
    for name in (place, *(place.with_name(f"{place.name}.{number}") for number in range(2, MOST))):
        if _has(name, data) or _written(name, data):
            return str(name)
    raise FileExistsError(f"{place} was kept {MOST} times with other bytes")


def kept(folder: Path, plan_id: str) -> tuple[str, ...]:
    """Where bytes of a plan's targets are kept."""
    below = (folder / plan_id).rglob("*")
    return tuple(sorted(str(path) for path in below if path.is_file() and not path.name.endswith(DRAFT)))


def _has(name: Path, data: bytes) -> bool:
    with suppress(FileNotFoundError):
        return name.read_bytes() == data
    return False


def _written(name: Path, data: bytes) -> bool:
    """False: there is such a file."""
    draft = name.with_name(f".{name.name}{DRAFT}")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
        stream.flush()
        flush(stream.fileno())
    try:
        if name.exists():
            return False
        os.rename(draft, name)  # the data folder is ours, and one promotion at a time is at work for a repository
    finally:
        draft.unlink(missing_ok=True)
    _flush_folder(name.parent)
    return True


def _make(folder: Path) -> None:
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(mode=_FOLDER_MODE, exist_ok=True)
        _flush_folder(one.parent)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush(handle)
    finally:
        os.close(handle)
