"""Lines as a pipe prints them, and the bytes that each shows."""

from itertools import pairwise

import pytest

from host.reads.streams import Unit, piped, units
from recall.contracts import Filter, FilterKind

DATA = "eins\nzwei 部署\n\nvier\n".encode()  # lines at 0, 5, 17, 18; 23 bytes


def printed(data: bytes, *filters: Filter) -> list[tuple[str, int, int]]:
    return [(unit.text, unit.start, unit.end) for unit in piped(units("a.md", data), filters)]


def lines(first: int = 1, last: int | None = None) -> Filter:
    return Filter(kind=FilterKind.LINES, first=first, last=last)


def in_bytes(first: int = 1, last: int | None = None) -> Filter:
    return Filter(kind=FilterKind.BYTES, first=first, last=last)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a", [("a", 0, 1)]),
        (b"a\n", [("a\n", 0, 2)]),
        (b"a\r\nb\r\n", [("a\n", 0, 3), ("b\n", 3, 6)]),
        (b"a\rb\nc", [("a\rb\n", 0, 4), ("c", 4, 5)]),
        (b"\n\n", [("\n", 0, 1), ("\n", 1, 2)]),
        (b"caf\xe9\n", [("caf\ufffd\n", 0, 5)]),
        (b"a\0b\n", [("a\ufffdb\n", 0, 4)]),  # as events keep it
        ("\ufeffa\n".encode(), [("\ufeffa\n", 0, 5)]),
        ("a\u2028b\x0cc\x85\n".encode(), [("a\u2028b\x0cc\x85\n", 0, 10)]),  # no line ends for a shell
    ],
)
def test_a_file_is_cut_at_its_line_ends(data: bytes, expected: list[tuple[str, int, int]]) -> None:
    assert printed(data) == expected


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ([lines(2, 3)], (5, 18)),
        ([lines(2, 99)], (5, 23)),
        ([lines(9)], None),
        ([lines(-1)], (18, 23)),
        ([lines(-99)], (0, 23)),
        ([lines(1, -3)], (0, 17)),  # all but the last two
        ([lines(1, 0)], None),
        ([lines(1, 3), lines(-2)], (5, 18)),
        ([lines(2), in_bytes(1, 5)], (5, 10)),
        ([in_bytes(1, 7)], (0, 7)),
        ([in_bytes(-7)], (16, 23)),
    ],
)
def test_filters_leave_a_part(filters: list[Filter], shown: tuple[int, int] | None) -> None:
    left = printed(DATA, *filters)

    assert (left[0][1], left[-1][2]) == shown if shown else left == []
    assert all(end == start for (_, _, end), (_, start, _) in pairwise(left))


def test_a_character_that_is_cut_through_is_not_in_the_text() -> None:
    assert printed(DATA, in_bytes(1, 11)) == [("eins\n", 0, 5), ("zwei ", 5, 11)]
    assert printed(b"ab\r\ncd\r\n", in_bytes(1, 3)) == [("ab", 0, 3)]


def test_numbers_are_as_the_programs_write_them() -> None:
    every = printed(DATA, Filter(kind=FilterKind.NUMBER), lines(3, 4))
    filled = printed(DATA, Filter(kind=FilterKind.NUMBER_FILLED), lines(3, 4))

    assert every == [("     3\t\n", 17, 18), ("     4\tvier\n", 18, 23)]
    assert filled == [("       \n", 17, 18), ("     3\tvier\n", 18, 23)]


def test_a_line_is_redacted_as_the_output_was() -> None:
    (unit,) = units("a.md", b"token abc\n", lambda text: text.replace("abc", "[secret:x]"))

    assert unit == Unit("token [secret:x]\n", "a.md", 0, 10)
