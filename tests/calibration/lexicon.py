"""A store in memory for offline replays: the lexical arm and the statistics of a library, by plain BM25."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from recall.analyzer import distinct
from recall.canonical import digest
from recall.contracts import (
    Candidate,
    MemoryKind,
    Origin,
    Scope,
    ScopeRef,
    SourceName,
    Status,
    TermStatistics,
)
from tests.calibration.corpus import millis

K1, B = 1.2, 0.75


class Lexicon:
    """Eligible records of one session's store."""

    def __init__(self, records: Iterable[Candidate]) -> None:
        self._records = list(records)
        self._holders: dict[str, list[int]] = defaultdict(list)
        for place, record in enumerate(self._records):
            for term in record.terms:
                self._holders[term].append(place)
        lengths = [len(record.terms) for record in self._records]
        self._average = sum(lengths) / max(1, len(lengths))

    def match(self, terms: Sequence[str], limit: int = 50) -> list[Candidate]:
        """The best records that hold any of the terms, best first."""
        scores: Counter[int] = Counter()
        total = len(self._records)
        for term in terms:
            holders = self._holders.get(term, [])
            weight = math.log(1 + (total - len(holders) + 0.5) / (len(holders) + 0.5))
            for place in holders:
                length = len(self._records[place].terms) / self._average
                scores[place] += weight * (K1 + 1) / (1 + K1 * (1 - B + B * length))
        best = sorted(scores.items(), key=lambda pair: (-pair[1], self._records[pair[0]].memory_id))[:limit]
        return [structs.replace(self._records[place], score=score) for place, score in best]

    def statistics(self, terms: Sequence[str]) -> TermStatistics:
        """In how many records each term stands."""
        held = {term: len(self._holders[term]) for term in terms if term in self._holders}
        return TermStatistics(total=len(self._records), counts=held)


def candidate(memory: Mapping[str, str], workspace: str) -> Candidate:
    """A line of memories.jsonl as the lexical arm would give it."""
    shared = memory["scope"] == "User"
    text = memory["text"]
    return Candidate(
        id=f"lexical:{memory['id']}",
        memory_id=memory["id"],
        source=SourceName.LEXICAL,
        scope=ScopeRef(kind=Scope.USER if shared else Scope.WORKSPACE, key="user" if shared else workspace),
        score=0.0,
        confidence=0.5,
        source_version=1,
        record_digest=digest(text),
        payload=text,
        kind=MemoryKind(memory["kind"]),
        status=Status(memory["status"]),
        origin=Origin.USER,
        created_at=millis(memory["created"]),
        terms=distinct(text),
    )
