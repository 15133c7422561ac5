"""How much of a memory may be shown unasked, by its origin and by what its use has shown (formation.md 7.3). Pure.

What was extracted by itself and then reused in several sessions, with success and without anybody's correction, is
`evidenced`: more of it may be shown, though not as much as of what a person wrote or kept.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from governance.contracts import Audience, Stage
from recall.contracts import LEVELS, ActivationLevel, Candidate, MemoryKind, Origin, RecordState

_CEILINGS = {
    Origin.USER: ActivationLevel.FULL,
    Origin.REVIEWED: ActivationLevel.FULL,
    Origin.EXTRACTED: ActivationLevel.HINT,
    Origin.IMPORTED: ActivationLevel.HINT,
}
SESSIONS = 2  # in which an extracted record was reused before it counts as evidenced
SUCCESSES = 1


class Uses(Protocol):
    """What the evidence of one memory comes to, as far as trust asks."""

    @property
    def cite(self) -> int: ...

    @property
    def success(self) -> int: ...

    @property
    def correction(self) -> int: ...

    @property
    def sessions(self) -> int: ...

    @property
    def reuse_sessions(self) -> int: ...

    @property
    def success_sessions(self) -> int: ...


def ceiling(
    candidate: Candidate, evidenced: Collection[str] = (), stages: Mapping[str, Stage] | None = None
) -> ActivationLevel:
    """The highest level at which this record may be shown. What stands in no anchored record counts as imported.
    `evidenced`: memory ids; `stages`: of procedures."""
    if candidate.state is not RecordState.ANCHORED:
        return ActivationLevel.HINT
    if candidate.origin is not Origin.EXTRACTED or candidate.memory_id not in evidenced:
        return _CEILINGS[candidate.origin]
    stage = None if stages is None else stages.get(candidate.memory_id)
    active = candidate.kind is MemoryKind.PROCEDURAL and stage is Stage.ACTIVE
    return ActivationLevel.CHECKLIST if active else ActivationLevel.EXCERPT


def earned(candidates: Iterable[Candidate], audience: Audience) -> dict[str, ActivationLevel]:
    """The level that its use has earned each of these, where it has; by memory id."""
    evidenced, stages = audience.evidenced, audience.stages
    return {one.memory_id: ceiling(one, evidenced, stages) for one in candidates if one.memory_id in evidenced}


def within(level: ActivationLevel, limit: ActivationLevel) -> bool:
    """Whether `level` shows no more than `limit`."""
    return LEVELS.index(level) <= LEVELS.index(limit)


def is_evidenced(uses: Uses) -> bool:
    """Whether its use has shown that an extracted record holds."""
    return uses.reuse_sessions >= SESSIONS and uses.success >= SUCCESSES and not uses.correction


def helped(uses: Uses) -> float:
    """How much a memory has helped, in [0, 1]: each session in which it led to success halves what is missing to 1, two
    citations do as much. What was corrected has not helped. A session that cites it again and again counts once."""
    if uses.correction:
        return 0.0
    missing: float = 0.5 ** (uses.success_sessions + min(uses.cite, uses.sessions) / 2)
    return 1.0 - missing
