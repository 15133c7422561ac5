"""An entry file says exactly 13 things, and is written as it was read; whatever is doubtful is reported."""

from datetime import date

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import MemoryKind
from recall.team_entry import (
    FIELDS,
    KINDS,
    MOST_CITED,
    CommitRef,
    Entry,
    EntryEvidence,
    EntryFault,
    entry_path,
    parse,
    render,
    slug,
    superseded,
)
from recall.team_front import MOST_TEXT
from tests.support.builders import a_memory_id
from tests.support.team_entries import an_entry

M1, M2 = a_memory_id(1), a_memory_id(2)
COMMIT = CommitRef(repo="github.com/heron/gateway", hash="a" * 40)
FILE = f"""---
id: {M1}
type: work_fact
status: approved
priority: 60
confidence: high
provenance_strength: direct
claim_support: human-confirmed
limitations: ["source-local-only"]
scope: repo
scene: null
occurred: ["2026-01-05","2026-01-06"]
evidence: {{"commits":[],"paths":[]}}
superseded_by: null
---
<!-- memory:{M1} -->
The heron gateway is ours.
"""

_line = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=60).filter(str.strip)
_path = st.from_regex(r"[a-zé][a-z0-9._-]{0,9}(/[a-z發][a-z0-9 _-]{0,9}){0,3}", fullmatch=True)
_body = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), min_size=1, max_size=300)
_entries = st.builds(
    Entry,
    id=st.sampled_from([M1, M2]),
    type=st.sampled_from(sorted(KINDS)),
    status=st.just("deprecated"),
    priority=st.integers(0, 100),
    confidence=st.sampled_from(["high", "medium", "low"]),
    provenance_strength=st.sampled_from(["direct", "observed", "candidate", "contextual", "unknown"]),
    claim_support=st.sampled_from(["typed-fact", "human-confirmed", "mixed"]),
    limitations=st.lists(_line, max_size=4, unique=True).map(tuple),
    scene=st.none() | _line,
    occurred=st.sets(st.dates(date(2000, 1, 1)).map(str), max_size=5).map(sorted).map(tuple),
    evidence=st.builds(
        EntryEvidence,
        commits=st.lists(
            st.builds(CommitRef, repo=st.none() | _line, hash=st.from_regex(r"[0-9a-f]{40}", fullmatch=True)),
            max_size=4,
        ).map(tuple),
        paths=st.lists(_path, max_size=5, unique=True).map(tuple),
    ),
    superseded_by=st.none() | st.just(M2),
    body=_body.filter(lambda text: text.strip("\n \t") != ""),
)


def fault(text: str) -> tuple[str, int]:
    made = parse(text.encode())
    assert isinstance(made, EntryFault), made
    assert made.problem
    return made.code, made.line


def swapped(old: str, new: str) -> str:
    assert old in FILE
    return FILE.replace(old, new, 1)


def test_an_entry_is_written_with_its_fields_in_their_order() -> None:
    assert render(an_entry()).decode() == FILE
    assert parse(FILE.encode()) == an_entry()
    assert [line.split(":")[0] for line in FILE.split("\n")[1:14]] == list(FIELDS)


@given(_entries)
def test_what_is_written_is_read_as_it_was(entry: Entry) -> None:
    try:
        data = render(entry)
    except ValueError as problem:  # a body that would be a marker or front matter, or blank
        assert str(problem)
        return

    assert parse(data) == entry
    assert parse(render(superseded(entry, M2))) == superseded(entry, M2)


@given(st.sampled_from(FIELDS), st.sampled_from(["  {}", " {}  ", "\t{}"]))
def test_what_is_read_is_written_with_the_same_bytes(name: str, spelling: str) -> None:
    rows = [
        f"{name}:{spelling.format(row.split(': ', 1)[1])}" if row.startswith(f"{name}: ") else row
        for row in FILE.split("\n")
    ]
    data = "\n".join(rows).encode()
    entry = parse(data)

    assert data != FILE.encode()
    assert isinstance(entry, Entry)
    assert render(entry) == data


