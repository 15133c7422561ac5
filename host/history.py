"""What the stores know of one agent of one session: audit entries, packets and evidence that a restart folds again."""

import asyncio
import sqlite3
from collections.abc import Iterable

import msgspec

from governance.audit import Audit
from governance.checkpoint import NOTHING, Checkpoint, opened
from governance.contracts import AccessEvidence, AuditEntry, AuditFilter
from governance.errors import AuditUnavailable
from governance.evidence_store import EvidenceStore
from host.contracts import MemoryPacket
from host.eventlog import EventLog
from host.holdout import HELD_OUT
from host.past import SECTION, Past, owner_of, pasts
from host.sessions import History
from recall.contracts import Database, Millis

PAGE = 1_000
HISTORY = "history:"  # setting: + session id -> the time up to which its events were taken in as history


class Histories:
    """Reads histories. Nothing is kept but the checkpoint that was read last."""

    def __init__(self, database: Database, eventlog: EventLog, audit: Audit, evidence: EvidenceStore) -> None:
        self._database = database
        self._eventlog = eventlog
        self._audit = audit
        self._evidence = evidence
        self._checkpoint: tuple[str, Checkpoint, dict[str, Past]] = ("", NOTHING, {})

    async def of(self, session_id: str, agent_id: str) -> History:
        """Entries in their order, packets by id, evidence by its event."""
        first = await self._eventlog.replay(session_id, limit=1)
        numbered = await self._entries(session_id, agent_id)
        checkpoint, past = await self._past(session_id, agent_id)
        entries = (
            *past.entries(),
            *(entry for row, entry in numbered if row > checkpoint.through.row),  # let go while we read: not twice
        )
        held_out = {entry.packet.packet_id for entry in entries if entry.packet and entry.outcome == HELD_OUT}
        return History(
            root_agent=first[0].agent_id if first else agent_id,
            entries=entries,
            packets=await self._packets(session_id, agent_id, sorted(held_out)),
            evidence=await self._rows(session_id),
            agree=past.agreement(),
            heard_seq=past.event_seq,
            settled_at=max(checkpoint.through.at, await history_until(self._database, session_id) or 0),
        )

    async def _entries(self, session_id: str, agent_id: str) -> list[tuple[int, AuditEntry]]:
        session, agent = self._audit.ref(session_id), self._audit.ref(agent_id)
        found: list[tuple[int, AuditEntry]] = []
        before: int | None = None
        while True:
            page = await self._audit.rows(AuditFilter(session_ref=session, after_row=before, limit=PAGE))
            found.extend((row, entry) for row, entry in page if entry.agent_ref == agent)
            if len(page) < PAGE:
                return found[::-1]
            before = page[-1][0]

    async def _past(self, session_id: str, agent_id: str) -> tuple[Checkpoint, Past]:
        """What entries that were let go left, and what of it is this agent's."""
        kept = await self._audit.kept()
        if kept is None:
            return NOTHING, Past()
        if kept.digest != self._checkpoint[0]:
            try:
                checkpoint = await asyncio.to_thread(opened, kept)
                self._checkpoint = kept.digest, checkpoint, pasts(checkpoint.sections.get(SECTION))
            except msgspec.MsgspecError as error:
                raise AuditUnavailable(
                    "The audit's checkpoint cannot be read: it was changed.",
                    "audit.verify tells what does not hold; until it does, this session is given nothing.",
                ) from error
        _, checkpoint, found = self._checkpoint
        return checkpoint, found.get(owner_of(self._audit.ref(session_id), self._audit.ref(agent_id)), Past())

    async def _packets(self, session_id: str, agent_id: str, held_out: Iterable[str]) -> dict[str, MemoryPacket]:
        """Those that were claimed, those that were held out, and those that the product's transcript showed after their
        claim was taken back."""

        def work(connection: sqlite3.Connection) -> list[tuple[str, bytes]]:
            return connection.execute(
                "SELECT packet_id, body FROM packet WHERE session_id = ? AND agent_id = ?"
                " AND (claimed_at IS NOT NULL OR state = 'delivered' OR packet_id IN (SELECT value FROM json_each(?)))",
                (session_id, agent_id, msgspec.json.encode(held_out).decode()),
            ).fetchall()

        rows = await self._database.read(work)
        return {packet_id: msgspec.json.decode(body, type=MemoryPacket) for packet_id, body in rows}

    async def _rows(self, session_id: str) -> dict[int, tuple[AccessEvidence, ...]]:
        rows: dict[int, tuple[AccessEvidence, ...]] = {}
        for row in await self._evidence.of_session(self._audit.ref(session_id)):
            rows[row.event_seq] = (*rows.get(row.event_seq, ()), row)
        return rows


async def history_until(database: Database, session_id: str) -> Millis | None:
    """The time up to which the events of a session were taken in as history; None: it was heard live."""
    return await number(database, HISTORY + session_id)


async def number(database: Database, name: str) -> int | None:
    """A number of the `setting` table, or None."""

    def work(connection: sqlite3.Connection) -> tuple[bytes] | None:
        row: tuple[bytes] | None = connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return row

    row = await database.read(work)
    return None if row is None else msgspec.json.decode(row[0], type=int)


async def put_number(database: Database, name: str, number: int) -> None:
    """Keep a number in the `setting` table."""
    row = (name, msgspec.json.encode(number))
    statement = "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)"
    await database.write(lambda connection: connection.execute(statement, row))
