"""Sections of files without markers: their bounds, what their front matter says, and what of them is our own."""

from pathlib import Path

import pytest

from recall.legacy import ALWAYS, LONGEST_NAME, MOST_FRONT, MOST_GLOBS, Front, front_matter, sections
from recall.lines import Flat, between, fences, landmarks

DATA = Path(__file__).parents[1] / "data" / "memory_files"
BEGIN, END = "<!-- remora-pre:begin v1 -->", "<!-- remora-pre:end -->"


def said(text: str) -> tuple[str, tuple[str, ...]]:
    front = front_matter(Flat(text.encode()))
    return front.name, front.tags


def split(text: str) -> list[tuple[str, int, int, str]]:
    """(headings, ordinal, piece, body) of each section."""
    flat = Flat(text.encode())
    marks = landmarks(flat, between(flat, fences(flat).closed), 1000) or []
    found, _ = sections(flat, front_matter(flat).end, marks)
    return [(">".join(one.headings), one.ordinal, one.piece, flat.text(one.body)) for one in found]


def unpaired(text: str) -> list[int]:
    flat = Flat(text.encode())
    return list(sections(flat, 0, landmarks(flat, between(flat, ()), 1000) or []).unpaired)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: build rules\n---\nA.", ("build rules", ())),
        ('---\nkind: x\ndescription: "How we build"\nname: b\n---\n', ("How we build", ())),
        ("---\r\ntitle: 部署\r\n---\r\nA.", ("部署", ())),
        ("\ufeff---\nname: n\n...\nA.", ("n", ())),
        ("---\ndescription:\nglobs: **/*\nalwaysApply: false\n---\n", ("", ("**/*",))),
        ("---\nglobs: src/**/*.ts, *.tsx\nalwaysApply: true\n---\n", ("", ("src/**/*.ts", "*.tsx", ALWAYS))),
        ('---\nglobs: ["test/**/*", "**/*.test.ts"]\n---\n', ("", ("test/**/*", "**/*.test.ts"))),
        ('---\npaths:\n  - "src/a.py"\n  - docs/**\nother: x\n  - no\n---\n', ("", ("src/a.py", "docs/**"))),
        ("---\nalwaysApply: yes\nglobs:\n---\n", ("", ())),
        ("A.\n---\nname: n\n---\n", ("", ())),
        ("---\nname: never closed\n", ("", ())),
        ("----\nname: n\n----\n", ("", ())),
        (f"---\nname: {'n' * 999}\n---\n", ("n" * LONGEST_NAME, ())),
        (f"---\nglobs: {','.join(f'g{n}' for n in range(99))}\n---\n", ("", tuple(f"g{n}" for n in range(MOST_GLOBS)))),
    ],
)
def test_front_matter_names_a_file_and_the_paths_it_is_about(text: str, expected: tuple[str, tuple[str, ...]]) -> None:
    assert said(text) == expected


def test_text_between_two_rulers_is_no_front_matter() -> None:
    text = "---\nDeploys freeze on Fridays.\n---\nB."

    assert front_matter(Flat(text.encode())) == Front("", (), 0)
    assert [body for *_, body in split(text)] == [text]


def test_a_front_matter_that_goes_on_and_on_is_text() -> None:
    flat = Flat(b"---\n" + b"a: 1\n" * MOST_FRONT + b"---\nA.")

    assert front_matter(flat) == Front("", (), 0)


def test_a_second_front_matter_that_follows_at_once_is_known() -> None:
    flat = Flat(b"---\npermalink: p\n---\n\n---\nname: n\n---\nA.")

    front = front_matter(flat)

    assert front.second == flat.data.index(b"---\nname") and flat.data[front.second_end :] == b"\nA."
    assert front_matter(Flat(b"---\na: 1\n---\n\n---\nA ruler above.\n---\n")).second is None
    assert front_matter(Flat(b"---\na: 1\n---\n---\n---\n")).second is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("testrail-rule.mdc", ("Cursor rules for TestRail development with test case integration.", ("**/*",))),
        ("testing-rule.md", ("", ("test/**/*", "**/*.test.ts", "**/*.spec.ts"))),
        ("feedback-development-rules.md", ("统一开发规范必须遵守", ())),
    ],
)
def test_front_matter_of_real_files_is_read(name: str, expected: tuple[str, tuple[str, ...]]) -> None:
    front = front_matter(Flat((DATA / name).read_bytes()))

    assert (front.name, front.tags) == expected


def test_sections_know_the_headings_above_them_and_which_of_their_name_they_are() -> None:
    assert split("Intro.\n# A\na\n### B\nb\n## C\nc\n# A\n# A\nagain\n") == [
        ("", 0, 0, "Intro."),
        ("A", 0, 0, "a"),
        ("A>B", 0, 0, "b"),
        ("A>C", 0, 0, "c"),
        ("A", 2, 0, "again"),
    ]


def test_what_we_wrote_into_a_file_is_not_its_own_words() -> None:
    text = f"# A\nbefore\n{BEGIN}\n# Team memory\nours\n{END}\nafter\n# B\nb\n"

    assert split(text) == [("A", 0, 0, "before"), ("A", 0, 1, "after"), ("B", 0, 0, "b")]
    assert split(f"# A\nbefore\n\n{BEGIN}\nours\n{END}\n") == [("A", 0, 0, "before")]
    assert split(f"{BEGIN}\nours\n{END}\n") == []


def test_a_block_shown_in_a_code_fence_is_text() -> None:
    text = f"# A\n```\n{BEGIN}\n```\n"

    assert [body for *_, body in split(text)] == [f"```\n{BEGIN}\n```"]


@pytest.mark.parametrize(
    ("text", "bodies", "places"),
    [
        (f"a\n{BEGIN}\nours\n# B\nb\n", ["a"], [2]),
        (f"a\n{END}\nb\n", ["a", "b"], [2]),
        (f"a\n{BEGIN}\nx\n{BEGIN}\ny\n{END}\nb", ["a", "b"], [33]),
    ],
)
def test_half_a_block_is_reported_and_what_may_be_ours_left_out(
    text: str, bodies: list[str], places: list[int]
) -> None:
    assert [body for *_, body in split(text)] == bodies
    assert unpaired(text) == places


def test_a_markers_line_in_somebody_elses_file_ends_a_section() -> None:
    text = "# A\na\n<!-- memory:mem_0123456789abcdef0123456789abcdef pinned=true -->\nb\n"

    assert split(text) == [("A", 0, 0, "a"), ("A", 0, 1, "b")]
