"""What look-ups have read of the index, while its tables stand as they are (M-05).

The events of a session turn about the same things, so a search finds much of what the one before it found. What is kept
holds for one version of the tables of one epoch; when they change, another takes its place and this one is let go: a
record that was taken out is in no memory of ours either. One row of each is read all the same, for else nobody would
notice that a table broke. Reader threads share it: what two of them read at once is read twice, no more.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from recall.contracts import Candidate

RECORDS = 4_096  # that are kept at most; then it begins anew
ROWS = 500_000  # of all postings that are kept together, eight bytes each


@dataclass(slots=True)
class Known:
    """A record as read. `row` is what its candidate is made of, when somebody needs it first: most are only scored."""

    memory_id: str
    terms: tuple[str, ...]
    once: tuple[str, ...]  # those of its terms, the last, that occur once
    counts: bytes  # of the others: how often
    length: int
    row: Sequence[Any]
    candidate: Candidate | None = None


@dataclass(slots=True)
class Reads:
    """Records by row, and the rows that hold a token, the newest read last."""

    records: dict[int, Known] = field(default_factory=dict)
    postings: dict[str, "array[int]"] = field(default_factory=dict)
    rows: int = 0  # of the postings

    def add(self, token: str, rows: "array[int]") -> None:
        """Keep the rows that hold a token."""
        self.rows += len(rows) - len(self.postings.get(token, ()))
        self.postings[token] = rows


class Kept:
    """What was read at one version of the tables."""

    def __init__(self, version: str = "", epoch: int = 0) -> None:
        self._at = version, epoch
        self._reads = Reads()

    def at(self, version: str, epoch: int) -> Reads:
        """What was read of the tables as somebody sees them, to look in and to add to; nothing of other tables."""
        if (version, epoch) != self._at:
            return Reads()
        if len(self._reads.records) > RECORDS or self._reads.rows > ROWS:
            self._reads = Reads()
        return self._reads
