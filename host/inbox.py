"""N-03, the next-step inbox: one slot a (session, agent), newest wins, claimed at a request boundary.

Theory of operation. A packet is `pending` until a claim takes it; `claimed` until its holder says delivered, releases
it, or dies (the lease runs out); everything else is final:

    pending → claimed → delivered        pending → dropped | expired | replaced
    claimed → pending (released)         claimed → dropped

Whether a claim succeeds is decided by `ladder`, which is pure. What it decides is committed together with its audit
entry, guarded by the state it saw: if the packet has meanwhile left that state, nothing is written and nothing is
handed over. Invariants kept here: 5 (next request or none), 6 (expired or mismatched packets are never delivered),
11 (the audit entry is committed before the packet can be claimed).
"""

import sqlite3
from collections.abc import Callable, Collection, Sequence
from typing import Protocol, TypeVar

import msgspec

from governance.audit import Also
from governance.contracts import AuditEntry
from host.contracts import LONGEST_LIFE, Claim, Claimed, InboxState, MemoryPacket, Reason, Silence
from host.errors import StoreFault
from recall.canonical import text_digest
from recall.contracts import Database, Frozen, Millis

T = TypeVar("T")


class InboxPolicy(Frozen, frozen=True, kw_only=True):
    """Constants of the inbox. Times in milliseconds, steps in model replies."""

    lease: int = 30_000
    answer_ttl: int = 600_000
    max_steps: int = 3
    min_steps_between: int = 0  # steps after a delivery in which nothing more is handed over; 0 = no such pause


class Facts(Frozen, frozen=True, kw_only=True):
    """What is true of the session when a claim is made: all that the ladder reads besides the packet."""

    context_version: int
    window: int
    step: int
    boundary_used: bool
    last_delivery_step: int | None
    digests: dict[str, str]  # memory id -> record digest now; absent = deleted, revoked or corrected
    visible_records: frozenset[str]
    visible_texts: frozenset[str]  # exact digests of packets in this context window
    rerendered: str  # the packet's text rendered again from its items
    muted: frozenset[str] = frozenset()  # memory ids of the packet that the user has muted, one by one or by kind
    moved: bool = False  # what the packet says of the runtime context is not what there is to say now


class Slot(Frozen, frozen=True, kw_only=True):
    """A packet with its place in the state machine."""

    packet: MemoryPacket
    state: InboxState
    claim_id: str | None = None
    claimed_at: Millis | None = None


class Ledger(Protocol):
    """The audit, as the inbox needs it: entries and what depends on them are one transaction."""

    async def append(self, entries: Sequence[AuditEntry], also: Also | None = None) -> Sequence[AuditEntry]: ...


class Moved(Exception):
    """The packet left the state it was seen in: the transaction is undone."""


STAYS = frozenset({Reason.BOUNDARY_USED, Reason.COOLDOWN, Reason.NO_SURFACE})


def ladder(packet: MemoryPacket | None, facts: Facts, now: Millis, policy: InboxPolicy) -> Reason | None:
    """Why this packet cannot be claimed now, first match wins; None: it can. Pure."""
    if packet is None:
        return Reason.NONE_PENDING
    if facts.boundary_used:
        return Reason.BOUNDARY_USED
    since = None if facts.last_delivery_step is None else facts.step - facts.last_delivery_step
    if since is not None and since < policy.min_steps_between:
        return Reason.COOLDOWN
    aged = packet.step is not None and facts.step - packet.step > policy.max_steps
    if aged or not packet.created_at <= now < packet.expiry:
        return Reason.EXPIRED
    if packet.context_cursor.context_version != facts.context_version or packet.window != facts.window:
        return Reason.STALE_CONTEXT
    if facts.muted:
        return Reason.MUTED
    if facts.moved or any(facts.digests.get(one.memory_id) != one.record_digest for one in packet.named):
        return Reason.STALE_INDEX
    if facts.rerendered != packet.rendered or text_digest(packet.rendered) != packet.exact_digest:
        return Reason.DIGEST_MISMATCH
    held = packet.items and all(item.memory_id in facts.visible_records for item in packet.items)
    return Reason.ALREADY_VISIBLE if held or packet.exact_digest in facts.visible_texts else None


