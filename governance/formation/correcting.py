"""What a user said and took back within one range (formation.md 5.2, 11). Pure.

"The limit is 5" in one message and "the limit is 7" in a later one are not both to be remembered: the later goes its
way, and the earlier waits for a person. What stands in one message is a list, and no correction.
"""

import itertools
from collections.abc import Sequence

import msgspec

from governance.formation.candidates import Candidate
from governance.formation.identity import denied_by
from governance.review import ItemFlag
from recall.contracts import Millis


def apart(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, each with the flag `conflict` that a later one of other messages denies."""
    held = list(candidates)
    for one, two in itertools.combinations(range(len(held)), 2):
        earlier, later = sorted((one, two), key=lambda place: _said(candidates[place]))
        if _messages(held[one]) & _messages(held[two]) or not denied_by(held[earlier].content, held[later].content):
            continue
        flags = tuple(dict.fromkeys((*held[earlier].flags, ItemFlag.CONFLICT)))
        held[earlier] = msgspec.structs.replace(held[earlier], flags=flags)
    return held


def _messages(one: Candidate) -> frozenset[str]:
    return frozenset(source.message_id for source in one.sources)


def _said(one: Candidate) -> tuple[Millis, int]:
    """When it was said last."""
    return max(((source.at, source.event_seq) for source in one.sources), default=(0, 0))
