"""The door of episodes, beside the confidence gate: the last time that this came up. Pure, standard library only.

An episode is not weighed by its words, which are those of all its like: its own source says how exactly it met the
need. It speaks where no record of another kind has anything to say, and takes nobody's place.
"""

from collections.abc import Sequence

import msgspec

from recall.contracts import Scored, SourceName, consolidated

LEAST = 0.5  # of what its source could be sure of, with the ordinary bar of the gate


def parted(ranked: Sequence[Scored], strictness: float) -> tuple[list[Scored], list[Scored]]:
    """(records of other kinds, episodes with what their source says and what it has to be). `strictness`: the gate's
    bar as a multiple of the ordinary one."""
    records = [one for one in ranked if not consolidated(one.candidate)]
    return records, [_met(one, strictness) for one in ranked if consolidated(one.candidate)]


def came_up(episodes: Sequence[Scored]) -> Scored | None:
    """The episode that met the need best, of equal ones the latest."""
    held = [one for one in episodes if one.score >= one.bar]
    return min(held, key=lambda one: (-one.score, -one.candidate.created_at, one.candidate.memory_id), default=None)


def _met(one: Scored, strictness: float) -> Scored:
    return msgspec.structs.replace(
        one, score=one.confidences.get(SourceName.EPISODIC, 0.0), bar=min(1.0, LEAST * strictness)
    )
