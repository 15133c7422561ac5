"""Rank, remove duplicates, fit the budget (C-05): candidates of all arms in, a short list and reasons for drops out.

Pure: the same candidates in any order give the same answer. What may not be given is filtered before any score is
compared with another. Dates decide between contradicting records; texts decide what counts as said already, be it in a
packet or in a file that the agent's product loads by itself. A conflict about what a record is (one id, two digests)
fails closed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta
from rapidfuzz import fuzz, utils

from recall.analyzer import distinct
from recall.contracts import (
    SAID,
    Candidate,
    Drop,
    Flag,
    Frozen,
    Millis,
    Ranked,
    Scope,
    Scored,
    Shown,
    Status,
    consolidated,
    visible,
)
from recall.contradiction import Reading, contradicts, reading
from recall.fusion import Fused, FusionPolicy, fuse
from recall.providers import held_by
from recall.tokens import estimated_tokens

DAY = 86_400_000
COMPARED = 16_384  # characters of two texts that are compared for wording: that takes as long as their product
LINES = 400  # of a file's text that are compared one by one
RELATED = 0.3  # share of terms in common below which two records are not compared for contradiction


class DropReason(StrEnum):
    """Why ranking leaves a candidate out."""

    INDEX_CONFLICT = "index-conflict"  # one id with two digests
    OUT_OF_SCOPE = "out-of-scope"
    NOT_ACTIVE = "not-active"
    EXPIRED = "expired"
    NOT_YET_VALID = "not-yet-valid"
    QUARANTINED = "quarantined"
    CORRECTED = "corrected"
    MUTED = "muted"
    OVERRULED = "overruled"  # it was inferred, and a person says otherwise
    CONTRADICTED = "contradicted"  # a newer record says otherwise
    ALREADY_SHOWN = "already-shown"  # in this context window
    HELD_OUT = "held-out"  # in this context window, to measure what handing over does
    ALREADY_IN_CONTEXT = "already-in-context"  # the agent's product loads the file that says it
    SHOWN_ALIKE = "shown-alike"  # a near-duplicate of one that was shown, or of what is in context
    ALREADY_READ = "already-read"  # the agent has read it at this version
    DUPLICATE_CONTENT = "duplicate-content"
    NEAR_DUPLICATE = "near-duplicate"
    PARAPHRASE = "paraphrase"  # the engine says so
    SAME_TOPIC = "same-topic"  # enough restatements of one fact
    OVER_BUDGET = "over-budget"


Weight = Annotated[float, Meta(ge=0, le=1)]


class RankPolicy(Frozen, frozen=True, kw_only=True):
    """Weights of the ranking score (each signal is in [0, 1]), duplicate bounds and budgets."""

    id: str = "rank_pre_v3"
    relevance: Weight = 0.7
    salience: Weight = 0.1
    usage: Weight = 0.1
    novelty: Weight = 0.05
    recency: Weight = 0.05
    closeness: Weight = 0.05
    confidence: Weight = 0.1
    fusion: FusionPolicy = FusionPolicy()
    recency_days: Annotated[float, Meta(gt=0)] = 90.0
    alike: Annotated[float, Meta(ge=50, le=100)] = 85.0  # rapidfuzz token-sort ratio from which two texts say the same
    alike_terms: Annotated[float, Meta(gt=0, le=1)] = 0.75  # and the share of the longer text's terms in common
    same_topic: Annotated[float, Meta(gt=0, le=1)] = 0.6  # share of terms in common
    restatements: Annotated[int, Meta(ge=1)] = 3
    items: Annotated[int, Meta(ge=1)] = 50
    text_bytes: Annotated[int, Meta(ge=256)] = 65_536
    tokens: Annotated[int, Meta(ge=64)] = 16_384


_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_BULLET = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")


@dataclass(frozen=True)
class _Said:
    """A text that the agent has before it, and its terms."""

    text: str
    terms: frozenset[str]

    @cached_property
    def lines(self) -> tuple["_Said", ...]:
        """Its lines, without list marks."""
        lines = dict.fromkeys(_BULLET.sub("", line).strip() for line in self.text[:COMPARED].split("\n")[:LINES])
        return tuple(_Said(line, frozenset(distinct(line))) for line in lines if line)


class _One(NamedTuple):
    """A candidate with its terms, read once a pass. `mask` has a bit for each of them that another candidate holds
    too: pairs are compared by the hundred, and one `&` of two numbers is ten times faster than one of two sets."""

    scored: Scored
    candidate: Candidate
    terms: frozenset[str]
    mask: int
    reading: Reading

    def overlaps(self, other: "_One", share: float) -> bool:
        """Whether this share of the smaller one's terms, and at least one, is common."""
        common = (self.mask & other.mask).bit_count()
        return common > 0 and common >= share * min(len(self.terms), len(other.terms))


