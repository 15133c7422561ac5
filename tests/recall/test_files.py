"""Bytes of a memory file become records with exact places; what is doubtful fails closed and is reported."""

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import CodeAnchor, Origin, RecordState, Status
from recall.files import (
    LARGEST,
    MOST_RECORDS,
    Fresh,
    OutOfRange,
    ParsedFile,
    Read,
    Stale,
    coverage,
    parse,
    record_digest,
    unclosed_fence,
)
from recall.lines import MOST_FENCES
from recall.markers import FileHome
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope

HOME = FileHome(path="/m/sub/a.md", relative="sub/a.md", scope=a_workspace_scope(), origin=Origin.USER)
DATA = Path(__file__).parents[1] / "data" / "memory_files"
ONE, TWO, THREE = (f"<!-- memory:{a_memory_id(n)} -->" for n in (1, 2, 3))


def texts(parsed: ParsedFile) -> dict[str, str]:
    """Last digit of the id -> text."""
    return {one.record.memory_id[-1]: one.record.text for one in parsed.records}


def states(parsed: ParsedFile) -> list[tuple[str, int]]:
    return [(str(finding.state), finding.line) for finding in parsed.findings]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (f"{ONE}\nA.\n", {"1": "A."}),
        (f"{ONE}\nA.", {"1": "A."}),
        (f"{ONE}\n\n \nA.\n\nB.\n\n\n{TWO}\nC.\n\n", {"1": "A.\n\nB.", "2": "C."}),
        (f"\ufeff{ONE}\r\nA.\r\nB.\r\n{TWO}\r\nC.", {"1": "A.\nB.", "2": "C."}),
        (f"{ONE}\rA.\r{TWO}\nB.\r\nC.\rD.", {"1": "A.", "2": "B.\nC.\nD."}),
        (f"{ONE}\n备份数据库 👍🏽\n", {"1": "备份数据库 👍🏽"}),
        (f"{ONE}\n```\n{TWO}\n```\nafter\n{THREE}\nB.\n", {"1": f"```\n{TWO}\n```\nafter", "3": "B."}),
        (f"{ONE}\n~~~~ x ` y\n{TWO}\n~~~\n~~~~~ \n{THREE}\nB.\n", {"1": f"~~~~ x ` y\n{TWO}\n~~~\n~~~~~ ", "3": "B."}),
        (f"{ONE}\n```\nnever closed\n{TWO}\nB.\n", {"1": "```\nnever closed", "2": "B."}),
        (f"{ONE}\n```not ` a fence\n{TWO}\nB.\n```\n", {"1": "```not ` a fence", "2": "B.\n```"}),
        (f"{ONE}\n    {TWO}\n", {"1": f"    {TWO}"}),  # indented code
        (f"{ONE}\nsee {TWO}\n", {"1": f"see {TWO}"}),
        (f"  {ONE}  \nA.\n", {"1": "A."}),
        ("", {}),
    ],
)
def test_a_record_runs_from_its_marker_to_the_next(data: str, expected: dict[str, str]) -> None:
    assert texts(parse(data.encode(), HOME)) == expected


