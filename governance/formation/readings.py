"""The readings of one relative date on the clock of its message: one reader a kind of `date_words`. Pure.

A week begins on Monday or on Sunday: where these differ there are two readings. All are in the forms of
`written_dates`.
"""

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta

from governance.formation.numerals import value
from governance.formation.written_dates import MONTHS

_DAYS = {
    "before_that": -3,
    "before_last": -2,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "after_next": 2,
    "after_that": 3,
}
_SIDES = {"last": -1, "past": -1, "previous": -1, "this": 0, "the": 0, "coming": 0, "next": 1}
_SIDES |= {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
_UNITS = {"周": "week", "星期": "week", "礼拜": "week", "月": "month", "季": "quarter", "季度": "quarter", "年": "year"}
_UNITS |= {"天": "day", "日": "day", "小时": "hour", "分钟": "minute"}
_UNITS |= {"W": "week", "M": "month", "Q": "quarter", "Y": "year"}
_WEEKDAYS = {name[:3].lower(): place for place, name in enumerate(calendar.day_name)}
_WEEKDAYS |= {character: place for place, character in enumerate("一二三四五六日")} | {"天": 6}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_HALVES = {"hour": ("minute", 30), "day": ("hour", 12), "month": ("day", 15), "year": ("month", 6)}
_HALVES |= {"小时": ("minute", 30), "天": ("hour", 12), "月": ("day", 15), "年": ("month", 6)}
_LONGEST = 40_000  # of anything that is counted: beyond that there is no calendar


def readings(match: re.Match[str], moment: datetime) -> frozenset[str]:
    """Every reading of a match of `DATE_WORDS` that was said at `moment`; none beyond the years 1 to 9999."""
    try:
        return frozenset(_READERS[match.lastgroup or ""](match, moment))
    except (OverflowError, ValueError):
        return frozenset()


def in_some_year(form: str, today: date) -> Iterator[str]:
    """The dates nearest to `today`, before and after it, that `--11-02` may be."""
    month, day = int(form[2:4]), int(form[5:7])
    for year in (today.year - 1, today.year, today.year + 1):
        if 1 <= year <= 9999 and day <= calendar.monthrange(year, month)[1]:
            found = date(year, month, day)
            if abs((found - today).days) <= 366:
                yield found.isoformat()


def _day_word(match: re.Match[str], moment: datetime) -> Iterator[str]:
    yield _plus(moment.date(), _DAYS[match.lastgroup or ""])


def _night(_match: re.Match[str], moment: datetime) -> Iterator[str]:
    yield _plus(moment.date(), -1)
    if moment.hour < 12:  # after midnight is the same night
        yield _plus(moment.date(), 0)


def _of_week(match: re.Match[str], moment: datetime) -> Iterator[str]:
    weekday, side = match["of_week_day"], match["of_week_side"]
    if weekday is None:
        weekday, side = match["of_week_zhday"], match["of_week_zh"]
    for week in _weeks(moment.date()):
        yield _in_week(week, _SIDES[side.lower()], _WEEKDAYS[weekday[:3].lower()])


def _weekday(match: re.Match[str], moment: datetime) -> Iterator[str]:
    today, sides = moment.date(), match["weekday_side"].lower().split()
    wanted = _WEEKDAYS[match["weekday_day"][:3].lower()]
    side = _SIDES[sides[-1]]
    if side < 0:
        yield _plus(today, -((today.weekday() - wanted - 1) % 7 + 1))
    elif side > 0:
        yield _plus(today, (wanted - today.weekday() - 1) % 7 + 1)
    else:
        yield _plus(today, (wanted - today.weekday()) % 7)
    for week in _weeks(today):
        yield _in_week(week, side, wanted)


def _bare(match: re.Match[str], moment: datetime) -> Iterator[str]:
    today = moment.date()
    wanted = _WEEKDAYS[(match["bare_day"] or match["bare_zh"])[:3].lower()]
    ahead = (wanted - today.weekday()) % 7
    yield _plus(today, ahead)
    yield _plus(today, ahead - 7)


def _weekend(match: re.Match[str], moment: datetime) -> Iterator[str]:
    today = moment.date()
    side = _SIDES[(match["weekend_side"] or match["weekend_zh"]).lower().split()[-1]]
    saturdays = [today - timedelta(days=today.weekday()) + timedelta(days=5 + 7 * side)]
    if side == 1 and match["weekend_side"]:  # "next weekend" may be the one that comes
        saturdays.append(saturdays[0] - timedelta(days=7))
    for saturday in saturdays:
        yield from (_plus(saturday, 0), _plus(saturday, 1))


def _some_weekend(_match: re.Match[str], moment: datetime) -> Iterator[str]:
    """The one that was, and the one that comes or is."""
    saturday = moment.date() + timedelta(days=5 - moment.date().weekday())
    yield from (_plus(saturday, days) for days in (-7, -6, 0, 1))


def _beyond(match: re.Match[str], moment: datetime) -> Iterator[str]:
    yield from _moved(match["beyond_unit"].lower(), moment, 2 if match["beyond_side"].lower() == "after next" else -2)


def _beyond_day(match: re.Match[str], moment: datetime) -> Iterator[str]:
    for week in _weeks(moment.date()):
        for weeks in (1, 2):
            yield _in_week(week, weeks, _WEEKDAYS[match["beyond_day_day"][:3].lower()])


def _unit(match: re.Match[str], moment: datetime) -> Iterator[str]:
    today = moment.date()
    side = _SIDES[(match["unit_side"] or match["unit_zh"]).lower()]
    name = _unit_name(match["unit_name"] or match["unit_zhname"])
    yield from _named(name, today, side)
    first, last = _bounds(name, today, side)
    yield from (first.isoformat(), last.isoformat())
    if name == "week":
        sunday = first - timedelta(days=1)
        yield from (sunday.isoformat(), _plus(sunday, 6), _plus(today, 7 * side))


def _edge(match: re.Match[str], moment: datetime) -> Iterator[str]:
    name = _unit_name(match["edge_unit"] or match["edge_named"] or match["edge_short"] or match["edge_zhunit"])
    side = _SIDES[(match["edge_side"] or match["edge_zh"] or "this").lower()]
    first, last = _bounds(name, moment.date(), side)
    if (match["edge_at"] or "end").lower() not in ("end", "last day") or match["edge_zhat"] == "初":
        yield first.isoformat()
        return
    yield last.isoformat()
    if name == "week":
        yield from (_plus(last, -1), _plus(last, -2))  # of the week at work


def _year_edge(match: re.Match[str], moment: datetime) -> Iterator[str]:
    year = moment.year + _YEARS[match["year_edge_zh"]]
    yield from (str(year), f"{year}-01-01" if match["year_edge_at"] == "初" else f"{year}-12-31")


def _month_day(match: re.Match[str], moment: datetime) -> Iterator[str]:
    yield _month(moment.date(), _SIDES[match["month_day_zh"]]).replace(day=int(match["month_day_zhday"])).isoformat()


def _monthday(match: re.Match[str], moment: datetime) -> Iterator[str]:
    wanted = int(match["monthday_n"] or match["monthday_zh"])
    for months in (-1, 0, 1):
        first = _month(moment.date(), months)
        if wanted <= calendar.monthrange(first.year, first.month)[1]:
            yield first.replace(day=wanted).isoformat()


def _now(_match: re.Match[str], moment: datetime) -> Iterator[str]:
    yield moment.date().isoformat()


def _quarter(match: re.Match[str], moment: datetime) -> Iterator[str]:
    number = match["quarter_n"] or "_一二三四".index(match["quarter_zh"])
    yield from (f"{moment.year + years}-Q{number}" for years in (-1, 0, 1))


def _month_name(match: re.Match[str], moment: datetime) -> Iterator[str]:
    """The month nearest before the message, and the one nearest after it."""
    name = match["month_name"]
    wanted = MONTHS[name[:3].lower()] if name else int(match["month_zh"])
    ahead = (wanted - moment.month) % 12
    yield from (f"{_month(moment.date(), months):%Y-%m}" for months in (ahead, ahead - 12))


def _month_side(match: re.Match[str], moment: datetime) -> Iterator[str]:
    """ "last March": the one that is over, and that of the year before; "next March" likewise."""
    ahead = (MONTHS[match["month_side_name"][:3].lower()] - moment.month) % 12
    back = match["month_side_side"].lower() == "last"
    first = ahead - 12 if back else ahead or 12
    yield from (f"{_month(moment.date(), months):%Y-%m}" for months in (first, first - 12 if back else first + 12))


def _half(kind: str, sign: int) -> Callable[[re.Match[str], datetime], Iterator[str]]:
    """A reader of half a unit before or after the message."""

    def read(match: re.Match[str], moment: datetime) -> Iterator[str]:
        said = (match[f"{kind}_unit"] or match[f"{kind}_zh"]).lower()
        unit, count = _HALVES[said]
        yield from _moved(unit, moment, sign * count)

    return read


def _season(match: re.Match[str], moment: datetime) -> Iterator[str]:
    """The year of it: the one before, or that of the message, as the season is over or to come."""
    side = _SIDES[match["season_side"].lower()]
    yield from {str(moment.year), str(moment.year + side)}


def _year(match: re.Match[str], moment: datetime) -> Iterator[str]:
    year = moment.year + _YEARS[match["year_zh"]]
    if match["year_month"] is None:
        yield str(year)
    elif match["year_day"] is None:
        yield f"{year}-{int(match['year_month']):02}"
    else:
        yield date(year, int(match["year_month"]), int(match["year_day"])).isoformat()


def _counted(kind: str, sign: int) -> Callable[[re.Match[str], datetime], Iterator[str]]:
    """A reader of so many units before or after the message."""

    def read(match: re.Match[str], moment: datetime) -> Iterator[str]:
        groups = match.groupdict()
        number = value(groups[f"{kind}_n"] or groups[f"{kind}_zhn"])
        name = _unit_name(groups[f"{kind}_unit"] or groups[f"{kind}_zhunit"])
        if number is None or number > _LONGEST:
            return
        yield from _moved(name, moment, sign * number)

    return read


def _moved(name: str, moment: datetime, count: int) -> Iterator[str]:
    today = moment.date()
    match name:
        case "minute" | "hour":
            yield (moment + timedelta(**{f"{name}s": count})).date().isoformat()
        case "day":
            yield _plus(today, count)
        case "week":
            yield _plus(today, 7 * count)
            yield from _named(name, today, count)
        case "fortnight":
            yield _plus(today, 14 * count)
        case "weekend":
            saturday = today + timedelta(days=5 - today.weekday() + 7 * count)
            yield from (_plus(saturday, 0), _plus(saturday, 1))
        case _:
            yield from _named(name, today, count)
            months = count * _MONTHS[name]
            first = _month(today, months)
            longest = calendar.monthrange(first.year, first.month)[1]
            yield first.replace(day=min(today.day, longest)).isoformat()


def _nothing(_match: re.Match[str], _moment: datetime) -> Iterator[str]:
    yield from ()


# -- the calendar


def _plus(today: date, days: int) -> str:
    return (today + timedelta(days=days)).isoformat()


def _weeks(today: date) -> Iterator[date]:
    """The first day of this week: a Monday, and a Sunday."""
    yield today - timedelta(days=today.weekday())
    yield today - timedelta(days=(today.weekday() + 1) % 7)


def _in_week(first: date, weeks: int, weekday: int) -> str:
    return _plus(first, 7 * weeks + (weekday - first.weekday()) % 7)


def _month(today: date, months: int) -> date:
    """The first day of a month so many months away."""
    year, month = divmod(12 * today.year + today.month - 1 + months, 12)
    return date(year, month + 1, 1)


def _bounds(name: str, today: date, side: int) -> tuple[date, date]:
    """The first and the last day of a week, month, quarter or year so many away."""
    if name == "week":
        first = today + timedelta(days=7 * side - today.weekday())
        return first, first + timedelta(days=6)
    size = _MONTHS[name]
    first = _month(today.replace(month=today.month - (today.month - 1) % size), size * side)
    last = _month(first, size - 1)
    return first, last.replace(day=calendar.monthrange(last.year, last.month)[1])


def _named(name: str, today: date, side: int) -> Iterator[str]:
    """A week, month, quarter or year so many away, by its own name."""
    first, _ = _bounds(name, today, side)
    match name:
        case "week":
            year, week, _ = first.isocalendar()
            yield f"{year}-W{week:02}"
        case "month":
            yield f"{first:%Y-%m}"
        case "quarter":
            yield f"{first.year}-Q{(first.month + 2) // 3}"
        case _:
            yield str(first.year)


def _unit_name(said: str) -> str:
    word = said.removeprefix("个")
    return _UNITS.get(word) or word.lower().removesuffix("s")


_READERS: dict[str, Callable[[re.Match[str], datetime], Iterator[str]]] = {
    **dict.fromkeys(_DAYS, _day_word),
    "night": _night,
    "of_week": _of_week,
    "weekday": _weekday,
    "bare": _bare,
    "weekend": _weekend,
    "some_weekend": _some_weekend,
    "day_end": _now,
    "beyond": _beyond,
    "beyond_day": _beyond_day,
    "year_edge": _year_edge,
    "month_side": _month_side,
    "half_ago": _half("half_ago", -1),
    "half_hence": _half("half_hence", 1),
    "unit": _unit,
    "edge": _edge,
    "month_day": _month_day,
    "monthday": _monthday,
    "season": _season,
    "now": _now,
    "quarter": _quarter,
    "month": _month_name,
    "year": _year,
    "ago": _counted("ago", -1),
    "hence": _counted("hence", 1),
    "within": _counted("within", 1),
    "some": _nothing,
}
