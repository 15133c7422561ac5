"""An entry of a repository is one record, or its whole file is out of recall and says why."""

import pytest

from recall.contracts import MemoryKind, Origin, Period, RecordState, Status
from recall.files import parse, record_digest
from recall.markers import FileHome
from recall.promoted import record_of
from recall.team_entry import render
from tests.support.builders import a_memory_id, a_workspace_scope
from tests.support.team_entries import an_entry

DAY = 86_400_000
AT = 1_767_571_200_000  # 2026-01-05


def home(relative: str = "entries/a.md", **fields: object) -> FileHome:
    given = {"path": f"/m/{relative}", "scope": a_workspace_scope(), "origin": Origin.IMPORTED, "top": "/top"}
    return FileHome(**(given | {"relative": relative} | fields))


@pytest.mark.parametrize(
    ("entry_type", "kind"),
    [
        ("work_fact", MemoryKind.SEMANTIC),
        ("work_artifact", MemoryKind.SEMANTIC),
        ("work_task", MemoryKind.EPISODIC),
        ("work_method", MemoryKind.PROCEDURAL),
    ],
)
def test_the_type_says_the_kind(entry_type: str, kind: MemoryKind) -> None:
    record = record_of(an_entry(type=entry_type), home())

    assert (record.kind, record.promoted, record.state) == (kind, True, RecordState.ANCHORED)


def test_it_is_dated_by_the_turns_that_it_is_from() -> None:
    record = record_of(an_entry(), home())
    one = record_of(an_entry(occurred=("2026-01-05",)), home())

    assert (record.created_at, record.occurred) == (AT + DAY, Period(start=AT, end=AT + DAY))
    assert (one.created_at, one.occurred) == (AT, Period(start=AT))


def test_one_that_another_took_the_place_of_does_not_stand() -> None:
    old = record_of(an_entry(status="deprecated", superseded_by=a_memory_id(2)), home())

    assert (old.status, old.superseded_by) == (Status.DEPRECATED, a_memory_id(2))
    assert record_of(an_entry(), home()).status is Status.ACTIVE


def test_its_priority_counts_where_it_is_trusted() -> None:
    assert record_of(an_entry(), home()).priority is None
    assert record_of(an_entry(), home(origin=Origin.REVIEWED)).priority == 60


def test_its_scene_is_a_tag() -> None:
    assert record_of(an_entry(scene="Releases"), home()).tags == ("Releases",)
    assert record_of(an_entry(), home()).tags == ()


def test_a_file_of_it_is_one_record_with_the_text_after_the_marker() -> None:
    data = render(an_entry("# Releases\n\nThe heron gateway is ours."))

    parsed = parse(data, home())

    (one,) = parsed.records
    assert parsed.findings == () and parsed.refused is None
    assert (one.record.memory_id, one.record.title) == (a_memory_id(1), "Releases")
    assert one.record.text == "# Releases\n\nThe heron gateway is ours."
    assert data[one.locator.byte_start : one.locator.byte_end].decode() == one.record.text
    assert data.splitlines()[one.locator.line_start - 1] == b"# Releases"
    assert one.locator.record_digest == record_digest(one.record)


@pytest.mark.promise("team-27")
@pytest.mark.parametrize(
    ("change", "state"),
    [
        (
            lambda data: data.replace(b"priority: 60\n", b"").replace(b"---\n", b"---\npriority: 60\n", 1),
            "malformed-entry",
        ),
        (lambda data: data.replace(b"scope: repo\n", b"scope: repo\nmore: 1\n"), "malformed-entry"),
        (lambda data: data.replace(b"confidence: high", b"confidence: high # sure"), "malformed-entry"),
        (lambda data: b"\xef\xbb\xbf" + data, "malformed-entry"),
        (lambda data: data.replace(b"\n", b"\r\n"), "malformed-entry"),
        (lambda data: data.replace(b"---\n<!--", b"---\n---\nid: 1\n---\n<!--"), "malformed-entry"),
        (lambda data: data.replace(b"<!-- memory:mem_0", b"<!-- memory:mem_1"), "identity-mismatch"),
        (lambda data: data + b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", "malformed-entry"),
        (
            lambda data: b"<!-- memory:" + a_memory_id(1).encode() + b" -->\nThe heron gateway is ours.\n",
            "malformed-entry",
        ),
        (lambda data: b"The heron gateway is ours.\n", "malformed-entry"),
    ],
    ids=["order", "extra", "comment", "bom", "cr", "two", "id", "conflict", "no-front-matter", "no-entry"],
)
def test_a_file_that_is_none_is_reported_and_nothing_of_it_is_a_record(change, state: str) -> None:  # type: ignore[no-untyped-def]
    parsed = parse(change(render(an_entry())), home())

    assert parsed.records == ()
    assert [finding.state for finding in parsed.findings] == [state]
    assert parsed.findings[0].line >= 1 and parsed.findings[0].problem


@pytest.mark.parametrize(
    "elsewhere",
    [
        home("a.md"),
        home("notes/entries/a.md"),
        home(top=""),
        home(origin=Origin.USER),
        home(provider="claude-rules"),
    ],
    ids=["beside", "below-another", "no-repository", "our-own", "a-products"],
)
def test_elsewhere_front_matter_is_front_matter(elsewhere: FileHome) -> None:
    """What a person's editor keeps in other files of the folder goes on working."""
    parsed = parse(b"---\ntitle: x\n---\n<!-- memory:" + a_memory_id(1).encode() + b" -->\nHerons fish.\n", elsewhere)

    assert [one.record.text for one in parsed.records] == ["Herons fish."] or elsewhere.provider
    assert not any(one.record.promoted for one in parsed.records)
    assert not elsewhere.promoted


def test_no_name_of_the_folder_is_a_way_around() -> None:
    """On a file system that does not tell the cases apart these are one folder."""
    assert home("Entries/a.md").promoted and home("entries/deep/a.md").promoted
