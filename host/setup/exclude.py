"""Git's private exclude list (`info/exclude`): files with a token, or made for this machine, must not be committed.

Nothing is staged or committed by this (invariant 14); the list is the user's own and is not shared. It is one for all
worktrees of a repository. The text work is pure.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from host.namespace import name
from recall.workspace import common_directory

MARK = f"# {name()}: of this machine alone"
JOINED = " (joined)"


def exclude_path(repository: Path) -> Path | None:
    """Where the list is, or None outside git."""
    common = common_directory(str(repository))
    return None if common is None else common / "info" / "exclude"


def checkouts(repository: Path) -> tuple[Path, ...]:
    """The checkouts of a repository besides this one: the main one and its worktrees, as git's own files name them."""
    common = common_directory(str(repository))
    if common is None:
        return ()
    found = [common.parent] if common.name == ".git" else []
    for entry in sorted(common.glob("worktrees/*/gitdir")):
        if not entry.is_file():  # a pipe of that name would be waited for
            continue
        try:
            found.append(Path(entry.read_text(encoding="utf-8").strip()).parent)
        except (OSError, UnicodeDecodeError):
            continue
    return tuple(folder for folder in found if folder.resolve() != repository.resolve())


def with_line(text: str | None, pattern: str) -> str:
    """The list with `pattern` below our mark, which comes at the end if it is not there; unchanged when both are."""
    lines = (text or "").splitlines(keepends=True)
    blocks = list(_blocks(lines))
    if any(lines[at].rstrip("\r\n") == pattern for block in blocks for at in block[1:]):
        return text or ""
    if blocks:
        last = blocks[-1][-1]
        ended = lines[last].endswith("\n")
        lines[last : last + 1] = [lines[last], f"{pattern}\n"] if ended else [f"{lines[last]}\n", pattern]
        return "".join(lines)
    if not lines or lines[-1].endswith("\n"):
        return "".join((*lines, f"{MARK}\n{pattern}\n"))
    # The end that a last line gets is ours too, and the mark says so.
    return "".join((*lines, f"\n{MARK}{JOINED}\n{pattern}\n"))


def without_line(text: str | None, pattern: str) -> str | None:
    """The list without `pattern` where it stands below a mark of ours, and without a mark that has nothing below it
    then; None when there was no list."""
    lines = (text or "").splitlines(keepends=True)
    for mark, *below in _blocks(lines):
        for at in below:
            if lines[at].rstrip("\r\n") != pattern:
                continue
            lines[at] = ""
            if len(below) == 1:
                if lines[mark].rstrip("\r\n") == f"{MARK}{JOINED}" and mark:
                    lines[mark - 1] = lines[mark - 1].rstrip("\r\n")
                lines[mark] = ""
            return "".join(lines)
    return text


def _blocks(lines: Sequence[str]) -> Iterator[list[int]]:
    """The places of each mark of ours and of the paths right below it. Earlier versions wrote one for each path."""
    for at, line in enumerate(lines):
        if line.rstrip("\r\n") in (MARK, f"{MARK}{JOINED}"):
            end = next((n for n in range(at + 1, len(lines)) if not lines[n].startswith("/")), len(lines))
            if end > at + 1:
                yield list(range(at, end))
