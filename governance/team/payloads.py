"""What candidates propose, as it is stored: JSON with sorted keys, every text as it came. Pure.

Texts are not normalised here, other than in digests' canonical JSON: the digest of a statement is that of its bytes.
"""

from typing import TypeVar

import msgspec

from governance.team.contracts.rows import Candidate, ConsolidationPayload, EntryPayload, SkillPayload
from governance.team.errors import Kind, TeamFault

Payload = EntryPayload | SkillPayload | ConsolidationPayload
T = TypeVar("T", EntryPayload, SkillPayload, ConsolidationPayload)
_encoder = msgspec.json.Encoder(order="sorted")
_entry = msgspec.json.Decoder(EntryPayload)
_skill = msgspec.json.Decoder(SkillPayload)
_consolidation = msgspec.json.Decoder(ConsolidationPayload)


def encoded(payload: Payload) -> str:
    """As it is stored."""
    return _encoder.encode(payload).decode()


def entry(candidate: Candidate) -> EntryPayload:
    """Of an entry. Raises TeamFault `candidate-kind-mismatch`, `state-corrupt`."""
    return _decoded(candidate, "entry", _entry)


def skill(candidate: Candidate) -> SkillPayload:
    """Of a skill. Raises TeamFault `candidate-kind-mismatch`, `state-corrupt`."""
    return _decoded(candidate, "skill", _skill)


def consolidation(candidate: Candidate) -> ConsolidationPayload:
    """Of a patch. Raises TeamFault `candidate-kind-mismatch`, `state-corrupt`."""
    return _decoded(candidate, "consolidation", _consolidation)


def _decoded(candidate: Candidate, kind: str, decoder: "msgspec.json.Decoder[T]") -> T:
    if candidate.kind != kind:
        problem = f"The candidate {candidate.candidate_id} is of kind {candidate.kind}, not {kind}."
        raise TeamFault(Kind.CANDIDATE_KIND_MISMATCH, problem, f"Ask with kind {candidate.kind}.")
    try:
        return decoder.decode(candidate.payload)
    except msgspec.MsgspecError as error:
        problem = f"The candidate {candidate.candidate_id} cannot be read: {error}."
        raise TeamFault(Kind.STATE_CORRUPT, problem, "Nothing was changed. See what `doctor` says.") from None