Near = Mapping[str, Sequence[_One]]  # memory id -> the candidates whose terms overlap with its own


def rank(candidates: Sequence[Candidate], shown: Shown, policy: RankPolicy, now: Millis) -> Ranked:
    """Filter, score, sort (ties by id), remove duplicates, diversify, fit. `now` is epoch milliseconds."""
    dropped: list[Drop] = []
    given = [_Said(text, frozenset(distinct(text))) for _, text in shown.texts]
    told = frozenset().union(*(said.terms for said in given))
    fused, conflicts = fuse(_allowed(candidates, shown, now, dropped), policy.fusion)
    dropped += [Drop(id=memory_id, reason=DropReason.INDEX_CONFLICT) for memory_id in conflicts]
    scored = sorted((_raised(_scored(one, told, policy, now), shown, policy) for one in fused), key=_best_first)
    episodes = _read(one for one in scored if consolidated(one.candidate))  # they take nobody's place
    read = _read(one for one in scored if not consolidated(one.candidate))
    near = _near(read, min(RELATED, policy.same_topic))
    standing = _without_contradicted(read, near, dropped)
    fresh = _unseen(standing, shown, given, policy, dropped)
    came_up = [one.scored for one in _unseen(episodes, shown, given, policy, dropped)]
    kept = _within([*_distinct_texts(fresh, near, policy, dropped), *came_up], policy, dropped)
    return Ranked(
        ranked=tuple(kept),
        dropped=tuple(sorted(dropped, key=lambda drop: (drop.id, drop.reason))),
        told=told,
    )


def say_the_same(one: str, other: str, policy: RankPolicy) -> bool:
    """Whether two texts are near-duplicates: like wording, the same numbers, and not a correction of each other."""
    return _same(one, other, frozenset(distinct(one)), frozenset(distinct(other)), policy)


def _allowed(candidates: Sequence[Candidate], shown: Shown, now: Millis, dropped: list[Drop]) -> list[Candidate]:
    """Those that may be given at all. What one source says against a memory holds for all of them."""
    refused: dict[str, DropReason] = {}
    for candidate in candidates:
        reason = _invalid(candidate, shown, now)
        if reason is not None:
            refused[candidate.memory_id] = min(reason, refused.get(candidate.memory_id, reason), key=_LADDER.index)
    dropped += [Drop(id=memory_id, reason=reason) for memory_id, reason in refused.items()]
    return [candidate for candidate in candidates if candidate.memory_id not in refused]


_LADDER = tuple(DropReason)


def _scored(one: Fused, told: frozenset[str], policy: RankPolicy, now: Millis) -> Scored:
    score = _score(one.candidate, one.relevance, policy, now)
    if told:
        terms = _terms(one.candidate)
        score -= policy.novelty * len(terms & told) / max(1, len(terms))
    return Scored(candidate=one.candidate, score=score, reasons=one.reasons, confidences=one.confidences)


def _raised(one: Scored, shown: Shown, policy: RankPolicy) -> Scored:
    """The candidate with what its use says for it."""
    used = shown.used.get(one.candidate.memory_id, 0.0)
    return msgspec.structs.replace(one, score=one.score + policy.usage * used) if used else one


def _score(candidate: Candidate, relevance: float, policy: RankPolicy, now: Millis) -> float:
    importance = 50 if candidate.importance is None else candidate.importance
    priority = candidate.priority if candidate.priority is not None and candidate.priority >= 0 else 50
    age_days = max(0.0, (now - candidate.created_at) / DAY)
    return (
        policy.relevance * relevance
        + policy.salience * (importance + priority) / 200
        + policy.novelty
        + policy.recency * policy.recency_days / (policy.recency_days + age_days)
        + policy.closeness * _CLOSENESS.get(candidate.scope.kind, 0.0)
        + policy.confidence * min(1.0, max(0.0, candidate.confidence))
    )


_CLOSENESS: dict[Scope, float] = {Scope.TURN: 1.0, Scope.SESSION: 0.9, Scope.WORKSPACE: 0.7, Scope.USER: 0.4}


