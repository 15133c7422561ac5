"""A set put to the arms of recall as a pass asks them, and to the baselines (`eval recall`).

The documents of a namespace become memory files of a workspace of their own; the library takes them in, and a query
goes from its text through the cue, association and fusion to ranked ids. Time limits are lifted: a busy machine must
not change what is found. Everything lies in a temporary folder.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from host.clock import Clock
from host.compose import Recall, open_recall
from host.errors import RemoraError
from host.evaluation import baselines, store
from host.evaluation.datasets import Dataset, Namespace, Query
from host.evaluation.ready import Hear, embedded, searchable
from host.evaluation.results import Asked, Certainty, SetFigures, arm_figures, corpus_digest
from host.namespace import name
from host.observer import clean, cut
from host.runtime import USER_KEY
from recall.analyzer import distinct
from recall.associate import Arm, AssociationPolicy, associate
from recall.contracts import Cue, CuePart, Origin, RuntimeScope, Scope, ScopeRef, SegmentKind, SourceName
from recall.engine import available
from recall.fallback import Breaker
from recall.fusion import FusionPolicy, fuse
from recall.library import Root

LEXICAL, ENGINE, FUSION, EXHAUSTIVE, PLAIN = "lexical", "engine", "fusion", "exhaustive", "plain"
ARMS = (LEXICAL, ENGINE, FUSION, EXHAUSTIVE, PLAIN)
OWN: dict[str, tuple[str, ...]] = {  # the sources that an arm asks
    LEXICAL: (SourceName.LEXICAL,),
    ENGINE: (SourceName.ENGINE,),
    FUSION: (SourceName.LEXICAL, SourceName.ENGINE),
}
BASELINES = {EXHAUSTIVE: baselines.exhaustive, PLAIN: baselines.plain}
WITH_ENGINE = frozenset({ENGINE, FUSION})
LIMIT = 50  # candidates that an arm brings, as in a pass
WARM = 20  # look-ups of a namespace before the first that is timed
EVENT = "event"  # the type of a query that is a tool's output; every other one is a prompt
UNHURRIED = 5.0

Found = tuple[tuple[int, ...], float, tuple[str, ...]]
"""Documents by number, best first; how sure the arm is of the best; what fell short."""
Ask = Callable[[Query], Awaitable[Found]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Which arms, and at most how many queries of a set (0: all)."""

    arms: tuple[str, ...]
    limit: int = 0


@dataclass(frozen=True, slots=True)
class _Place:
    """A namespace that was taken in: where its records are seen from, and its documents' numbers by id."""

    namespace: Namespace
    scope: RuntimeScope
    first: int
    numbers: dict[str, int]

    def relevant(self, query: Query) -> frozenset[int] | None:
        """The documents that should be found, none for a negative; None when the query cannot be judged."""
        known = frozenset(self.numbers[one] for one in map(str, query.relevant) if one in self.numbers)
        return known if known or query.negative else None

    def unknown(self, query: Query) -> int:
        """How many relevant ids are no document here."""
        return 0 if query.negative else sum(str(one) not in self.numbers for one in query.relevant)


