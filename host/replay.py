"""Plays recorded envelopes through a composed host, in process and by their own clock (invariant 12).

The claims are those of a host like Claude Code: at a start, after a prompt, and once the results of a reply are all
there. Handing over is acknowledged at once. Same envelopes, memories, policy, key and ids: same decisions.
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

PAGE = 100
AT_ONCE: dict[str, Surface] = {
    EventType.SESSION_START: Surface.SESSION_START,
    EventType.SESSION_COMPACT: Surface.SESSION_START,
    EventType.USER_MESSAGE: Surface.USER_PROMPT,
}
UNUSABLE = ("invalid-params", "no-owner")  # refusals that concern one event, not the log
TOOLS: frozenset[str] = frozenset({EventType.TOOL_CALL, EventType.TOOL_RESULT})


class Replayed(Frozen, frozen=True, kw_only=True):
    """One event, the passes it made, and the packet handed over after it, if any."""

    envelope: EventEnvelope
    passes: tuple[AuditEntry, ...]
    packet: MemoryPacket | None = None


def counted_ids() -> Callable[[str], str]:
    """Ids in the order they are asked for: `pkt_00000000000000000000000000000001`, …"""
    numbers = count(1)
    return lambda prefix: f"{prefix}{next(numbers):032x}"


class Replay:
    """One replay over `parts`, whose clock is `clock`. `left_out`: how many events the log refused, by kind."""

    def __init__(self, parts: Parts, clock: SetClock) -> None:
        self._parts = parts
        self._clock = clock
        self.left_out: Counter[str] = Counter()
        self._known: set[str] = set()
        self._results: dict[tuple[str, str], EventEnvelope] = {}  # a result after which its host may ask

    async def play(self, envelopes: Iterable[EventEnvelope]) -> AsyncIterator[Replayed]:
        """Each event with what came of it, in order. A packet claimed after a tool result comes with the event that
        shows that the reply's results are all there: it was handed over before that event. An event that the log
        refuses is counted and left out; the others go on. Raises ProtocolFault when the log itself is not well."""
        for envelope in envelopes:
            owner = (envelope.session_id, envelope.agent_id)
            result = self._results.pop(owner, None)
            packet = None
            if result is not None and not _same_reply(result, envelope):
                packet = await self._claim(result, Surface.POST_TOOL)
            self._clock.set(envelope.timestamp)
            if not await self._stored(envelope):
                if packet is not None:
                    yield Replayed(envelope=envelope, passes=(), packet=packet)
                elif result is not None:  # its reply may still go on
                    self._results[owner] = result
                continue
            runtime = await self._parts.sessions.find(*owner)
            await runtime.idle.wait()
            surface = _surface(envelope)
            if surface is not None:
                packet = await self._claim(envelope, surface) or packet
            elif envelope.event_type == EventType.TOOL_RESULT:
                self._results[owner] = envelope
            yield Replayed(envelope=envelope, passes=await self._passes(envelope), packet=packet)
        for result in self._results.values():
            packet = await self._claim(result, Surface.POST_TOOL)
            if packet is not None:
                yield Replayed(envelope=result, passes=(), packet=packet)

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
        ref = self._parts.audit.ref(envelope.session_id)
        latest = await self._parts.audit.query(AuditFilter(session_ref=ref, kind=AuditKind.PASS, limit=PAGE))
        fresh = tuple(entry for entry in reversed(latest) if entry.audit_id not in self._known)
        self._known.update(entry.audit_id for entry in fresh)
        return fresh


def _surface(envelope: EventEnvelope) -> Surface | None:
    return AT_ONCE.get(envelope.event_type)


def _same_reply(result: EventEnvelope, later: EventEnvelope) -> bool:
    """Whether `later` still belongs to the reply whose tool gave `result`."""
    return later.event_type in TOOLS and later.step == result.step
