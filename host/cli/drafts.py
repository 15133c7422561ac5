"""Where a person's text stands while it is edited: a file of its own, so that no failure loses it."""

import os
import re
from itertools import count
from pathlib import Path

from host.cli.link import paths


def keep(name: str, document: str) -> Path:
    """Write a document into a new file, for its owner alone. Earlier drafts of that name stay as they are."""
    folder = _folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in count(1):
        file = folder / (f"{name}.md" if number == 1 else f"{name}-{number}.md")
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with open(descriptor, "w", encoding="utf-8", newline="\n") as out:
            out.write(document)
        return file
    raise AssertionError("unreachable: there is always another number")


def resume(name: str) -> Path | None:
    """The draft of that name that was begun last and is still there."""
    numbered = re.compile(rf"{re.escape(name)}(-[0-9]+)?\.md")
    found = [file for file in _folder().glob("*.md") if numbered.fullmatch(file.name)]
    return max(found, key=lambda file: file.stat().st_mtime_ns, default=None)


def discard(file: Path) -> None:
    """Remove a draft of ours that is not needed any more; a file that stands elsewhere is its owner's."""
    if file.resolve().parent == _folder().resolve():
        file.unlink(missing_ok=True)


def forget(name: str) -> int:
    """Remove all drafts of that name; how many there were."""
    numbered = re.compile(rf"{re.escape(name)}(-[0-9]+)?\.md")
    found = [file for file in _folder().glob("*.md") if numbered.fullmatch(file.name)]
    for file in found:
        file.unlink(missing_ok=True)
    return len(found)


def _folder() -> Path:
    return paths().state / "drafts"
