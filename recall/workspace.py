"""What a workspace is: one git repository with all its worktrees, or, outside git, one folder. Runs no program.

The key follows git's *common directory* (where the objects are), resolved to its real path: every worktree, every
subfolder and every symlinked way into a repository give one key; a submodule and a second clone give their own.
"""

import os
from pathlib import Path

from recall.canonical import short_id

POINTER_LIMIT = 4096  # bytes of a `.git` or `commondir` file that are read


def workspace_key(path: str) -> str:
    """`ws_` + 32 hex digits for a folder, which need not exist any more. An unset path has no key and sees nothing.

    A relative path has no meaning in another process, so it is not resolved: it is a key of its own.
    """
    if not path:
        return ""
    if not _resolvable(path):
        return short_id("ws_", {"folder": _text(path)})
    start = Path(os.path.realpath(path))
    found = _find(start)
    return short_id("ws_", {"folder": _text(str(found[1] if found else start))})


def repository_root(path: str) -> Path | None:
    """The top folder of the checkout that holds `path` (a worktree's own top), or None outside git.

    Inside a bare repository or a `.git` folder it is that folder's parent checkout, else the repository itself.
    """
    if not _resolvable(path):
        return None
    found = _find(Path(os.path.realpath(path)))
    return found[0] if found else None


def common_directory(path: str) -> Path | None:
    """Git's common directory of the repository that holds `path`, or None outside git."""
    found = _find(Path(os.path.realpath(path))) if _resolvable(path) else None
    return found[1] if found else None


def _resolvable(path: str) -> bool:
    return os.path.isabs(path) and "\0" not in path


def _text(path: str) -> str:
    """A path as text with a canonical form: bytes that are not UTF-8 become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _find(start: Path) -> tuple[Path, Path] | None:
    """(top of the checkout, real path of the common directory) of the first repository at or above `start`."""
    for folder in (start, *start.parents):
        git = folder / ".git"
        if os.path.isdir(git):
            if _is_repository(git):
                return folder, _common(git)
        elif os.path.isfile(git):
            target = _pointer(git, "gitdir:")
            if target is not None and _is_repository(target):
                return folder, _common(target)
            if target is not None:  # into nowhere (moved, or another machine's): the folder stands for itself
                return folder, folder
        elif _is_repository(folder) and os.path.isdir(folder / "objects"):
            return folder.parent if folder.name == ".git" else folder, _common(folder)
    return None


def _is_repository(git: Path) -> bool:
    return os.path.isfile(git / "HEAD") and (os.path.isdir(git / "refs") or os.path.isfile(git / "commondir"))


def _common(git: Path) -> Path:
    """The common directory of a git directory: a worktree's says where in `commondir`, any other is its own."""
    shared = _pointer(git / "commondir", "")
    return Path(os.path.realpath(shared or git))


def _pointer(file: Path, prefix: str) -> Path | None:
    """The path that a one-line pointer file names, relative to the file's folder; None when it names none."""
    try:
        with file.open("rb") as stream:
            line = os.fsdecode(stream.read(POINTER_LIMIT)).strip()
    except OSError:
        return None
    if not line.startswith(prefix) or "\n" in line or "\0" in line:
        return None
    target = line.removeprefix(prefix).strip()
    return Path(os.path.realpath(file.parent / target)) if target else None
