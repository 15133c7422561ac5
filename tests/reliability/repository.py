"""A git repository with memory files on two branches."""

import os
import subprocess
from pathlib import Path

from host.namespace import REPOSITORY_FOLDER
from tests.reliability.writers import rendered
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope

BRANCHES = ("main", "other")
STEADY = {a_memory_id(number) for number in (1, 2, 3)}  # of a file that both branches have alike


def branch(name: str) -> dict[str, bytes]:
    """The memory files of a branch: some alike in both, some not, one record in another file, files of one alone."""
    scope = a_workspace_scope()
    other = name == "other"

    def file(first: int, *texts: str) -> bytes:
        return rendered([a_memory(text, memory_id=a_memory_id(first + n)) for n, text in enumerate(texts)], scope)

    many = [f"Heron {number}: {'the reeds are cut' if other and number % 3 else 'reeds'}." for number in range(150)]
    return {
        "same.md": file(1, "The quokka rule.", "A second quokka.", "A third quokka, 数据库备份."),
        "both.md": file(11, *(["Ibex table, longer in the other branch.", "Short."] if other else ["Ibex table."])),
        "many.md": file(100, *many),
        f"{name}-alone.md": file(31 if other else 21, f"Walrus ledger of {name}.", "Walrus ledger, line two."),
        "deep/moved.md" if other else "moved.md": file(41, "The okapi moves between files and stays itself."),
    }


class Repository:
    """The repository, on `main`; its memory folder is `memory`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = folder / REPOSITORY_FOLDER / "memory"
        self.memory.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self._commit("main")
        self.git("checkout", "--quiet", "-b", "other")
        self.git("rm", "--quiet", "-r", ".")
        self._commit("other")
        self.git("checkout", "--quiet", "main")

    def git(self, *arguments: str) -> str:
        who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@host.example"}
        who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"} | who
        command = ["git", *arguments]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=True).stdout

    def contents(self) -> dict[str, list[bytes]]:
        """Absolute path -> everything that the file may hold."""
        found: dict[str, list[bytes]] = {}
        for name in BRANCHES:
            for relative, data in branch(name).items():
                found.setdefault(str(self.memory / relative), []).append(data)
        return found

    def _commit(self, name: str) -> None:
        for relative, data in branch(name).items():
            path = self.memory / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)
