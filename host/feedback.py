"""`memory.feedback`: what a person says of a packet or of a memory, written down beside the evidence it had.

Feedback never changes the policy: `workspace.get` shows what it comes to, and the person decides. `wrong` and `harmful`
are said of what a memory says, so they correct it: it is out of recall at once, and waits in the review queue.
"""

from collections.abc import Iterable

import msgspec

from governance.contracts import AuditEntry, AuditFilter, AuditKind, CandidateTrace
from governance.evidence import Given, corrections
from host.advice import Advice, Opinion, advise
from host.connection import Peer
from host.contracts import InboxState, MemoryPacket
from host.corrections import Corrections
from host.errors import ProtocolFault
from host.parts import Parts
from host.protocol import Request, decode_params
from host.trace import of_feedback, of_packet
from host.verbs import Table, invalid, reach, visible
from recall.contracts import Frozen

LATEST = 50  # passes, or deliveries, that are looked through for a memory
KEPT = 1_000  # feedback entries that advice looks at
GIVEN = (InboxState.CLAIMED, InboxState.DELIVERED)
CORRECTING = (Opinion.WRONG, Opinion.HARMFUL)
OF_PACKETS = (Opinion.USEFUL, Opinion.NOISE, Opinion.LATE)  # said of being handed over; the others of what it says


class FeedbackParams(Frozen, frozen=True, kw_only=True):
    """A packet or a memory, and what is said of it. A memory stands for the last packet that carried it."""

    opinion: Opinion
    workspace: str = ""
    packet_id: str | None = None
    memory_id: str | None = None


class Noted(Frozen, frozen=True, kw_only=True):
    """What was written down. `packet_id`: null when it concerns a memory that no packet carried. `corrected`: these
    memories are kept back until a person looks at them; `packets_purged`: that waited with one of them."""

    audit_id: str
    opinion: Opinion
    packet_id: str | None
    memory_ids: tuple[str, ...]
    corrected: bool = False
    packets_purged: int = 0


