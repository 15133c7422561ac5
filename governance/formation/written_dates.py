"""Dates as people write them, in one form. Pure, linear time.

`2 November 2026`, `Nov 2nd, 2026`, `2026/11/2` and `2026年11月2日` are all `2026-11-02`; a month is `2026-11`, a
quarter `2026-Q4`, a week `2026-W44`; a date without its year is `--11-02`. `11/02/2026` has two readings: it is none
(`either_way` gives both).
"""

import calendar
import re
from collections.abc import Iterator
from typing import NamedTuple

_NAMES = "january february march april may june july august september october november december"
MONTHS = {name[:3]: place for place, name in enumerate(_NAMES.split(), start=1)}
# "may" and "march" are verbs too: as months they are written large.
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?|(?-i:M(?:arch|ARCH|ar|AR|ay|AY)))\.?"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:19|20)\d\d"
_TH = r"(?:st|nd|rd|th)?"

_DATE = re.compile(
    rf"(?<![\d.-])(?P<y1>{_YEAR})(?P<sep>[-/.])(?P<m1>{_MONTH})(?P=sep)(?P<d1>{_DAY})(?![\d-])(?!\.\d)"
    rf"|(?P<y2>{_YEAR})\s?年\s?(?P<m2>{_MONTH})\s?月(?:\s?(?P<d2>{_DAY})\s?[日号號])?"
    rf"|(?<!\d)(?P<m3>{_MONTH})\s?月\s?(?P<d3>{_DAY})\s?[日号號]"
    rf"|(?<![\d.-])(?P<y4>{_YEAR})-?(?:Q(?P<q4>[1-4])|W(?P<w4>[0-5]\d))(?!\w)"
    rf"|\bQ(?P<q5>[1-4])[\s/-]?(?:of\s)?(?P<y5>{_YEAR})(?!\w)"
    rf"|(?<![\d.-])(?P<y6>{_YEAR})[-/](?P<m6>0[1-9]|1[0-2])(?![\d/-])(?!\.\d)"
    rf"|\b(?P<n7>{MONTH})\s?(?P<y7>{_YEAR})(?!\w)"
    rf"|\b(?P<n8>{MONTH})\s?(?:the\s)?(?P<d8>{_DAY}){_TH}(?![\w:%])(?:,?\s(?P<y8>{_YEAR})(?!\w))?"
    rf"|(?<![\w.:-])(?P<d9>{_DAY}){_TH}\s(?:of\s)?(?P<n9>{MONTH})(?!\w)(?:,?\s(?P<y9>{_YEAR})(?!\w))?",
    re.IGNORECASE,
)


_EITHER = re.compile(rf"(?<![\w/.-])(\d{{1,2}})/(\d{{1,2}})(?:/({_YEAR}))?(?![\w/-]|\.\d)")


class Written(NamedTuple):
    """A date in a text: where it stands (code points, half-open), and its one form."""

    start: int
    end: int
    form: str


def dates_in(text: str) -> Iterator[Written]:
    """The dates that a text writes, in order. A day that its month does not have is no date."""
    for match in _DATE.finditer(text):
        form = _form(match)
        if form:
            yield Written(match.start(), match.end(), form)


def either_way(text: str) -> Iterator[str]:
    """Both readings of each date that is written like `11/02/2026` or `11/2`, as far as they are days."""
    for match in _EITHER.finditer(text):
        for month, day in ((match[1], match[2]), (match[2], match[1])):
            form = f"{match[3] or '-'}-{int(month):02}-{int(day):02}"
            if 1 <= int(month) <= 12 and 1 <= int(day) <= _days_of(match[3] or "-", int(month)):
                yield form


def _days_of(year: str, month: int) -> int:
    return calendar.monthrange(2024 if year == "-" else int(year), month)[1]


def _form(match: re.Match[str]) -> str:
    said = {name[0]: found for name, found in match.groupdict().items() if found is not None and name != "sep"}
    year = said.get("y", "-")
    if "q" in said:
        return f"{year}-Q{said['q']}"
    if "w" in said:
        return f"{year}-W{said['w']}"
    month = MONTHS[said["n"][:3].lower()] if "n" in said else int(said["m"])
    if "d" not in said:
        return f"{year}-{month:02}"
    day = int(said["d"])
    return f"{year}-{month:02}-{day:02}" if day <= _days_of(year, month) else ""
