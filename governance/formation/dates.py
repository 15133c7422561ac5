"""What "yesterday" was: relative dates in English and Chinese, read by the time of their message. Pure, linear time.

An ambiguous one has several readings, and each is a good one: "next Monday" said on a Sunday is tomorrow or a week
later. A timestamp says no time zone. So a date is read in the zone of whoever wrote it, as far as the caller knows it,
and in UTC: near midnight these are two days, and both are readings. Without a timestamp there is no reading at all.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, tzinfo
from functools import lru_cache

from governance.formation.date_words import DATE_WORDS, DEICTIC
from governance.formation.readings import in_some_year, readings
from governance.formation.words import SIMPLIFIED
from governance.formation.written_dates import dates_in
from recall.contracts import Millis

_YEAR, _MONTH, _DAY = len("2026"), len("2026-11"), len("2026-11-02")
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HABIT = re.compile(
    r"\b(?:every|each|daily|nightly|hourly|weekly|monthly|quarterly|yearly)\b"
    r"|\b(?:shows|reads|covers|lists|displays|contains|processes|returns|exports|summari[sz]es|fetches|loads|deletes"
    r"|keeps?|rotates|imports|archives)\b|每[天日晚周月年次早]|每个?(?:星期|小时|月)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?;](?=\s)|[。！？；\n]")
_OWNED = re.compile(r"['’]s\b|的")
_THAN = re.compile(r"\b(?:older|newer|earlier|later) than\s+\Z", re.IGNORECASE)
_DATA_OF = re.compile(
    r"\b(?:data|logs?|orders|events|rows|records|results|entries|metrics|backups?|tasks) (?:from|of|for)\s+\Z",
    re.IGNORECASE,
)
_OF = re.compile(r"\s+of\b", re.IGNORECASE)
_THE = re.compile(r"\bthe\s+\Z", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]*`")
_PREPOSITION = re.compile(
    r"\b(?:on|by|until|till|since|from|before|after|for|of|in|at|to|and|or|through)\s+\Z", re.IGNORECASE
)


def resolved(quote: str, timestamp: Millis | None, zone: tzinfo = UTC) -> frozenset[str]:
    """Every reading of every relative date, and of every date without its year, in a quote of a message.

    `timestamp`: epoch ms of the message; None or not positive: unknown, and nothing is resolved. The forms are
    those of `written_dates`: `2026-11-02`, `2026-11` ("last month"), `2026` ("last year"), `2026-W44`, `2026-Q4`.
    """
    moments = _moments(timestamp, zone)
    matches, yearless = _read(quote) if moments else ((), ())
    found: set[str] = set()
    for moment in moments:
        for match in matches:
            found.update(readings(match, moment))
        for form in yearless:
            found.update(in_some_year(form, moment.date()))
    return frozenset(found)


@lru_cache(maxsize=256)  # the claims of one answer rest on the same few quotes
def _read(quote: str) -> tuple[tuple[re.Match[str], ...], tuple[str, ...]]:
    """The relative dates of a quote, and its dates without a year that are none of these."""
    text = quote.translate(SIMPLIFIED)
    matches = tuple(DATE_WORDS.finditer(text))
    taken = {place for match in matches for place in range(match.start(), match.end())}
    written = (one for one in dates_in(text) if one.start not in taken)
    return matches, tuple(one.form for one in written if one.form.startswith("--"))


def relative_in(text: str) -> tuple[str, ...]:
    """The words of a text that name a day only on the day on which they are said.

    Left out: code in backticks, "the last Friday of the month", and what a habit speaks of ("the nightly job reads
    yesterday's logs").
    """
    return tuple(text[match.start() : match.end()] for match in _deictic(text))


def written(text: str, timestamp: Millis | None, zone: tzinfo = UTC) -> str:
    """The text with each relative date that has one reading in `zone` written as that date; the others stay."""
    moments = _moments(timestamp, zone)
    pieces: list[str] = []
    last = 0
    for match in _deictic(text) if moments else ():
        date = _one(readings(match, moments[-1]))
        if date:
            pieces += (text[last : match.start()], _preposition(match, text, date), date)
            last = match.end()
    return "".join((*pieces, text[last:]))


def day(timestamp: Millis, zone: tzinfo = UTC) -> str:
    """The day of a message as a prompt shows it, `2026-11-03 Tuesday`; empty without a timestamp."""
    moments = _moments(timestamp, zone)
    return f"{moments[-1]:%Y-%m-%d} {_NAMES[moments[-1].weekday()]}" if moments else ""


def _moments(timestamp: Millis | None, zone: tzinfo) -> list[datetime]:
    """The time of a message on the clocks that may have hung there; the last one is that of `zone`."""
    if timestamp is None or timestamp <= 0:
        return []
    try:
        at = datetime.fromtimestamp(timestamp / 1000, UTC)
        local = at.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return []
    return [local] if local.date() == at.date() else [at, local]


def _deictic(text: str) -> Iterator[re.Match[str]]:
    code = [match.span() for match in _CODE.finditer(text)]
    for match in DATE_WORDS.finditer(text.translate(SIMPLIFIED)):
        if _means_a_day(match, text) and not any(start < match.start() < end for start, end in code):
            yield match


def _means_a_day(match: re.Match[str], text: str) -> bool:
    kind = match.lastgroup or ""
    sided = kind == "edge" and (match["edge_zh"] or match["edge_side"] in ("last", "next", "this"))
    if kind not in DEICTIC and not sided:
        return False
    if kind in ("unit", "weekday") and (
        _THE.search(text, max(0, match.start() - 8), match.start()) or _OF.match(text, match.end())
    ):
        return False
    if kind == "ago" and _THAN.search(text, max(0, match.start() - 16), match.start()):
        return False
    owned = _OWNED.match(text, match.end()) or _DATA_OF.search(text, max(0, match.start() - 24), match.start())
    return not (owned and _HABIT.search(_sentence(text, *match.span())))


def _sentence(text: str, start: int, end: int) -> str:
    """The sentence around a place, 400 characters on each side at most."""
    before = _SENTENCE.split(text[max(0, start - 400) : start])[-1]
    behind = _SENTENCE.split(text[end : end + 400])[0]
    return before + text[start:end] + behind


def _preposition(match: re.Match[str], text: str, date: str) -> str:
    """What English wants before a date, where nothing stands there yet."""
    if not match[0].isascii() or _PREPOSITION.search(text, max(0, match.start() - 12), match.start()):
        return ""
    return "on " if len(date) == _DAY else "in "


def _one(found: Iterable[str]) -> str:
    """The only reading, where there is one; a month or a year that is named goes before its days."""
    for size in (_YEAR, _MONTH, _DAY):
        fitting = sorted(form for form in found if len(form) == size and form.replace("-", "").isdigit())
        if fitting:
            return fitting[0] if len(fitting) == 1 else ""
    return ""
