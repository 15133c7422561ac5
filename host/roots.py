"""Where memory files lie: private ones below the data folder, shared ones in the repository (read as imported)."""

from pathlib import Path

from host.namespace import REPOSITORY_FOLDER
from host.runtime import USER_KEY
from recall.contracts import Origin, Scope, ScopeRef
from recall.library import Library, Root
from recall.workspace import repository_root


class Roots:
    """The memory folders of a user and of each workspace, made searchable when first met."""

    def __init__(self, data: Path, library: Library) -> None:
        self.data = data
        self._memory = data / "memory"
        self._library = library

    def private(self, workspace: str) -> Root:
        """`<data>/memory/<workspaceKey>`: what was remembered for one workspace."""
        scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace)
        return Root(path=str(self._memory / workspace), scope=scope, origin=Origin.USER, writable=True)

    def user(self) -> Root:
        """`<data>/memory/user`: what holds for this person everywhere."""
        scope = ScopeRef(kind=Scope.USER, key=USER_KEY)
        return Root(path=str(self._memory / "user"), scope=scope, origin=Origin.USER, writable=True)

    def repository(self, path: str, workspace: str) -> Root | None:
        """The memory folder of the repository, if it has one: meant for git, read as imported until trusted."""
        if not Path(path).is_absolute():  # another process's folder: it means nothing here
            return None
        top = repository_root(path) or Path(path)
        folder = top / REPOSITORY_FOLDER / "memory"
        if not folder.is_dir():
            return None
        scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace)
        return Root(path=str(folder), scope=scope, origin=Origin.IMPORTED, inside=str(top))

    async def adopt(self, path: str, workspace: str) -> None:
        """Make the files that a session there may see searchable. Folders that do not exist yet cost nothing."""
        for root in self._present(path, workspace):
            await self._library.adopt(root)

    def _present(self, path: str, workspace: str) -> list[Root]:
        roots = [self.user(), *([self.private(workspace)] if workspace else []), self.repository(path, workspace)]
        return [root for root in roots if root is not None and Path(root.path).is_dir()]