def _invalid(candidate: Candidate, shown: Shown, now: Millis) -> DropReason | None:
    if shown.scope is not None and not visible(candidate.scope, shown.scope):
        return DropReason.OUT_OF_SCOPE
    if candidate.status is not Status.ACTIVE or candidate.superseded_by is not None:
        return DropReason.NOT_ACTIVE
    if candidate.expires_at is not None and candidate.expires_at <= now:
        return DropReason.EXPIRED
    if candidate.valid_from is not None and candidate.valid_from > now:
        return DropReason.NOT_YET_VALID
    if Flag.QUARANTINED in candidate.flags or candidate.memory_id in shown.quarantined:
        return DropReason.QUARANTINED
    if Flag.CORRECTED in candidate.flags or candidate.memory_id in shown.corrected:
        return DropReason.CORRECTED
    if Flag.MUTED in candidate.flags or candidate.memory_id in shown.muted or candidate.kind in shown.muted_kinds:
        return DropReason.MUTED
    return None


def _read(scored: Iterable[Scored]) -> list[_One]:
    each = [(one, _terms(one.candidate)) for one in scored]
    held = Counter(chain.from_iterable(terms for _, terms in each))
    shared = frozenset([term for term, count in held.items() if count > 1])
    bits = {term: 1 << place for place, term in enumerate(shared)}
    return [
        _One(one, one.candidate, terms, sum(map(bits.__getitem__, shared & terms)), reading(one.candidate.payload))
        for one, terms in each
    ]


def _near(read: Sequence[_One], share: float) -> Near:
    """Those that overlap by this share. Most pairs fall short of what any pair needs, so that is asked first."""
    near: dict[str, list[_One]] = {one.candidate.memory_id: [] for one in read}
    least = max(1.0, share * min((len(one.terms) for one in read), default=0))
    for place, one in enumerate(read):
        mask = one.mask
        for two in [two for two in read[:place] if (two.mask & mask).bit_count() >= least]:
            if one.overlaps(two, share):
                near[one.candidate.memory_id].append(two)
                near[two.candidate.memory_id].append(one)
    return near


def _without_contradicted(valid: list[_One], near: Near, dropped: list[Drop]) -> list[_One]:
    """Without records that a newer record of the same scope takes back. One that was taken back takes nothing back."""
    gone: set[str] = set()
    for one in sorted(valid, key=lambda one: (-one.candidate.created_at, one.candidate.memory_id)):
        memory_id = one.candidate.memory_id
        if any(two.candidate.memory_id not in gone and _takes_back(two, one) for two in near[memory_id]):
            gone.add(memory_id)
            dropped.append(Drop(id=memory_id, reason=DropReason.CONTRADICTED))
    return [one for one in valid if one.candidate.memory_id not in gone]


def _takes_back(newer: _One, older: _One) -> bool:
    one, two = newer.candidate, older.candidate
    if one.created_at <= two.created_at or one.scope != two.scope or not newer.overlaps(older, RELATED):
        return False
    if (two.origin in SAID and one.origin not in SAID) or (newer.mask & older.mask).bit_count() < 2:
        return False  # what was noted or imported does not take back what a person said
    return newer.reading.may_take_back(older.reading) and contradicts(one.payload, two.payload)


def _unseen(
    standing: list[_One], shown: Shown, given: list[_Said], policy: RankPolicy, dropped: list[Drop]
) -> list[_One]:
    loaded = [one for one in standing if held_by(shown.host, one.candidate.loaded_by)]
    dropped += [Drop(id=one.candidate.memory_id, reason=DropReason.ALREADY_IN_CONTEXT) for one in loaded]
    held = {one.candidate.memory_id for one in loaded}
    files = [(one.mask, _Said(one.candidate.payload, one.terms)) for one in loaded]
    kept: list[_One] = []
    for one in standing:
        candidate = one.candidate
        if candidate.memory_id in held:
            continue
        if candidate.memory_id in shown.records:
            dropped.append(Drop(id=candidate.memory_id, reason=DropReason.ALREADY_SHOWN))
        elif candidate.memory_id in shown.held_out:
            dropped.append(Drop(id=candidate.memory_id, reason=DropReason.HELD_OUT))
        elif shown.read.get(candidate.memory_id) == candidate.record_digest:
            dropped.append(Drop(id=candidate.memory_id, reason=DropReason.ALREADY_READ))
        elif (given and _said(one, given, policy)) or (
            files and any(_stands_in(one, mask, file, policy) for mask, file in files)
        ):
            dropped.append(Drop(id=candidate.memory_id, reason=DropReason.SHOWN_ALIKE))
        else:
            kept.append(one)
    return kept


def _said(one: _One, given: Iterable[_Said], policy: RankPolicy) -> bool:
    return any(_same(one.candidate.payload, said.text, one.terms, said.terms, policy) for said in given)


