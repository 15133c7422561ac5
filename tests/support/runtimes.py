"""One agent's runtime without a daemon: envelopes are numbered, folded in and noted as the session's task would."""

from typing import Any

import msgspec

from governance.contracts import AccessEvidence, EvidenceKind
from host.contracts import MemoryPacket
from host.runtime import RuntimePolicy, SessionRuntime
from recall.contracts import EventEnvelope, Segment
from tests.support.builders import AGENT, a_memory_id, a_packet, a_scope, an_item
from tests.support.clock import START


def a_runtime(agent_id: str = AGENT, root_agent: str = AGENT, **policy: Any) -> SessionRuntime:
    """A runtime that has seen nothing; further fields are the policy's."""
    return SessionRuntime(a_scope(agent_id=agent_id), root_agent, RuntimePolicy(**policy))


def take(runtime: SessionRuntime, *envelopes: EventEnvelope, at: int = START) -> list[Segment | None]:
    """Fold envelopes in, as seen by the daemon at `at`. Their segments, in order."""
    taken = []
    for envelope in envelopes:
        numbered = msgspec.structs.replace(envelope, event_seq=runtime.event_seq + 1, observed_at=at)
        segment = runtime.take(numbered)
        if segment is not None:
            runtime.note(segment)
        taken.append(segment)
    return taken


def packet_of(number: int = 1, window: int = 0, **fields: Any) -> MemoryPacket:
    """A packet of one lesson, built in that context window."""
    item = an_item(f"lesson {number}", memory_id=a_memory_id(number))
    return a_packet(**({"packet_id": f"pkt_{number:032x}", "items": (item,), "window": window} | fields))


def a_read(number: int, kind: EvidenceKind = EvidenceKind.READ, **fields: Any) -> AccessEvidence:
    """The agent has read that record (`kind`: in part)."""
    given = {
        "evidence_id": f"ev_{number}",
        "kind": kind,
        "memory_id": a_memory_id(number),
        "session_ref": "s",
        "event_seq": 1,
        "context_version": 1,
        "source_version": 1,
        "record_digest": f"digest-{number}",
        "at": START,
    } | fields
    return AccessEvidence(**given)
