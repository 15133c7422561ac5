"""Where memory files lie: private ones below the data folder, shared ones in the repository (read as imported), and
those that agent products keep themselves (read as imported and never believed to be more than text).
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from host.homes import Homes
from host.namespace import REPOSITORY_FOLDER
from host.places import Places
from host.provided import Provided, stamp_now
from host.runtime import USER_KEY
from recall.contracts import Origin, Scope, ScopeRef
from recall.errors import IndexFault
from recall.library import Library, Root
from recall.survey import shared_roots
from recall.workspace import repository_root


class Roots:
    """The memory folders of a user and of each workspace, made searchable when first met.

    Without `homes` nothing below a home folder is read: so it is in replay, demo and evaluation.
    """

    def __init__(
        self,
        data: Path,
        library: Library,
        homes: Homes | None = None,
        places: Places | None = None,
        trusts: Callable[[str, str], bool] = lambda workspace, top: False,
    ) -> None:
        """`trusts`: whether the user trusts what the repository of a workspace key says, in that worktree."""
        self.data = data
        self._trusts = trusts
        self._places = places
        self._memory = data / "memory"
        self._library = library
        self._provided = Provided(homes)
        self._adopted: dict[str, tuple[Root, str | None]] = {}  # products' files, and their stamps when adopted

    def private(self, workspace: str) -> Root:
        """`<data>/memory/<workspaceKey>`: what was remembered for one workspace."""
        scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace)
        return Root(path=str(self._memory / workspace), scope=scope, origin=Origin.USER, writable=True)

    def user(self) -> Root:
        """`<data>/memory/user`: what holds for this person everywhere."""
        scope = ScopeRef(kind=Scope.USER, key=USER_KEY)
        return Root(path=str(self._memory / "user"), scope=scope, origin=Origin.USER, writable=True)

    def repository(self, path: str, workspace: str) -> Root | None:
        """The memory folder of the repository: meant for git, read as imported until trusted. It need not be there yet,
        or any more: a checkout can bring it, and take it along. Outside git: None without the folder."""
        if not Path(path).is_absolute():  # another process's folder: it means nothing here
            return None
        repository = repository_root(path)
        top = repository or Path(path)
        folder = top / REPOSITORY_FOLDER / "memory"
        if repository is None and not os.path.isdir(folder):
            return None
        return self._shared(str(folder), str(top), workspace)

    def _shared(self, folder: str, top: str, workspace: str) -> Root:
        scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace)
        origin = Origin.REVIEWED if self._trusts(workspace, top) else Origin.IMPORTED
        return Root(path=folder, scope=scope, origin=origin, inside=top)

    async def adopt_repository(self, top: str, workspace: str) -> None:
        """Make what a repository's memory folder holds searchable, alone."""
        root = await asyncio.to_thread(self.repository, top, workspace)
        if root is not None:
            await self._library.adopt(root)

    async def trust_again(self, workspace: str | None = None) -> None:
        """Have the memory folders of a repository say what is trusted now: in all its worktrees, also where no session
        is. None: of all repositories where that is something else than before. Raises IndexFault."""
        for known in await self._library.survey(shared_roots):
            root = self._shared(known.path, known.top, known.scope.key)
            if workspace == known.scope.key or (workspace is None and root.origin is not known.origin):
                await self._library.adopt(root)

    async def adopt(self, path: str, workspace: str) -> None:
        """Make the files that a session there may see searchable. Folders that do not exist yet cost nothing, and of
        products' files only those are looked at again that changed."""
        if self._places is not None:
            await self._places.note(path)
        for root in self._present(path, workspace):
            await self._library.adopt(root)
        for root, now in await asyncio.to_thread(self._news, path, workspace):
            before = self._adopted.get(root.path)
            await self._library.adopt(root)
            if before is not None and before[0] == root:  # known to have changed, sooner than its next tick tells
                with suppress(IndexFault, sqlite3.DatabaseError):  # told in the library's status, and tried again
                    await self._library.refresh(root.path)
            self._adopted[root.path] = root, now

    def _present(self, path: str, workspace: str) -> list[Root]:
        roots = [self.user(), *([self.private(workspace)] if workspace else []), self.repository(path, workspace)]
        return [root for root in roots if root is not None and (root.shared or os.path.isdir(root.path))]

    def _news(self, path: str, workspace: str) -> list[tuple[Root, str | None]]:
        """Products' files that were not adopted yet, or not as they are now."""
        found = [(root, stamp_now(root.path)) for root in self._provided.roots(path, workspace)]
        return [one for one in found if self._adopted.get(one[0].path) != one]