@pytest.mark.parametrize(
    ("data", "records", "findings"),
    [
        (f"{ONE}\n\n{TWO}\nB.\n", {"2": "B."}, [("orphan-anchor", 1)]),
        (f"{ONE}\nA.\n{ONE}\nA again.\n{TWO}\nB.\n", {"2": "B."}, [("duplicate-anchor", 1), ("duplicate-anchor", 3)]),
        (f"{ONE}\nA.\n<!-- memory:mem_1 -->\nlost\n{TWO}\nB.\n", {"1": "A.", "2": "B."}, [("malformed-anchor", 3)]),
        (f"stray\n{ONE}\nA.\n", {"1": "A."}, [("orphan-content", 1)]),
        (f"# Title\n\n<!-- a comment -->\n{ONE}\nA.\n", {"1": "A."}, []),
        (f"---\nname: n\n---\n{ONE}\nA.\n", {"1": "A."}, []),
        (f"---\na: 1\n---\n\n---\nb: 2\n---\n{ONE}\nA.\n", {"1": "A."}, [("orphan-content", 5)]),
        (f"---\n{ONE}\nA.\n---\n", {"1": "A.\n---"}, [("orphan-content", 1)]),
        (f"{ONE}\nA.\n```\n{TWO}\nB.\n```\n", {"1": f"A.\n```\n{TWO}\nB.\n```"}, [("orphan-anchor", 4)]),
    ],
)
def test_a_conflict_fails_closed_for_its_record_only(
    data: str, records: dict[str, str], findings: list[tuple[str, int]]
) -> None:
    parsed = parse(data.encode(), HOME)

    assert (texts(parsed), states(parsed), parsed.refused) == (records, findings, None)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"# h\nb\n" * (MOST_RECORDS + 1), "too-many-records"),
        (b"<!-- remora-pre:begin v1 -->\n" * (MOST_RECORDS + 1), "too-many-records"),
        (b"```\n" * (MOST_FENCES + 1), "too-many-records"),
        (f"{ONE}\nA.\n".encode() * (MOST_RECORDS + 1), "too-many-records"),
        (b"<<<<<<< HEAD\n- Limit is 10.\n=======\n- Limit is 20.\n>>>>>>> other\n", "conflict-markers"),
        (f"{ONE}\nA.\n<<<<<<< HEAD\nx\n||||||| base\ny\n=======\nz\n>>>>>>> b\n".encode(), "conflict-markers"),
        (f"{ONE}\ncaf\u00e9".encode("latin-1"), "not-utf-8"),
        (f"{ONE}\nA.".encode("utf-16-le"), "binary"),
        (b"a\n" * (LARGEST // 2 + 1), "too-large"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_as_a_whole(data: bytes, reason: str) -> None:
    parsed = parse(data, HOME)

    assert (parsed.refused, parsed.records) == (reason, ())


@pytest.mark.parametrize(
    "text", ["Title\n=======\n\n>>>>>>> quoted", "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c\n```", "<<<<<<< alone"]
)
def test_text_about_conflicts_is_no_conflict(text: str) -> None:
    assert texts(parse(f"{ONE}\n{text}\n".encode(), HOME)) == {"1": text}


def test_a_place_is_exact_in_bytes_and_lines() -> None:
    data = f"\ufeff# M\r\n{ONE}\r\n\r\n备份\r\nline two  \r\n\r\n{TWO}\r\nB".encode()

    first, second = parse(data, HOME).records

    assert data[first.locator.byte_start : first.locator.byte_end].decode() == "备份\r\nline two  "
    assert (first.locator.line_start, first.locator.line_end) == (4, 5)
    assert data[second.locator.byte_start : second.locator.byte_end] == b"B"
    assert (second.locator.line_start, second.locator.byte_end) == (8, len(data))
    assert first.locator.source_file == HOME.path and first.locator.anchor_id == f"memory:{a_memory_id(1)}"
    assert (second.start, second.end) == (first.end, len(data))


def test_a_heading_at_the_top_of_a_record_is_its_title() -> None:
    (one,) = parse(f"{ONE}\n## Deploy ##\nUse the blue host.\n".encode(), HOME).records

    assert one.record.title == "Deploy" and one.record.text.startswith("## Deploy")


LEGACY = """---
name: build-rules
---
Intro.

# Build
Run `make gen` first.

```sh
# not a heading
```

## Tests
Use pytest.

# Empty

# Build
Again.
"""


def test_a_file_without_markers_is_split_at_its_headings() -> None:
    parsed = parse(LEGACY.encode(), HOME)

    titles = [(one.record.title, one.record.text.splitlines()[0]) for one in parsed.records]
    assert titles == [
        ("build-rules", "Intro."),
        ("Build", "Run `make gen` first."),
        ("Build > Tests", "Use pytest."),
        ("Build", "Again."),
    ]
    assert {one.record.state for one in parsed.records} == {RecordState.LEGACY}
    assert "# not a heading" in parsed.records[1].record.text
    assert len({one.record.memory_id for one in parsed.records}) == 4


def test_a_legacy_id_depends_on_scope_file_headings_and_ordinal_alone() -> None:
    before = {one.record.title: one.record.memory_id for one in parse(LEGACY.encode(), HOME).records}
    edited = LEGACY.replace("Intro.", "Intro.\n\n# New section\nFirst now.").replace("Use pytest.", "Use nox.")

    after = {one.record.title: one.record.memory_id for one in parse(edited.encode(), HOME).records}

    assert after["Build > Tests"] == before["Build > Tests"] and after["Build"] == before["Build"]
    other = FileHome(path=HOME.path, relative="b.md", scope=HOME.scope, origin=HOME.origin)
    assert not {one.record.memory_id for one in parse(LEGACY.encode(), other).records} & set(before.values())


bodies = st.lists(st.tuples(st.sampled_from(["# A", "## B", "# C"]), st.sampled_from(["a", "b", "c\n\nd"])), min_size=1)


@given(bodies, st.data())
def test_another_text_in_one_section_and_a_new_section_at_the_end_change_no_id(
    sections: list[tuple[str, str]], data: st.DataObject
) -> None:
    def ids(parts: list[tuple[str, str]]) -> list[str]:
        text = "\n".join(f"{heading}\n{body}\n" for heading, body in parts)
        return [one.record.memory_id for one in parse(text.encode(), HOME).records]

    place = data.draw(st.integers(0, len(sections) - 1))
    edited = [*sections[:place], (sections[place][0], "Something else.\n"), *sections[place + 1 :]]

    assert len(set(ids(sections))) == len(sections)
    assert ids(edited) == ids(sections)
    assert ids([*sections, ("# New", "n")])[:-1] == ids(sections)


def test_a_second_front_matter_of_a_legacy_file_is_reported_and_is_no_text() -> None:
    parsed = parse(b"---\na: 1\n---\n\n---\nname: n\n---\nA fact.\n", HOME)

    assert [one.record.text for one in parsed.records] == ["A fact."]
    assert states(parsed) == [("orphan-content", 5)]


def test_a_file_of_an_agent_product_is_believed_no_marker() -> None:
    """Whoever can write a CLAUDE.md could else take another record's id, or pin what it says."""
    data = f'# Rules\nFirst.\n{ONE[:-4]} pinned=true status="active" -->\nSecond.\n{ONE}\nThird.\n'.encode()
    home = FileHome(
        path="/r/sub/CLAUDE.md",
        relative="CLAUDE.md",
        scope=HOME.scope,
        origin=Origin.IMPORTED,
        provider="claude-md",
        top="/r",
    )

    parsed = parse(data, home)

    assert [one.record.text for one in parsed.records] == ["First.", "Second.", "Third."]
    assert {(one.record.state, one.record.origin, one.record.pinned) for one in parsed.records} == {
        (RecordState.LEGACY, Origin.IMPORTED, False)
    }
    assert a_memory_id(1) not in {one.record.memory_id for one in parsed.records}
    assert parsed.findings == ()


def test_files_of_one_name_in_one_repository_have_records_of_their_own() -> None:
    def ids(path: str, relative: str) -> set[str]:
        home = FileHome(
            path=path, relative=relative, scope=HOME.scope, origin=HOME.origin, provider="claude-md", top="/r"
        )
        return {one.record.memory_id for one in parse(LEGACY.encode(), home).records}

    found = [
        ids("/r/CLAUDE.md", "CLAUDE.md"),
        ids("/r/sub/CLAUDE.md", "CLAUDE.md"),
        ids("/r/.claude/CLAUDE.md", "CLAUDE.md"),
    ]

    assert len(found[0] | found[1] | found[2]) == 12
    assert ids("/r/CLAUDE.md", "CLAUDE.md") == found[0]


def test_a_block_of_our_own_is_not_indexed_again() -> None:
    block = "<!-- remora-pre:begin v1 -->\n# Team memory\nOurs.\n<!-- remora-pre:end -->\n"
    before, after = parse(LEGACY.encode(), HOME), parse((LEGACY + "\n" + block).encode(), HOME)

    assert after.records == before.records and after.findings == ()
    assert states(parse(f"# A\na\n{block.splitlines()[0]}\nOurs.".encode(), HOME)) == [("malformed-anchor", 3)]


def test_what_a_file_is_called_leads_its_first_title_and_its_paths_are_tags() -> None:
    data = b"---\ndescription: How tests run\nglobs: test/**\nalwaysApply: true\n---\n# Commands\nA.\n# Layout\nB.\n"

    records = [one.record for one in parse(data, HOME).records]

    assert [record.title for record in records] == ["How tests run > Commands", "Layout"]
    assert {record.tags for record in records} == {("test/**", "alwaysApply")}


def test_a_record_digest_follows_meaning_not_place_or_line_ends() -> None:
    (unix,) = parse(f"{ONE}\nA.\nB.\n".encode(), HOME).records
    (windows,) = parse(f'# T\r\n{TWO[:-4]} tags=["x"] -->\r\n\r\nA.\r\nB.'.encode(), HOME).records

    assert unix.locator.record_digest == windows.locator.record_digest == record_digest(unix.record)
    assert record_digest(a_memory("A.")) != record_digest(a_memory("A.", status=Status.REVOKED))
    assert record_digest(a_memory("A.")) != record_digest(a_memory("A.", expires_at=1))
    anchor = CodeAnchor(path="a.py", line=1, snippet="x = 1")
    assert record_digest(a_memory("A.")) == record_digest(a_memory("A.", about=anchor))  # where, not what


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_give_an_answer(data: bytes) -> None:
    parsed = parse(data, HOME)

    for one in parsed.records:
        assert 0 <= one.start <= one.locator.byte_start < one.locator.byte_end <= one.end <= len(data)


BLOCK = ["<!-- remora-pre:begin v1 -->", "<!-- remora-pre:end -->"]
CONFLICT = ["<<<<<<< a", "=======", ">>>>>>> b"]
WORDS = [
    "```",
    "~~~~",
    "A.",
    "备份 👍🏽",
    "# H",
    "## I",
    "",
    " ",
    "\x0b",
    "---",
    "name: n",
    "<!-- memory:x -->",
    "  indented",
]
pieces = st.sampled_from([ONE, TWO, THREE, *WORDS, *BLOCK, *CONFLICT])
ends = st.sampled_from(["\n", "\r\n", "\r"])
homes = st.sampled_from([HOME, msgspec.structs.replace(HOME, provider="claude-md", top="/m")])


@given(st.lists(st.tuples(pieces, ends), max_size=20), st.booleans(), st.booleans(), homes)
def test_places_hold_the_text_and_blocks_do_not_overlap(
    lines: list[tuple[str, str]], marked: bool, ended: bool, home: FileHome
) -> None:
    data = ("\ufeff" * marked + "".join(line + end for line, end in lines)).encode()
    data = data if ended else data.rstrip(b"\r\n")

    parsed = parse(data, home)

    for one in parsed.records:
        raw = data[one.locator.byte_start : one.locator.byte_end].decode()
        assert raw.replace("\r\n", "\n").replace("\r", "\n") == one.record.text
        assert one.record.text.strip() and raw == raw.strip("\r\n")
        assert one.locator.line_end - one.locator.line_start == one.record.text.count("\n")
        above = data[: one.locator.byte_start].decode().replace("\r\n", "\n").replace("\r", "\n")
        assert one.locator.line_start == 1 + above.count("\n")
    assert all(one.end <= other.start for one, other in pairwise(parsed.records))


@pytest.mark.parametrize(
    ("text", "fence"),
    [("", ""), ("```\na\n```", ""), ("```\na", "```"), ("~~~~\na\n~~~", "~~~~"), ("````\n```\n```", "````")],
)
def test_the_fence_that_a_text_leaves_open_is_known(text: str, fence: str) -> None:
    assert unclosed_fence(text.encode()) == fence


@pytest.mark.parametrize(
    "data",
    [
        b"# a" + b" " * 300_000 + b"b\n",
        ONE[:-4].encode() + b" " * 300_000 + b"x\n",
        ONE[:-4].encode() + b' tags=["' + b"a" * 300_000 + b"\n",
        b"<!--" + b"--> " * 80_000 + b"\n" + ONE.encode() + b"\nA.\n",
        b"---\n" + b"name: " + b" " * 300_000 + b"\n---\nA.\n",
    ],
)
def test_a_line_made_to_keep_us_busy_costs_no_more_than_its_length(data: bytes) -> None:
    assert parse(data, HOME).refused is None  # trying every way of dividing the blanks would not end


def test_many_fences_that_nothing_closes_cost_little() -> None:
    data = b"".join(b"```x%d\n" % number for number in range(MOST_FENCES))

    assert parse(data, HOME).refused is None  # quadratic scanning would not end


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (10, 30, Fresh(ratio=1.0)),
        (0, 100, Fresh(ratio=1.0)),
        (10, 20, Fresh(ratio=0.5)),
        (29, 40, Fresh(ratio=0.05)),
        (30, 40, OutOfRange()),
        (0, 10, OutOfRange()),
        (15, 15, OutOfRange()),
    ],
)
def test_coverage_is_the_share_of_the_record_that_was_shown(start: int, end: int, expected: object) -> None:
    (one,) = parse(f"{ONE}\nA.".encode(), HOME).records
    locator = type(one.locator)(
        **{name: getattr(one.locator, name) for name in one.locator.__struct_fields__}
        | {"byte_start": 10, "byte_end": 30}
    )

    assert coverage(Read("d", start, end), locator, "d") == expected


