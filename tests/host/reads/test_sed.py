"""Which lines a script prints: as many scripts as agents write, and none that changes a line."""

import pytest

from host.reads.sed import awk_script, sed_script
from recall.contracts import Filter, FilterKind

SOME: list[tuple[int, int | None]] = []


def lines(ranges: object) -> list[tuple[int, int | None]] | None:
    if ranges is None:
        return None
    found = []
    for way in ranges:  # type: ignore[attr-defined]
        bounds = way or (Filter(kind=FilterKind.LINES),)
        found.append((bounds[0].first, bounds[0].last))
    return found


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("4,5p", [(4, 5)]),
        ("4p", [(4, 4)]),
        ("4,$p", [(4, None)]),
        ("$p", [(-1, None)]),
        ("4,+2p", [(4, 6)]),
        ("9,3p", [(9, 9)]),  # sed prints the first line
        ("p", [(1, None)]),
        (" 4 , 5 p ; 9 p", [(4, 5), (9, 9)]),
        ("4,5p\n9,12p", [(4, 5), (9, 12)]),
        ("4,5p;5q", [(4, 5)]),
        ("4,9p;5q", None),
        ("4,9p;6,7p", None),  # overlapping: line by line
        ("$p;4p", None),
        ("4,$p;9p", None),
        ("/a/,/b/p", SOME),
        ("/a\\/b/Ip", SOME),
        ("4,/b/p", SOME),
        ("3!p", SOME),
        ("s/a/b/p", None),
        ("4{p}", None),
        ("4=", None),
        ("0p", None),
        ("4,9q", None),
        ("d", None),
        ("", None),
        ("q", None),
    ],
)
def test_sed_prints_what_it_names(script: str, expected: object) -> None:
    assert lines(sed_script(script, quiet=True)) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", [(1, None)]),
        ("5q", [(1, 5)]),
        ("1,3d", [(4, None)]),
        ("4,$d", [(1, 3)]),
        ("2,5!d", [(2, 5)]),
        ("4d", SOME),
        ("/^#/d", SOME),
        ("1d;/x/d", SOME),
        ("1d;5q", None),
        ("p", None),  # every line twice
        ("d", None),
        ("s/a/b/", None),
        ("/x/q", None),
    ],
)
def test_sed_without_n_prints_what_it_leaves(script: str, expected: object) -> None:
    assert lines(sed_script(script, quiet=False)) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("NR>=4 && NR<=5", [(4, 5)]),
        ("NR>3&&NR<6 {print}", [(4, 5)]),
        ("NR==4,NR==9{print $0}", [(4, 9)]),
        ("NR==4", [(4, 4)]),
        ("FNR<=4", [(1, 4)]),
        ("{ print $0; }", [(1, None)]),
        ("/cache/", SOME),
        ("{print $1}", None),
        ("NR%2", None),
        ("", None),
    ],
)
def test_awk_prints_the_lines_of_its_condition(script: str, expected: object) -> None:
    assert lines(awk_script(script)) == expected
