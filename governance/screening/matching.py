"""A table of rules, run in linear time: one pass finds the literals that rules need, and only rules that can hit run.

The prefilter is re2's own (FilteredRE2): it derives the literals from the patterns, so a rule cannot be forgotten. A
`re2.Set` of the whole patterns would be simpler and is not used: on dense text its automaton may outgrow its memory,
and then it says "no match".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import re2


class Match(Protocol):
    """The part of a re2 match that is used here. Offsets are bytes."""

    def group(self, name: str | int = 0) -> bytes | None: ...

    def span(self, number: int = 0) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
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
    """

    family: str
    pattern: str
    check: Check = anything
    severity: str = "high"


class Matcher:
    """The rules of one table, compiled. `find` is the only thing it does. Rules with one pattern share its run."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        shared: dict[str, list[Rule]] = {}
        for rule in rules:
            shared.setdefault(rule.pattern, []).append(rule)
        self._rules = tuple(shared.values())
        self._expressions = tuple(re2.compile(pattern) for pattern in shared)
        self._values = tuple(
            tuple(number for name, number in expression.groupindex.items() if name.startswith("value"))
            for expression in self._expressions
        )
        self._filter = re2.Filter()
        for pattern in shared:
            self._filter.Add(pattern)
        self._filter.Compile()

    def find(self, data: bytes) -> Iterator[Hit]:
        """Every hit of every rule, pattern by pattern in the table's order."""
        for number in sorted(self._filter.Match(data, potential=True) or ()):
            for match in self._expressions[number].finditer(data):
                covered = next((group for group in self._values[number] if match.span(group)[0] >= 0), 0)
                for rule in self._rules[number]:
                    hit = Hit(rule, data, match, *match.span(covered))
                    if rule.check(hit):
                        yield hit
