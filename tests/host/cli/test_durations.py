"""Durations as a person types them: what is written is read again, and all else is refused with a plain word."""

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from host.cli.durations import LONGEST, UNITS, for_option, parse, written

SECONDS = st.integers(1, LONGEST // 1_000).map(lambda seconds: seconds * 1_000)


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("90s", 90_000),
        ("15m", 900_000),
        ("1h", 3_600_000),
        ("1h30m", 5_400_000),
        (" 1H 30M ", 5_400_000),
        ("2d", 172_800_000),
        ("1w", 604_800_000),
        ("52w2d", LONGEST),
        ("90m", 5_400_000),
    ],
)
def test_a_duration_is_read(text: str, millis: int) -> None:
    assert parse(text) == millis


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1",
        "h",
        "1.5h",
        "-1h",
        "1h-",
        "30m1h",
        "1h1h",
        "1 hour",
        "1mo",
        "soon",
        "0s",
        "0h0m",
        "٣h",
        "１h",
        "1е3s",
    ],
)
def test_what_is_no_duration_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(ValueError, match="1h30m"):
        parse(text)


@pytest.mark.parametrize("text", ["367d", "53w", "366d1s", "999999999w"])
def test_more_than_a_year_is_too_long(text: str) -> None:
    with pytest.raises(ValueError, match="too long"):
        parse(text)


@given(SECONDS)
def test_what_is_written_is_read_again(millis: int) -> None:
    assert parse(written(millis)) == millis


@given(st.lists(st.tuples(st.integers(0, 500), st.sampled_from(list(UNITS))), min_size=1, unique_by=lambda one: one[1]))
def test_parts_add_up_from_the_largest_unit_on(parts: list[tuple[int, str]]) -> None:
    parts.sort(key=lambda one: -UNITS[one[1]])
    total = sum(number * UNITS[unit] for number, unit in parts)
    text = "".join(f"{number}{unit}" for number, unit in parts)
    if 0 < total <= LONGEST:
        assert parse(text) == total
    else:
        with pytest.raises(ValueError, match="366d"):
            parse(text)


@given(st.text(max_size=40))
def test_any_text_is_a_length_within_bounds_or_an_explained_refusal(text: str) -> None:
    try:
        assert 0 < parse(text) <= LONGEST
    except ValueError as error:
        assert "Give a number with a unit" in str(error)


def test_the_option_says_what_is_wrong() -> None:
    @click.command()
    @for_option
    def command(for_ms: int | None) -> None:
        click.echo(for_ms)

    assert CliRunner().invoke(command, ["--for", "2d"]).output == "172800000\n"
    refused = CliRunner().invoke(command, ["--for", "soon"])
    assert (refused.exit_code, "'soon' is no duration" in refused.output) == (2, True)
