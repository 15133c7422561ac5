"""Files of others as drafts: what is taken of each kind, what is named as not taken, and that nothing raises."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall.contracts import MemoryKind
from recall.importing import LONGEST_TAG, LONGEST_TEXT, LONGEST_TITLE, MOST_DRAFTS, MOST_TAGS, Draft, read_drafts

DATA = Path(__file__).parents[1] / "data" / "memory_files"
NOTE = """---
title: Coffee brewing
type: note
tags: [coffee, "#kitchen"]
permalink: coffee/brewing
created: 2026-01-06T09:15:00Z
---

# Coffee brewing

Notes from the kitchen.

## Observations
- [method] Pour over is clearer than the press #brewing #taste
- [howto] Rinse the filter,
  then discard the water (or it tastes of paper)
- [ ] buy filters

## Relations
- relates_to [[Coffee beans]]
- requires [[Grinding]] (see there)
"""


def check(text: str, expected: list[tuple[str | None, str]], name: str = "notes.md") -> tuple[Draft, ...]:
    taken = read_drafts(text.encode(), name)

    assert [(draft.title, draft.text) for draft in taken.drafts] == expected
    assert taken.problems == ()
    return taken.drafts


def test_a_file_without_markers_gives_a_draft_for_each_section_with_its_line() -> None:
    drafts = check(
        "# Rules\n\nBe brief.\n\n## Tests\r\n\nRun `make check`.\n",
        [("Rules", "Be brief."), ("Rules > Tests", "Run `make check`.")],
        name="CLAUDE.md",
    )

    assert [draft.line for draft in drafts] == [3, 7]


def test_text_above_all_headings_is_called_after_its_file_unless_that_says_nothing() -> None:
    check("Say yes.\n", [(None, "Say yes.")], name="AGENTS.md")
    check("Say yes.\n", [("deploy checklist", "Say yes.")], name="notes/deploy_checklist.md")


def test_a_note_gives_each_observation_and_the_rest_of_its_section() -> None:
    taken = read_drafts(NOTE.encode(), "coffee-brewing.md")

    assert [(draft.title, draft.text, draft.line) for draft in taken.drafts] == [
        ("Coffee brewing", "Notes from the kitchen.", 11),
        ("Coffee brewing", "- [ ] buy filters", 14),
        ("Coffee brewing", "Pour over is clearer than the press", 14),
        ("Coffee brewing", "Rinse the filter, then discard the water (or it tastes of paper)", 15),
    ]
    assert [draft.tags for draft in taken.drafts[2:]] == [
        ("method", "brewing", "taste", "coffee", "kitchen"),
        ("howto", "coffee", "kitchen"),
    ]
    assert [draft.kind for draft in taken.drafts[2:]] == [MemoryKind.SEMANTIC, MemoryKind.PROCEDURAL]
    assert {draft.created_at for draft in taken.drafts} == {1767690900000}
    assert taken.left_out == 2


def test_brackets_in_a_file_that_is_no_note_are_text() -> None:
    text = "# Style\n\n- [WIP] keep this list together\n- see [[Other]]\n"

    check(text, [("Style", "- [WIP] keep this list together\n- see [[Other]]")], name="CLAUDE.md")


@pytest.mark.parametrize(
    ("line", "text", "tags"),
    [
        ("- [坑] 数据库迁移前先备份 #数据库", "数据库迁移前先备份", ("坑", "数据库")),
        ("* [fix] Closes #12 for good", "Closes #12 for good", ("fix",)),
        ("- [tip] #only #tags", "only tags", ("tip", "only", "tags")),
        ("- [tip] a (b) #c (d)", "a (b) (d)", ("tip", "c")),
    ],
)
def test_an_observation_keeps_its_words_and_gives_its_last_tags(line: str, text: str, tags: tuple[str, ...]) -> None:
    (draft,) = read_drafts(f"## Observations\n{line}\n".encode(), "n.md").drafts

    assert (draft.text, draft.tags) == (text, tags)


def test_what_looks_like_an_observation_in_a_code_block_is_code() -> None:
    text = "```\n- [a] b\n```\n- [c] d"

    drafts = read_drafts(f"## Observations\n{text}\n".encode(), "n.md").drafts

    assert [draft.text for draft in drafts] == ["```\n- [a] b\n```", "d"]


def test_a_cursor_rule_is_called_by_its_description_and_tagged_with_its_globs() -> None:
    rule = "---\ndescription: React components\nglobs: *.tsx, src/**/*.ts\nalwaysApply: false\n---\nUse functions.\n"

    (draft,) = check(rule, [("React components", "Use functions.")], name=".cursor/rules/react.mdc")

    assert draft.tags == ("*.tsx", "src/**/*.ts")


def test_a_memory_of_claude_code_is_titled_by_its_name_and_its_headings() -> None:
    taken = read_drafts((DATA / "feedback-development-rules.md").read_bytes(), "feedback-development-rules.md")

    titles = [draft.title for draft in taken.drafts]
    assert titles[0] == "统一开发规范必须遵守" and titles[1] == "统一开发规范必须遵守 > 代码规范"


def test_front_matter_may_list_tags_line_by_line() -> None:
    text = "---\nname: 'A'\ntags:\n  - one\n  - \"two\"\ndate: 2026-01-06\nmore: |\n  lines\n---\nText.\n"

    (draft,) = check(text, [("A", "Text.")])

    assert draft.tags == ("one", "two")
    assert draft.created_at == 1767657600000


@pytest.mark.parametrize("front", ["---\ntitle: A\n\nText without an end.", "title: A\n---\nText.", "---\n---\nText."])
def test_what_is_no_front_matter_gives_nothing(front: str) -> None:
    assert {draft.title for draft in read_drafts(front.encode(), "n.md").drafts} <= {"n", "title: A"}


@pytest.mark.parametrize("written", ["yesterday", "0001-01-01", "1969-12-31", "99999-01-01"])
def test_a_time_that_is_none_is_left_out(written: str) -> None:
    (draft,) = read_drafts(f"---\ncreated: {written}\n---\nText.\n".encode(), "n.md").drafts

    assert draft.created_at is None


def test_a_memory_file_keeps_what_its_markers_say_and_leaves_out_what_counts_no_more() -> None:
    kept, gone = "mem_" + "1" * 32, "mem_" + "2" * 32
    text = (
        f'<!-- memory:{kept} kind="procedural" tags=["ci"] title="Tests" created="2026-01-06T09:15:00Z" -->\nA.\n'
        f'<!-- memory:{gone} status="superseded" -->\nB.\n'
    )

    taken = read_drafts(text.encode(), "2026-01.md")

    assert taken.drafts == (
        Draft(text="A.", line=2, title="Tests", tags=("ci",), kind=MemoryKind.PROCEDURAL, created_at=1767690900000),
    )
    assert taken.left_out == 1


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"\xff\xfe", "a.md", "UTF-8"),
        (b"a\0b", "a.md", "No text"),
        (b"x" * (5 * 1024 * 1024 + 1), "a.md", "5 MiB"),
        (b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", "a.md", "conflict"),
        (b"# a\nb\n" * (MOST_DRAFTS + 1), "a.md", "10 000"),
        (b"## Observations\n" + b"- [a] b\n" * (MOST_DRAFTS + 1), "a.md", "10 000"),
        (b'{"type":"user"}\n', "session.jsonl", "--history"),
        (b'\n{"messages": []}', "session.json", "--history"),
        (b"x", "page.html", "No Markdown"),
    ],
)
def test_a_file_that_cannot_be_taken_says_why(data: bytes, name: str, said: str) -> None:
    taken = read_drafts(data, name)

    assert taken.drafts == ()
    assert [problem.line for problem in taken.problems] == [0] and said in taken.problems[0].problem


def test_a_place_that_cannot_be_taken_is_named_and_the_rest_is() -> None:
    good = "<!-- memory:mem_" + "1" * 32 + " -->\nA.\n"

    taken = read_drafts(f"{good}<!-- memory:oops -->\nB.\n".encode(), "a.md")
    long = read_drafts(f"# A\n{'x' * (LONGEST_TEXT + 1)}\n# B\nb\n".encode(), "a.md")
    observed = read_drafts(f"## Observations\n- [a] {'x' * (LONGEST_TEXT + 1)}\n".encode(), "a.md")

    assert [draft.text for draft in taken.drafts] == ["A."]
    assert taken.problems[0].line == 3 and "malformed-anchor" in taken.problems[0].problem
    assert [draft.text for draft in long.drafts] == ["b"]
    assert long.problems[0].line == 2 and "headings" in long.problems[0].problem
    assert observed.drafts == () and observed.problems[0].line == 2


def test_an_empty_file_gives_nothing_and_is_no_problem() -> None:
    assert read_drafts(b"\n", "a.md") == read_drafts(b"# Heading\n", "a.md") == read_drafts(b"", ".cursorrules")


PIECES = st.sampled_from(
    [
        "---\n",
        "title: a\n",
        "tags: [a, b\n",
        "- [a] b #c (d)\n",
        "- [[x]]\n",
        "  more\n",
        "```\n",
        "# h\n",
        "#\n",
        "文\n",
    ]
)


@example(b"\x1c")
@given(st.one_of(st.binary(max_size=300), st.lists(st.one_of(PIECES, st.text(max_size=20))).map(lambda p: "".join(p))))
def test_no_bytes_raise_and_every_draft_is_bounded(written: bytes | str) -> None:
    data = written.encode("utf-8", "surrogatepass") if isinstance(written, str) else written

    taken = read_drafts(data, "observations.md")

    for draft in taken.drafts:
        assert draft.text.strip() and len(draft.text) <= LONGEST_TEXT and draft.line > 0
        assert draft.title is None or 0 < len(draft.title) <= LONGEST_TITLE
        assert len(draft.tags) <= MOST_TAGS and all(0 < len(tag) <= LONGEST_TAG for tag in draft.tags)