class Inbox:
    """The slot table. Every change goes with the audit entry that explains it."""

    def __init__(self, database: Database, audit: Ledger, policy: InboxPolicy) -> None:
        self._database = database
        self._audit = audit
        self.policy = policy

    async def slot(self, session_id: str, agent_id: str) -> tuple[Slot | None, tuple[Slot, ...]]:
        """The pending packet of this owner, and those that are claimed and not settled yet, oldest first."""

        def work(connection: sqlite3.Connection) -> list[Slot]:
            rows = connection.execute(
                "SELECT state, body, claim_id, claimed_at FROM packet"
                " WHERE session_id = ? AND agent_id = ? AND state IN ('pending', 'claimed')"
                " ORDER BY claimed_at, packet_id",
                (session_id, agent_id),
            ).fetchall()
            return [_slot(row) for row in rows]

        slots = await self._database.read(work)
        pending = [slot for slot in slots if slot.state is InboxState.PENDING]
        claimed = tuple(slot for slot in slots if slot.state is InboxState.CLAIMED)
        return (pending[0] if pending else None), claimed

    async def offer(self, packet: MemoryPacket, entries: Sequence[AuditEntry]) -> None:
        """Audit the pass and put its packet into the slot; a pending one is replaced (its drop is among `entries`).
        Raises StoreFault for a packet that no time ends."""
        _ends(packet)

        def work(connection: sqlite3.Connection) -> None:
            _replace_pending(connection, packet.context_cursor.session_id, packet.agent_id, packet.created_at)
            _store(connection, packet, InboxState.PENDING)

        await self._audit.append(entries, also=work)

    async def keep_back(self, packet: MemoryPacket, entry: AuditEntry) -> None:
        """Audit a pass whose packet is held out, and keep the packet, dropped from the first: what the slot holds
        stays, and what would have been said can be compared, and erased, as with any other packet."""
        await self._audit.append([entry], also=lambda connection: _store(connection, packet, InboxState.DROPPED))

    async def answered(self, session_id: str, agent_id: str, request_id: str) -> Claim | None:
        """What this request id was answered before, if it was."""

        def work(connection: sqlite3.Connection) -> Claim | None:
            row = connection.execute(
                "SELECT reason, claim_id, packet_id FROM claim_answer"
                " WHERE session_id = ? AND agent_id = ? AND request_id = ?",
                (session_id, agent_id, request_id),
            ).fetchone()
            if row is None:
                return None
            if row[0] is not None:
                return Silence(reason=Reason(row[0]))
            (body,) = connection.execute("SELECT body FROM packet WHERE packet_id = ?", (row[2],)).fetchone()
            packet = msgspec.json.decode(body, type=MemoryPacket)
            if not packet.rendered:  # erased since
                return Silence(reason=Reason.FORGOTTEN)
            return Claimed(packet=packet, claim_id=row[1])

        return await self._database.read(work)

    async def claim(self, seen: Slot, holder: "Holder", entry: AuditEntry) -> Claim:
        """Hand the packet over. When it has meanwhile left `pending`, nothing happens and the answer is a silence."""
        packet = seen.packet

        def work(connection: sqlite3.Connection) -> None:
            _move(connection, seen, InboxState.CLAIMED, holder.at)
            connection.execute(
                "UPDATE packet SET claim_id = ?, claimed_at = ?, surface = ?, settled_at = NULL WHERE packet_id = ?",
                (holder.claim_id, holder.at, holder.surface, packet.packet_id),
            )
            holder.remember(connection, packet.packet_id, None, self.policy)

        return await self._guarded([entry], work, Claimed(packet=packet, claim_id=holder.claim_id))

    async def refuse(self, holder: "Holder", reason: Reason) -> None:
        """Remember that this request id got no packet, so that its repetition gets the same answer, if that can be."""
        if holder.request_id is None:
            return

        def work(connection: sqlite3.Connection) -> None:
            holder.remember(connection, None, reason, self.policy)

        try:
            await self._database.write(work)
        except sqlite3.Error:  # disk full: a repetition finds out for itself
            return

    async def settle(self, slot: Slot, to: InboxState, entry: AuditEntry, also: Also | None = None) -> bool:
        """Move a packet to a final state, or back to pending; False when it has already moved on."""

        def work(connection: sqlite3.Connection) -> None:
            _move(connection, slot, to, entry.at)
            if to is InboxState.PENDING:
                connection.execute(
                    "UPDATE packet SET claim_id = NULL, claimed_at = NULL, settled_at = NULL WHERE packet_id = ?",
                    (slot.packet.packet_id,),
                )
            if also is not None:
                also(connection)

        return not isinstance(await self._guarded([entry], work, None), Silence)

    async def find(self, packet_id: str) -> Slot | None:
        """A packet by id, in whatever state."""

        def work(connection: sqlite3.Connection) -> Slot | None:
            row = connection.execute(
                "SELECT state, body, claim_id, claimed_at FROM packet WHERE packet_id = ?", (packet_id,)
            ).fetchone()
            return None if row is None else _slot(row)

        return await self._database.read(work)

    async def tagged(self, tags: Collection[str]) -> list[Slot]:
        """Delivered packets of any session that bear one of these tags, in the order in which they were made."""

        def work(connection: sqlite3.Connection) -> list[Slot]:
            rows = connection.execute(
                "SELECT state, body, claim_id, claimed_at FROM packet WHERE state = 'delivered'"
                " AND json_extract(body, '$.tag') IN (SELECT value FROM json_each(?)) ORDER BY created_at, packet_id",
                (msgspec.json.encode(sorted(tags)).decode(),),
            ).fetchall()
            return [_slot(row) for row in rows]

        return await self._database.read(work) if tags else []

    async def carrying(self, memory_id: str) -> list[Slot]:
        """Unsettled packets of any session that carry this memory."""

        def work(connection: sqlite3.Connection) -> list[Slot]:
            rows = connection.execute(
                "SELECT state, body, claim_id, claimed_at FROM packet JOIN packet_item USING (packet_id)"
                " WHERE memory_id = ? AND state IN ('pending', 'claimed') ORDER BY packet_id",
                (memory_id,),
            ).fetchall()
            return [_slot(row) for row in rows]

        return await self._database.read(work)

    async def unsettled(self) -> list[Slot]:
        """Every packet of any session that waits or is claimed, however old: a packet can outlast its user's pause."""

        def work(connection: sqlite3.Connection) -> list[Slot]:
            rows = connection.execute(
                "SELECT state, body, claim_id, claimed_at FROM packet"
                " WHERE state IN ('pending', 'claimed') ORDER BY session_id, agent_id, packet_id"
            ).fetchall()
            return [_slot(row) for row in rows]

        return await self._database.read(work)

    async def erase(self, memory_id: str) -> int:
        """Erase the text of a forgotten memory from every stored packet. Returns how many were touched."""

        def work(connection: sqlite3.Connection) -> int:
            rows = connection.execute(
                "SELECT packet_id, body FROM packet JOIN packet_item USING (packet_id) WHERE memory_id = ?",
                (memory_id,),
            ).fetchall()
            for packet_id, body in rows:
                packet = msgspec.json.decode(body, type=MemoryPacket)
                items = tuple(
                    msgspec.structs.replace(item, text="", title=None) if item.memory_id == memory_id else item
                    for item in packet.items
                )
                context = packet.context  # what it says of others goes too: a new packet says it again
                if context is not None and memory_id in {one.memory_id for one in context.records}:
                    context = msgspec.structs.replace(context, text="")
                blank = msgspec.structs.replace(packet, items=items, context=context, rendered="")
                connection.execute(
                    "UPDATE packet SET body = ? WHERE packet_id = ?", (msgspec.json.encode(blank), packet_id)
                )
            return len(rows)

        return await self._database.write(work)

    async def _guarded(
        self, entries: Sequence[AuditEntry], work: Callable[[sqlite3.Connection], None], done: T
    ) -> T | Silence:
        try:
            await self._audit.append(entries, also=work)
        except Moved:
            return Silence(reason=Reason.NONE_PENDING, detail="moved")
        return done


