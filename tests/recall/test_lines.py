"""Of a file's lines those that mean something are found, at their exact bytes, in time that grows with the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.lines import (
    Anchor,
    Block,
    Flat,
    Heading,
    Ruler,
    Span,
    between,
    conflicted,
    fences,
    heading,
    landmarks,
)

MARK = "<!-- memory:mem_1 -->"
MANY = 100


def whole(flat: Flat) -> list[Span]:
    return [Span(flat.first, len(flat.bytes))]


def marks(text: str) -> list[str]:
    """What is found outside the fences: the kind's first letter and the line."""
    flat = Flat(text.encode())
    found = landmarks(flat, between(flat, fences(flat).closed), MANY)
    assert found is not None
    return [f"{type(mark).__name__[0]} {flat.text(Span(mark.start, mark.end))}" for mark in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{MARK}\nA.\n  # H\n", [f"A {MARK}", "H   # H"]),
        (f"# H\r\n{MARK}\r\n", ["H # H", f"A {MARK}"]),
        (f"# H\r{MARK}\rA.", ["H # H", f"A {MARK}"]),
        (f"\ufeff{MARK}\nA.", [f"A {MARK}"]),
        (f"A.\n{MARK}", [f"A {MARK}"]),
        (f"see {MARK}\n    # code\n#tag\n####### seven", []),
        (f"```\n{MARK}\n```\n# H", ["H # H"]),
        (f"```\n# H\r\n```\r\n{MARK}", [f"A {MARK}"]),
        (
            "<!-- remora-pre:begin v1 -->\nx\n <!-- remora-pre:end -->",
            ["B <!-- remora-pre:begin v1 -->", "B  <!-- remora-pre:end -->"],
        ),
        ("<!-- remora-pre:other -->\n<!-- remora-pre:begin v1 --> x", []),
        ("", []),
    ],
)
def test_a_line_that_means_something_is_found_outside_of_fences(text: str, found: list[str]) -> None:
    assert marks(text) == found


@pytest.mark.parametrize(
    ("line", "level_and_words"),
    [
        ("# Build", (1, "Build")),
        ("   ###### Deep ##", (6, "Deep")),
        ("#", (1, "")),
        ("##  ", (2, "")),
        ("# #", (1, "#")),
        ("# a # b #", (1, "a # b")),
        ("# C#", (1, "C#")),
        ("#\ttab\t#\t", (1, "tab")),
        ("# 部署 ##", (1, "部署")),
        ("#no", None),
        ("####### seven", None),
        ("    # code", None),
        ("text", None),
        ("", None),
    ],
)
def test_a_heading_is_known_by_its_hashes(line: str, level_and_words: tuple[int, str] | None) -> None:
    assert heading(line.encode()) == level_and_words


@pytest.mark.parametrize(
    ("text", "closed", "opened"),
    [
        ("```\na\n```\nb", ["```\na\n```"], b""),
        ("~~~ x ` y\n```\n~~~\n", ["~~~ x ` y\n```\n~~~"], b""),
        ("````\n```\n`````\n", ["````\n```\n`````"], b""),
        ("```\na", [], b"```"),
        ("```\na\n~~~\nb\n~~~", ["~~~\nb\n~~~"], b"```"),
        ("```a`b\n```\nx\n```", ["```\nx\n```"], b""),
        ("```\n``` x\n```", ["```\n``` x\n```"], b""),
    ],
)
def test_a_fence_hides_only_what_it_closes_over(text: str, closed: list[str], opened: bytes) -> None:
    flat = Flat(text.encode())

    found = fences(flat)

    assert ([flat.text(span) for span in found.closed], found.open) == (closed, opened)


@pytest.mark.parametrize(
    ("text", "conflict"),
    [
        ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c\n", True),
        ("<<<<<<<\r\na\r\n=======\r\nb\r\n>>>>>>>", True),
        ("Title\n=======\n\n>>>>>>> quoted\n<<<<<<< x", False),
        ("<<<<<<<x\n=======\n>>>>>>> c", False),
        ("```\n<<<<<<< HEAD\n=======\n>>>>>>> c\n```", False),
    ],
)
def test_a_conflict_is_its_three_marks_in_order(text: str, conflict: bool) -> None:
    flat = Flat(text.encode())

    assert conflicted(flat, between(flat, fences(flat).closed)) is conflict


def test_more_marks_than_a_person_keeps_are_not_counted_to_the_end() -> None:
    flat = Flat(b"# h\n" * (MANY + 1))

    assert landmarks(flat, whole(flat), MANY) is None
    assert len(landmarks(flat, whole(flat), MANY + 1) or ()) == MANY + 1


def test_kinds_of_marks_are_told_apart() -> None:
    flat = Flat(f"{MARK}\n## H\n<!-- remora-pre:end v2 -->".encode())

    found = landmarks(flat, whole(flat), MANY)

    assert found == [Anchor(0, 21), Heading(22, 26, 2, "H"), Block(27, 53, False)]


def test_a_trimmed_region_keeps_indents_and_drops_blank_lines() -> None:
    flat = Flat(b"x\r\n \t\r\n  a\r\n\x0b\r\nb  \r\n\r\n")

    assert flat.trimmed(1, len(flat.bytes)) == Span(7, 18)
    assert flat.data[7:18] == b"  a\r\n\x0b\r\nb  "
    assert flat.trimmed(1, 5) is None


lines = st.lists(
    st.tuples(st.sampled_from(["", "a", "备份", " # h", "```"]), st.sampled_from(["\n", "\r\n", "\r"])), max_size=12
)


@given(lines, st.booleans())
def test_lines_are_counted_as_an_editor_counts_them(pairs: list[tuple[str, str]], marked: bool) -> None:
    data = ("\ufeff" * marked + "".join(line + end for line, end in pairs) + "last").encode()
    flat = Flat(data)
    ruler = Ruler(flat)
    starts = [at for at in range(flat.first, len(data)) if at == flat.first or flat.bytes[at - 1 : at] == b"\n"]

    numbers = [ruler.line(at) for at in starts]

    text = data.removeprefix(b"\xef\xbb\xbf").decode().replace("\r\n", "\n").replace("\r", "\n")
    assert numbers == list(range(1, len(numbers) + 1))
    assert [flat.text(flat.line(at)) for at in starts] == text.split("\n")
    assert ruler.line(starts[0]) == 1  # backwards, too


@pytest.mark.parametrize(
    "line",
    [
        "# a" + " " * 200_000 + "b",
        "# " + "# " * 100_000 + "b",
        "<!-- memory:" + " " * 200_000,
        "<!-- remora-pre:begin" + " " * 200_000 + "x",
        "`" * 200_000,
        "<" * 200_000,
    ],
)
def test_a_line_made_to_keep_us_busy_does_not(line: str) -> None:
    """Patterns that try every way of dividing a line's blanks would take minutes here."""
    flat = Flat(line.encode())

    assert len(landmarks(flat, whole(flat), MANY) or ()) <= 1
    assert fences(flat).closed == []
