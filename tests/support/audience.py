"""Builders of what the safety ladder judges: audiences, proposals, activations, rankings."""

from typing import Any

from governance.contracts import Audience, Proposal
from recall.contracts import ActivationLevel, ActivationRequest, Candidate, Ranked, Scored
from tests.support.builders import AGENT, SESSION, a_candidate, a_memory_id, a_scope

INDEX = "idx_1"


def an_audience(*candidates: Candidate, **fields: Any) -> Audience:
    """An audience in whose index the candidates stand as they are."""
    given = {
        "scope": a_scope(),
        "index_version": INDEX,
        "digests": {candidate.memory_id: candidate.record_digest for candidate in candidates},
        "context_version": 1,
    } | fields
    return Audience(**given)


def a_proposal(*items: Candidate, **fields: Any) -> Proposal:
    """A packet about to be built of these candidates, for the default session."""
    given = {
        "session_id": SESSION,
        "agent_id": AGENT,
        "context_version": 1,
        "index_version": INDEX,
        "level": ActivationLevel.EXCERPT,
        "items": items,
    } | fields
    return Proposal(**given)


def an_activation(**fields: Any) -> ActivationRequest:
    """Advice that fits `a_proposal` and `an_audience`."""
    given = {
        "procedure_id": a_memory_id(),
        "level": ActivationLevel.CHECKLIST,
        "similarity": 0.9,
        "hesitation": 0.0,
        "context_version": 1,
        "memory_index_version": INDEX,
        "reason": "the same failure again",
    } | fields
    return ActivationRequest(**given)


def a_ranking(*candidates: Candidate) -> Ranked:
    """The candidates, best first."""
    return Ranked(ranked=tuple(Scored(candidate=candidate, score=1.0) for candidate in candidates))


def some_candidates(count: int, **fields: Any) -> list[Candidate]:
    """Harmless candidates with ids 1 … count."""
    return [a_candidate(f"Note number {n}.", memory_id=a_memory_id(n), **fields) for n in range(1, count + 1)]
