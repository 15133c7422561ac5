"""Files that agent products keep themselves: which of them a session somewhere may see (M-06).

Names and links are looked at; of contents only what a CLAUDE.md takes in. Runs on a worker thread.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from host.homes import Homes
from host.runtime import USER_KEY
from recall.contracts import Origin, Scope, ScopeRef
from recall.documents import Document, read, stamp_of
from recall.library import Root
from recall.providers import PROVIDERS, imports, slug
from recall.workspace import common_directory, repository_root

DEEPEST = 16  # folders between the repository's top and the session's that are looked at
AWAITED = frozenset({"CLAUDE.md", "AGENTS.md", "GEMINI.md"})  # looked for again and again where they are not yet
IMPORTER, CLAUDE_FILE = "claude-md", "CLAUDE.md"
IMPORTS_READ = 65_536  # bytes of a CLAUDE.md that are looked through for imports


class Provided:
    """What is known of these files since the start. Without `homes` nothing below a home folder is looked at."""

    def __init__(self, homes: Homes | None = None) -> None:
        self._homes = homes
        self._imported: set[str] = set()  # real files that a CLAUDE.md takes in; once seen, they count as such
        self._importing: dict[str, tuple[str, tuple[str, ...]]] = {}  # folder -> its CLAUDE.md's stamp and imports
        self._projects: dict[str, str] = {}  # real folder of Claude Code's memory -> the project whose it is

    def roots(self, path: str, workspace: str) -> list[Root]:
        """The files that are kept for a session there, those of the user first. Each real file once: one that has two
        names is what both names are. Files that are only awaited may be among them."""
        found: dict[str, Root] = {}
        for root in self._of_the_user():
            _join(found, root)
        if workspace and Path(path).is_absolute() and _has_text(path):
            theirs = self._config_folders()
            for root in self._of_the_workspace(path, workspace):
                real = os.path.realpath(root.path)
                if not any(_below(real, folder) for folder in theirs):  # the user's own, though a session stands above
                    _join(found, root)
            for root in self._of_claude(path, workspace):
                _join(found, root)
        return list(found.values())

    def _of_the_user(self) -> Iterator[Root]:
        """What the user keeps for all projects."""
        homes = self._homes
        if homes is None:
            return
        scope = ScopeRef(kind=Scope.USER, key=USER_KEY)
        named = {
            f"{homes.claude}/CLAUDE.md": "claude-md",
            f"{homes.claude}/rules": "claude-rules",
            f"{homes.codex}/AGENTS.md": "agents-md",
            f"{homes.codex}/AGENTS.override.md": "agents-md",
            f"{homes.gemini}/GEMINI.md": "gemini-md",
        }
        for file, provider in named.items():
            if os.path.basename(file) in AWAITED or os.path.exists(file):
                inside = self._holding(file)
                yield Root(path=file, scope=scope, origin=Origin.IMPORTED, inside=inside, provider=provider)

    def _of_claude(self, path: str, workspace: str) -> Iterator[Root]:
        """What Claude Code itself noted about the project: its folder is named after the checkout, the repository or,
        outside git and in older versions, the session's folder. Two projects can have one name: the first one seen
        here has it."""
        homes = self._homes
        if homes is None:
            return
        scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace)
        top, common = repository_root(path), common_directory(path)
        main = common.parent if common is not None and common.name == ".git" else None
        projects = [str(one) for one in (top, main) if one is not None]
        for project in dict.fromkeys((*projects, os.path.realpath(path), path)):
            folder = f"{homes.claude}/projects/{slug(project)}/memory"
            if self._projects.setdefault(os.path.realpath(folder), project) == project:
                inside = self._holding(folder)
                yield Root(path=folder, scope=scope, origin=Origin.IMPORTED, inside=inside, provider="claude-memory")

    def _of_the_workspace(self, path: str, workspace: str) -> Iterator[Root]:
        """What stands in the repository: at its top, in the session's folder and in those between."""
        real = os.path.realpath(path)
        top = str(repository_root(path) or real)
        folders = _down_to(top, real)
        scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace)
        self._imported.update(file for folder in folders for file in self._imports(folder))
        for kind, provider in PROVIDERS.items():
            for folder in folders:
                for name in (*provider.names, *(provider.folders if folder == top else ())):
                    file = os.path.join(folder, name)
                    awaited = folder == top and (name in AWAITED or name in provider.folders)
                    if awaited or os.path.exists(file):
                        loaded = kind != IMPORTER and os.path.realpath(file) in self._imported
                        kinds = " ".join(sorted({kind, IMPORTER})) if loaded else kind
                        yield Root(path=file, scope=scope, origin=Origin.IMPORTED, inside=top, provider=kinds)

    def _imports(self, folder: str) -> Iterator[str]:
        """The real paths of files that a folder's CLAUDE.md takes in."""
        for base in (folder, f"{folder}/.claude"):
            now = stamp_now(f"{base}/{CLAUDE_FILE}")
            if now is not None and self._importing.get(base, ("", ()))[0] != now:
                found = read(os.path.realpath(base), CLAUDE_FILE)
                text = found.data[:IMPORTS_READ].decode("utf-8", "replace") if isinstance(found, Document) else ""
                files = tuple(os.path.realpath(f"{base}/{name}") for name in imports(text))
                self._importing[base] = now, files
            yield from self._importing.get(base, ("", ()))[1]

    def _holding(self, file: str) -> str:
        """The folder that a user's file must not leave: the one it really lies in. Links into others are the user's."""
        real, homes = os.path.realpath(file), self._homes
        if homes is None:
            return ""
        folders = (homes.claude, homes.codex, homes.gemini, homes.home)
        return next((str(one) for one in folders if _below(real, os.path.realpath(one))), "")

    def _config_folders(self) -> list[str]:
        homes = self._homes
        return [] if homes is None else [os.path.realpath(one) for one in (homes.claude, homes.codex, homes.gemini)]


def _down_to(top: str, folder: str) -> list[str]:
    """The folders from the top to the session's."""
    steps = os.path.relpath(folder, top).split(os.sep) if _below(folder, top) and folder != top else []
    return [os.path.join(top, *steps[:count]) for count in range(min(len(steps), DEEPEST) + 1)]


def _below(real: str, folder: str) -> bool:
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def stamp_now(path: str) -> str | None:
    """What tells whether a root has to be looked at again; of a folder, whether files came or went."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def _has_text(path: str) -> bool:
    """Whether a path can be written down: others cannot be indexed."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in path


def _join(found: dict[str, Root], root: Root) -> None:
    """Add a root to those found by their real paths; whose a file is, is not changed by a second name."""
    real = os.path.realpath(root.path)
    known = found.get(real)
    if known is None:
        found[real] = root
    elif known.scope == root.scope:
        kinds = " ".join(sorted({*known.provider.split(), *root.provider.split()}))
        found[real] = msgspec.structs.replace(known, path=real, provider=kinds)
