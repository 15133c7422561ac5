"""G-01 AccessEvidenceGraph: what a session did with a memory, as edges with deterministic ids. Pure.

The id of an edge is made of what happened and not of when it was written down: telling the same event twice adds
nothing. Coverage 0, a stale file and an out-of-range window form no evidence (invariant 4).
"""

import re
from collections.abc import Iterable, Iterator

from governance.contracts import AccessEvidence, AuditEntry, AuditKind, EvidenceKind, EvidenceTrace
from recall.canonical import short_id
from recall.contracts import Frozen, Millis

WHOLE = 1_000_000  # coverage is counted in millionths
_NAMED = re.compile(r"(?<![0-9A-Za-z_])(?:memory:|memory://)?(mem_[0-9a-f]{32})(?![0-9A-Za-z_])")


class Occasion(Frozen, frozen=True, kw_only=True):
    """Where and when something happened. `session_ref` is the keyed name, never the session id."""

    session_ref: str
    event_seq: int
    context_version: int
    at: Millis
    call_id: str | None = None


class Given(Frozen, frozen=True, kw_only=True):
    """A record as it was shown: its id, and what validates it."""

    memory_id: str
    source_version: int
    record_digest: str


class Covered(Frozen, frozen=True, kw_only=True):
    """How much of a record a read showed. `ratio` in millionths; not `fresh`: the file differs from the index."""

    memory_id: str
    source_version: int
    record_digest: str
    ratio: int
    fresh: bool


class Counts(Frozen, frozen=True, kw_only=True):
    """The evidence of one memory in numbers: edges by kind, distinct sessions, first and last time."""

    kinds: dict[str, int] = {}
    sessions: int = 0
    first_at: Millis | None = None
    last_at: Millis | None = None


def of_delivery(given: Iterable[Given], packet_id: str, occasion: Occasion) -> tuple[AccessEvidence, ...]:
    """`seen`, once for each item of a delivered packet."""
    return tuple(_edge(EvidenceKind.SEEN, item, occasion, packet_id) for item in given)


def of_read(covered: Iterable[Covered], occasion: Occasion) -> tuple[AccessEvidence, ...]:
    """`read` where a whole record was shown, `seen` where a part was, nothing for what was not or is stale."""
    return tuple(_read(covered, occasion))


def of_text(text: str, known: Iterable[Given], occasion: Occasion) -> tuple[AccessEvidence, ...]:
    """`cite`: the text of a user or of a visible reply names the full memoryId or anchorId of a record it was given."""
    named = set(_NAMED.findall(text))
    return tuple(_edge(EvidenceKind.CITE, item, occasion, None) for item in known if item.memory_id in named)


def edges(entry: AuditEntry) -> tuple[AccessEvidence, ...]:
    """The edges that an audit entry carries, whole: the graph is a fold over the audit.

    A delivery is one by its packet, whenever its acknowledgement comes; what was said of a memory is one by its entry;
    anything else is one by its event.
    """
    cursor = entry.cursor
    cause: object = None if cursor is None else cursor.event_seq
    if entry.kind is AuditKind.FEEDBACK:
        cause = entry.audit_id
    elif entry.kind is AuditKind.DELIVERY and entry.packet is not None:
        cause = entry.packet.packet_id
    occasion = Occasion(
        session_ref=entry.session_ref,
        event_seq=0 if cursor is None else cursor.event_seq,
        context_version=0 if cursor is None else cursor.context_version,
        at=entry.at,
    )
    return tuple(_whole(trace, occasion, cause) for trace in entry.evidence)


def traced(rows: Iterable[AccessEvidence]) -> tuple[EvidenceTrace, ...]:
    """Edges as the entry of their cause carries them."""
    return tuple(
        EvidenceTrace(
            kind=row.kind,
            memory_id=row.memory_id,
            source_version=row.source_version,
            record_digest=row.record_digest,
            call_id=row.call_id,
            coverage=row.coverage,
        )
        for row in rows
    )


def counted(edges: Iterable[AccessEvidence]) -> Counts:
    """The edges of one memory in numbers."""
    kinds: dict[str, int] = {}
    sessions: set[str] = set()
    times: list[Millis] = []
    for edge in edges:
        kinds[edge.kind.value] = kinds.get(edge.kind.value, 0) + 1
        sessions.add(edge.session_ref)
        times.append(edge.at)
    return Counts(
        kinds=kinds, sessions=len(sessions), first_at=min(times, default=None), last_at=max(times, default=None)
    )


def _read(covered: Iterable[Covered], occasion: Occasion) -> Iterator[AccessEvidence]:
    for part in covered:
        if part.fresh and part.ratio > 0:
            kind = EvidenceKind.READ if part.ratio >= WHOLE else EvidenceKind.SEEN
            given = Given(
                memory_id=part.memory_id, source_version=part.source_version, record_digest=part.record_digest
            )
            yield _edge(kind, given, occasion, None, min(part.ratio, WHOLE))


def _whole(trace: EvidenceTrace, occasion: Occasion, cause: object) -> AccessEvidence:
    if isinstance(cause, int) or cause is None:
        cause = [occasion.event_seq, trace.call_id]
    what = [trace.kind.value, trace.memory_id, trace.source_version, trace.record_digest, occasion.session_ref, cause]
    return AccessEvidence(
        evidence_id=short_id("ev_", what),
        kind=trace.kind,
        memory_id=trace.memory_id,
        session_ref=occasion.session_ref,
        event_seq=occasion.event_seq,
        context_version=occasion.context_version,
        source_version=trace.source_version,
        record_digest=trace.record_digest,
        at=occasion.at,
        call_id=trace.call_id,
        coverage=trace.coverage,
    )


def _edge(
    kind: EvidenceKind, given: Given, occasion: Occasion, packet_id: str | None, coverage: int | None = None
) -> AccessEvidence:
    """A delivery is one by its packet, whenever its acknowledgement comes; anything else is one by its event."""
    cause = packet_id if packet_id is not None else [occasion.event_seq, occasion.call_id]
    what = [kind.value, given.memory_id, given.source_version, given.record_digest, occasion.session_ref, cause]
    return AccessEvidence(
        evidence_id=short_id("ev_", what),
        kind=kind,
        memory_id=given.memory_id,
        session_ref=occasion.session_ref,
        event_seq=occasion.event_seq,
        context_version=occasion.context_version,
        source_version=given.source_version,
        record_digest=given.record_digest,
        at=occasion.at,
        call_id=occasion.call_id,
        coverage=coverage,
    )
