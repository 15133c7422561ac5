"""Real git repositories with a team's memory in them, for tests: what a teammate, or a stranger, commits."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from recall.team_entry import Entry, render

WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "a"), ("EMAIL", "a@host.example"))
}


class GitRepository:
    """A checkout on `main`. `git` runs git there, with nobody's settings."""

    def __init__(self, folder: Path, *, made: bool = False) -> None:
        self.folder = folder
        if not made:
            folder.mkdir(parents=True)
            self.git("init", "--quiet", "--initial-branch=main")
            self.commit("Begin")

    def git(self, *arguments: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"} | WHO
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=True).stdout

    def write(self, files: Mapping[str, Entry | bytes]) -> None:
        """Files by their path below the top, entries as a promotion writes them."""
        for path, data in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data if isinstance(data, bytes) else render(data))

    def commit(self, message: str) -> None:
        """All that is there."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)

    def clone(self, folder: Path) -> "GitRepository":
        """Another repository with the same history."""
        self.git("clone", "--quiet", str(self.folder), str(folder))
        return GitRepository(folder, made=True)

    def worktree(self, folder: Path, branch: str) -> "GitRepository":
        """A linked worktree on a new branch that begins here."""
        self.git("worktree", "add", "--quiet", "-b", branch, str(folder))
        return GitRepository(folder, made=True)
