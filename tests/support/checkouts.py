"""A repository with files of agent products in it, for tests: a git checkout, and what people write into it."""

from pathlib import Path

from host.homes import Homes, homes_of


def a_checkout(folder: Path) -> Path:
    """A git checkout as far as anybody looks."""
    for made in (folder / ".git" / "refs", folder / ".git" / "objects"):
        made.mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    return folder


def a_worktree(top: Path, tree: Path) -> Path:
    """A worktree of that checkout."""
    entry = top / ".git" / "worktrees" / "tree"
    for file, text in ((entry / "gitdir", f"{tree}/.git"), (entry / "commondir", "../.."), (entry / "HEAD", "x")):
        write(file, f"{text}\n")
    write(tree / ".git", f"gitdir: {entry}\n")
    return tree


def homes_at(folder: Path) -> Homes:
    """The folders of a user whose home that is."""
    homes = homes_of({"HOME": str(folder)})
    assert homes is not None
    return homes


def write(file: Path, text: str = "# Rules\nThe heron gateway is ours.\n") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file
