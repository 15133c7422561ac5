"""Decisions of a person on evidence notes, and what may be taken out of them (formation.md 2.4). Pure: what does not
hold is a value that says why.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from enum import StrEnum

import msgspec

from governance.formation.admit import Terms
from governance.formation.contracts import (
    Atom,
    AtomEvidence,
    DecisionRecord,
    EvidenceDecision,
    EvidenceNote,
    Message,
    NoteAction,
    NoteBody,
    NoteFlag,
    NoteKind,
    NoteReview,
    Packet,
    Rejected,
    ReviewStatus,
    Source,
    Use,
)
from governance.formation.judging import note_digest, proposed, sealed
from governance.formation.windows import evidence_digest, packet_of, source_of
from recall.contracts import Frozen

HUMAN = "human"
_AFTER: Mapping[tuple[ReviewStatus, NoteAction], ReviewStatus] = {
    (ReviewStatus.PENDING, NoteAction.KEEP): ReviewStatus.KEPT,
    (ReviewStatus.PENDING, NoteAction.EDIT_AND_KEEP): ReviewStatus.KEPT,
    (ReviewStatus.PENDING, NoteAction.ARCHIVE): ReviewStatus.ARCHIVED,
    (ReviewStatus.KEPT, NoteAction.EDIT_AND_KEEP): ReviewStatus.KEPT,
    (ReviewStatus.KEPT, NoteAction.ARCHIVE): ReviewStatus.ARCHIVED,
    (ReviewStatus.ARCHIVED, NoteAction.KEEP): ReviewStatus.KEPT,
    (ReviewStatus.ARCHIVED, NoteAction.EDIT_AND_KEEP): ReviewStatus.KEPT,
}


class DecisionRefusal(StrEnum):
    """Why a decision on a note does not hold, in the order in which it is asked."""

    REVIEWER_KIND = "reviewer-kind"
    SCOPE_MISMATCH = "scope-mismatch"
    STREAM_MISMATCH = "stream-mismatch"
    EVIDENCE_STALE = "evidence-stale"
    VERSION_CONFLICT = "version-conflict"
    DIGEST_CONFLICT = "digest-conflict"
    TRANSITION = "transition"
    REASON_REQUIRED = "reason-required"
    BODY_REQUIRED = "body-required"
    BODY_FORBIDDEN = "body-forbidden"
    CITATION_INVALID = "citation-invalid"


class Decided(Frozen, frozen=True, kw_only=True):
    """The note after a decision, and the decision as it is written down."""

    note: EvidenceNote
    record: DecisionRecord


class Refused(Frozen, frozen=True, kw_only=True):
    code: DecisionRefusal
    problem: str


class Exclusion(StrEnum):
    """Why a note is not exported."""

    FACT = "fact"
    PENDING = "pending"
    ARCHIVED = "archived"
    STALE_EVIDENCE = "stale-evidence"
    SCOPE_MISMATCH = "scope-mismatch"
    STREAM_MISMATCH = "stream-mismatch"
    DIGEST_MISMATCH = "digest-mismatch"
    QUARANTINED = "quarantined"


class Excluded(Frozen, frozen=True, kw_only=True):
    note_id: str
    reason: Exclusion


class Exported(Frozen, frozen=True, kw_only=True):
    memories: tuple[Atom, ...]
    excluded: tuple[Excluded, ...]


class ReviewInput(Frozen, frozen=True, kw_only=True):
    """What a review is made of: messages out of the event log, in any order. `places`: where each stood, by id.
    `corrections`: what the user said against it later; shown and citable, and no part of the note's own evidence."""

    scope_key: str
    stream_id: str
    sources: tuple[Message, ...]
    places: dict[str, int] = {}
    corrections: tuple[Message, ...] = ()


def apply_evidence_decision(
    packet: Packet, note: EvidenceNote, decision: EvidenceDecision, zone: tzinfo = UTC
) -> Decided | Refused:
    """The note after a decision about it as it was shown with this packet; or the first reason why there is none."""
    refused = _bound(packet, note, decision)
    if refused is not None:
        return refused
    to = _AFTER.get((note.review.status, decision.action))
    if to is None:
        problem = f"A note that is {note.review.status} takes no {decision.action}."
        return Refused(code=DecisionRefusal.TRANSITION, problem=problem)
    if not decision.reason.strip():
        return Refused(code=DecisionRefusal.REASON_REQUIRED, problem="A decision says why.")
    body = _edited(packet, note, decision, zone)
    return body if isinstance(body, Refused) else _decided(body, decision, to)


def _bound(packet: Packet, note: EvidenceNote, decision: EvidenceDecision) -> Refused | None:
    """Whether this one may decide, of this evidence, about this version."""
    checks = (
        (
            decision.actor.kind == HUMAN,
            DecisionRefusal.REVIEWER_KIND,
            "Evidence notes are for a person to decide on, one by one.",
        ),
        (
            packet.scope_key == note.scope.scope_key,
            DecisionRefusal.SCOPE_MISMATCH,
            "The evidence is of another workspace than the note.",
        ),
        (
            packet.stream_id == note.scope.stream_id,
            DecisionRefusal.STREAM_MISMATCH,
            "The evidence is of another conversation than the note.",
        ),
        (
            packet.evidence_digest == note.evidence_digest,
            DecisionRefusal.EVIDENCE_STALE,
            "A message that the note was made of is gone or reads otherwise now. Look at the note anew.",
        ),
        (
            decision.expected_version == note.version,
            DecisionRefusal.VERSION_CONFLICT,
            f"The note was decided upon meanwhile: it stands at version {note.version}.",
        ),
        (
            decision.expected_digest == note.digest == note_digest(note),
            DecisionRefusal.DIGEST_CONFLICT,
            "The note does not read as it did when it was shown.",
        ),
    )
    return next((Refused(code=code, problem=problem) for holds, code, problem in checks if not holds), None)