def test_json_over_lines_and_text_without_a_newline_at_its_end_keep_their_bytes() -> None:
    data = (
        swapped('limitations: ["source-local-only"]', 'limitations: [\n  "source-local-only"\n]').rstrip("\n").encode()
    )
    entry = parse(data)

    assert isinstance(entry, Entry)
    assert (entry.limitations, entry.content) == (("source-local-only",), "The heron gateway is ours.")
    assert render(entry) == data


def test_an_entry_that_is_superseded_differs_in_two_lines() -> None:
    """Also where a person spelled it in their own way."""
    before = swapped("priority: 60", "priority:   60").replace("status: approved", 'status: "approved"')
    entry = parse(before.encode())
    assert isinstance(entry, Entry)

    after = render(superseded(entry, M2)).decode()

    changed = [(one, two) for one, two in zip(before.split("\n"), after.split("\n"), strict=True) if one != two]
    assert changed == [
        ('status: "approved"', "status: deprecated"),
        ("superseded_by: null", f"superseded_by: {M2}"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("id: ", "ID: ", "unknown-field", 2),
        (f"id: {M1}\ntype: work_fact", f"type: work_fact\nid: {M1}", "wrong-order", 3),
        ("confidence: high\n", "", "missing-field", 0),
        ("confidence: high\n", "confidence: high\nconfidence: low\n", "duplicate-field", 7),
        ("confidence: high", "confidence: high # sure", "bad-value", 6),
        ("scope: repo", "scope: repo\nowner: me", "unknown-field", 11),
        ("type: work_fact", "type: fact", "bad-value", 3),
        ("status: approved", "status: draft", "bad-value", 4),
        ("priority: 60", "priority: 101", "bad-value", 5),
        ("priority: 60", "priority: true", "bad-value", 5),
        ("priority: 60", "priority: 6.5", "bad-value", 5),
        ("confidence: high", "confidence: [high]", "bad-value", 6),
        ("provenance_strength: direct", "provenance_strength: firm", "bad-value", 7),
        ("claim_support: human-confirmed", "claim_support: unverified", "bad-value", 8),
        ('["source-local-only"]', '["a","a"]', "bad-value", 9),
        ("scope: repo", "scope: user", "bad-value", 10),
        ("scene: null", 'scene: ""', "bad-value", 11),
        ("scene: null", f"scene: {'x' * 201}", "bad-value", 11),
        ("scene: null", "scene: 12", "bad-value", 11),
        ('"2026-01-05","2026-01-06"', '"2026-01-06","2026-01-05"', "bad-value", 12),
        ('"2026-01-05"', '"2026-02-30"', "bad-value", 12),
        ('"2026-01-05"', '"20260105"', "bad-value", 12),
        ('{"commits":[],"paths":[]}', "[]", "bad-value", 13),
        ('"paths":[]', '"paths":["/etc/passwd"]', "bad-value", 13),
        ('"paths":[]', '"paths":["~/notes"]', "bad-value", 13),
        ('"paths":[]', '"paths":["a/../../b"]', "bad-value", 13),
        ('"paths":[]', '"paths":["C:/x"]', "bad-value", 13),
        ('"commits":[]', '"commits":[{"repo":"r","hash":"abc"}]', "bad-value", 13),
        ('"commits":[]', '"commits":[{"hash":"abc"}]', "bad-value", 13),
        ("superseded_by: null", "superseded_by: mem_1", "bad-value", 14),
        ("superseded_by: null", f"superseded_by: {M2}", "bad-value", 14),
        (f"<!-- memory:{M1} -->", f"<!-- memory:{M2} -->", "identity-mismatch", 16),
        (f"<!-- memory:{M1} -->", f'<!-- memory:{M1} kind="semantic" -->', "no-marker", 16),
        (f"<!-- memory:{M1} -->\n", "", "no-marker", 16),
        (f"<!-- memory:{M1} -->\n", f"\n<!-- memory:{M1} -->\n", "no-marker", 16),
        (f"<!-- memory:{M1} -->\n", f"---\nid: {M1}\n---\n", "second-front-matter", 16),
        ("is ours.", f"is ours.\n\n<!-- memory:{M2} -->\nMore.", "second-marker", 19),
        ("is ours.", f"is ours.\n---\nid: {M2}\n---\nMore.", "second-front-matter", 18),
        ("The heron gateway is ours.", " ", "no-body", 17),
        ("The heron gateway is ours.", "x" * (MOST_TEXT + 1), "too-large", 17),
        ("is ours.", "is\n<<<<<<< HEAD\nours.\n=======\ntheirs.\n>>>>>>> theirs", "conflict-markers", 18),
        ("is ours.", "is ours.\r", "cr", 17),
        ("---\nid", "\ufeff---\nid", "bom", 1),
    ],
)
def test_what_is_not_as_it_must_be_is_reported(old: str, new: str, code: str, line: int) -> None:
    assert fault(swapped(old, new)) == (code, line)


