"""Lines that a search prints: after paths that look like lines, with numbers that are none."""

import pytest

from host.reads.searches import found_lines, names
from host.reads.streams import units
from recall.contracts import PrintForm, Printing

NOTES = b"The cache.\n12:looks numbered\na:colon:9:here\nThe cache.\n"  # lines at 0, 11, 29, 44; 55 bytes
STREAMS = {"n.md": units("n.md", NOTES), "d/my-notes-2.md": units("d/my-notes-2.md", b"x-3-y\nz\n")}


def found(output: str, *paths: str) -> tuple[list[tuple[str, int, int]], tuple[str, ...]]:
    printing = Printing(paths=paths or (".",), form=PrintForm.FOUND)
    hits, stale = found_lines(output.split("\n"), STREAMS, printing)
    return [(hit.name, hit.start, hit.end) for hit in hits], stale


@pytest.mark.parametrize(
    ("output", "paths", "hits"),
    [
        ("n.md:1:The cache.", (), [("n.md", 0, 11)]),
        ("n.md-3-a:colon:9:here", (), [("n.md", 29, 44)]),
        ("d/my-notes-2.md-1-x-3-y", (), [("d/my-notes-2.md", 0, 6)]),
        ("n.md:12:looks numbered", (), [("n.md", 11, 29)]),  # without a number, it reads like one
        ("12:looks numbered", ("n.md",), [("n.md", 11, 29)]),
        ("2:12:looks numbered", ("n.md",), [("n.md", 11, 29)]),
        ("The cache.\nThe cache.", ("n.md",), [("n.md", 0, 11), ("n.md", 44, 55)]),
        ("The cache.", ("n.md",), []),  # one of two: which?
        ("n.md:The cache.\nn.md:The cache.", (), [("n.md", 0, 11), ("n.md", 44, 55)]),
        ("n.md\n1:The cache.\n\nd/my-notes-2.md\n2:z", (), [("n.md", 0, 11), ("d/my-notes-2.md", 6, 8)]),
        ("File: n.md\nL1: The cache.\nL2- 12:looks numbered\nL5- ", (), [("n.md", 0, 11), ("n.md", 11, 29)]),
        ("other.md:1:The cache.\nno line\n--", (), []),
        ("n.md:1:[Omitted long matching line]", (), []),
        ("", ("n.md",), []),
    ],
)
def test_a_printed_line_is_found_in_its_file(
    output: str, paths: tuple[str, ...], hits: list[tuple[str, int, int]]
) -> None:
    assert found(output, *paths) == (hits, ())


@pytest.mark.parametrize("output", ["n.md:1:The old cache.", "n.md:9:The cache.", "n.md:1:The cache.\nn.md:4:Gone."])
def test_a_numbered_line_that_reads_otherwise_makes_the_file_stale(output: str) -> None:
    assert found(output) == ([], ("n.md",))


def test_names_are_the_paths_of_memory_files_that_begin_a_line() -> None:
    output = "a.md:1:see b.md for more\n./c/d-2.mdc-3-x\nsrc/app.py:1:x\nFile: e f.markdown\nplain"

    assert names(output) == ("a.md", "./c/d-2.mdc", "e f.markdown")


def test_only_so_many_names_are_looked_up() -> None:
    assert len(names("\n".join(f"{number}.md:1:x" for number in range(500)))) == 64
