"""What recall is asked for, brought into one form, or refused (team.md 4). Pure."""

import re
from collections.abc import Collection, Iterable
from typing import TypeVar

from governance.team.contracts.recalling import ExtractionRequest, Filters, Window
from governance.team.errors import Kind, TeamFault
from governance.team.times import read, written
from recall.analyzer import distinct
from recall.canonical import digest
from recall.contracts import Millis

LONGEST_WINDOW_DAYS = 366
QUERY_BYTES = 8192
MOST_KEYS = 64  # of each filter
KEY_BYTES = 512
MOST_TASKS = 8  # a call
DAY_MS = 86_400_000
DEFAULT_SINCE = "14d"

T = TypeVar("T", bound=str)
_AGO = re.compile(r"([1-9]\d{0,4})([mhdw])")
_UNITS = {"m": 60_000, "h": 3_600_000, "d": DAY_MS, "w": 7 * DAY_MS}
_LOOSE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,3})?(Z|[+-]00:?00)?)?")
_WINDOW_FORM = "Give UTC times with milliseconds and Z, as 2026-11-12T09:30:00.000Z."


def normalised(request: ExtractionRequest, providers: Collection[str]) -> ExtractionRequest:
    """The request in its one form: lists sorted, what says nothing left out. `providers`: the agent products there are;
    the first word of a name stands for all that begin with it.

    Raises TeamFault (`request-invalid`) for a window that is none or longer than 366 days, a query above 8 KiB or
    without a word, and filters that name something twice, too much, or what is not there.
    """
    _window(request.window)
    query = (request.query or "").strip()
    size = len(query.encode("utf-8", "replace"))
    if size > QUERY_BYTES:
        raise _invalid(f"The query has {size} bytes; {QUERY_BYTES} are taken.", "Name the few words that matter.")
    if query and not distinct(query):
        raise _invalid(
            f"The query {query[:40]!r} holds no word that can be looked for.", "Name a word, or leave it out."
        )
    filters = None if request.filters is None else _filters(request.filters, providers)
    empty = filters is None or filters == Filters()
    return ExtractionRequest(
        format=request.format, window=request.window, query=query or None, filters=None if empty else filters
    )


def request_digest(request: ExtractionRequest) -> str:
    """Of a normalised request."""
    return digest(request)


def bounds(window: Window) -> tuple[Millis, Millis]:
    """(after, before) of a normalised request's window."""
    return _instant(window.after, "after"), _instant(window.before, "before")


def checked_limit(limit: int) -> int:
    """How many tasks are handed out at a time. Raises TeamFault (`request-invalid`) outside of 1..8."""
    if not 1 <= limit <= MOST_TASKS:
        raise _invalid(f"limit is {limit}.", f"Give a number from 1 to {MOST_TASKS}.")
    return limit


def spoken(since: str, until: str, now: Millis) -> Window:
    """The window that a person means: ISO dates and times in UTC, or how long ago, as `14d` (m, h, d, w). An empty
    `since` is 14 days ago, an empty `until` is now. Raises TeamFault (`request-invalid`)."""
    return Window(
        after=written(_said(since or DEFAULT_SINCE, "since", now)), before=written(_said(until or "0", "until", now))
    )


def _window(window: Window) -> None:
    after, before = bounds(window)
    if after >= before:
        raise _invalid(
            f"The window from {window.after} to {window.before} is empty.", "Name an end after the beginning."
        )
    if before - after > LONGEST_WINDOW_DAYS * DAY_MS:
        days = (before - after) / DAY_MS
        raise _invalid(f"The window is {days:.1f} days long.", f"Ask for at most {LONGEST_WINDOW_DAYS} days at a time.")


def _instant(text: str, name: str) -> Millis:
    at = read(text)
    if at is None:
        raise _invalid(f"window.{name} is {text[:40]!r}: no time of the form that is taken.", _WINDOW_FORM)
    return at


def _filters(filters: Filters, providers: Collection[str]) -> Filters:
    found = Filters(
        providers=_keys("providers", filters.providers),
        session_keys=_keys("sessionKeys", filters.session_keys),
        tool_keys=_keys("toolKeys", filters.tool_keys),
        skill_keys=_keys("skillKeys", filters.skill_keys),
        result_evidence=_unique("resultEvidence", filters.result_evidence),
        terminal_states=_unique("terminalStates", filters.terminal_states),
    )
    for name in found.providers:
        if not any(known == name or known.startswith(f"{name}-") for known in providers):
            there = ", ".join(sorted(providers))
            raise _invalid(f"filters.providers names {name[:60]!r}, which is not known.", f"There are: {there}.")
    if found.terminal_states and not (found.tool_keys or found.skill_keys):
        raise _invalid(
            "filters.terminalStates says nothing without a tool or a skill.", "Give toolKeys or skillKeys, too."
        )
    return found


def _keys(name: str, keys: Iterable[str]) -> tuple[str, ...]:
    found = _unique(name, keys)
    if len(found) > MOST_KEYS:
        raise _invalid(f"filters.{name} has {len(found)} items; {MOST_KEYS} are taken.", "Ask for fewer at a time.")
    for key in found:
        if not key.strip() or len(key.encode("utf-8", "replace")) > KEY_BYTES:
            raise _invalid(f"filters.{name} holds {key[:40]!r}.", f"A key is text of 1 to {KEY_BYTES} bytes.")
    return found


def _unique(name: str, items: Iterable[T]) -> tuple[T, ...]:
    found = tuple(sorted(items))
    if len(set(found)) < len(found):
        raise _invalid(f"filters.{name} names something twice.", "Name each once.")
    return found


def _said(text: str, name: str, now: Millis) -> Millis:
    text = text.strip()
    if text in ("0", "now"):
        return now
    if ago := _AGO.fullmatch(text):
        return now - int(ago[1]) * _UNITS[ago[2]]
    if parts := _LOOSE.fullmatch(text):
        clock, seconds = parts[2] or "00:00", parts[3] or ":00"
        fraction = (parts[4] or ".").ljust(4, "0")
        at = read(f"{parts[1]}T{clock}{seconds}{fraction}Z")
        if at is not None:
            return at
    raise _invalid(
        f"--{name} is {text[:40]!r}.",
        "Give how long ago, as 14d or 6h, or a UTC time, as 2026-11-12 or 2026-11-12T09:30Z.",
    )


def _invalid(problem: str, next_step: str) -> TeamFault:
    return TeamFault(Kind.REQUEST_INVALID, problem, next_step)
