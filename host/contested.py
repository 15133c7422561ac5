"""M-03 in a pass: facts that contradict each other. Pure.

What was inferred is left out where a person says otherwise, before anything is compared by date: an inference never
takes back what was said. Two things that persons said are a conflict, and the one that is handed over says so.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from governance.facts import Fact, Standing, fact_of, judged, stated
from recall.contracts import Candidate, Drop, Frozen, MemoryKind, Millis, Ranked, ScopeRef, Scored, Shown
from recall.rank import DropReason

MOST = 3  # memories that are named as saying otherwise


class Contest(Frozen, frozen=True, kw_only=True):
    """What stands against what. `overruled`: inferences that a person's word stands against. `against`: of a fact in
    conflict, the memories that say otherwise."""

    overruled: frozenset[str] = frozenset()
    against: Mapping[str, tuple[str, ...]] = {}


UNCONTESTED = Contest()


def contest_of(candidates: Sequence[Candidate], shown: Shown, now: Millis) -> Contest:
    """How the facts among the candidates stand to each other, but for what a person or the screen has taken out.

    Every pass asks: most candidates state nothing, and of those that do most stand alone.
    """
    about: dict[tuple[ScopeRef, str, str], list[Candidate]] = defaultdict(list)
    for one in candidates:
        said = stated(one.payload) if one.kind is MemoryKind.SEMANTIC else None
        if said is not None and one.memory_id not in shown.corrected and one.memory_id not in shown.quarantined:
            about[one.scope, said.subject, said.predicate].append(one)
    groups = [group for group in about.values() if len(group) > 1]
    return _judged(groups, now) if groups else UNCONTESTED


def standing(candidates: Sequence[Candidate], contest: Contest) -> Sequence[Candidate]:
    """The candidates without those that are overruled."""
    return [one for one in candidates if one.memory_id not in contest.overruled] if contest.overruled else candidates


def noted(ranked: Ranked, contest: Contest) -> Ranked:
    """The ranking with what was left out before it, and with a word at each fact that another one says otherwise."""
    if contest is UNCONTESTED:
        return ranked
    drops = (*ranked.dropped, *(Drop(id=one, reason=DropReason.OVERRULED) for one in contest.overruled))
    return msgspec.structs.replace(
        ranked,
        ranked=tuple(_noted(one, contest.against.get(one.candidate.memory_id, ())) for one in ranked.ranked),
        dropped=tuple(sorted(drops, key=lambda drop: (drop.id, drop.reason))),
    )


def _judged(groups: Sequence[Sequence[Candidate]], now: Millis) -> Contest:
    overruled: set[str] = set()
    against: dict[str, tuple[str, ...]] = {}
    for group in groups:
        facts: dict[str, Fact] = {one.memory_id: fact for one in group if (fact := fact_of(one)) is not None}
        for memory_id, fact in facts.items():
            found = judged(fact, facts.values(), now)
            if found.standing is Standing.OVERRULED:
                overruled.add(memory_id)
            elif found.standing is Standing.CONFLICT:
                against[memory_id] = found.against
    return Contest(overruled=frozenset(overruled), against=against) if overruled or against else UNCONTESTED


def _noted(scored: Scored, against: Sequence[str]) -> Scored:
    if not against:
        return scored
    return msgspec.structs.replace(scored, reasons=(f"in conflict with {', '.join(against[:MOST])}", *scored.reasons))
