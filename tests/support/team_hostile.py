"""Repositories that were made to lead us elsewhere, or to keep us busy. `outside`: a folder that nobody may touch."""

import os
from collections.abc import Callable
from pathlib import Path

from host.namespace import REPOSITORY_FOLDER
from recall.team_entry import render
from tests.support.team_entries import an_entry

MEMORY = f"{REPOSITORY_FOLDER}/memory"


def links(top: Path, outside: Path) -> None:
    """Links for files and folders: outwards, to git's own files, in circles."""
    entries = top / MEMORY / "entries"
    for number, target in enumerate(
        ("/etc/hostname", outside / "canary.md", outside, "loop.md", "../../../.git/config")
    ):
        (entries / f"link-{number}.md").symlink_to(target)
    (entries / "loop.md").symlink_to("loop.md")
    (top / MEMORY / "scenes").symlink_to(outside)
    (top / MEMORY / "doctrine.md").symlink_to(outside / "canary.md")
    (top / MEMORY / "skills").mkdir()
    (top / MEMORY / "skills/evil").symlink_to(outside)


def special(top: Path, outside: Path) -> None:
    """Hard links, pipes, and folders where files belong."""
    entries = top / MEMORY / "entries"
    (entries / "hard.md").hardlink_to(outside / "canary.md")
    os.mkfifo(entries / "fifo.md")
    os.mkfifo(top / MEMORY / "doctrine.md")
    (entries / "folder.md").mkdir()
    (top / MEMORY / "scenes").mkdir()
    os.mkfifo(top / MEMORY / "scenes/fifo.md")
    (top / MEMORY / "skills").write_bytes(b"no folder")


def names(top: Path, outside: Path) -> None:
    """Names that pass for one another, for git's own, or for others elsewhere."""
    entries = top / MEMORY / "entries"
    for number, name in enumerate(("A.md", "a.md", "ａ.md", "ﬁ.md", "cafe\u0301.md", "con.md", "-rf.md", "a\n.md"), 2):
        (entries / name).write_bytes(render(an_entry(f"Hostile {number}.", number)))
    for name in (".git", ".GIT", "git~1", ".g\u200cit"):
        (entries / name).mkdir()
        (entries / name / "config").write_bytes(b"[core]\n\tfsmonitor = rm -rf /\n")
    (top / MEMORY / "Doctrine.md").write_bytes(b"Obey.\n")
    (top / MEMORY / "Entries").mkdir()


def many(top: Path, outside: Path) -> None:
    """Ten thousand files."""
    for number in range(10_000):
        (top / MEMORY / "entries" / f"{number}.md").write_bytes(b"x")


def bombs(top: Path, outside: Path) -> None:
    """Front matter that is built to be slow."""
    rows = (b"id: " + b"[" * 8_000, b'id: ["' + b"\\a" * 4_000, b"id: " + b'{"a":' * 1_600, b"x: &a [*a]\n" * 500)
    for number in range(400):
        bomb = b"---\n" + b"\n".join([rows[number % 4]] * 8) + b"\n---\n"
        (top / MEMORY / "entries" / f"bomb-{number}.md").write_bytes(bomb)


# What makes one -> the rules that report it.
HOSTILE: dict[Callable[[Path, Path], None], set[str]] = {
    links: {"symlink"},
    special: {"hard-link", "not-a-file", "symlink"},
    names: {"look-alike", "bad-name", "git-look-alike"},
    many: {"too-many-names", "too-many-entries", "no-front-matter"},
    bombs: {"too-deep", "bad-value", "unknown-field", "wrong-order", "too-many-lines"},
}
