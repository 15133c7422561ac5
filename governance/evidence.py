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


def of_delivery(given: Iterable[Given], packet_id: str, occasion: Occasion) -> tuple[AccessEvidence, ...]:
    """`seen`, once for each item of a delivered packet."""
    return tuple(_edge(_trace(EvidenceKind.SEEN, item), occasion, packet_id) for item in given)


def of_read(covered: Iterable[Covered], occasion: Occasion) -> tuple[AccessEvidence, ...]:
    """`read` where a whole record was shown, `seen` where a part was, nothing for what was not or is stale."""
    return tuple(_edge(trace, occasion, None) for trace in _read(covered, occasion.call_id))


def of_event(
    kind: EvidenceKind, given: Iterable[Given], occasion: Occasion, call_id: str | None = None
) -> tuple[AccessEvidence, ...]:
    """`cite`, `reuse`, `success` or `correction`, once for each record. `call_id`: of the call that used it."""
    return tuple(_edge(_trace(kind, item, call_id), occasion, None) for item in given)


def corrections(given: Iterable[Given]) -> tuple[EvidenceTrace, ...]:
    """`correction`, as an entry carries it that says so of these records."""
    return tuple(_trace(EvidenceKind.CORRECTION, item) for item in given)


def named(text: str) -> frozenset[str]:
    """The memory ids that a text names in full."""
    return frozenset(_NAMED.findall(text)) if "mem_" in text else frozenset()


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
    return tuple(_edge(trace, occasion, cause) for trace in entry.evidence)


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


def given_of(row: AccessEvidence) -> Given:
    """The record that an edge is about."""
    return Given(memory_id=row.memory_id, source_version=row.source_version, record_digest=row.record_digest)


def _read(covered: Iterable[Covered], call_id: str | None) -> Iterator[EvidenceTrace]:
    for part in covered:
        if part.fresh and part.ratio > 0:
            yield EvidenceTrace(
                kind=EvidenceKind.READ if part.ratio >= WHOLE else EvidenceKind.SEEN,
                memory_id=part.memory_id,
                source_version=part.source_version,
                record_digest=part.record_digest,
                call_id=call_id,
                coverage=min(part.ratio, WHOLE),
            )


def _trace(kind: EvidenceKind, given: Given, call_id: str | None = None) -> EvidenceTrace:
    return EvidenceTrace(
        kind=kind,
        memory_id=given.memory_id,
        source_version=given.source_version,
        record_digest=given.record_digest,
        call_id=call_id,
    )


def _edge(trace: EvidenceTrace, occasion: Occasion, cause: object) -> AccessEvidence:
    if cause is None or isinstance(cause, int):
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
