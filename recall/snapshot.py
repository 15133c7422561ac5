"""The `Index` that a pass asks: one version of the library at one time (M-05)."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from recall import lookup
from recall.contracts import Candidate, Database, Millis, RuntimeScope, TermStatistics, visible
from recall.errors import IndexFault
from recall.lookup import Search, View

T = TypeVar("T")
_CORRUPT, _NOT_A_DATABASE = 11, 26  # SQLite's primary result codes


@dataclass(slots=True)
class Health:
    """Whether the tables were found broken. Owned by the library, noted by whoever reads."""

    damaged: bool = False
    problem: str = ""

    def note(self, error: sqlite3.DatabaseError) -> bool:
        """Whether the index must be made anew after this error; a lock or a full disk is no reason."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (_CORRUPT, _NOT_A_DATABASE) or "no such table" in str(error):
            self.damaged, self.problem = True, str(error)
        return self.damaged


class Hot:
    """Records held in memory as rows, made candidates when somebody needs them: a fallback is rare."""

    def __init__(self, rows: Sequence[lookup.Row] = ()) -> None:
        self._rows = rows
        self._made: tuple[Candidate, ...] | None = None

    def candidates(self) -> tuple[Candidate, ...]:
        if self._made is None:
            self._made = tuple(lookup.of_kind(row) for row in self._rows)
        return self._made


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A view of the library for one pass: records that are not valid at `now` are out of it."""

    database: Database
    version: str
    now: Millis
    held: Hot = field(default_factory=Hot)
    health: Health = field(default_factory=Health)
    counted: dict[RuntimeScope, tuple[frozenset[str], TermStatistics]] = field(default_factory=dict)  # by `match`

    async def match(
        self, terms: Sequence[str], scope: RuntimeScope, limit: int, prefix: str = ""
    ) -> Sequence[Candidate]:
        """Eligible records that hold any of `terms`, best first. `prefix`: a word still being typed.

        Raises IndexFault when the index cannot be read.
        """
        asked = Search(terms=terms, limit=limit, prefix=prefix)
        found = await self._ask(lambda connection: lookup.search(connection, asked, self._view(scope)))
        self.counted[scope] = frozenset(terms), found.statistics
        return found.candidates

    async def by_id(self, memory_ids: Sequence[str], scope: RuntimeScope) -> Sequence[Candidate]:
        """Visible records by id, whatever their status, in the order asked. Raises IndexFault."""
        return await self._ask(lambda connection: lookup.by_id(connection, memory_ids, self._view(scope)))

    async def pinned(self, scope: RuntimeScope, limit: int) -> Sequence[Candidate]:
        """Eligible pinned records, priority -1 first, then by priority and age. Raises IndexFault."""
        return await self._ask(lambda connection: lookup.pinned(connection, limit, self._view(scope)))

    async def statistics(self, terms: Sequence[str], scope: RuntimeScope) -> TermStatistics:
        """Document counts of `terms` over the eligible records. Raises IndexFault."""
        asked, known = self.counted.get(scope, (frozenset(), None))
        if known is not None and asked.issuperset(terms):
            counts = {term: known.counts[term] for term in terms if term in known.counts}
            return TermStatistics(total=known.total, counts=counts)
        return await self._ask(lambda connection: lookup.statistics(connection, terms, self._view(scope)))

    def hot(self, scope: RuntimeScope) -> Sequence[Candidate]:
        """Eligible records held in memory, for the fallback when the tables are broken."""
        return [one for one in self.held.candidates() if visible(one.scope, scope) and self._timely(one)]

    def _view(self, scope: RuntimeScope) -> View:
        return View(scope=scope, now=self.now)

    def _timely(self, one: Candidate) -> bool:
        return (one.valid_from is None or one.valid_from <= self.now) and (
            one.expires_at is None or one.expires_at > self.now
        )

    async def _ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self.database.read(work)
        except sqlite3.DatabaseError as error:
            self.health.note(error)
            raise IndexFault(f"The index cannot be read: {error}.") from error
