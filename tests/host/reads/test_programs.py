"""What programs print with which arguments; with an option that changes lines they print nothing of a file."""

import shlex

import pytest

from host.reads.programs import PROGRAMS, use
from recall.contracts import Filter, FilterKind, PrintForm

LINES, BYTES, NUMBER, FILLED = FilterKind.LINES, FilterKind.BYTES, FilterKind.NUMBER, FilterKind.NUMBER_FILLED


@pytest.mark.parametrize(
    ("command", "paths", "filters"),
    [
        ("cat a b", "a b", []),
        ("cat -u -- -a", "-a", []),
        ("cat -n a", "a", [Filter(kind=NUMBER)]),
        ("cat -b a", "a", [Filter(kind=FILLED)]),
        ("less -R a", "a", []),
        ("bat -p --color=never a", "a", []),
        ("bat -p -r 3:8 a", "a", [Filter(kind=LINES, first=3, last=8)]),
        ("bat --line-range 3: a", "a", [Filter(kind=LINES, first=3)]),
        ("bat -r :8 a", "a", [Filter(kind=LINES, last=8)]),
        ("bat -r 8 a", "a", [Filter(kind=LINES, first=8, last=8)]),
        ("head a", "a", [Filter(kind=LINES, last=10)]),
        ("head -5 a b", "a b", [Filter(kind=LINES, last=5)]),
        ("head -n5 a", "a", [Filter(kind=LINES, last=5)]),
        ("head --lines=5 -q a", "a", [Filter(kind=LINES, last=5)]),
        ("head -n -3 a", "a", [Filter(kind=LINES, last=-4)]),
        ("head -c 64 a", "a", [Filter(kind=BYTES, last=64)]),
        ("tail a", "a", [Filter(kind=LINES, first=-10)]),
        ("tail -3 a", "a", [Filter(kind=LINES, first=-3)]),
        ("tail -n +7 a", "a", [Filter(kind=LINES, first=7)]),
        ("tail +7 a", "a", [Filter(kind=LINES, first=7)]),
        ("tail -n 0 a", "a", [Filter(kind=LINES, last=0)]),
        ("tail -c 9 a", "a", [Filter(kind=BYTES, first=-9)]),
        ("nl a", "a", [Filter(kind=FILLED)]),
        ("nl -ba a", "a", [Filter(kind=NUMBER)]),
        ("nl -b t a", "a", [Filter(kind=FILLED)]),
        ("sed -n 4,5p a", "a", [Filter(kind=LINES, first=4, last=5)]),
        ("sed -n -e 4,5p a", "a", [Filter(kind=LINES, first=4, last=5)]),
        ("sed -nE 4,5p a", "a", [Filter(kind=LINES, first=4, last=5)]),
        ("sed 5q a", "a", [Filter(kind=LINES, last=5)]),
        ("awk NR==4 a", "a", [Filter(kind=LINES, first=4, last=4)]),
        ("git show HEAD~2:./a", "./a", []),
    ],
)
def test_a_program_prints_its_files(command: str, paths: str, filters: list[Filter]) -> None:
    name, *arguments = shlex.split(command)
    used = use(name, arguments)

    assert used is not None
    assert (" ".join(used.paths), used.ways, used.form) == (paths, (tuple(filters),), PrintForm.PLAIN)


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("grep x a b", "a b"),
        ("grep -rn -A2 -C 3 --include=*.md x a", "a"),
        ("grep -e x -e y a", "a"),
        ("grep -nE x a", "a"),
        ("grep x", ""),
        ("rg -n -g *.md -t md x", ""),
        ("rg --glob *.md -C3 x a", "a"),
        ("git grep -n x", "."),
        ("git grep x a", "a"),
        ("""awk '{print NR":"$0}' a""", "a"),
        ("""awk 'NR>=3 && NR<9 { print NR ": " $0 }' a""", "a"),
    ],
)
def test_a_search_prints_lines_of_its_files(command: str, paths: str) -> None:
    name, *arguments = shlex.split(command)
    used = use(name, arguments)

    assert used is not None
    assert (" ".join(used.paths), used.form) == (paths, PrintForm.FOUND)


@pytest.mark.parametrize(
    "command",
    [
        *("cat -A a", "cat -s a", "bat -n a", "bat -r x:y a", "head -n x a", "head -z a", "tail -f a", "tail -n x a"),
        *("nl -s: a", "nl -bn a", "sed s/a/b/ a", "sed -i 5d a", "sed -n 5= a", "sed -f script a", "awk -F: NR==1 a"),
        *("awk {print$1} a", "awk", "grep -l x a", "grep -c x a", "grep -o x a", "grep -rnl x a", "grep", "rg -l x"),
        *("rg --json x", "rg -r y x", "rg --files", "git show HEAD", "git diff a"),
        *("tac a", "sort a", "wc -l a", "rm a"),
    ],
)  # fmt: skip
def test_with_options_that_print_something_else_it_prints_no_lines(command: str) -> None:
    name, *arguments = shlex.split(command)

    assert use(name, arguments) is None


def test_every_program_takes_no_arguments_without_a_fault() -> None:
    assert all(program([]) is None or program([]) for program in PROGRAMS.values())
