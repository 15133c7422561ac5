"""The daemon's numbers as lines for people. Pure: JSON in, text out."""

from collections.abc import Iterator, Mapping
from typing import Any

MICROS = "latencyMicros"


def lines(numbers: Mapping[str, Any]) -> Iterator[str]:
    """A block a name, what it is counted by below it; nothing for what was never counted."""
    for name, value in sorted(numbers.items()):
        if name == MICROS:
            yield from _durations(value)
        elif isinstance(value, Mapping):
            counted = list(_counted(value))
            yield from [f"{name}:", *(f"  {line}" for line in counted)] if counted else ()
        else:
            yield f"{name}: {value}"


def _counted(values: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for name, value in values.items():
        label = f"{path} {name}".strip()
        if isinstance(value, Mapping):
            yield from _counted(value, label)
        else:
            yield f"{label}: {value}"


def _durations(stages: Mapping[str, Any]) -> Iterator[str]:
    """Of each stage how often it ran and how long it took: the mean, and a bound that 99 in 100 keep."""
    if stages:
        yield "latency:"
    for stage, taken in stages.items():
        count = taken["count"]
        mean = taken["sum"] / count / 1000 if count else 0.0
        yield f"  {stage}: {count} times, {mean:.2f} ms on average, 99 % within {_bound(taken['buckets'], count)}"


def _bound(buckets: list[list[int | None]], count: int) -> str:
    below = 0
    for bound, number in buckets:
        below += number or 0
        if below >= 0.99 * count:
            return f"{bound / 1000:g} ms" if bound is not None else "more than a second"
    return "?"
