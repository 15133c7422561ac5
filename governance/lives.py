"""M-04, kept: the stages of procedures by memory id, read once at the start and written through.

Who is about to look at memories again is held here too: those that new evidence was heard of. Losing that list costs
nothing, for a start looks at all that have evidence.
"""

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping

from governance.contracts import AuditEntry, EvidenceKind, Stage
from governance.formation.errors import StateFault
from recall.contracts import Database, Frozen, Millis

_TELLING = frozenset({EvidenceKind.REUSE, EvidenceKind.SUCCESS, EvidenceKind.CORRECTION})
MET = "met"
_MOVE = (
    "INSERT INTO procedure (memory_id, stage, since, reason) VALUES (?, ?, ?, ?) ON CONFLICT (memory_id)"
    " DO UPDATE SET stage = excluded.stage, since = excluded.since, reason = excluded.reason"
)


class Life(Frozen, frozen=True, kw_only=True):
    """Where a procedure stands, since when, and why."""

    stage: Stage
    since: Millis
    reason: str


class Lives:
    """Stages by memory id."""

    def __init__(self, database: Database, held: dict[str, Life]) -> None:
        self._database = database
        self._held = held
        self._stages = {memory_id: life.stage for memory_id, life in held.items()}
        self._waiting: set[str] = set()
        self.turn = asyncio.Lock()  # one that judges and then moves, at a time

    @property
    def stages(self) -> Mapping[str, Stage]:
        """Every stage that was written down. Replaced, never changed: what is held of it stays as it was."""
        return self._stages

    def of(self, memory_id: str) -> Life | None:
        """What was written down of a procedure."""
        return self._held.get(memory_id)

    async def move(self, memory_id: str, life: Life) -> None:
        """Write down where a procedure stands from now on."""
        row = (memory_id, life.stage, life.since, life.reason)
        await self._database.write(lambda connection: connection.execute(_MOVE, row))
        self._hold({**self._held, memory_id: life})

    async def seen(self, memory_ids: Iterable[str], now: Millis) -> None:
        """These procedures are active and were met for the first time: from now on they count as unused, or not."""
        fresh = {memory_id: Life(stage=Stage.ACTIVE, since=now, reason=MET) for memory_id in memory_ids}
        fresh = {memory_id: life for memory_id, life in fresh.items() if memory_id not in self._held}
        rows = [(memory_id, life.stage, life.since, life.reason) for memory_id, life in fresh.items()]
        if rows:
            await self._database.write(lambda connection: connection.executemany(_MOVE, rows))
            self._hold({**self._held, **fresh})

    async def forget(self, memory_id: str) -> None:
        """The memory is gone."""
        self._waiting.discard(memory_id)
        statement = "DELETE FROM procedure WHERE memory_id = ?"
        await self._database.write(lambda connection: connection.execute(statement, (memory_id,)))
        self._hold({other: life for other, life in self._held.items() if other != memory_id})

    async def reload(self) -> None:
        """Read again what is written down: the file was made anew."""
        self._hold((await load_lives(self._database))._held)

    def heard(self, entries: Iterable[AuditEntry]) -> None:
        """Note which memories these entries bring evidence of."""
        for entry in entries:
            for trace in entry.evidence:
                if trace.kind in _TELLING:
                    self._waiting.add(trace.memory_id)

    def look_again(self, memory_ids: Iterable[str]) -> None:
        """Have these memories judged in the next round."""
        self._waiting.update(memory_ids)

    def taken(self) -> tuple[str, ...]:
        """The memories that wait to be judged, in their order; from now on none do."""
        waiting, self._waiting = self._waiting, set()
        return tuple(sorted(waiting))

    def _hold(self, held: dict[str, Life]) -> None:
        self._held = held
        self._stages = {memory_id: life.stage for memory_id, life in held.items()}


async def load_lives(database: Database) -> Lives:
    """The stored stages. A stage that this version does not know counts as observed: it shows least. Without the file
    there are none: procedures show least until it can be read."""

    def work(connection: sqlite3.Connection) -> list[tuple[str, str, Millis, str]]:
        return connection.execute("SELECT memory_id, stage, since, reason FROM procedure").fetchall()

    known = {str(stage): stage for stage in Stage}
    try:
        rows = await database.read(work)
    except StateFault:
        return Lives(database, {})
    return Lives(
        database,
        {
            memory_id: Life(stage=known.get(stage, Stage.OBSERVED), since=since, reason=reason)
            for memory_id, stage, since, reason in rows
        },
    )
