"""Durations as a person types them: `90s`, `15m`, `1h30m`, `2d`, `1w`. Pure but for the option's type."""

import re

import click

from recall.contracts import Millis

UNITS: dict[str, Millis] = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
LONGEST: Millis = 366 * UNITS["d"]
_WHOLE = re.compile(r"(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?", re.ASCII)
_LARGEST_FIRST = tuple(reversed(UNITS))
EXPECTED = "Give a number with a unit: 90s, 15m, 1h, 1h30m, 2d or 1w, up to 366d."


def parse(text: str) -> Millis:
    """A duration in milliseconds. Raises ValueError, whose message says what is wrong and what is expected."""
    found = _WHOLE.fullmatch(text.strip().lower().replace(" ", ""))
    if found is None or not any(found.groups()):
        raise ValueError(f"{text[:32]!r} is no duration. {EXPECTED}")
    numbers = zip(_LARGEST_FIRST, found.groups(default="0"), strict=True)
    total = sum(int(number) * UNITS[unit] for unit, number in numbers)
    if not 0 < total <= LONGEST:
        raise ValueError(f"{text[:32]!r} is {'nothing' if not total else 'too long'}. {EXPECTED}")
    return total


def written(length: Millis) -> str:
    """The shortest text that `parse` reads as that length, in whole seconds: `1h30m`."""
    parts, left = [], length
    for unit in _LARGEST_FIRST:
        number, left = divmod(left, UNITS[unit])
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts)


class DurationType(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases alone
    """`--for`'s value."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Millis:
        if isinstance(value, int):
            return value
        try:
            return parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


for_option = click.option(
    "--for", "for_ms", type=DurationType(), metavar="DURATION", help="For how long: 90s, 15m, 1h30m, 2d, 1w."
)