class Feedback:
    """The verb, and what its entries come to."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._corrections = Corrections(parts)

    def table(self) -> Table:
        return {"memory.feedback": self._feedback}

    async def advice(self, workspace: str) -> Advice:
        """What the feedback of a workspace, by its key, comes to now."""
        ref, now = self._parts.audit.ref(workspace), self._parts.clock.now()
        entries = await self._parts.audit.query(AuditFilter(kind=AuditKind.FEEDBACK, limit=KEPT))
        own = [entry for entry in entries if entry.note == ref]
        return advise(own, self._parts.attentions.of(workspace), self._parts.marks.muted(now))

    async def _feedback(self, request: Request, peer: Peer) -> Noted:
        params = decode_params(request, FeedbackParams)
        match params.packet_id, params.memory_id:
            case str(packet_id), None:
                entry = await self._of_packet(packet_id, params)
            case None, str(memory_id):
                entry = await self._of_memory(memory_id, params)
            case _:
                raise invalid("Feedback is of one packet or of one memory.", "Give packetId or memoryId.")
        (kept,) = await self._parts.ledger.append([entry])
        packet = kept.packet
        named = packet.items if packet is not None else (kept.memory_id or "",)
        wrong = tuple(trace.memory_id for trace in entry.evidence)
        return Noted(
            audit_id=kept.audit_id,
            opinion=params.opinion,
            packet_id=None if packet is None else packet.packet_id,
            memory_ids=named,
            corrected=bool(wrong),
            packets_purged=await self._corrections.correct(wrong, kept.audit_id) if wrong else 0,
        )

    async def _of_packet(self, packet_id: str, params: FeedbackParams) -> AuditEntry:
        if params.opinion is Opinion.MISSED:
            raise invalid("A packet that was given was not missed.", "Name the memory that should have come.")
        slot = await self._parts.inbox.find(packet_id)
        if slot is None or slot.state not in GIVEN:
            problem = f"No packet {packet_id[:64]!r} was handed over."
            raise ProtocolFault("unknown-packet", problem, "List them with audit.query, kind delivery.")
        if not slot.packet.items:
            problem = f"The packet {packet_id} only said what is kept in view."
            raise invalid(problem, "Unpin what should not be, or name the memory.")
        logged = await self._parts.eventlog.last(slot.packet.context_cursor.session_id)
        workspace = self._parts.places.key(logged.workspace) if logged is not None else ""
        return await self._judged(slot.packet, workspace, params)

    async def _of_memory(self, memory_id: str, params: FeedbackParams) -> AuditEntry:
        scope = await reach(self._parts, params.workspace)
        _, locator = await visible(self._parts, memory_id, scope)
        if params.opinion is not Opinion.MISSED:
            packet = await self._last_packet(memory_id)
            if packet is not None:
                return await self._judged(packet, scope.workspace, params)
            if params.opinion in OF_PACKETS:
                raise invalid(
                    f"No packet that is kept carried this memory: nothing was {params.opinion}.",
                    "Say missed when it should have come, wrong or harmful of what it says.",
                )
        entry = of_feedback(params.opinion, memory_id, self._parts.clock.now())
        said = _given(memory_id, locator.source_version, locator.record_digest)
        evidence = corrections([said]) if params.opinion in CORRECTING else ()
        entry = msgspec.structs.replace(entry, note=self._parts.audit.ref(scope.workspace), evidence=evidence)
        nearest = await self._nearest(memory_id) if params.opinion is Opinion.MISSED else None
        return entry if nearest is None else _beside(entry, [nearest])

    async def _judged(self, packet: MemoryPacket, workspace: str, params: FeedbackParams) -> AuditEntry:
        """The entry of a packet, with what its memories were kept for. Of several memories, one may be named."""
        session = self._parts.audit.ref(packet.context_cursor.session_id)
        origins = [await self._origin(item.memory_id, session) for item in packet.items]
        named = [item for item in packet.items if params.memory_id in (None, item.memory_id)]
        said = [_given(item.memory_id, item.source_version, item.record_digest) for item in named]
        entry = msgspec.structs.replace(
            of_feedback(params.opinion, None, self._parts.clock.now()),
            session_ref=session,
            note=self._parts.audit.ref(workspace),
            packet=of_packet(packet),
            evidence=corrections(said) if params.opinion in CORRECTING else (),
        )
        return _beside(entry, [origin for origin in origins if origin is not None])

    async def _origin(self, memory_id: str, session: str) -> tuple[AuditEntry, CandidateTrace] | None:
        """The latest pass of the session that kept the memory: a packet may have been carried over since."""
        for entry in await self._passes(memory_id, session):
            row = next((row for row in entry.candidates if row.memory_id == memory_id and row.kept), None)
            if row is not None:
                return entry, row
        return None

    async def _nearest(self, memory_id: str) -> tuple[AuditEntry, CandidateTrace] | None:
        """Of the latest passes that weighed the memory and left it out, the one that came nearest to the bar."""
        weighed = [
            (entry, row)
            for entry in await self._passes(memory_id, None)
            for row in entry.candidates
            if row.memory_id == memory_id and row.margin is not None and not row.kept
        ]
        return max(weighed, key=lambda one: one[1].margin or 0, default=None)

    async def _passes(self, memory_id: str, session: str | None) -> Iterable[AuditEntry]:
        wanted = AuditFilter(kind=AuditKind.PASS, memory_id=memory_id, session_ref=session, limit=LATEST)
        return await self._parts.audit.query(wanted)

    async def _last_packet(self, memory_id: str) -> MemoryPacket | None:
        wanted = AuditFilter(kind=AuditKind.DELIVERY, memory_id=memory_id, limit=LATEST)
        for entry in await self._parts.audit.query(wanted):
            if entry.packet is not None and memory_id in entry.packet.items:
                slot = await self._parts.inbox.find(entry.packet.packet_id)
                return None if slot is None else slot.packet
        return None


def _given(memory_id: str, source_version: int, record_digest: str) -> Given:
    return Given(memory_id=memory_id, source_version=source_version, record_digest=record_digest)


def _beside(entry: AuditEntry, origins: Iterable[tuple[AuditEntry, CandidateTrace]]) -> AuditEntry:
    """The entry with the evidence that its memories had, what it was found for, and the policy that weighed it."""
    found = list(origins)
    if not found:
        return entry
    first = found[0][0]
    return msgspec.structs.replace(
        entry,
        trigger=first.trigger,
        candidates=tuple(row for _, row in found),
        versions={"confidence": first.versions.get("confidence", "")},
    )
