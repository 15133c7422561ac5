"""Behaviour that recall and governance need and may not import: `host/compose.py` supplies it."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from recall.contracts.memory import RuntimeScope
from recall.contracts.query import Candidate, Cue, TermStatistics

T = TypeVar("T")


class Database(Protocol):
    """One SQLite file: one writer with group commit, readers apart. Work runs as one function on its thread."""

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction and return its result after the COMMIT. A raising `work` is rolled back alone."""
        ...

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on a read-only connection: a snapshot of what is committed."""
        ...

    async def cut_log(self) -> bool:
        """Leave nothing of what was deleted in the log of transactions. False: not just now."""
        ...


class Rebuildable(Database, Protocol):
    """A database that can be made anew beside itself while it goes on answering."""

    def aside(self) -> AbstractAsyncContextManager[Database]:
        """A fresh, empty database of the same schema beside this one.

        Leaving the block swaps it in at once and for good: from then on reads and writes go to it. Leaving it with an
        error drops it. Raises sqlite3.Error or OSError when it cannot be made or swapped in.
        """
        ...

    def lost(self) -> bool:
        """Whether the file was taken away: what is open is not what the next start will find."""
        ...


class Index(Protocol):
    """A snapshot of the library that sources ask. Filters (scope, status) apply before the limit."""

    @property
    def version(self) -> str: ...

    async def match(
        self, terms: Sequence[str], scope: RuntimeScope, limit: int, prefix: str = ""
    ) -> Sequence[Candidate]:
        """Eligible records that hold any of `terms`, best first; the rarest terms are asked first.

        `prefix`: a word still being typed (a person's search only): terms that begin with it count too.
        """
        ...

    async def by_id(self, memory_ids: Sequence[str], scope: RuntimeScope) -> Sequence[Candidate]:
        """Visible records by id, whatever their status, in the order asked."""
        ...

    async def aside(self, scope: RuntimeScope) -> Sequence[Candidate]:
        """Live episodes that can be seen from there, which `match` never gives, newest first."""
        ...

    async def pinned(self, scope: RuntimeScope, limit: int) -> Sequence[Candidate]:
        """Eligible pinned records, -1 priority first, then by priority and age."""
        ...

    async def eligible(self, rows: Sequence[int], scope: RuntimeScope, epoch: int) -> Sequence[Candidate]:
        """Eligible, visible, timely records by their row in the index, in the order asked, rows of others left out.

        `epoch`: of the index that the rows were read from; with another one's, ArmUnavailable (`stale-vectors`).
        """
        ...

    async def statistics(self, terms: Sequence[str], scope: RuntimeScope) -> TermStatistics:
        """Document counts of `terms` over the eligible records."""
        ...

    def partial(self, scope: RuntimeScope) -> bool:
        """Whether files that can be seen from there are still being taken in for the first time."""
        ...

    def hot(self, scope: RuntimeScope) -> Sequence[Candidate]:
        """Eligible records held in memory (≤ 2 000 in all), for the fallback scan when the tables are broken."""
        ...


Source = Callable[[Cue, Index], Awaitable[Sequence[Candidate]]]
