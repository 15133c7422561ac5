"""Which files git tracks, read from its index: such a file is not for entries that name paths of this machine.

No program is run (invariant 14). Index versions 2 to 4, split indexes included; an index that cannot be read counts as
one that tracks nothing.
"""

from collections.abc import Iterator
from pathlib import Path

from recall.workspace import repository_root

HEAD_BYTES = 12
ENTRY_BYTES = 40  # before the object's name
EXTENDED = 0x4000
SHA1, SHA256 = 20, 32


def tracked(repository: Path) -> frozenset[str]:
    """The paths that git tracks in the checkout, relative to its top, with slashes."""
    git = _git_directory(repository)
    if git is None or repository_root(str(repository)) is None:
        return frozenset()
    found = set[str]()
    for file in (git / "index", *git.glob("sharedindex.*")):
        try:
            data = file.read_bytes()
        except OSError:
            continue
        for size in (SHA1, SHA256):
            try:
                found |= {path.decode("utf-8", "surrogateescape") for path in paths(data, size)}
                break
            except (ValueError, IndexError):
                continue
    return frozenset(found)


def paths(data: bytes, name_bytes: int = SHA1) -> Iterator[bytes]:
    """The paths in an index. Raises ValueError or IndexError for what is no such index."""
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index")
    at, path = HEAD_BYTES, b""
    for _ in range(count):
        begin = at
        at += ENTRY_BYTES + name_bytes
        flags = int.from_bytes(data[at : at + 2])
        at += 4 if version > 2 and flags & EXTENDED else 2
        kept = 0
        if version == 4:
            strip, at = _number(data, at)
            kept = len(path) - strip
        end = data.index(b"\0", at)
        path = path[:kept] + data[at:end]
        if not path or (flags & 0xFFF) not in (len(path), 0xFFF):
            raise ValueError("no entry")
        at = end + 1 if version == 4 else begin + (end - begin + 8) // 8 * 8
        yield path


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of git's variable length, and where it ends."""
    number = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        number = ((number + 1) << 7) | (data[at] & 0x7F)
    return number, at + 1


def _git_directory(repository: Path) -> Path | None:
    """The git directory of a checkout: a worktree's own, which holds its index."""
    git = repository / ".git"
    if git.is_dir():
        return git
    try:
        line = git.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return (repository / line.removeprefix("gitdir:").strip()).resolve() if line.startswith("gitdir:") else None