def arms_of(asked: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """(the arms that can be had, in their order, a note on those that cannot), for names of arms or `all`.

    Raises RemoraError when an arm was named that needs the engine, and the extra is not installed.
    """
    chosen = tuple(arm for arm in ARMS if arm in asked or "all" in asked)
    if available() or WITH_ENGINE.isdisjoint(chosen):
        return chosen, ""
    named = [arm for arm in chosen if arm in WITH_ENGINE and arm in asked]
    get = "Install it from the clone with: pip install -c .ci/constraints.txt '.[semantic]'"
    if named:
        verb = "needs" if len(named) == 1 else "need"
        raise RemoraError(f"{' and '.join(named)} {verb} the extra semantic, which is not installed.", get)
    left = tuple(arm for arm in chosen if arm not in WITH_ENGINE)
    return left, f"engine and fusion are left out: the extra semantic is not installed. {get}"


class Evaluation:
    """One run over any number of sets."""

    def __init__(self, wanted: Wanted, clock: Clock) -> None:
        self.certainty = Certainty()
        self._wanted = wanted
        self._clock = clock

    async def run(self, dataset: Dataset, hear: Hear) -> SetFigures:
        """The figures of one set. Raises RemoraError when it cannot be taken in, or the engine fails."""
        with tempfile.TemporaryDirectory(prefix=f"{name('eval')}-") as folder:
            engine = not WITH_ENGINE.isdisjoint(self._wanted.arms)
            async with open_recall(Path(folder), engine=engine) as recall:
                places, not_stored = await _taken_in(dataset, recall, Path(folder) / "memory", hear)
                found = await searchable(recall.library)
                if recall.engine is not None:
                    await embedded(recall.engine, found, hear)
                chosen = _chosen(dataset, self._wanted.limit)
                asked = await self._asked(places, chosen, recall, hear)
        documents = [doc for one in dataset.namespaces for doc in one.docs]
        corpus = corpus_digest(doc.text for doc in documents)
        for arm, answers in asked.items():
            self.certainty.add(corpus, dataset.name, arm, answers)
        any_arm = next(iter(asked.values()))
        return SetFigures(
            name=dataset.name,
            lang=dataset.lang,
            file=dataset.file,
            namespaces=len(places),
            documents=len(documents),
            queries=sum(bool(one.relevant) for one in any_arm),
            negatives=sum(not one.relevant for one in any_arm),
            unanswerable=sum(map(len, chosen)) - len(any_arm),
            unknown_ids=sum(
                place.unknown(query) for place, queries in zip(places, chosen, strict=True) for query in queries
            ),
            not_stored=not_stored,
            kept_out=len(documents) - not_stored - found,
            arms=tuple(arm_figures(arm, answers) for arm, answers in asked.items()),
        )

    async def _asked(
        self, places: Sequence[_Place], chosen: Sequence[Sequence[Query]], recall: Recall, hear: Hear
    ) -> dict[str, list[Asked]]:
        """What each arm said to every query that can be judged."""
        answers: dict[str, list[Asked]] = {arm: [] for arm in self._wanted.arms}
        done, every = 0, sum(map(len, chosen)) * len(answers)
        for place, queries in zip(places, chosen, strict=True):
            judged = [(query, relevant) for query in queries if (relevant := place.relevant(query)) is not None]
            for arm in self._wanted.arms if judged else ():
                with self._way(arm, place, recall) as ask:
                    for query, _ in judged[:WARM]:  # other words, so that nothing is remembered of the real ones
                        await ask(Query(query.id, f"{query.text} {query.id}", (), query.type))
                    for query, relevant in judged:
                        answers[arm].append(await self._timed(ask, query, relevant))
                        done += 1
                        hear(arm, done, every)
        return answers

    async def _timed(self, ask: Ask, query: Query, relevant: frozenset[int]) -> Asked:
        distinct.cache_clear()  # no arm profits from the one before
        begun = self._clock.micros()
        found, confidence, shortfalls = await ask(query)
        return Asked(
            type=query.type,
            relevant=relevant,
            found=found,
            confidence=confidence,
            micros=self._clock.micros() - begun,
            shortfalls=shortfalls,
        )

    @contextmanager
    def _way(self, arm: str, place: _Place, recall: Recall) -> Iterator[Ask]:
        """How an arm is asked about the documents of a namespace."""
        if arm in BASELINES:
            documents = ((number, doc.text) for number, doc in enumerate(place.namespace.docs, start=place.first))
            with BASELINES[arm](documents, LIMIT) as look:
                yield lambda query: _compared(look, query)
        else:
            arms = [
                replace(one, breaker=Breaker(), budget_seconds=UNHURRIED) for one in recall.arms if one.name in OWN[arm]
            ]
            yield lambda query: self._recalled(query, place.scope, arms, recall)

    async def _recalled(self, query: Query, scope: RuntimeScope, arms: Sequence[Arm], recall: Recall) -> Found:
        """As a pass does it."""
        index = recall.library.snapshot(self._clock.now())
        policy = AssociationPolicy(budget_seconds=UNHURRIED)
        found = await associate(cue_of(query, scope), index, arms, policy, self._clock.micros)
        fused, _ = fuse(found.candidates, FusionPolicy())
        fused.sort(key=lambda one: (-one.relevance, one.candidate.memory_id))
        sure = max(fused[0].confidences.values()) if fused else 0.0
        short = tuple(f"{one.name}: {one.shortfall}" for one in found.arms if one.shortfall)
        return tuple(store.number_of(one.candidate.memory_id) for one in fused), sure, short


async def _taken_in(dataset: Dataset, recall: Recall, folder: Path, hear: Hear) -> tuple[list[_Place], int]:
    """Every namespace as a root of its own, and how many documents could not be stored."""
    places: list[_Place] = []
    first = not_stored = 0
    every = sum(len(one.docs) for one in dataset.namespaces)
    for number, namespace in enumerate(dataset.namespaces):
        key = f"eval_{number}"
        ref = ScopeRef(kind=Scope.WORKSPACE, key=key)
        root = Root(path=str(folder / f"{number:06d}"), scope=ref, origin=Origin.USER)
        not_stored += len(await asyncio.to_thread(store.write, Path(root.path), namespace.docs, ref, first))
        await recall.library.adopt(root)
        await recall.library.refresh(root.path)  # adopting may go on in the background: this waits for it
        scope = RuntimeScope(session_id="eval", agent_id="eval", workspace=key, user=USER_KEY)
        numbers = {str(doc.id): place for place, doc in enumerate(namespace.docs, start=first)}
        places.append(_Place(namespace, scope, first, numbers))
        first += len(namespace.docs)
        hear("indexing", first, every)
    return places, not_stored


async def _compared(look: baselines.Ask, query: Query) -> Found:
    rows = look(query.text)
    return tuple(number for number, _ in rows), rows[0][1] if rows else 0.0, ()


def cue_of(query: Query, scope: RuntimeScope) -> Cue:
    """A query as the cue of a prompt, or, if its type is `event`, of a tool's result."""
    kind = SegmentKind.RESULT if query.type == EVENT else SegmentKind.PROMPT
    text = cut(clean(query.text), kind)
    terms = distinct(text)
    return Cue(
        scope=scope,
        parts=(CuePart(role=kind.value, text=text, weight=1.0),),
        terms=terms,
        focus=terms,
        retrieval_key="eval",
        segment_kind=kind,
        limit=LIMIT,
    )


def _chosen(dataset: Dataset, limit: int) -> list[list[Query]]:
    """The queries to ask of each namespace: all, or `limit` of the set, evenly spread."""
    every = [(place, query) for place, one in enumerate(dataset.namespaces) for query in one.queries]
    if 0 < limit < len(every):
        every = [every[number * len(every) // limit] for number in range(limit)]
    chosen: list[list[Query]] = [[] for _ in dataset.namespaces]
    for place, query in every:
        chosen[place].append(query)
    return chosen
