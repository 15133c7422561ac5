"""Fakes of the ports: they pass the conformance suites of what they stand for (tests/test_fakes.py)."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from recall.contracts import Candidate, Database, Flag, RuntimeScope, Status, TermStatistics, consolidated, visible
from recall.errors import ArmUnavailable

T = TypeVar("T")


class FakeDatabase:
    """A `Rebuildable` in memory. `fail_next` makes the next write raise in the COMMIT's place, and undoes it."""

    def __init__(self, scripts: Sequence[str] = ()) -> None:
        self._scripts = scripts
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.fail_next: Exception | None = None
        self.writes = 0
        for script in scripts:
            self.connection.executescript(script)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self.connection.execute("BEGIN")
        try:
            result = work(self.connection)
            failure, self.fail_next = self.fail_next, None
            if failure is not None:
                raise failure
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        self.writes += 1
        return result

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self.connection.execute("PRAGMA query_only = ON")
        try:
            return work(self.connection)
        finally:
            self.connection.execute("PRAGMA query_only = OFF")

    async def cut_log(self) -> bool:
        return True

    def lost(self) -> bool:
        return False

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[Database]:
        fresh = FakeDatabase(self._scripts)
        try:
            yield fresh
        except BaseException:
            fresh.close()
            raise
        self.connection.close()
        self.connection = fresh.connection

    def close(self) -> None:
        self.connection.close()


class FakeIndex:
    """An `Index` over a list of candidates: scope and status are filtered before the limit, as in the real one.

    A match scores the number of terms it shares. `asked` counts the questions: a gate that suppresses asks none.
    """

    def __init__(self, candidates: Sequence[Candidate] = (), version: str = "idx_1") -> None:
        self._candidates = tuple(candidates)
        self._version = version
        self.asked = 0

    @property
    def version(self) -> str:
        return self._version

    async def match(self, terms: Sequence[str], scope: RuntimeScope, limit: int) -> Sequence[Candidate]:
        self.asked += 1
        wanted = set(terms)
        hits = [(len(wanted & set(c.terms)), c) for c in self._eligible(scope)]
        return [c for shared, c in sorted(hits, key=lambda hit: (-hit[0], hit[1].memory_id)) if shared][:limit]

    async def by_id(self, memory_ids: Sequence[str], scope: RuntimeScope) -> Sequence[Candidate]:
        self.asked += 1
        seen = {c.memory_id: c for c in self._candidates if visible(c.scope, scope)}
        return [seen[memory_id] for memory_id in memory_ids if memory_id in seen]

    async def aside(self, scope: RuntimeScope) -> Sequence[Candidate]:
        self.asked += 1
        found = [c for c in self._candidates if visible(c.scope, scope) and consolidated(c)]
        return sorted(found, key=lambda c: (-c.created_at, c.memory_id))

    async def pinned(self, scope: RuntimeScope, limit: int) -> Sequence[Candidate]:
        self.asked += 1
        found = [c for c in self._eligible(scope) if c.pinned]
        return sorted(found, key=lambda c: (c.priority != -1, -(c.priority or 0), c.created_at, c.memory_id))[:limit]

    async def statistics(self, terms: Sequence[str], scope: RuntimeScope) -> TermStatistics:
        self.asked += 1
        eligible = self._eligible(scope)
        counts: Mapping[str, int] = {term: sum(term in c.terms for c in eligible) for term in terms}
        return TermStatistics(total=len(eligible), counts={term: count for term, count in counts.items() if count})

    async def eligible(self, rows: Sequence[int], scope: RuntimeScope, epoch: int) -> Sequence[Candidate]:
        """Rows are places in the list, of epoch 1."""
        self.asked += 1
        if epoch != 1:
            raise ArmUnavailable("stale-vectors")
        kept = self._eligible(scope)
        return [self._candidates[row] for row in rows if self._candidates[row] in kept]

    def partial(self, scope: RuntimeScope) -> bool:
        return False

    def hot(self, scope: RuntimeScope) -> Sequence[Candidate]:
        self.asked += 1
        return self._eligible(scope)

    def _eligible(self, scope: RuntimeScope) -> list[Candidate]:
        return [
            c
            for c in self._candidates
            if visible(c.scope, scope)
            and c.status is Status.ACTIVE
            and Flag.QUARANTINED not in c.flags
            and not consolidated(c)
        ]