@pytest.mark.parametrize("indexed", ["other", None])
def test_a_read_of_another_version_is_stale_not_zero(indexed: str | None) -> None:
    (one,) = parse(f"{ONE}\nA.".encode(), HOME).records

    assert coverage(Read("d", 0, 100), one.locator, indexed) == Stale()


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        ("MEMORY.crlf-bom.md", 1, "CodexMonitor Memory > Local App Workflow"),
        ("serena-memory.ko.md", 5, "Issue #77: Codex / OpenCode Support > Worktree"),
        ("feedback-development-rules.md", 8, "统一开发规范必须遵守"),
        ("CLAUDE.ts-viewer.md", 14, "CLAUDE.md > Critical Rules (Read First)"),
        ("testrail-rule.mdc", 11, "Cursor rules for TestRail development with test case integration. > Persona"),
        ("testing-rule.md", 5, "Testing Conventions > Test Framework"),
    ],
)
def test_files_of_real_projects_are_read_with_exact_places(name: str, count: int, first: str) -> None:
    data = (DATA / name).read_bytes()

    parsed = parse(data, HOME)

    assert (len(parsed.records), parsed.records[0].record.title, parsed.findings) == (count, first, ())
    for one in parsed.records:
        raw = data[one.locator.byte_start : one.locator.byte_end].decode()
        assert raw.replace("\r\n", "\n") == one.record.text
