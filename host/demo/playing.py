"""Plays a recording through a daemon as its host would: event by event, asking wherever that host could take a text.

The daemon is reached through one function, so that the same code plays over a real socket and to a fake.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from governance.contracts import AuditEntry, AuditKind
from host.contracts import MemoryPacket, Surface
from host.demo.recording import surface
from host.evaluation.sessions import Recorded, Recording, envelope
from recall.contracts import EventEnvelope, Frozen

WAIT_MS = 2000  # a slow machine must not lose a packet which the host would have got at its next boundary
PAGE = 200
AGENT = "main"
T = TypeVar("T")


class Ask(Protocol):
    """One request to the daemon: method, parameters, and the type its answer is read as."""

    def __call__(self, method: str, params: Mapping[str, object], answer: type[T]) -> T: ...


class Answer(Frozen, frozen=True, kw_only=True):
    """The answer of `step`, as far as it is read here."""

    packet: MemoryPacket | None = None
    claim_id: str | None = None


class Nothing(Frozen, frozen=True, kw_only=True):
    """An answer of which nothing is read."""


class Settled(Frozen, frozen=True, kw_only=True):
    settled: bool


class Entries(Frozen, frozen=True, kw_only=True):
    entries: tuple[AuditEntry, ...]


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One event, the passes that ended since the last look, and the packet handed over after the event, if any."""

    event: Recorded
    passes: tuple[AuditEntry, ...] = ()
    packet: MemoryPacket | None = None


def play(recording: Recording, session_id: str, workspace: Path, ask: Ask) -> Iterator[Moment]:
    """Send the recording's events one by one; at each surface claim, and acknowledge what came."""
    known: set[str] = set()
    for place, event in enumerate(recording.events):
        where = surface(recording.events, place)
        sent = [envelope(event, session_id, workspace)]
        if where is None:
            ask("event.append", {"events": sent}, Nothing)
            yield Moment(event=event)
            continue
        packet = _step(sent, where, ask)
        yield Moment(event=event, passes=_passes(session_id, known, ask), packet=packet)


def _step(sent: Sequence[EventEnvelope], where: Surface, ask: Ask) -> MemoryPacket | None:
    answer = ask("step", {"events": sent, "claim": {"surface": where, "waitMs": WAIT_MS}}, Answer)
    if answer.packet is None or answer.claim_id is None:
        return None
    owner = {"sessionId": answer.packet.context_cursor.session_id, "agentId": AGENT}
    given = {**owner, "packetId": answer.packet.packet_id, "claimId": answer.claim_id}
    return answer.packet if ask("inbox.delivered", given, Settled).settled else None


def _passes(session_id: str, known: set[str], ask: Ask) -> tuple[AuditEntry, ...]:
    """The passes of the session that were not seen before, oldest first."""
    query = {"sessionId": session_id, "kind": AuditKind.PASS, "limit": PAGE}
    fresh = [entry for entry in ask("audit.query", query, Entries).entries if entry.audit_id not in known]
    known.update(entry.audit_id for entry in fresh)
    return tuple(reversed(fresh))