def test_a_thematic_break_and_a_word_about_markers_are_text() -> None:
    body = "Above.\n\n---\n\nBelow: see `<!-- memory:` in the reference, and === or >>>> lines.\n=======\n"

    assert parse(render(an_entry(body=body))) == an_entry(body=body)


def test_as_many_commits_and_paths_as_may_be_cited_are_written_over_lines() -> None:
    evidence = EntryEvidence(
        commits=(COMMIT,) * MOST_CITED, paths=tuple(f"{'d' * 200}/{number}" for number in range(MOST_CITED))
    )

    assert parse(render(an_entry(evidence=evidence))) == an_entry(evidence=evidence)
    with pytest.raises(ValueError, match="at most 32 commits"):
        render(an_entry(evidence=EntryEvidence(commits=(COMMIT,) * (MOST_CITED + 1))))


def test_a_text_of_64_kib_is_an_entry() -> None:
    assert parse(render(an_entry("x" * MOST_TEXT))) == an_entry("x" * MOST_TEXT)


@pytest.mark.parametrize("body", ["", " \n", "\ud800\n", f"<!-- memory:{M2} -->\nx\n", "a\r\n"])
def test_what_would_not_read_back_is_not_written(body: str) -> None:
    with pytest.raises(ValueError):
        render(an_entry(body=body))


def test_a_value_that_no_field_has_is_not_written() -> None:
    with pytest.raises(ValueError, match="priority"):
        render(msgspec.structs.replace(an_entry(), priority=101))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (
            "Publish only from the release branch; trusted publishing only.",
            "publish-only-from-the-release-branch-trusted",
        ),
        ("“Quoted” — and, punctuated!", "quoted-and-punctuated"),
        ("one two three four five six seven eight nine", "one-two-three-four-five-six-seven-eight"),
        ("x" * 60, "x" * 48),
        (f"a {'x' * 60}", "a"),
        ("发布前先跑 make test", "make-test"),
        ("发布前先跑测试", "work_fact"),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_a_file_is_named_after_the_first_words(content: str, name: str) -> None:
    path = entry_path(content, M1, "work_fact")

    assert path.removeprefix("entries/").removesuffix(".md").rpartition("-")[0] == name
    assert slug(content) == ("" if name == "work_fact" else name)


def test_a_path_depends_on_text_and_id_alone() -> None:
    one = entry_path("A fact.", M1, "work_fact")

    assert one == entry_path("A fact.", M1, "work_task")
    assert len({one, entry_path("A fact.", M2, "work_fact"), entry_path("A fact!", M1, "work_fact")}) == 3


def test_types_are_kinds_of_memory() -> None:
    assert KINDS == {
        "work_fact": MemoryKind.SEMANTIC,
        "work_artifact": MemoryKind.SEMANTIC,
        "work_task": MemoryKind.EPISODIC,
        "work_method": MemoryKind.PROCEDURAL,
    }


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(FILE)), st.integers(0, 3), st.sampled_from(['"', "[", "]", " ", "\n", "1", "é", ""])
        )
    )
)
def test_whatever_is_done_to_a_file_it_is_a_fault_or_keeps_its_bytes(edits: list[tuple[int, int, str]]) -> None:
    text = FILE
    for place, taken, given_text in edits[:4]:
        text = text[:place] + given_text + text[place + taken :]
    entry = parse(text.encode())

    if isinstance(entry, Entry):
        assert render(entry) == text.encode()