class Holder(Frozen, frozen=True, kw_only=True):
    """Who claims: its request id makes a repeated request get the same answer."""

    session_id: str
    agent_id: str
    surface: str
    claim_id: str
    at: Millis
    request_id: str | None = None

    def remember(
        self, connection: sqlite3.Connection, packet_id: str | None, reason: Reason | None, policy: InboxPolicy
    ) -> None:
        """Store the answer of this request id, and let old answers go."""
        if self.request_id is None:
            return
        connection.execute("DELETE FROM claim_answer WHERE at < ?", (self.at - policy.answer_ttl,))
        connection.execute(
            "INSERT OR IGNORE INTO claim_answer (session_id, agent_id, request_id, at, packet_id, claim_id, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                self.session_id,
                self.agent_id,
                self.request_id,
                self.at,
                packet_id,
                self.claim_id if packet_id else None,
                reason,
            ),
        )


def let_go(connection: sqlite3.Connection, before: Millis) -> None:
    """Within the transaction that deletes audit entries: packets from before that time whose entries are all gone go
    with them, and so do answers."""
    connection.execute(
        "DELETE FROM packet WHERE created_at < ?"
        " AND packet_id NOT IN (SELECT packet_id FROM audit WHERE packet_id IS NOT NULL)",
        (before,),
    )
    connection.execute("DELETE FROM claim_answer WHERE at < ?", (before,))


