"""The types of memories that batch extraction forms, and what a model may say of them (formation.md 6.4). Pure.

A malformed number or date must not lose a memory: a priority that is none counts as 50, and metadata that is unknown
or cannot be read is dropped and logged.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from governance.formation.contracts import MemoryType, Mode
from recall.contracts import MemoryKind, Millis

STANDING = -1  # the priority of a standing order: shown early, and still no order to obey
USUAL = 50
LONGEST_VALUE = 300  # characters of one piece of metadata
STATUSES = frozenset({"todo", "doing", "done", "blocked", "deferred", "cancelled"})
START, END = "activity_start_time", "activity_end_time"

_ALIASES = {
    "preference": MemoryType.PERSONA,
    "episode": MemoryType.EPISODIC,
    "instruct": MemoryType.INSTRUCTION,
}
_NAMES: Mapping[str, MemoryType] = {**{str(one): one for one in MemoryType}, **_ALIASES}
KINDS: Mapping[MemoryType, MemoryKind] = {
    MemoryType.PERSONA: MemoryKind.SEMANTIC,
    MemoryType.EPISODIC: MemoryKind.EPISODIC,
    MemoryType.INSTRUCTION: MemoryKind.SEMANTIC,
    MemoryType.WORK_FACT: MemoryKind.SEMANTIC,
    MemoryType.WORK_TASK: MemoryKind.EPISODIC,
    MemoryType.WORK_METHOD: MemoryKind.PROCEDURAL,
    MemoryType.WORK_ARTIFACT: MemoryKind.SEMANTIC,
}
KEPT: Mapping[MemoryType, tuple[str, ...]] = {
    MemoryType.PERSONA: (),
    MemoryType.EPISODIC: (START, END),
    MemoryType.INSTRUCTION: (),
    MemoryType.WORK_FACT: (),
    MemoryType.WORK_TASK: ("owner", "deadline", "status"),
    MemoryType.WORK_METHOD: ("scope", "method_type"),
    MemoryType.WORK_ARTIFACT: ("artifact_type", "ref"),
}
OFFERED: Mapping[Mode, tuple[MemoryType, ...]] = {
    Mode.CHAT: (MemoryType.PERSONA, MemoryType.EPISODIC, MemoryType.INSTRUCTION),
    Mode.CODE: (MemoryType.WORK_FACT, MemoryType.WORK_TASK, MemoryType.WORK_METHOD, MemoryType.WORK_ARTIFACT),
}
# From which priority a memory is worth writing down: advice to the model; nothing is dropped by it.
WORTH: Mapping[MemoryType, int] = {
    one: {MemoryType.PERSONA: 50, MemoryType.EPISODIC: 60}.get(one, 70) for one in MemoryType
}
_INTEGER = re.compile(r"[+-]?\d{1,6}(?:\.\d{1,6})?")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:\.\d{1,9})?\s?(Z|[+-]\d\d:?\d\d)?)?")
_SECONDS, _MILLIS = range(10**9, 10**10), range(10**12, 10**13)  # since 2001, until 2286


class Metadata(NamedTuple):
    """What is kept. `start`, `end`: of an activity, epoch milliseconds. `dropped`: names that were not taken."""

    values: dict[str, str]
    start: Millis | None = None
    end: Millis | None = None
    dropped: tuple[str, ...] = ()


def type_of(said: object) -> MemoryType | None:
    """The type that a model named: episodic where it named none; None for a name that is no type."""
    if said is None or said == "":
        return MemoryType.EPISODIC
    return _NAMES.get(re.sub(r"[\s-]+", "_", said.strip().lower())) if isinstance(said, str) else None


def priority_of(said: object, type_: MemoryType) -> int:
    """0..100; -1 for an instruction alone. Anything else is rounded and clamped, or 50 where it is no number."""
    number: float | None = None
    if isinstance(said, str) and _INTEGER.fullmatch(said.strip()):
        number = float(said)
    elif isinstance(said, int | float) and not isinstance(said, bool):
        number = said
    if number is None or math.isnan(number):
        return USUAL
    rounded = round(min(max(number, -1000), 1000))
    if rounded == STANDING and type_ is MemoryType.INSTRUCTION:
        return STANDING
    return min(max(rounded, 0), 100)


def metadata_of(said: object, type_: MemoryType, zone: tzinfo = UTC) -> Metadata:
    """What of a memory's metadata its type keeps. `zone`: of times that name none."""
    if not isinstance(said, Mapping):
        return Metadata({}, dropped=("metadata",) if said else ())
    values: dict[str, str] = {}
    times: dict[str, Millis] = {}
    dropped: list[str] = []
    for name, value in said.items():
        if name in (START, END) and name in KEPT[type_]:
            at = instant(value, zone)
            if at is not None:
                times[name] = at
                continue
        elif name in KEPT[type_]:
            text = _text(value)
            if text and (name != "status" or text in STATUSES):
                values[str(name)] = text
                continue
        if value not in (None, ""):
            dropped.append(str(name)[:40])
    start, end = times.get(START), times.get(END)
    if start is not None and end is not None and end < start:
        end = None
        dropped.append(END)
    return Metadata(values, start, end, tuple(dropped))


def instant(said: object, zone: tzinfo = UTC) -> Millis | None:
    """A time as epoch milliseconds, of an ISO date, date and time, or a count of seconds or milliseconds; else None."""
    if isinstance(said, int) and not isinstance(said, bool):
        return said if said in _MILLIS else said * 1000 if said in _SECONDS else None
    parts = _DATE.fullmatch(said.strip()) if isinstance(said, str) else None
    if parts is None:
        return None
    day, minutes, seconds, offset = parts.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{minutes or '00:00'}{seconds or ':00'}{_offset(offset)}")
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
        return max(round(aware.timestamp() * 1000), 0) or None
    except (ValueError, OverflowError):
        return None


def _offset(said: str | None) -> str:
    if said is None:
        return ""
    return "+00:00" if said == "Z" else said


def _text(value: object) -> str:
    """A piece of metadata on one line; empty for what is none."""
    if isinstance(value, list):
        value = ", ".join(one for one in value if isinstance(one, str))
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return " ".join(str(value).split())[:LONGEST_VALUE]
