"""What a model decided about new memories beside those that are known (formation.md 6.7). Pure.

A decision that is missing, given twice, unknown, or does not say enough to be carried out is `store`: a double is
cheaper than a loss. A memory can only name targets of its own pool. Of two that name the same target the first applies,
and the second is stored beside it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import assert_never

from governance.formation.batch_answer import LONGEST
from governance.formation.contracts import KnownRecord
from governance.formation.dates import relative_in
from governance.formation.support import unsupported
from governance.screen import is_instruction_like, secrets
from recall.contracts import Frozen


class Verdict(StrEnum):
    """What becomes of a new memory. `propose`: a person is to decide, for a target is not a machine's to rewrite."""

    STORE = "store"
    UPDATE = "update"
    MERGE = "merge"
    SKIP = "skip"
    PROPOSE = "propose"


class Decided(Frozen, frozen=True, kw_only=True):
    """`targets`: records that the new one takes the place of (update, merge), or that say it already (skip). `content`:
    the words of the new record, where they are not the memory's own. `related`: records that it stands beside.
    `updates`: of a proposal, the record that it would take the place of."""

    verdict: Verdict
    targets: tuple[str, ...] = ()
    content: str | None = None
    related: tuple[str, ...] = ()
    updates: str | None = None


class Pool(Frozen, frozen=True, kw_only=True):
    """A new memory, and what is known that may say the same."""

    content: str
    known: tuple[KnownRecord, ...] = ()


STORE = Decided(verdict=Verdict.STORE)
_SAID: Mapping[str, Verdict] = {
    "store": Verdict.STORE,
    "add": Verdict.STORE,
    "update": Verdict.UPDATE,
    "merge": Verdict.MERGE,
    "skip": Verdict.SKIP,
    "drop": Verdict.SKIP,
}
_REWRITES = frozenset({Verdict.UPDATE, Verdict.MERGE, Verdict.PROPOSE})


def decided(answer: Sequence[object], pools: Sequence[Pool]) -> tuple[Decided, ...]:
    """One decision for each pool, in their order. `answer`: objects with `memory` (the place of its pool), `decision`,
    `targets` and, for update and merge, `content`."""
    said = [(place, one) for one in answer if isinstance(one, Mapping) and (place := _place(one)) is not None]
    count = Counter(place for place, _ in said)
    by_place = {place: one for place, one in said if count[place] == 1}
    return settled([_one(by_place.get(place), pool) for place, pool in enumerate(pools)], pools)


def settled(found: Sequence[Decided], pools: Sequence[Pool]) -> tuple[Decided, ...]:
    """The decisions after those before them: a target that was rewritten is not there any more."""
    named: dict[str, Verdict] = {}
    after: list[Decided] = []
    for one, pool in zip(found, pools, strict=True):
        taken = tuple(name for name in one.targets if name in named and _REWRITES & {one.verdict, named[name]})
        if taken:
            after.append(Decided(verdict=Verdict.STORE, related=taken))
            continue
        named.update(dict.fromkeys(one.targets, one.verdict))
        after.append(_guarded(one, pool))
    return tuple(after)


def _guarded(one: Decided, pool: Pool) -> Decided:
    """What a person made or kept is not rewritten: it is proposed."""
    held = [known.memory_id for known in pool.known if known.guarded and known.memory_id in one.targets]
    if not held or one.verdict not in _REWRITES:
        return one
    others = tuple(name for name in one.targets if name != held[0])
    return Decided(verdict=Verdict.PROPOSE, content=one.content, updates=held[0], related=others)


def _one(said: Mapping[object, object] | None, pool: Pool) -> Decided:
    verdict = _SAID.get(_word(said, "decision", "action")) if said is not None else None
    if said is None or verdict is None:
        return STORE
    known = {one.memory_id: one for one in pool.known}
    targets = tuple(dict.fromkeys(name for name in _names(said) if name in known))
    content = _content(said, pool, [known[name] for name in targets])
    match verdict:
        case Verdict.STORE:
            return STORE
        case Verdict.SKIP:
            return Decided(verdict=verdict, targets=targets) if targets else STORE
        case Verdict.UPDATE:
            return Decided(verdict=verdict, targets=targets, content=content) if len(targets) == 1 else STORE
        case Verdict.MERGE:
            return Decided(verdict=verdict, targets=targets, content=content) if targets and content else STORE
        case Verdict.PROPOSE:
            return STORE
        case _:
            assert_never(verdict)


def _content(said: Mapping[object, object], pool: Pool, targets: Sequence[KnownRecord]) -> str | None:
    """The words of the new record. None: none were given, or they hold what neither the memory nor a target says."""
    given = said.get("content")
    text = given.encode("utf-8", "replace").decode().strip() if isinstance(given, str) else ""
    if not 0 < len(text) <= LONGEST or secrets(text) or is_instruction_like(text) or relative_in(text):
        return None
    return None if unsupported(text, [pool.content, *(one.text for one in targets)]) else text


def _place(said: Mapping[object, object]) -> int | None:
    place = said.get("memory", said.get("index"))
    if isinstance(place, str) and place.strip().isdecimal() and len(place) < 6:
        place = int(place)
    return place if isinstance(place, int) and not isinstance(place, bool) else None


def _names(said: Mapping[object, object]) -> Sequence[str]:
    given = said.get("targets", said.get("target_ids", said.get("target")))
    names = given if isinstance(given, list) else [given]
    return [name.strip() for name in names if isinstance(name, str)]


def _word(said: Mapping[object, object], *names: str) -> str:
    found = next((said[name] for name in names if name in said), "")
    return found.strip().lower() if isinstance(found, str) else ""
