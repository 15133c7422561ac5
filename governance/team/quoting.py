"""The words of a turn that a statement rests on, beside it in a review (team.md 7). Pure."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from governance.team.contracts.turns import TurnContent
from recall.analyzer import distinct
from recall.contracts import Frozen

LONGEST = 160  # characters of a quote
SENTENCES = 1_000  # of a turn that are looked at
READ = 640  # characters of one that are
_RANK = {"user": 0, "assistant": 1, "tool-result": 2, "tool-call": 3}  # of two that fit as well, the user's words
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n")


class Said(Frozen, frozen=True, kw_only=True):
    """A sentence of a turn, on one line. `rank`: by who said it."""

    text: str
    rank: int
    terms: frozenset[str]


def sentences(content: TurnContent) -> tuple[Said, ...]:
    """What was said in a turn, as it can be quoted; the user's words first."""
    return tuple(islice(_sentences(content), SENTENCES))


def quote(said: Sequence[Said], statement: str) -> str | None:
    """The sentence that has most of a statement's terms in it; None: none has any. At most LONGEST characters."""
    wanted = frozenset(distinct(statement))
    best = min(said, key=lambda one: (-len(wanted & one.terms), one.rank), default=None)
    return None if best is None or not wanted & best.terms else _cut(best.text)


def _sentences(content: TurnContent) -> Iterator[Said]:
    for event in sorted(content.events, key=lambda event: _RANK[event.kind]):
        for text in _SENTENCE.split(event.text):
            if line := " ".join(text.split()):
                yield Said(text=line, rank=_RANK[event.kind], terms=frozenset(distinct(line[:READ])))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
