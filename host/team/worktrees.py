"""To which worktree a folder belongs that an event named, also one that is gone by now."""

import asyncio
from collections.abc import Callable, Collection
from enum import StrEnum
from pathlib import PurePath

from governance.team.contracts.base import Bound
from recall.workspace import common_directory, repository_root


class Where(StrEnum):
    HERE = "here"
    SIBLING = "sibling"  # another worktree of the repository
    OWN = "own"  # a folder in which we ask a model ourselves
    ELSEWHERE = "elsewhere"


class Worktrees:
    """`key`: a folder's workspace key; it and the disk are asked on a thread. `own`: folders of our own sessions."""

    def __init__(self, key: Callable[[str], str], own: Collection[str] = ()) -> None:
        self._key = key
        self._own = tuple(own)

    async def placed(self, bound: Bound, folders: Collection[str]) -> dict[str, Where]:
        """Where each of these folders is, seen from a worktree."""
        return await asyncio.to_thread(lambda: {folder: self._where(bound, folder) for folder in set(folders)})

    def key(self, folder: str) -> str:
        """As recall names the repository of a folder. Blocks on the disk the first time."""
        return self._key(folder)

    def _where(self, bound: Bound, folder: str) -> Where:
        if any(PurePath(folder).is_relative_to(own) for own in self._own):
            return Where.OWN
        if not folder:
            return Where.ELSEWHERE
        top = repository_root(folder)
        if top is None:  # gone: it may be known that it was in this repository before that was moved
            return Where.HERE if self._key(folder) == self._key(bound.root) else Where.ELSEWHERE
        if str(top) == bound.root:
            return Where.HERE
        return Where.SIBLING if common_directory(folder) == common_directory(bound.root) else Where.ELSEWHERE
