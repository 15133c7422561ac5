"""A table of rules, run in linear time: one pass finds the literals that rules need, and only rules that can hit run.

The prefilter is re2's own (FilteredRE2): it derives the literals from the patterns, so a rule cannot be forgotten. A
`re2.Set` of the whole patterns would be simpler and is not used: on dense text its automaton may outgrow its memory,
and then it says "no match".
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, cast

import re2


class Match(Protocol):
    """The part of a re2 match that is used here. Offsets are bytes."""

    def group(self, name: str | int = 0) -> bytes | None: ...

    def span(self, number: int = 0) -> tuple[int, int]: ...


@dataclass(slots=True)  # not frozen: one is made for each match, and freezing would double what it costs
class Hit:
    """One hit of one rule: the bytes [start, end) of `data`, and the whole match around them."""

    rule: "Rule"
    data: bytes
    match: Match
    start: int
    end: int

    @property
    def value(self) -> str:
        """The text that the finding covers."""
        return self.data[self.start : self.end].decode("utf-8", "replace")

    def group(self, name: str | int = 0) -> str:
        """A group's text, empty when it took no part; 0 is the whole match."""
        return (self.match.group(name) or b"").decode("utf-8", "replace")

    def before(self, length: int) -> str:
        """At most `length` bytes of text just before the finding."""
        return self.data[max(0, self.start - length) : self.start].decode("utf-8", "ignore")

    def after(self, length: int) -> str:
        """At most `length` bytes of text just after the finding."""
        return self.data[self.end : self.end + length].decode("utf-8", "ignore")


Check = Callable[[Hit], bool]


def anything(hit: Hit) -> bool:
    """The check of a rule whose pattern says it all."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one family looks like.

    A finding covers the first group named `value…` that took part, else the whole match; `check` has the last word.
    `glance` is asked before, about the bytes covered: for patterns that ordinary text holds by the thousand. `simple`:
    the pattern has no groups and is linear in any engine, so dense text may be read by the one that is quicker there.
    """

    family: str
    pattern: str
    check: Check = anything
    severity: str = "high"
    glance: Callable[[bytes], bool] | None = None
    simple: bool = False
    far: bool = True


FREE, PER = 384, 80  # matches looked at closely in one text, and bytes that earn one more: what is denser is a flood
HIT = 2  # what a hit counts for beside a match that comes to nothing
SPARSE = 64  # matches of a simple pattern after which a text counts as dense


PIECE, AROUND = (
    1024,
    512,
)  # bytes in which, with so many before and behind, all stands that a rule which is not far needs
BLANKS = (b"\n" * 48, b" " * 256, b"\t" * 48)  # these may stretch any hit

Stretch = tuple[int, int]


class Matcher:
    """The rules of one table, compiled. `find` is the only thing it does. Rules with one pattern share its run.

    `flood`: the family of the one hit that covers a whole text in which so much has to be looked at closely that it
    would take long: no honest text is like that, and none gets through for it.
    """

    def __init__(self, rules: Sequence[Rule], flood: str = "flood") -> None:
        shared: dict[str, list[Rule]] = {}
        for rule in rules:
            shared.setdefault(rule.pattern, []).append(rule)
        self._rules = tuple(shared.values())
        self._flood = Rule(family=flood, pattern="")
        self._expressions = tuple(re2.compile(pattern) for pattern in shared)
        self._values = tuple(
            tuple(number for name, number in expression.groupindex.items() if name.startswith("value"))
            for expression in self._expressions
        )
        self._quick = tuple(
            re.compile(pattern.encode()) if all(rule.simple for rule in rules) else None
            for pattern, rules in shared.items()
        )
        self._far = tuple(any(rule.far for rule in rules) for rules in self._rules)
        self._filter = re2.Filter()
        for pattern in shared:
            self._filter.Add(pattern)
        self._filter.Compile()

    def find(self, data: bytes) -> Iterator[Hit]:
        """Every hit of every rule, pattern by pattern in the table's order; in a flood, last one over everything."""
        left = FREE + len(data) // PER
        for number, (first, last) in self._stretches(data):
            values, rules = self._values[number], self._rules[number]
            for match in self._matches(number, data, first, last):
                covered = next((group for group in values if match.span(group)[0] >= 0), 0) if values else 0
                start, end = match.span(covered)
                glimpsed = data[start:end]
                asked = [rule for rule in rules if rule.glance is None or rule.glance(glimpsed)]
                if not asked:
                    continue
                left -= 1
                if left < 0:
                    yield Hit(self._flood, data, match, 0, len(data))
                    return
                for rule in asked:
                    hit = Hit(rule, data, match, start, end)
                    if rule.check(hit):
                        left -= HIT - 1
                        yield hit

    def _stretches(self, data: bytes) -> Iterator[tuple[int, Stretch]]:
        """Where which rule may hit. A long text is read in pieces: in one, few rules have what they need."""
        able: dict[int, list[Stretch]] = {}
        size = len(data)
        if size <= PIECE + 2 * AROUND or all(self._far) or any(run in data for run in BLANKS):
            able = {number: [(0, size)] for number in self._filter.Match(data, potential=True) or ()}
        else:
            for start in range(0, size, PIECE):
                first, last = max(0, start - AROUND), min(size, start + PIECE + AROUND)
                for number in self._filter.Match(data[first:last], potential=True) or ():
                    known = able.setdefault(number, [])
                    if self._far[number]:
                        known[:] = [(0, size)]
                    elif known and known[-1][1] >= first:
                        known[-1] = known[-1][0], last
                    else:
                        known.append((first, last))
        for number in sorted(able):
            for stretch in able[number]:
                yield number, stretch

    def _matches(self, number: int, data: bytes, first: int, last: int) -> Iterator[Match]:
        quick = self._quick[number]
        matches = self._expressions[number].finditer(data, first, last)
        if quick is None:
            yield from matches
            return
        place = 0
        for match in islice(matches, SPARSE):
            place = match.span()[1]
            yield match
        if place and next(matches, None) is not None:
            yield from cast(Iterator[Match], quick.finditer(data, place, last))
