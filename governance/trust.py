"""How much of a memory may be shown unasked, by where it comes from (formation.md 7.3). Pure."""

from recall.contracts import LEVELS, ActivationLevel, Candidate, Origin, RecordState

_CEILINGS = {
    Origin.USER: ActivationLevel.FULL,
    Origin.REVIEWED: ActivationLevel.FULL,
    Origin.EXTRACTED: ActivationLevel.HINT,
    Origin.IMPORTED: ActivationLevel.HINT,
}


def ceiling(candidate: Candidate) -> ActivationLevel:
    """The highest level at which this record may be shown. What stands in no anchored record counts as imported."""
    if candidate.state is not RecordState.ANCHORED:
        return ActivationLevel.HINT
    return _CEILINGS[candidate.origin]


def within(level: ActivationLevel, limit: ActivationLevel) -> bool:
    """Whether `level` shows no more than `limit`."""
    return LEVELS.index(level) <= LEVELS.index(limit)
