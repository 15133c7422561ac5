"""The `Index` that a pass asks: one version of the library at one time (M-05)."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from recall import lookup
from recall.aside import aside
from recall.contracts import Candidate, Database, Millis, RuntimeScope, ScopeRef, TermStatistics, visible
from recall.errors import ArmUnavailable, IndexFault
from recall.hot import Hot
from recall.kept import Kept
from recall.lookup import Search, View

T = TypeVar("T")
# SQLite's primary result codes: an error in SQL that is ours and fixed (so the tables are not), I/O, corrupt, cannot
# open, not a database.
_BROKEN = (1, 10, 11, 14, 26)
_NO_ROOM = (778, 1034, 1290, 1546, 4874)  # I/O errors of writing, by their extended codes: the disk may be full
_MOVED = 1032  # an extended one: the file was taken away
UNREADABLE = (sqlite3.DatabaseError, msgspec.MsgspecError)  # what reading broken tables may raise


def _nobody() -> None:
    """Nobody is there to mend it."""


@dataclass(slots=True)
class Health:
    """Whether the tables were found broken. Owned by the library, noted by whoever reads; `alarm` is told at once."""

    alarm: Callable[[], None] = _nobody
    damaged: bool = False
    problem: str = ""

    def note(self, error: Exception) -> bool:
        """Whether the index must be made anew after this error; a lock or a full disk is no reason."""
        code, text = getattr(error, "sqlite_errorcode", 0), str(error)
        if (
            (code & 0xFF in _BROKEN and code not in _NO_ROOM)
            or code == _MOVED
            or isinstance(error, msgspec.MsgspecError)
            or "no such table" in text
            or "Could not decode to UTF-8" in text
        ):
            self.damaged, self.problem = True, text
            self.alarm()
        return self.damaged


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A view of the library for one pass: records that are not valid at `now` are out of it."""

    database: Database
    version: str
    now: Millis
    held: Hot = field(default_factory=Hot)
    kept: Kept = field(default_factory=Kept)
    health: Health = field(default_factory=Health)
    unfinished: frozenset[ScopeRef] = frozenset()  # scopes of roots that are being taken in for the first time
    counted: dict[RuntimeScope, tuple[frozenset[str], TermStatistics]] = field(default_factory=dict)  # by `match`

    async def match(
        self, terms: Sequence[str], scope: RuntimeScope, limit: int, prefix: str = ""
    ) -> Sequence[Candidate]:
        """Eligible records that hold any of `terms`, best first. `prefix`: a word still being typed.

        Raises IndexFault when the index cannot be read.
        """
        asked = Search(terms=terms, limit=limit, prefix=prefix)
        found = await self._ask(lambda connection: lookup.search(connection, asked, self._view(scope), self.kept))
        self.counted[scope] = frozenset(terms), found.statistics
        return found.candidates

    async def by_id(self, memory_ids: Sequence[str], scope: RuntimeScope) -> Sequence[Candidate]:
        """Visible records by id, whatever their status, in the order asked. Raises IndexFault."""
        return await self._ask(lambda connection: lookup.by_id(connection, memory_ids, self._view(scope)))

    async def aside(self, scope: RuntimeScope) -> Sequence[Candidate]:
        """Live episodes, which no search by words finds, newest first. Raises IndexFault."""
        return await self._ask(lambda connection: aside(connection, self._view(scope)))

    async def pinned(self, scope: RuntimeScope, limit: int) -> Sequence[Candidate]:
        """Eligible pinned records, priority -1 first, then by priority and age. Raises IndexFault."""
        return await self._ask(lambda connection: lookup.pinned(connection, limit, self._view(scope)))

    async def eligible(self, rows: Sequence[int], scope: RuntimeScope, epoch: int) -> Sequence[Candidate]:
        """Eligible records by their row in the index of that epoch, in the order asked.

        Raises IndexFault; ArmUnavailable when the rows are those of an index that was replaced since.
        """
        found = await self._ask(lambda connection: lookup.eligible(connection, rows, epoch, self._view(scope)))
        if found is None:
            raise ArmUnavailable("stale-vectors", "The index was made anew.")
        return found

    async def statistics(self, terms: Sequence[str], scope: RuntimeScope) -> TermStatistics:
        """Document counts of `terms` over the eligible records. Raises IndexFault."""
        asked, known = self.counted.get(scope, (frozenset(), None))
        if known is not None and asked.issuperset(terms):
            counts = {term: known.counts[term] for term in terms if term in known.counts}
            return TermStatistics(total=known.total, counts=counts)
        return await self._ask(lambda connection: lookup.statistics(connection, terms, self._view(scope)))

    def partial(self, scope: RuntimeScope) -> bool:
        """Whether files that can be seen from there are still being taken in for the first time."""
        return any(visible(one, scope) for one in self.unfinished)

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
        except UNREADABLE as error:
            self.health.note(error)
            raise IndexFault(f"The index cannot be read: {error}.") from error
