"""Where an operation happens: the worktree that a folder belongs to, as it lies on this disk (team.md 3).

Runs no program and follows no link below the worktree's top. Git's own files are read as data: no include of its
configuration is followed.
"""

import asyncio
import io
import os
import sqlite3
import stat
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from dulwich.config import ConfigFile

from governance.team import confirming
from governance.team.binding import Place, another, bound_of, drift
from governance.team.contracts.base import Bound
from governance.team.contracts.promoting import PlanState
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.store import bindings, plans
from governance.team.store.bindings import Installation
from recall.contracts import Database, Millis
from recall.workspace import CONFIG_LIMIT, common_directory, repository_root, workspace_key

WAITING: tuple[PlanState, ...] = ("generated", "approved")  # plans that would be written into what stands there now
_REMOTE = "origin"
_TRUE = ("true", "yes", "on", "1")


async def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Binding:
    """Binds folders to worktrees, and keeps what was bound. `fresh`: a new secret and a new name for the database, used
    once in its life; `now`: the clock; `key`: recall's name of a folder's repository, called on a thread; `forgot`:
    called when what a person said may hold no more: the repository was not known in this place, or another directory of
    git stands there."""

    database: Database
    formats: Formats
    fresh: Callable[[], Installation]
    now: Callable[[], Millis]
    key: Callable[[str], str] = workspace_key
    forgot: Callable[[], Awaitable[None]] = _nothing

    async def bind(self, folder: str) -> Bound:
        """The worktree that holds `folder`, written down.

        Raises TeamFault: `not-a-repository`, and `target-path-invalid` when a link stands on the way to its memory.
        """
        place = await asyncio.to_thread(self._found, folder)
        at = self.now()

        def work(connection: sqlite3.Connection) -> tuple[Bound, bool]:
            bound = bound_of(place, bindings.installation(connection, self.fresh()).secret, self.formats)
            before = bindings.latest(connection, bound.owner.repository_key)
            replaced = before is not None and another(before, bound)
            if replaced:
                bindings.forget_trust(connection, bound.owner.repository_key)
                for plan in plans.listed(connection, WAITING, repository_key=bound.owner.repository_key):
                    confirming.voided(connection, plan.plan_id, at, "another repository stands in its place")
            bindings.put(connection, bound, at)
            was = None if before is None else before.binding.common_directory_identity
            return bound, was != bound.binding.common_directory_identity

        bound, changed = await self.database.write(work)
        if changed:
            await self.forgot()
        return bound

    async def verify(self, bound: Bound) -> None:
        """Whether the worktree is still the one that was bound: before anything is written into it.

        Raises TeamFault: `owner-mismatch`, and as `bind`.
        """
        place = await asyncio.to_thread(self._found, bound.root)
        known = await self.database.read(bindings.installed)
        if said := drift(bound, bound_of(place, known.secret, self.formats)):
            what = "Its top is another folder now" if said == "owner" else "Another repository stands in its place"
            raise TeamFault(
                Kind.OWNER_MISMATCH, f"{what} than when it was bound.", "Begin again with recall or review."
            )

    def _found(self, folder: str) -> Place:
        place = located(folder, self.key)
        checked_way(place.root, self.formats.memory_root)
        return place


def located(folder: str, key: Callable[[str], str] = workspace_key) -> Place:
    """The worktree that holds a folder. `key`: as for `Binding`.

    Raises TeamFault `not-a-repository`: none does, or the repository is bare.
    """
    root, common = repository_root(folder), common_directory(folder)
    if root is None or common is None:
        raise _none(f"{folder[:200]!r} is in no git repository.")
    if root == common or not _is_folder(root):  # bare, or a pointer that leads nowhere
        raise _none(f"{folder[:200]!r} is in no worktree of a git repository.")
    config = _config(common)
    if config is not None and common == root / ".git" and _says(config, (b"core",), b"bare").lower() in _TRUE:
        raise _none("The repository is bare: it has no files.")
    try:
        top, git = str(root).encode().decode(), str(common).encode().decode()
        known = common.stat()
    except (OSError, UnicodeError) as error:
        raise _none("The path of the repository cannot be read, or is not UTF-8.") from error
    return Place(
        root=top,
        common=git,
        device=known.st_dev,
        inode=known.st_ino,
        remote=None if config is None else _remote(config),
        workspace_key=key(top),
    )


def checked_way(root: str, memory_root: str) -> None:
    """Every folder from the worktree's top to its memory is a folder of its own, or is not there yet.

    Raises TeamFault `target-path-invalid`.
    """
    path = Path(root)
    for part in memory_root.split("/"):
        path /= part
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise _way(memory_root, f"{part} cannot be looked at: {error.strerror}.") from error
        if not stat.S_ISDIR(mode):
            what = "a symbolic link" if stat.S_ISLNK(mode) else "no folder"
            raise _way(memory_root, f"{part} is {what}.")


def _way(memory_root: str, problem: str) -> TeamFault:
    return TeamFault(
        Kind.TARGET_PATH_INVALID,
        f"On the way to {memory_root}: {problem}",
        "Put a folder in its place: memory is kept in the repository itself.",
    )


def _none(problem: str) -> TeamFault:
    return TeamFault(
        Kind.NOT_A_REPOSITORY, problem, "Call from inside of a checkout: a team's memory is kept in its repository."
    )


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _config(common: Path) -> ConfigFile | None:
    """Git's configuration of the repository, as far as it can be read."""
    try:
        if not stat.S_ISREG((common / "config").stat().st_mode):
            return None  # a pipe would never end
        with (common / "config").open("rb") as stream:
            return ConfigFile.from_file(io.BytesIO(stream.read(CONFIG_LIMIT)), expand_includes=False)
    except (OSError, ValueError):
        return None


def _remote(config: ConfigFile) -> str | None:
    """The address of `origin`, or of the first remote there is."""
    named = [section[1].decode("utf-8", "replace") for section in config.sections() if _is_remote(section)]
    chosen = _REMOTE if _REMOTE in named else next(iter(named), "")
    return _says(config, (b"remote", chosen.encode()), b"url") or None if chosen else None


def _is_remote(section: tuple[bytes, ...]) -> bool:
    return len(section) == 2 and section[0].lower() == b"remote"


def _says(config: ConfigFile, section: tuple[bytes, ...], key: bytes) -> str:
    try:
        value = config.get(section, key)
    except KeyError:
        return ""
    return value.decode("utf-8", "replace").strip() if isinstance(value, bytes) else ""
