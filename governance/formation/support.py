"""Whether everything exact in a text stands in the quotes below it. Pure, linear time.

A mark (`marks`) is supported when a quote has it in any spelling, or when it is a date that resolves a relative date of
a quote. A number without its unit supports one with it and the other way round; `3.11.4` supports `3.11`, and `max
retries` supports `maxRetries`; a number may be written in words, and a length of time in other units. What stands in
backticks is exact, plain words too.
A weekday or a month must be said, or be that of a date that is. A match is mechanical and proves no sentence right.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from governance.formation.days import strange_days
from governance.formation.marks import Mark, marks, marks_of, plain_form
from governance.formation.numerals import in_digits, surely_in_digits
from governance.formation.quotes import Span
from governance.formation.units import MILLIS, clocks
from governance.formation.written_dates import either_way

__all__ = ["marks_of", "unsupported", "whole"]

_CODE = re.compile(r"`([^`\n]{1,400})`")
_CODE_WORD = re.compile(r"[^\s`]+")
_W = "A-Za-z0-9_"
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_HALF_READ = re.compile(r"(?<!\d)\d{1,2}(?=(?::\d\d)?\s?[ap]\.?m\b|(?-i:M)\b)", re.IGNORECASE)
_TWO = re.compile(r"\b(?:both|either|neither|pairs?|double[ds]?|twin)\b|[双俩]|两者", re.IGNORECASE)
_TIMES = re.compile(r"(\d+(?:\.\d+)?)x")  # 5x faster
_PLAIN_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
_HEAD = re.compile(rf"[{_W}]+(?:[.,:]\d+)*")
_TAIL = re.compile(rf"[{_W}]+(?:[.,:]\d+)*\Z")
_TAIL_READ = 64
# Names that everybody shortens: one of a family stands for the others.
_FAMILIES = (
    ("javascript", "js"),
    ("typescript", "ts"),
    ("postgresql", "postgres", "pg", "psql"),
    ("mongodb", "mongo"),
    ("elasticsearch", "es"),
    ("github", "gh"),
    ("k8s", "kubernetes"),
    ("i18n", "internationalization", "internationalisation", "国际化"),
    ("l10n", "localization", "localisation", "本地化"),
    ("a11y", "accessibility"),
    ("e2e", "end-to-end", "end to end", "端到端"),
    ("node.js", "nodejs", "node"),
    ("vue.js", "vue"),
    ("next.js", "next"),
    ("react.js", "react"),
    ("nuxt.js", "nuxt"),
    ("express.js", "express"),
    ("golang", "go"),
    ("macos", "mac", "osx"),
    ("readme.md", "readme"),
    ("changelog.md", "changelog"),
)
_ENDINGS = frozenset(("db", "js", "mq", "sql"))
SHORTEST_NAME = 5
_KIN = {name: family for family in _FAMILIES for name in family}


def unsupported(text: str, quotes: Sequence[str], dates: Collection[str] = ()) -> tuple[str, ...]:
    """The marks of a text that none of the quotes supports, each once, in order.

    `dates`: what relative dates of the quotes resolve to (`dates.resolved`).
    """
    ground = _Ground(quotes, dates)
    missing = [mark.form for mark in marks(text) if not ground.has(mark)]
    missing += [mark.form for mark in _worded(text) if not ground.has(mark) and not ground.lists(mark)]
    missing += strange_days(text, quotes, ground.dates)
    missing += [word for word in _code_words(text) if not ground.says(word)]
    return tuple(dict.fromkeys(missing))


def whole(content: str, span: Span) -> str:
    """The quoted slice without what its ends cut: of `limit 30` the quote `limit 3` says no number."""
    start, end = span
    if start and start < end and _runs_on(content, start):
        head = _HEAD.match(content, start, end)
        start = head.end() if head else start
    if start < end < len(content) and _runs_on(content, end):
        tail = _TAIL.search(content, max(start, end - _TAIL_READ), end)
        end = tail.start() if tail else end
    return content[start:end]


def _runs_on(content: str, place: int) -> bool:
    """Whether a word or a number goes on across a place."""
    before, behind = content[place - 1], content[place]
    if _is_word(before) and _is_word(behind):
        return True
    if before in ".,:" and behind.isdigit():
        return content[place - 2 : place - 1].isdigit()
    return before.isdigit() and behind in ".,:" and content[place + 1 : place + 2].isdigit()


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _worded(text: str) -> Iterator[Mark]:
    """The numbers that a text writes in words, as far as they surely count something."""
    said = surely_in_digits(text)
    if said != text:
        yield from (mark for mark in marks_of(said) - marks_of(text) if mark.kind == "number")


def _code_words(text: str) -> Iterator[str]:
    for match in _CODE.finditer(plain_form(text)):
        for word in _CODE_WORD.findall(match[1]):
            plain = word[1:].islower() or word.isupper() or len(word) == 1
            if plain and word.isascii() and word.isalpha():  # all else is a mark, or a sign
                yield word.lower()


class _Said(NamedTuple):
    """What one quote says: its marks, its words in lower case, the digits in its names, its times of day."""

    marks: frozenset[Mark]
    text: str
    digits: frozenset[str]
    times: frozenset[str]


@lru_cache(maxsize=256)  # the claims of one answer rest on the same few quotes
def _said(quote: str) -> _Said:
    found = frozenset((*marks_of(quote), *marks_of(in_digits(quote)), *marks_of(surely_in_digits(quote))))
    found |= {Mark("number", "2")} if _TWO.search(quote) else frozenset()
    return _Said(
        marks=found,
        text=plain_form(quote).lower().replace("\\", "/"),
        digits=frozenset(
            digits for mark in found if mark.kind in ("name", "path") for digits in _DIGITS.findall(mark.form)
        )
        | frozenset(_HALF_READ.findall(quote)),
        times=frozenset([*clocks(quote), *(mark.form for mark in found if mark.kind == "time")]),
    )


def _length(mark: Mark) -> Fraction | None:
    """How long a time is, in milliseconds; None: it is no length of time."""
    if mark.detail not in MILLIS or not _PLAIN_NUMBER.fullmatch(mark.form):
        return None
    return Fraction(mark.form) * MILLIS[mark.detail]


class _Ground:
    """What quotes say, as far as a mark may rest on it."""

    def __init__(self, quotes: Sequence[str], dates: Collection[str]) -> None:
        said = [_said(quote) for quote in quotes]
        self._marks = frozenset(mark for one in said for mark in one.marks)
        self._text = "\n".join(one.text for one in said)
        counted = [mark for mark in self._marks if mark.kind == "number"]
        self._bare = frozenset(number for one in said for number in one.digits)
        self._bare |= {mark.form for mark in counted if not mark.detail}
        self._numbers = self._bare | {mark.form for mark in counted}
        self._lengths = frozenset(length for mark in counted if (length := _length(mark)) is not None)
        self._times = frozenset(time for one in said for time in one.times)
        days = {mark.form for mark in self._marks if mark.kind == "date"} | set(dates)
        days |= {form for quote in quotes for form in either_way(plain_form(quote))}
        self.dates = frozenset(days)
        self._dates = days | {form[:size] for form in days for size in (4, 7) if form[:4].isdigit()}
        self._yearless = {f"-{form[4:]}" for form in days if len(form) == len("2026-11-02")}

    def has(self, mark: Mark) -> bool:
        if mark in self._marks:
            return True
        match mark.kind:
            case "number":
                return self._counts(mark)
            case "time":
                return mark.form in self._times or mark.form.removesuffix(":00") in self._times
            case "date":
                return mark.form in self._dates or mark.form in self._yearless
            case _:
                return self._names(mark)

    def lists(self, mark: Mark) -> bool:
        """Whether a small number in words may be how many things are named: "two of them" for "dev and prod"."""
        return mark.form in ("2", "3") and not self._numbers

    def says(self, word: str) -> bool:
        """Whether these characters stand there as they are, between others than letters and digits."""
        return word in self._text and self._matches(re.escape(word))

    def _matches(self, pattern: str) -> bool:
        before = "" if pattern[0] == "/" else rf"(?<![{_W}])"  # what a slash begins is a piece of a longer path
        return re.search(rf"{before}{pattern}(?![{_W}])", self._text) is not None

    def _counts(self, mark: Mark) -> bool:
        if mark.form in self._bare or mark.form in self._dates:
            return True
        if not mark.detail and mark.form in self._numbers:
            return True
        length = _length(mark)
        if length is not None and length in self._lengths:  # 90 minutes are 1.5 hours
            return True
        if not mark.detail and f"{mark.form:0>2}:00" in self._times:
            return True
        longer = f"{mark.form}."  # `1.5` is no version, and says no 1
        return any(
            number.startswith(longer) and ("." in mark.form or number.count(".") > 1) for number in self._numbers
        )

    def _names(self, mark: Mark) -> bool:
        if mark.form in self._dates or self.says(mark.form):
            return True
        if mark.form.isalpha() and mark.form in self._text and self._matches(rf"{mark.form}\d+"):  # sqlite3 is a SQLite
            return True
        times = _TIMES.fullmatch(mark.form)
        if times and times[1] in self._numbers:
            return True
        if any(self._matches(rf"{re.escape(name)}\d*") for name in _KIN.get(mark.form, ()) if name in self._text):
            return True
        words = mark.detail.split()
        if "." not in mark.form and self._shortened(words):  # `server.js` is a file, and no `server.ts`
            return True
        least = 1 if mark.form.startswith("__") else 2  # `__so__` may be bold print
        if len(words) < least or any(word not in self._text for word in words):
            return False
        return self._matches("[ -]?".join(map(re.escape, words)))

    def _shortened(self, words: Sequence[str]) -> bool:
        """Whether a product's name is said without its ending: `rabbit` for `RabbitMQ`."""
        return len(words) == 2 and len(words[0]) >= SHORTEST_NAME and words[1] in _ENDINGS and self.says(words[0])
