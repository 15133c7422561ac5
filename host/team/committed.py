"""What follows of a promotion in recall: the next pass finds what was written, and nothing superseded is handed over.
The port `Committed` of governance."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from governance.team.contracts.base import Bound
from governance.team.errors import Kind, TeamFault
from host.roots import Roots
from host.team.waiting import Waiting
from host.trusted import Trust
from recall.errors import IndexFault
from recall.library import Library


@dataclass(frozen=True, kw_only=True, slots=True)
class Reread:
    """`trust` is read again first: without its receipt a file that we wrote would count as a stranger's."""

    trust: Trust
    roots: Roots
    library: Library
    waiting: Waiting

    async def promoted(self, bound: Bound, written: Sequence[str], superseded: Sequence[str]) -> None:
        """Have these files looked at now, and drop packets with what no longer holds. `written`: paths relative to the
        repository's top. Raises TeamFault `sync-partial` when the index cannot follow: files and packets are as they
        should be then, and the index follows later by itself."""
        await self.trust.read()
        try:
            for memory_id in superseded:
                await self.waiting.purge(memory_id)
            await self.roots.adopt_repository(bound.root, bound.workspace_key)
            await self.library.look_anew(*(f"{bound.root}/{path}" for path in written))
        except (IndexFault, sqlite3.Error) as error:
            raise TeamFault(
                Kind.SYNC_PARTIAL,
                f"The files are written, and recall cannot see them yet: {error}",
                "It looks again by itself; a promote of the same plan does so at once.",
            ) from error
        for memory_id in superseded:  # of a pass that had begun before
            await self.waiting.purge(memory_id)
