"""Which files a command line prints: pipes, folders, and what cannot be a memory file."""

import pytest

from host.reads.printings import MOST, printings, searched
from recall.contracts import Filter, FilterKind, PrintForm, Printing


def told(command: str, output: str = "", cwd: str = "/p") -> list[str]:
    """Paths and form of each printing, with its filters' kinds and bounds."""
    return [_said(one) for one in printings(command, output, cwd)]


def _said(one: Printing) -> str:
    filters = [f"{f.kind.value}:{f.first}:{f.last or ''}" for f in one.filters]
    return " ".join([",".join(one.paths), one.form.value, *filters])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a.md b.md", ["a.md plain", "b.md plain"]),
        ("cat a.md b.py | head -5", ["a.md,b.py plain lines:1:5"]),
        ("head -5 a.md b.md", ["a.md plain lines:1:5", "b.md plain lines:1:5"]),
        ("head -5 a.md b.md | tail -2", []),
        ("sed -n '1,5p' a.md b.md", ["a.md,b.md plain lines:1:5"]),
        ("nl -ba a.md | sed -n '4,9p'", ["a.md plain number:1: lines:4:9"]),
        ("nl a.md | head -c 40", []),
        ("cat a.md | sed -n '1,2p;4p'", ["a.md plain lines:1:2", "a.md plain lines:4:4"]),
        ("cat a.md | tee b.md | cat", ["a.md plain"]),
        ("cat < a.md", ["a.md plain"]),
        ("cat a.md | grep -n x", ["a.md found"]),
        ("cat a.md | sed -n '/x/p'", ["a.md chosen"]),
        ("grep -n x a.md | head -3", ["a.md found"]),
        ("grep x a.md | nl", []),
        ("grep x a.md | grep -v y", ["a.md found"]),
        ("sudo -n timeout 5 cat a.md", ["a.md plain"]),
        ("env X=1 cat a.md", ["a.md plain"]),
        ("cat a.md | sort", []),
        ("sort x | cat a.md", ["a.md plain"]),
        ("cat a.md | cut -c1-5 | head", []),
        ("cat a.md > b.md", []),
        ("cat a.md > b.md; cat c.md", ["c.md plain"]),
        ("cat a.md | wc -l", []),
        ("cat $(ls a.md)", []),
        ("cat notes/*", ["notes/* plain"]),
        ("cat app.py main.rs", []),
        ("echo a.md", []),
        ("cat a.MD b.mdc c.markdown", ["a.MD plain", "b.mdc plain", "c.markdown plain"]),
    ],
)
def test_a_command_says_what_it_prints(command: str, expected: list[str]) -> None:
    assert told(command) == expected


def test_a_search_through_folders_counts_when_it_names_a_memory_file() -> None:
    assert told("rg -n cache src docs", "docs/a.md:4:cache") == ["src,docs found"]
    assert told("rg -n cache", "docs/a.md:4:cache") == [". found"]
    assert told("rg -n cache src", "src/a.py:4:cache") == []


@pytest.mark.parametrize(
    ("command", "cwd", "bases"),
    [
        ("cat a.md", "/p", ["/p"]),
        ("cd notes && cat a.md", "/p/notes", ["/p/notes", "/p/notes/notes"]),  # named after the command
        ("cd notes && cat a.md", "/p", ["/p", "/p/notes"]),  # named before it
        ("cat a.md; cd notes", "/p/notes", ["/p", "/p/notes"]),
        ("cat a.md; cd ..", "/p", ["/p"]),
        ("cd /q && cat a.md", "/p", ["/p", "/q"]),
        ("cd $X && cat a.md", "/p", ["/p"]),
        ("cd && cat a.md", "/p", ["/p"]),
    ],
)
def test_a_relative_path_may_be_meant_from_where_the_command_began_or_ended(
    command: str, cwd: str, bases: list[str]
) -> None:
    assert [list(one.bases) for one in printings(command, "", cwd)] == [bases]


def test_a_printing_is_small_and_their_number_bounded() -> None:
    many = printings(" ".join(["cat", *(f"{number}.md" for number in range(64))]), "", "/p")

    assert len(many) == MOST
    assert many[0] == Printing(paths=("0.md",), bases=("/p",))


def test_a_hosts_own_search_names_its_folder() -> None:
    assert searched((), "a.md:1:x", ("/p/q", "/p", "/p")) == (
        Printing(paths=(".",), form=PrintForm.FOUND, bases=("/p/q", "/p")),
    )
    assert searched(("a.md",), "1:x", ("/p",)) == (Printing(paths=("a.md",), form=PrintForm.FOUND, bases=("/p",)),)
    assert searched(("src",), "src/a.py:1:x", ("/p",)) == ()


def test_a_filter_of_a_pipe_is_a_step_of_the_printing() -> None:
    (one,) = printings("cat a.md | head -n 8 | tail -n 2", "", "/p")

    assert one.filters == (Filter(kind=FilterKind.LINES, last=8), Filter(kind=FilterKind.LINES, first=-2))
