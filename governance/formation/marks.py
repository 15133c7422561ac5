"""What in a text must be exact: numbers with their units, versions, dates, times, paths and identifiers. Pure, linear.

Each has one form, whatever its spelling: `10,000`, `10000` and `10k` are one number; `30s` and `30 seconds` are `30 s`;
`v1.2` is `1.2`; names and paths are in lower case, with slashes. Plain words are no marks, nor is what only joins them
(`and/or`, `end-to-end`, `APIs`).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from governance.formation.units import SCALES, UNIT, UNITS, clocks
from governance.formation.written_dates import dates_in


class Mark(NamedTuple):
    """Something exact. `kind`: number, time, date, path or name. `form`: its one form. `detail`: the unit of a number,
    or how a name is spoken (`max retries`)."""

    kind: str
    form: str
    detail: str = ""


_W = "A-Za-z0-9_"
_TOKEN = re.compile(
    r"(?P<url>https?://[^\s<>\"'`，。；！？）\]]+)"
    rf"|(?P<path>(?<![{_W}/\\.@%+-])(?:(?:~|\.\.?|[A-Za-z]:)?[/\\][{_W}.@%+-]+(?:[/\\][{_W}.@%+*-]+)*[/\\]?"
    rf"|[{_W}.@-]+(?:[/\\][{_W}.@%+*-]+)+[/\\]?|[{_W}.@-]{{3,}}/(?![{_W}/\\.@%+*-])))"
    rf"|(?P<mail>(?<![{_W}.+-])[{_W}.+-]+@[{_W}-]+(?:\.[{_W}-]+){{0,4}}\.[A-Za-z]{{2,}}(?![{_W}]))"
    rf"|(?P<clock>(?<![{_W}:.])(?:1[0-2]|0?[1-9])(?::[0-5]\d)?\s?[aApP](?:m|M|\.m\.)(?![{_W}]))"
    rf"|(?P<time>(?<![{_W}:.])\d{{1,2}}:\d\d(?::\d\d)?(?![{_W}:]))"
    rf"|(?P<flag>(?<![{_W}-])--?[A-Za-z][{_W}-]*)"
    rf"|(?P<number>(?<![{_W}])[vV]?(?P<sign>(?<![{_W}.)\]%-])-)?(?P<digits>\d{{1,3}}(?:,\d{{3}}){{1,6}}(?:\.\d+)?(?![{_W}]|[,.]\d)|\d+(?:\.\d+)*(?!\.?\d))"
    rf"(?:(?P<scale>\s?(?:百万|[千万亿])|[kKM](?![{_W}])|\s(?i:thousand|million|billion)(?![{_W}]))?(?P<unit>{UNIT})?(?![{_W}])|(?:st|nd|rd|th)(?![{_W}])))"
    rf"|(?P<name>(?:(?<![{_W}])[@$])?(?:(?<!\.)\.)?[{_W}]+(?:(?:[-.]|::)[{_W}]+)*(?:\(\)|\+\+|\#(?![{_W}]))?)"
)
_PLAIN = re.compile(r"[A-Za-z]?[a-z]*|[A-Z]+s?|\d+")
_INNER = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_MIXED = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])")
_RAISED = re.compile(
    "[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2080-\u2089\u2150-\u215f\u2460-\u249b\u2776-\u2793]"
)
_HEADER = re.compile(r"X-[A-Z]\w+(?:-\w+)*")
_DUNDER = re.compile(r"__\w+__")
_ABBREVIATIONS = frozenset(("e.g", "i.e", "a.m", "p.m", "u.s", "u.k", "a.k.a", "ph.d"))
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+(?:\.\d+)*")
_ROOTS = (
    "src lib libs test tests doc docs app apps bin etc usr var tmp opt home pkg cmd internal packages scripts config"
    " build dist origin upstream refs"
)
_FOLDERS = frozenset(_ROOTS.split())
_TWO_SENTENCES = re.compile(r"[A-Za-z]?[a-z]+\.[A-Z][a-z]+")  # "done.Next": a blank was forgotten
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_LONGEST = 200  # characters of one name or path: longer ones are compared by their beginning


def marks_of(text: str) -> Counter[Mark]:
    """The marks of a text, each as often as it occurs. Any string is accepted."""
    return Counter(_known_marks(text)) if len(text) <= 4_000 else Counter(marks(text))


def marks(text: str) -> Iterator[Mark]:
    """The marks of a text: its dates first, then the others in order."""
    plain = plain_form(text)
    rest: list[str] = []
    last = 0
    for date in dates_in(plain):
        yield Mark("date", date.form)
        rest += (plain[last : date.start], " ")  # its digits are no numbers
        last = date.end
    yield from _others("".join((*rest, plain[last:])))


def plain_form(text: str) -> str:
    """A text under NFKC, but with a raised or circled digit apart from the digits before it: 10² is not 102."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _RAISED.sub(r" \g<0> ", text))


