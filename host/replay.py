"""Plays recorded envelopes through a composed host, in process and by their own clock (invariant 12).

The claims are those of a host like Claude Code: at a start, after a prompt, and once the results of a reply are all
there. Nothing of a later event is looked at. Handing over is acknowledged at once. Same envelopes, memories, policy,
key and ids: same decisions.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import count

from governance.contracts import AuditEntry, AuditFilter, AuditKind
from host.claims import Ask
from host.clock import SetClock
from host.contracts import Claimed, MemoryPacket, Surface
from host.errors import ProtocolFault
from host.parts import Parts
from recall.contracts import EventEnvelope, EventType, Frozen

FEW, PAGE = 4, 100  # passes of one event are few
AT_ONCE: dict[str, Surface] = {
    EventType.SESSION_START: Surface.SESSION_START,
    EventType.SESSION_COMPACT: Surface.SESSION_START,
    EventType.USER_MESSAGE: Surface.USER_PROMPT,
}
SPOKEN = (EventType.ASSISTANT_MESSAGE, EventType.USER_MESSAGE)
UNUSABLE = ("invalid-params", "no-owner")  # refusals that concern one event, not the log


class Replayed(Frozen, frozen=True, kw_only=True):
    """One event, the passes it made, and the packet handed over right after it, if any."""

    envelope: EventEnvelope
    passes: tuple[AuditEntry, ...]
    packet: MemoryPacket | None = None


def counted_ids() -> Callable[[str], str]:
    """Ids in the order they are asked for: `pkt_00000000000000000000000000000001`, …"""
    numbers = count(1)
    return lambda prefix: f"{prefix}{next(numbers):032x}"


class Surfaces:
    """Where a host like Claude Code asks, told event by event. Of one agent of one session."""

    def __init__(self) -> None:
        self._step: int | None = None
        self._open: set[str] = set()  # calls of the latest reply that have no result yet
        self._used = False  # the request after this reply has its packet

    def after(self, envelope: EventEnvelope) -> Surface | None:
        """Where it asks after this event: at a start or a prompt, and when no call of the reply is without a result.

        A host that makes the calls of a reply one after the other asks once, when all are done; that another one
        follows cannot be known here, so it is asked for after each, until one has brought a packet.
        """
        if self._begins_reply(envelope):
            self._step, self._used = envelope.step, False
            self._open.clear()
        match envelope.event_type:
            case EventType.TOOL_CALL:
                self._open.add(envelope.call_id or "")
                return None
            case EventType.TOOL_RESULT:
                self._open.discard(envelope.call_id or "")
                return None if self._open or self._used else Surface.POST_TOOL
            case kind:
                return AT_ONCE.get(kind)

    def _begins_reply(self, envelope: EventEnvelope) -> bool:
        if envelope.step is not None:
            return envelope.step != self._step
        calls = envelope.event_type == EventType.TOOL_CALL  # a producer that counts no replies
        return (calls and not self._open) or envelope.event_type in SPOKEN

    def brought(self) -> None:
        """A packet was handed over where it asked last."""
        self._used = True


class Replay:
    """One replay over `parts`, whose clock is `clock`. `left_out`: how many events the log refused, by kind."""

    def __init__(self, parts: Parts, clock: SetClock) -> None:
        self._parts = parts
        self._clock = clock
        self.left_out: Counter[str] = Counter()
        self._known: set[str] = set()
        self._surfaces: dict[tuple[str, str], Surfaces] = {}

    async def play(self, envelopes: Iterable[EventEnvelope]) -> AsyncIterator[Replayed]:
        """Each event with what came of it, in order. An event that the log refuses is counted and left out; the others
        go on. Raises ProtocolFault when the log itself is not well."""
        for envelope in envelopes:
            owner = (envelope.session_id, envelope.agent_id)
            surfaces = self._surfaces.setdefault(owner, Surfaces())
            surface = surfaces.after(envelope)
            self._clock.set(envelope.timestamp)
            if not await self._stored(envelope):
                continue
            runtime = await self._parts.sessions.find(*owner)
            await runtime.idle.wait()
            packet = None if surface is None else await self._claim(envelope, surface)
            if packet is not None:
                surfaces.brought()
            yield Replayed(envelope=envelope, passes=await self._passes(envelope), packet=packet)

    async def _stored(self, envelope: EventEnvelope) -> bool:
        try:
            await self._parts.host.on_event((envelope,))
        except ProtocolFault as fault:
            if fault.kind not in UNUSABLE:
                raise
            self.left_out[fault.kind] += 1
            return False
        return True

    async def _claim(self, envelope: EventEnvelope, surface: Surface) -> MemoryPacket | None:
        claims = self._parts.claims
        runtime = await self._parts.sessions.find(envelope.session_id, envelope.agent_id)
        claim = await claims.claim(runtime, Ask(surface=surface))
        if not isinstance(claim, Claimed):
            return None
        await claims.delivered(runtime, claim.packet.packet_id, claim.claim_id)
        return claim.packet

    async def _passes(self, envelope: EventEnvelope) -> tuple[AuditEntry, ...]:
        """The session's passes that were not told yet, oldest first."""
        fresh = await self._latest(envelope.session_id, FEW)
        if len(fresh) == FEW:
            fresh = await self._latest(envelope.session_id, PAGE)
        self._known.update(entry.audit_id for entry in fresh)
        return tuple(reversed(fresh))

    async def _latest(self, session_id: str, limit: int) -> list[AuditEntry]:
        asked = AuditFilter(session_ref=self._parts.audit.ref(session_id), kind=AuditKind.PASS, limit=limit)
        return [entry for entry in await self._parts.audit.query(asked) if entry.audit_id not in self._known]
