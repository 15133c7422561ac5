"""Weekdays and months that a text names and its quotes do not. Pure, linear time.

A quote that names days in words that are not read here ("weekdays", "Donnerstag", "11/2") says nothing against one.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date

from governance.formation.differences import weekdays
from governance.formation.numerals import value
from governance.formation.words import SIMPLIFIED
from governance.formation.written_dates import MONTHS

_ZH = r"(?<![\d个])(?P<zh>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月"
# "May" and "March" begin sentences, too.
_BEHIND = "".join(
    f"|(?<={word} )" for word in ("of", "by", "to", "for", "from", "until", "since", "early", "after", "before")
)
_MONTH = re.compile(
    rf"\b(?P<name>january|february|(?:(?<=in ){_BEHIND})(?-i:March|May)|april|june|july|august|september"
    r"|october|november|december"
    r"|(?-i:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec))\b"
    rf"|{_ZH}",
    re.IGNORECASE,
)
# In a quote these are months, too, however they are written.
_ANY_MONTH = re.compile(rf"\b(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|{_ZH}", re.IGNORECASE)
_SOME_MONTH = re.compile(
    r"\d{1,2}[/.]\d{1,2}\b|\b(?:märz|mai|okt\w*|dez\w*|ene\w*|abr\w*|ago\w*|dic\w*|janv\w*|f[ée]v\w*|mars|avr\w*|juin"
    r"|juillet|août|d[ée]c\w*|fall|autumn|winter|spring|summer|Q[1-4])\b|\d\s?월|[春夏秋冬]|季度",
    re.IGNORECASE,
)
_SOME_DAY = re.compile(
    r"\b(?:weekdays?|weekends?|(?:work|business|week)[ -]?days?|daily|every ?day|each day"
    r"|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)|\w+tag|mittwoch|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes"
    r"|martes|miércoles|jueves|viernes)\b|工作日|周末|每天|天天|[月火水木金土日]曜|요일",
    re.IGNORECASE,
)
_DAY_FORM, _MONTH_FORM = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"(?:\d{4}|-)-(\d\d)(?:-\d\d)?")


def months(text: str) -> Iterator[int]:
    """The months that a text names by themselves or in a date, in order: 1 is January."""
    return _months(_MONTH, text)


def strange_days(text: str, quotes: Sequence[str], dates: Collection[str]) -> list[str]:
    """What the text says of weekdays and months that no quote says. `dates`: those that the quotes say or mean, in the
    forms of `written_dates`."""
    named, wanted = list(dict.fromkeys(weekdays(text))), list(dict.fromkeys(months(text)))
    if not named and not wanted:
        return []
    said = {day for quote in quotes for day in weekdays(quote)}
    said |= {date.fromisoformat(form).weekday() for form in dates if _DAY_FORM.fullmatch(form)}
    if any(_SOME_DAY.search(quote) for quote in quotes):
        named = []
    spoken = {month for quote in quotes for month in _months(_ANY_MONTH, quote)}
    spoken |= {int(form[1]) for each in dates if (form := _MONTH_FORM.fullmatch(each)) is not None}
    if any(_SOME_MONTH.search(quote) for quote in quotes):
        wanted = []
    return [f"weekday {day + 1}" for day in named if day not in said] + [
        f"month {month}" for month in wanted if month not in spoken
    ]


def _months(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    for match in pattern.finditer(text.translate(SIMPLIFIED)):
        name = match["name"]
        month = MONTHS[name[:3].lower()] if name else value(match["zh"])
        if month is not None:
            yield month
