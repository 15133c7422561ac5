"""What a workspace is: one git repository with all its worktrees, or, outside git, one folder. Runs no program
(invariant 14).

The key follows git's *common directory* (where the objects are), resolved to its real path: every worktree, every
subfolder and every symlinked way into a repository give one key; a submodule and a second clone give their own.

Anyone can write a pointer into someone else's repository, an unpacked archive for one, and would see what is remembered
for it. So a pointer counts only where the git directory points back, and `commondir` only where such a pointer leads,
when that is one of the worktrees that the named repository itself holds.
"""

import os
import re
from pathlib import Path

from recall.canonical import short_id

POINTER_LIMIT = 4096  # bytes of a `.git`, `gitdir` or `commondir` file that are read
CONFIG_LIMIT = 65_536  # bytes of a git directory's `config` that are read

_WORKTREE = re.compile(rb"^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)


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
        if os.path.isdir(git) and not git.is_symlink():
            if _is_repository(git):
                return folder, git
        elif os.path.exists(git):
            target = Path(os.path.realpath(git)) if os.path.isdir(git) else _pointer(git, "gitdir:")
            if target is not None and _is_repository(target) and _points_back(target, folder):
                return folder, _common(target)
            if target is not None:  # to nowhere, or to what knows nothing of it: the folder stands for itself
                return folder, folder
        elif _is_repository(folder) and os.path.isdir(folder / "objects"):
            return folder.parent if folder.name == ".git" else folder, folder
    return None


def _points_back(git: Path, folder: Path) -> bool:
    """Whether a git directory names `folder` as its checkout: a worktree's in `gitdir`, a submodule's in `config`."""
    entry = _pointer(git / "gitdir", "")
    if entry is not None:
        return entry == folder / ".git"
    said = _WORKTREE.search(_start_of(git / "config", CONFIG_LIMIT))
    return said is not None and os.path.realpath(git / os.fsdecode(said[1]).strip('"')) == str(folder)


def _is_repository(git: Path) -> bool:
    return os.path.isfile(git / "HEAD") and (os.path.isdir(git / "refs") or os.path.isfile(git / "commondir"))


def _common(git: Path) -> Path:
    """The common directory of a git directory: a worktree's lies below the one that its `commondir` names, and
    anything else is its own."""
    shared = _pointer(git / "commondir", "")
    return shared if shared is not None and git.parent == shared / "worktrees" else git


def _pointer(file: Path, prefix: str) -> Path | None:
    """The path that a one-line pointer file names, relative to the file's folder; None when it names none."""
    line = os.fsdecode(_start_of(file, POINTER_LIMIT)).strip()
    if not line:
        return None
    if not line.startswith(prefix) or "\n" in line or "\0" in line:
        return None
    target = line.removeprefix(prefix).strip()
    return Path(os.path.realpath(file.parent / target)) if target else None


def _start_of(file: Path, most: int) -> bytes:
    """The first bytes of a plain file; none of anything else: a pipe would never end."""
    try:
        if file.is_file():
            with file.open("rb") as stream:
                return stream.read(most)
    except OSError:
        pass
    return b""