def _edited(packet: Packet, note: EvidenceNote, decision: EvidenceDecision, zone: tzinfo) -> EvidenceNote | Refused:
    """The note with the body that a person gave it, judged again."""
    body = decision.body
    if decision.action is not NoteAction.EDIT_AND_KEEP:
        if body is None:
            return note
        return Refused(code=DecisionRefusal.BODY_FORBIDDEN, problem=f"A decision to {decision.action} brings no words.")
    if body is None:
        return Refused(code=DecisionRefusal.BODY_REQUIRED, problem="To edit means to give the new words.")
    fresh = proposed(body, packet, note.author, Terms(needs_new=False, zone=zone))
    if isinstance(fresh, Rejected):
        problem = f"The new words do not rest on the quotes ({fresh.code}). {fresh.detail}".strip()
        return Refused(code=DecisionRefusal.CITATION_INVALID, problem=problem)
    return msgspec.structs.replace(
        note,
        kind=fresh.kind,
        title=fresh.title,
        content=fresh.content,
        attribution=fresh.attribution,
        citations=fresh.citations,
        flags=fresh.flags,
    )


def _decided(note: EvidenceNote, decision: EvidenceDecision, to: ReviewStatus) -> Decided:
    version = note.version + 1
    settled = tuple(flag for flag in note.flags if flag is not NoteFlag.RECHECK)  # a person has looked at it again
    moved = sealed(
        msgspec.structs.replace(
            note, version=version, flags=settled, review=NoteReview(status=to, decisions=note.review.decisions)
        )
    )
    record = DecisionRecord(
        note_id=note.id,
        actor=decision.actor,
        at=decision.at,
        action=decision.action,
        reason=decision.reason.strip(),
        from_version=note.version,
        to_version=version,
        digest=moved.digest,
    )
    review = NoteReview(status=to, decisions=(*note.review.decisions, record))
    return Decided(note=msgspec.structs.replace(moved, review=review), record=record)


def rechecked(note: EvidenceNote) -> EvidenceNote:
    """The note with the flag that a later message of the user speaks against it: out of use until a person decides."""
    flags = tuple(dict.fromkeys((*note.flags, NoteFlag.RECHECK)))
    return msgspec.structs.replace(note, flags=flags)


def prepare_evidence_review(given: ReviewInput) -> Packet:
    """The packet of these messages as they stand now. One that is missing or reads otherwise gives another evidence
    digest than the note has. Raises ParameterFault `duplicate-message-id`."""

    def placed(messages: Sequence[Message], use: Use) -> list[Source]:
        ordered = sorted(messages, key=lambda message: (message.timestamp, message.id))
        return [source_of(one, given.places.get(one.id, place), use) for place, one in enumerate(ordered)]

    evidence = placed(given.sources, Use.NEW)
    packet = packet_of(given.scope_key, given.stream_id, [*evidence, *placed(given.corrections, Use.NEW)])
    return msgspec.structs.replace(packet, evidence_digest=evidence_digest(evidence))


def propose_evidence_note(
    packet: Packet, body: NoteBody, author: str = HUMAN, zone: tzinfo = UTC
) -> EvidenceNote | Rejected:
    """A note that a person adds, still pending: judged as every note is, but its quotes may all be background."""
    return proposed(body, packet, author, Terms(needs_new=False, zone=zone))


def export_reviewed_lessons(packet: Packet, notes: Sequence[EvidenceNote]) -> Exported:
    """The kept lessons of a window as atoms, and why the other notes are not among them. Changes nothing."""
    memories: list[Atom] = []
    excluded: list[Excluded] = []
    for note in notes:
        reason = _excluded(packet, note)
        if reason is None:
            memories.append(_atom(packet, note))
        else:
            excluded.append(Excluded(note_id=note.id, reason=reason))
    return Exported(memories=tuple(memories), excluded=tuple(excluded))


def _excluded(packet: Packet, note: EvidenceNote) -> Exclusion | None:
    checks = (
        (note.kind is not NoteKind.LESSON, Exclusion.FACT),
        (note.review.status is ReviewStatus.PENDING or NoteFlag.RECHECK in note.flags, Exclusion.PENDING),
        (note.review.status is ReviewStatus.ARCHIVED, Exclusion.ARCHIVED),
        (note.scope.scope_key != packet.scope_key, Exclusion.SCOPE_MISMATCH),
        (note.scope.stream_id != packet.stream_id, Exclusion.STREAM_MISMATCH),
        (note.evidence_digest != packet.evidence_digest, Exclusion.STALE_EVIDENCE),
        (note.digest != note_digest(note), Exclusion.DIGEST_MISMATCH),
        (NoteFlag.QUARANTINED in note.flags, Exclusion.QUARANTINED),
    )
    return next((reason for holds, reason in checks if holds), None)


def _atom(packet: Packet, note: EvidenceNote) -> Atom:
    cited = {quote.message_id for quote in note.citations}
    evidence = dict.fromkeys(
        (one.id, one.version) for source in packet.sources if source.message_id in cited for one in source.evidence
    )
    return Atom(
        id=note.id,
        version=note.version,
        kind=note.kind,
        title=note.title,
        content=note.content,
        scope_key=note.scope.scope_key,
        evidence=tuple(AtomEvidence(id=name, version=version) for name, version in evidence),
    )
