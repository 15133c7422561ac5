"""M-02, kept: which episodes were written, and up to where sessions were told. Ids and digests, no text."""

from governance.episodes import Outcome
from recall.contracts import Database, Frozen, Millis

_PUT = (
    "INSERT INTO episode (memory_id, workspace, session_ref, record_digest, outcome, at) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (memory_id) DO UPDATE SET record_digest = excluded.record_digest, outcome = excluded.outcome,"
    " at = excluded.at WHERE gone = 0"
)
_OF = "SELECT memory_id, workspace, session_ref, record_digest, outcome, at, gone FROM episode WHERE memory_id = ?"
_TOLD = (
    "INSERT INTO told (session_ref, event_seq) VALUES (?, ?)"
    " ON CONFLICT (session_ref) DO UPDATE SET event_seq = max(event_seq, excluded.event_seq)"
)


class Written(Frozen, frozen=True, kw_only=True):
    """An episode as it was written down. `gone`: somebody forgot it."""

    memory_id: str
    workspace: str
    session_ref: str
    record_digest: str
    outcome: Outcome
    at: Millis
    gone: bool = False


class EpisodeStore:
    """What consolidation has done so far."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, memory_id: str) -> Written | None:
        """What was written of an episode."""
        row = await self._database.read(lambda connection: connection.execute(_OF, (memory_id,)).fetchone())
        if row is None:
            return None
        known = {str(outcome): outcome for outcome in Outcome}
        return Written(
            memory_id=row[0],
            workspace=row[1],
            session_ref=row[2],
            record_digest=row[3],
            outcome=known.get(row[4], Outcome.UNKNOWN),
            at=row[5],
            gone=bool(row[6]),
        )

    async def put(self, one: Written) -> None:
        """Note what was written; of one that is gone nothing changes."""
        row = (one.memory_id, one.workspace, one.session_ref, one.record_digest, one.outcome, one.at)
        await self._database.write(lambda connection: connection.execute(_PUT, row))

    async def gone(self, memory_id: str) -> None:
        """A person forgot this episode: it is never written again."""
        await self._run("UPDATE episode SET gone = 1 WHERE memory_id = ?", memory_id)

    async def let_go(self, memory_id: str) -> None:
        """An episode is not kept any more, being too old."""
        await self._run("DELETE FROM episode WHERE memory_id = ?", memory_id)

    async def told(self, session_ref: str) -> int:
        """Up to which event a session was told; 0: not at all."""
        statement = "SELECT event_seq FROM told WHERE session_ref = ?"
        row = await self._database.read(lambda connection: connection.execute(statement, (session_ref,)).fetchone())
        return int(row[0]) if row else 0

    async def tell(self, session_ref: str, event_seq: int) -> None:
        """Note up to where a session was told."""
        await self._database.write(lambda connection: connection.execute(_TOLD, (session_ref, event_seq)))

    async def _run(self, statement: str, memory_id: str) -> None:
        await self._database.write(lambda connection: connection.execute(statement, (memory_id,)))