def _slot(row: tuple[str, bytes, str | None, Millis | None]) -> Slot:
    state, body, claim_id, claimed_at = row
    packet = msgspec.json.decode(body, type=MemoryPacket)
    return Slot(packet=packet, state=InboxState(state), claim_id=claim_id, claimed_at=claimed_at)


def _store(connection: sqlite3.Connection, packet: MemoryPacket, state: InboxState) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO packet"
        " (packet_id, session_id, agent_id, state, context_version, created_at, settled_at, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            packet.packet_id,
            packet.context_cursor.session_id,
            packet.agent_id,
            state,
            packet.context_cursor.context_version,
            packet.created_at,
            None if state is InboxState.PENDING else packet.created_at,
            msgspec.json.encode(packet),
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO packet_item (memory_id, packet_id) VALUES (?, ?)",
        [(one.memory_id, packet.packet_id) for one in packet.named],
    )


def _ends(packet: MemoryPacket) -> None:
    """Raises StoreFault unless the packet's time is known, lies after its making, and comes to an end."""
    expiry: object = packet.expiry
    if not isinstance(expiry, int) or not packet.created_at < expiry <= packet.created_at + LONGEST_LIFE:
        problem = f"The packet {packet.packet_id} is not kept: its time does not end within a day of its making."
        raise StoreFault(problem, "This is a fault of the program: report it with the packet's id.")


def _replace_pending(connection: sqlite3.Connection, session_id: str, agent_id: str, now: Millis) -> None:
    connection.execute(
        "UPDATE packet SET state = 'replaced', settled_at = ?"
        " WHERE session_id = ? AND agent_id = ? AND state = 'pending'",
        (now, session_id, agent_id),
    )


def _move(connection: sqlite3.Connection, seen: Slot, to: InboxState, now: Millis) -> None:
    moved = connection.execute(
        "UPDATE packet SET state = ?, settled_at = ? WHERE packet_id = ? AND state = ? AND claim_id IS ?",
        (to, now, seen.packet.packet_id, seen.state, seen.claim_id),
    )
    if moved.rowcount != 1:
        raise Moved(seen.packet.packet_id)
