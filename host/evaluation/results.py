"""What an evaluation says: the figures of each arm over each set, and what could not be used. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from host.evaluation.metrics import Quality, auc, percentile, quality
from recall.canonical import text_digest
from recall.contracts import Frozen


class Asked(Frozen, frozen=True, kw_only=True):
    """One query put to one arm. `found`: documents by number, best first; `confidence`: of the best, as the arm has it;
    `relevant` is empty when nothing should be recalled."""

    type: str
    relevant: frozenset[int]
    found: tuple[int, ...]
    confidence: float
    micros: int
    shortfalls: tuple[str, ...] = ()


class Latency(Frozen, frozen=True, kw_only=True):
    """Milliseconds of one look-up, from the text to the ranked ids."""

    p50: float
    p99: float


class ArmFigures(Frozen, frozen=True, kw_only=True):
    """One arm over one set. `shortfalls`: how often it had no answer, by the reason."""

    arm: str
    quality: Quality
    latency: Latency
    by_type: Mapping[str, Quality]
    shortfalls: Mapping[str, int] = {}


class SetFigures(Frozen, frozen=True, kw_only=True):
    """One set. `queries`: those that have an answer; `negatives`: those to which nothing should be recalled.
    `unanswerable`: left out, as none of their relevant ids is a document; `unknown_ids`: how many such ids there are;
    `not_stored`: documents that no memory file can hold; `kept_out`: those that the screen keeps from being proposed.
    The baselines have both."""

    name: str
    lang: str
    file: str
    namespaces: int
    documents: int
    queries: int
    negatives: int
    unanswerable: int
    unknown_ids: int
    not_stored: int
    kept_out: int
    arms: tuple[ArmFigures, ...]


class Abstention(Frozen, frozen=True, kw_only=True):
    """Queries to which nothing should be recalled, over sets with the same documents. `answered`: the share of them
    that got anything at all. `auc`: how often the best hit of a query that has an answer is surer than the best of one
    that has none (.5 is chance); None without either."""

    sets: tuple[str, ...]
    arm: str
    queries: int
    negatives: int
    answered: float
    auc: float | None


class Report(Frozen, frozen=True, kw_only=True):
    """Everything that one run says. `passed_over`: files of a folder that are no sets."""

    sets: tuple[SetFigures, ...]
    abstention: tuple[Abstention, ...]
    notes: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()


def arm_figures(arm: str, asked: Sequence[Asked]) -> ArmFigures:
    """One arm's figures over everything it was asked; the quality is that of queries which have an answer."""
    positive = [one for one in asked if one.relevant]
    took = [one.micros / 1000 for one in asked]
    return ArmFigures(
        arm=arm,
        quality=_quality(positive),
        latency=Latency(p50=round(percentile(took, 0.5), 3), p99=round(percentile(took, 0.99), 3)),
        by_type={
            kind: _quality(one for one in positive if one.type == kind)
            for kind in sorted({one.type for one in positive})
        },
        shortfalls=dict(sorted(Counter(why for one in asked for why in one.shortfalls).items())),
    )


def _quality(asked: Iterable[Asked]) -> Quality:
    return quality((one.found, one.relevant) for one in asked)


def corpus_digest(texts: Iterable[str]) -> str:
    """A digest of documents in their order: sets with the same one have the same documents."""
    return text_digest("\n".join(map(text_digest, texts)))


class Certainty:
    """How sure each arm was of its best hits, gathered by corpus."""

    def __init__(self) -> None:
        self._sets: dict[str, dict[str, None]] = {}
        self._sure: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
        self._answered: Counter[tuple[str, str]] = Counter()

    def add(self, corpus: str, name: str, arm: str, asked: Iterable[Asked]) -> None:
        self._sets.setdefault(corpus, {})[name] = None
        positive, negative = self._sure.setdefault((corpus, arm), ([], []))
        for one in asked:
            (positive if one.relevant else negative).append(one.confidence)
            self._answered[corpus, arm] += not one.relevant and bool(one.found)

    def abstention(self) -> tuple[Abstention, ...]:
        """A line an arm and corpus that has queries without an answer."""
        return tuple(
            Abstention(
                sets=tuple(self._sets[corpus]),
                arm=arm,
                queries=len(positive),
                negatives=len(negative),
                answered=self._answered[corpus, arm] / len(negative),
                auc=auc(positive, negative),
            )
            for (corpus, arm), (positive, negative) in self._sure.items()
            if negative
        )
