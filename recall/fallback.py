"""G-05: circuit breakers around the arms, and the answer from memory when the lexical arm has none.

A breaker is closed until an arm failed three times in a row; then it is open for 30 s and the arm is not asked; then
half-open: one pass may try, and its outcome closes the breaker or opens it again. Times are given, never read.
"""

from collections import Counter
from enum import StrEnum

import msgspec
from rapidfuzz import fuzz, process

from recall.contracts import Candidate, Cue, Index, SourceName, TermStatistics

FAILURES = 3
OPEN_MICROS = 30_000_000
ALIKE = 40.0  # rapidfuzz token-set ratio below which a record is noise
ASKED = 64  # terms of the cue that are compared


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Breaker:
    """The breaker of one arm. `now` is a monotonic count of microseconds."""

    def __init__(self, failures: int = FAILURES, open_micros: int = OPEN_MICROS) -> None:
        self._limit = failures
        self._open_micros = open_micros
        self._failed = 0
        self._opened_at: int | None = None
        self._trying = False

    def state(self, now: int) -> BreakerState:
        """Where the breaker stands."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if now - self._opened_at < self._open_micros else BreakerState.HALF_OPEN

    def allows(self, now: int) -> bool:
        """Whether the arm may be asked. A half-open breaker allows one try; whoever is allowed reports the outcome."""
        match self.state(now):
            case BreakerState.CLOSED:
                return True
            case BreakerState.HALF_OPEN if not self._trying:
                self._trying = True
                return True
            case _:
                return False

    def succeeded(self) -> None:
        """The arm answered in time."""
        self._failed, self._opened_at, self._trying = 0, None, False

    def failed(self, now: int) -> None:
        """The arm was late or broken."""
        self._failed += 1
        if self._trying or self._failed >= self._limit:
            self._opened_at = now
        self._trying = False

    def abandoned(self) -> None:
        """The pass was called off before the arm could answer: neither outcome."""
        self._trying = False


def hot_scan(cue: Cue, index: Index) -> list[Candidate]:
    """The records held in memory that are most like the cue, best first: no table is asked (CPU only)."""
    asked = " ".join(cue.terms[:ASKED])
    held = index.hot(cue.scope)
    if not asked or not held:
        return []
    texts = [" ".join(one.terms) for one in held]
    found = process.extract(
        asked, texts, scorer=fuzz.token_set_ratio, processor=None, score_cutoff=ALIKE, limit=len(texts)
    )
    best = sorted(((ratio, held[place]) for _, ratio, place in found), key=lambda one: (-one[0], one[1].memory_id))
    return [
        msgspec.structs.replace(
            one,
            id=f"{SourceName.LEXICAL}:{one.memory_id}",
            source=SourceName.LEXICAL,
            score=ratio / 100,
            confidence=ratio / 100,
            reasons=("degraded",),
        )
        for ratio, one in best[: cue.limit]
    ]


def hot_statistics(cue: Cue, index: Index) -> TermStatistics:
    """Document counts over the records held in memory."""
    held = index.hot(cue.scope)
    wanted = frozenset(cue.terms)
    counts = Counter(term for one in held for term in one.terms if term in wanted)
    return TermStatistics(total=len(held), counts=dict(counts))
