"""What an output shows of files: whole, in the order of the command, around a gap; and nothing of what changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.reads.printings import printings
from host.reads.shown import File, Shown, merged, shown

A = b"alpha one\nalpha two\nalpha three\n"  # lines at 0, 10, 20; 32 bytes
B = b"beta one\nbeta two\n"


def seen(command: str, text: str, **files: bytes) -> dict[str, object]:
    """The spans by file; `stale` for a file that does not read as printed."""
    there = {f"{name}.md": File(f"{name}.md", data) for name, data in files.items()}
    found: dict[str, object] = {}
    for result in shown([(one, [there]) for one in printings(command, text, "/p")], text):
        found |= dict.fromkeys(result.stale, "stale") | dict(result.spans)
    return found


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("cat a.md", A.decode(), ((0, 32),)),
        ("cat a.md", A.decode().strip(), ((0, 32),)),
        ("cat a.md", f"before\n{A.decode()}after", ((0, 32),)),
        ("cat a.md", A.decode().replace("\n", "\r\n"), ((0, 32),)),
        ("cat a.md", A.decode().replace("two", "2"), "stale"),
        ("cat a.md", "cat: a.md: Permission denied", "stale"),
        ("sed -n 2p a.md", "alpha two", ((10, 20),)),
        ("sed -n 2p a.md", "xalpha two", "stale"),  # not at the beginning of a line
        ("sed -n 2p a.md", "alpha twofold", "stale"),
        ("tail -1 a.md", "alpha three\n", ((20, 32),)),
        ("sed -n 2p a.md; sed -n 1p a.md", "alpha two\nalpha one\n", ((0, 10),)),
        ("grep -v x a.md", "alpha one\nalpha three", ((0, 10), (20, 32))),
        ("sed -n '/one/,/two/p' a.md", "alpha one\nalpha two", ((0, 20),)),
        ("sed '/two/d' a.md", "alpha one\nalpha three", ((0, 10), (20, 32))),
        ("sed '/two/d' a.md", "other words", "stale"),
    ],
)
def test_an_output_shows_what_the_command_was_to_print(command: str, text: str, expected: object) -> None:
    assert seen(command, text, a=A) == {"a.md": expected}


def test_commands_print_one_after_another() -> None:
    assert seen("cat a.md; cat b.md", (A + B).decode(), a=A, b=B) == {"a.md": ((0, 32),), "b.md": ((0, 18),)}
    assert seen("cat b.md; cat a.md", (A + B).decode(), a=A, b=B) == {"a.md": "stale", "b.md": ((0, 18),)}


def test_files_of_one_stream_are_shown_together_or_not_at_all() -> None:
    assert seen("cat a.md b.md | head -4", (A + b"beta one\n").decode(), a=A, b=B) == {
        "a.md": ((0, 32),),
        "b.md": ((0, 9),),
    }
    between = f"{A.decode().strip()}\nbeta one\n"  # sed ends the last line of a file before the next
    assert seen("sed -n '1,4p' a.md b.md", between, a=A.strip(), b=B) == {"a.md": ((0, 31),), "b.md": ((0, 9),)}
    assert seen("cat a.md x.md | head -4", A.decode(), a=A) == {}  # what stands in the other nobody knows


def test_of_two_folders_the_one_counts_whose_file_reads_as_printed() -> None:
    (one,) = printings("cat a.md", "", "/p")
    here, there = File("/p/a.md", B), File("/p/notes/a.md", A)

    assert shown([(one, [{"a.md": here}, {"a.md": there}])], A.decode()) == [Shown(spans={"/p/notes/a.md": ((0, 32),)})]
    assert shown([(one, [{"a.md": here}, {}])], A.decode()) == [Shown(stale=("/p/a.md",))]


LONG = b"".join(b"line %03d of a long file\n" % number for number in range(100))  # 24 bytes a line


@pytest.mark.parametrize(
    "gap",
    [
        "…14558 tokens truncated…",
        "\n[… 900 characters left out …]\n",
        "\n\n... [31 lines truncated] ...\n\n",
        "\n[... omitted 31 of 100 lines ...]\n",
        "...\n</persisted-output>",
    ],
)
@pytest.mark.parametrize("head", [24 * 10, 24 * 10 + 7])
def test_beside_a_gap_counts_what_stands_there(gap: str, head: int) -> None:
    text = LONG.decode()
    if gap.endswith("output>"):  # a preview has a beginning alone, of whole lines
        assert seen("cat long.md", f"{text[:240]}{gap}", long=LONG) == {"long.md": ((0, 240),)}
        return
    cut = f"warning\n{text[:head]}{gap}{text[-100:]}"

    ((start, end), tail) = seen("cat long.md", cut, long=LONG)["long.md"]  # type: ignore[misc]

    assert (start, tail) == (0, (2300, 2400))
    assert end in (head, head - 1)  # whose the line end before a mark is, nobody knows


def test_a_gap_with_another_beginning_and_end_shows_nothing() -> None:
    cut = f"{LONG.decode()[:240].replace('000', 'xxx')}…9 tokens truncated…end"

    assert seen("cat long.md", cut, long=LONG) in ({}, {"long.md": "stale"})


def test_a_screened_output_is_compared_with_the_screened_file() -> None:
    data = b"the key is s3cr3t\nand more\n"
    (one,) = printings("cat a.md", "", "/p")
    files = [{"a.md": File("a.md", data)}]
    text = "the key is [secret:x]\nand more\n"

    assert shown([(one, files)], text, lambda line: line.replace("s3cr3t", "[secret:x]")) == [
        Shown(spans={"a.md": ((0, 27),)})
    ]
    assert shown([(one, files)], text) == [Shown(stale=("a.md",))]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], ()),
        ([(3, 3)], ()),
        ([(5, 9), (0, 5)], ((0, 9),)),
        ([(0, 9), (2, 4), (11, 12)], ((0, 9), (11, 12))),
    ],
)
def test_ranges_are_merged(spans: list[tuple[int, int]], expected: tuple[tuple[int, int], ...]) -> None:
    assert merged(spans) == expected


WORDS = st.lists(st.sampled_from(["a", "部署", "", "word word", "12:x", "…"]), min_size=1, max_size=8)


@given(WORDS, st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_what_sed_prints_is_covered_to_the_byte(words: list[str], first: int, last: int, ends: bool) -> None:
    data = ("\n".join(words) + "\n" * ends).encode()
    printed = data.decode().splitlines(keepends=True)[first - 1 : max(first, last)]
    text = "".join(printed)

    found = seen(f"sed -n '{first},{last}p' a.md", text, a=data)

    start = len("".join(data.decode().splitlines(keepends=True)[: first - 1]).encode())
    expected = {"a.md": ((start, start + len(text.encode())),)} if text.strip() else None
    assert found == expected or (expected is None and found in ({}, {"a.md": ((start, start + len(text.encode())),)}))


@given(
    st.text(max_size=200), st.binary(max_size=200), st.sampled_from(["cat a.md", "grep x a.md", "nl a.md | tail -3"])
)
def test_no_output_is_a_fault_and_no_range_lies_outside(text: str, data: bytes, command: str) -> None:
    printed = [(one, [{"a.md": File("a.md", data)}]) for one in printings(command, "", "/p")]

    for result in shown(printed, text):
        assert all(0 <= start < end <= len(data) for spans in result.spans.values() for start, end in spans)
