"""How often a term turns up in coding sessions at large: the noise floor before a session has counts of its own. Pure.

The shipped table (`recall/data/background.txt.z`, see the README beside it) maps terms of `recall/analyzer.py` to the
number of events that held them, of `total` distinct terms counted over all events. It belongs to one analyzer version.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources

from recall.analyzer import ANALYZER

TABLE = "background.txt.z"


class BackgroundFault(ValueError):
    """The background table cannot be used: the message says why."""


@dataclass(frozen=True, slots=True)
class Background:
    """Counts of events by term. `total` is the sum over events of their distinct terms; a rare term has no entry."""

    counts: Mapping[str, int] = field(default_factory=dict)
    total: int = 1

    def share(self, term: str, floor: float) -> float:
        """The probability of a term at one place of an event, at least `floor`."""
        count = self.counts.get(term)
        return floor if count is None else max(floor, count / self.total)


def load_background() -> Background:
    """The shipped table. Raises BackgroundFault when it is damaged or of another analyzer version."""
    return unpacked(resources.files("recall").joinpath("data", TABLE).read_bytes())


def packed(counts: Mapping[str, int], total: int, least: int) -> bytes:
    """The table as bytes: a header line, then a line a count with its terms; counts under `least` are left out."""
    by_count: dict[int, list[str]] = {}
    for term, count in counts.items():
        if count >= least:
            by_count.setdefault(count, []).append(term)
    lines = [f"{ANALYZER} {total}"]
    lines += [f"{count} {' '.join(sorted(by_count[count]))}" for count in sorted(by_count, reverse=True)]
    return zlib.compress("\n".join(lines).encode("utf-8"), 9)


def unpacked(data: bytes) -> Background:
    """The table of `packed` bytes."""
    try:
        header, *lines = zlib.decompress(data).decode("utf-8").split("\n")
        version, total = header.split(" ")
        table = Background(dict(_pairs(lines)), int(total))
    except (zlib.error, ValueError) as error:
        raise BackgroundFault(f"the background table is damaged: {error}") from error
    if version != ANALYZER:
        raise BackgroundFault(f"the background table is of {version}, the analyzer is {ANALYZER}: build it again")
    return table


def _pairs(lines: Iterable[str]) -> Iterable[tuple[str, int]]:
    for line in lines:
        count, *terms = line.split(" ")
        number = int(count)
        yield from ((term, number) for term in terms)
