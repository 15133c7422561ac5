"""M-03: association by what is stated. A question names a thing, and these are the memories that give it a value.

All of them, also those that say otherwise: what contradicts what is seen only where both are there.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from recall.analyzer import distinct
from recall.contracts import Candidate, Cue, Index, MemoryKind, SegmentKind, Source, SourceName

MOST_TERMS = 32


class Stated(Protocol):
    """What is read of a text: which thing it gives a value."""

    @property
    def subject(self) -> str: ...


def semantic_source(stated: Callable[[str], Stated | None]) -> Source:
    """The source. `stated`: how a text is read; None: it states nothing."""

    async def semantic(cue: Cue, index: Index) -> Sequence[Candidate]:
        """Facts whose subject the question names in full, those of which it says more first."""
        if not (cue.terms and (cue.segment_kind is None or (cue.segment_kind is SegmentKind.PROMPT and cue.question))):
            return ()
        asked = frozenset(cue.focus or cue.terms)
        found: list[Candidate] = []
        for one in await index.match(tuple(cue.focus or cue.terms)[:MOST_TERMS], cue.scope, cue.limit):
            fact = stated(one.payload) if one.kind is MemoryKind.SEMANTIC else None
            subject = frozenset() if fact is None else _named(fact.subject)
            if subject and subject <= asked:
                found.append(_candidate(one, len(subject) / len(asked)))
        return sorted(found, key=lambda one: (-one.score, one.memory_id))

    return semantic


def _named(subject: str) -> frozenset[str]:
    """The terms of a subject: of a CJK run its pairs, for a question goes on where the name ends."""
    return frozenset(term for term in distinct(subject) if term.isascii() or len(term) <= 2)


def _candidate(found: Candidate, share: float) -> Candidate:
    return msgspec.structs.replace(
        found,
        id=f"{SourceName.SEMANTIC}:{found.memory_id}",
        source=SourceName.SEMANTIC,
        score=share,
        confidence=share,
    )