@lru_cache(maxsize=512)
def _known_marks(text: str) -> tuple[Mark, ...]:
    return tuple(marks(text))


def _others(text: str) -> Iterator[Mark]:
    for match in _TOKEN.finditer(text):
        found = match[0]
        match match.lastgroup:
            case "url":
                yield Mark("path", found.rstrip(".,;:!?)/").lower()[:_LONGEST])
            case "time":
                yield Mark("time", _time(found))
            case "clock":
                yield from (Mark("time", time) for time in clocks(found))
            case "mail":
                yield Mark("name", found.lower()[:_LONGEST])
            case "number":
                yield _number(match)
            case "flag":
                yield Mark("name", found.lower()[:_LONGEST])
            case "path":
                yield from _path(found)
            case _:
                yield from _name(found)


def _time(found: str) -> str:
    hour, _, rest = found.partition(":")
    return f"{int(hour):02}:{rest}"


def _number(match: re.Match[str]) -> Mark:
    digits = match["digits"].replace(",", "")
    scale = (match["scale"] or "").strip().lower()
    if scale and _VERSION.fullmatch(digits) is None:
        digits = str(int(digits[:18]) * SCALES[scale])
    elif scale:
        whole, _, part = digits.partition(".")
        zeros = len(str(SCALES[scale])) - 1
        if "." not in part and len(part) <= zeros:
            digits = str(int((whole + part.ljust(zeros, "0"))[:24]))
    unit = (match["unit"] or "").strip(" \t\n-").lower()
    return Mark("number", f"{match['sign'] or ''}{digits}", UNITS.get(unit, unit))


def _path(found: str) -> Iterator[Mark]:
    """A path, unless it only joins words or numbers: `and/or`, `CI/CD`, `1/2`, `km/h`."""
    whole = found.replace("\\", "/").rstrip(".,;:-/").removeprefix("./")
    pieces = [piece for piece in whole.split("/") if piece]
    rooted = found[:1] in "/\\~." or found[1:2] == ":" or found[-1:] in "/\\"
    named = any(not _PLAIN.fullmatch(piece) for piece in pieces) or (pieces[:1] and pieces[0].lower() in _FOLDERS)
    counted = not rooted and pieces[:1] and pieces[0][0].isdigit()  # `1/2`, `100MB/s`
    if (rooted or named) and not counted and pieces:
        yield Mark("path", whole.lower()[:_LONGEST])
        return
    for piece in pieces:
        yield from _others(piece)


def _name(found: str) -> Iterator[Mark]:
    """A name that a program gave, if it is one: with inner punctuation, inner capitals, or letters and digits."""
    bare = found.removesuffix("()").strip("_-.")
    if not bare:
        return
    if bare.isdigit():  # `$5`, `.5`, `_5_`
        yield Mark("number", f"0.{bare}" if found[0] == "." else bare)
    elif (
        found[0] in "@$"
        or found[-1] in ")+#"
        or _DUNDER.fullmatch(found)
        or "_" in bare
        or "::" in bare
        or _MIXED.match(bare)
        or _HEADER.fullmatch(bare)
    ):
        whole = found.lower() if found[:2] == "__" or found[-1] in "+#" else bare.lower().lstrip("@$")
        yield Mark("name", whole[:_LONGEST], _spoken(bare))
    elif found[0] == ".":
        yield Mark("name", f".{bare.lower()}"[:_LONGEST])
    elif "." in bare:
        if bare.lower() not in _ABBREVIATIONS and not _TWO_SENTENCES.fullmatch(bare):
            yield Mark("name", bare.lower()[:_LONGEST], _spoken(bare))
    else:
        for piece in bare.split("-"):
            if _INNER.search(piece):
                yield Mark("name", piece.lower()[:_LONGEST], _spoken(piece))


def _spoken(name: str) -> str:
    """A name in the words of which it is made: `maxRetries` and `max_retries` are both spoken `max retries`."""
    return " ".join(piece.lower() for piece in _PIECE.findall(name[:_LONGEST]))