def _stands_in(one: _One, mask: int, file: _Said, policy: RankPolicy) -> bool:
    """Whether a file's section says the same, as a whole or in one of its lines. `mask`: of the section's terms."""
    if (one.mask & mask).bit_count() < policy.alike_terms * len(one.terms):
        return False
    return _said(one, (file, *file.lines), policy)


def _distinct_texts(fresh: list[_One], near: Near, policy: RankPolicy, dropped: list[Drop]) -> list[Scored]:
    """Best first, each text once, and of records whose terms largely coincide no more than `restatements`."""
    kept: dict[str, _One] = {}
    twins = _twins(fresh)
    digests: set[str] = set()
    for one in fresh:
        memory_id, digest = one.candidate.memory_id, one.candidate.record_digest
        reason = DropReason.DUPLICATE_CONTENT if digest in digests else None
        reason = reason or _redundant(one, kept, near[memory_id], twins.get(memory_id, ()), policy)
        if reason is None:
            kept[memory_id] = one
            digests.add(digest)
        else:
            dropped.append(Drop(id=memory_id, reason=reason))
    return [one.scored for one in kept.values()]


def _twins(fresh: Sequence[_One]) -> Mapping[str, Collection[str]]:
    """memory id -> those that a source takes for the same in other words, whichever of the two it says it of."""
    twins: dict[str, set[str]] = defaultdict(set)
    for one in fresh:
        for other in one.candidate.alike:
            twins[one.candidate.memory_id].add(other)
            twins[other].add(one.candidate.memory_id)
    return twins


def _redundant(
    one: _One, kept: Mapping[str, _One], near: Iterable[_One], twins: Collection[str], policy: RankPolicy
) -> DropReason | None:
    """Whether what is kept says it already. `near`, `twins`: of this one, kept or not."""
    text = one.candidate.payload
    if twins and any(
        twin in kept and not _differ(text[:COMPARED], kept[twin].candidate.payload[:COMPARED]) for twin in twins
    ):
        return DropReason.PARAPHRASE
    close = [two for two in near if two.candidate.memory_id in kept and one.overlaps(two, policy.same_topic)]
    if close and any(_same(text, two.candidate.payload, one.terms, two.terms, policy) for two in close):
        return DropReason.NEAR_DUPLICATE
    return DropReason.SAME_TOPIC if len(close) >= policy.restatements else None


def _same(one: str, other: str, terms: frozenset[str], others: frozenset[str], policy: RankPolicy) -> bool:
    if len(terms & others) < policy.alike_terms * max(len(terms), len(others)):
        return False
    plain, plain_other = utils.default_process(one[:COMPARED]), utils.default_process(other[:COMPARED])
    if plain != plain_other and not fuzz.token_sort_ratio(plain, plain_other, score_cutoff=policy.alike):
        return False
    return not (_turned_round(plain, plain_other) or _differ(one[:COMPARED], other[:COMPARED]))


def _differ(one: str, other: str) -> bool:
    """What neither vectors nor likeness of wording see: another number, and the opposite."""
    if set(_NUMBER.findall(one)) != set(_NUMBER.findall(other)):
        return True
    return contradicts(one, other) or contradicts(other, one)


def _turned_round(one: str, other: str) -> bool:
    """Whether the words that two texts share come in another order around a "not": A, not B; B, not A."""
    if not (reading(one).denies and reading(other).denies):
        return False
    words, others = one.split(), other.split()
    shared = set(words) & set(others)
    return [word for word in words if word in shared] != [word for word in others if word in shared]


def _within(scored: list[Scored], policy: RankPolicy, dropped: list[Drop]) -> list[Scored]:
    """The best that fit into the budget of items, UTF-8 bytes and estimated tokens; one too large is passed over."""
    kept: list[Scored] = []
    size = tokens = 0
    for one in scored:
        text = one.candidate.payload
        more, costs = len(text.encode("utf-8", "replace")), estimated_tokens(text)
        if len(kept) < policy.items and size + more <= policy.text_bytes and tokens + costs <= policy.tokens:
            kept.append(one)
            size, tokens = size + more, tokens + costs
        else:
            dropped.append(Drop(id=one.candidate.memory_id, reason=DropReason.OVER_BUDGET))
    return kept


def _best_first(one: Scored) -> tuple[float, str]:
    return -one.score, one.candidate.memory_id


def _terms(candidate: Candidate) -> frozenset[str]:
    """What it says, and its title. The index holds words of its tags as well: they tell where it is from."""
    terms = frozenset(candidate.terms or distinct(candidate.payload))
    if not (candidate.terms and candidate.tags):
        return terms
    text = f"{candidate.title or ''}\n{candidate.payload}".lower()
    return terms - {term for term in distinct(" ".join(candidate.tags)) if term not in text}
