"""A marker line says whose record follows and of what kind; anything doubtful is malformed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import CodeAnchor, Flag, MemoryKind, MemoryRecord, Origin, Period, Risk, Scope, ScopeRef, Status
from recall.markers import LONGEST, FileHome, Malformed, looks_like_marker, marker_line, read_marker
from tests.support.builders import a_memory, a_memory_id, a_user_scope, a_workspace_scope

ID = a_memory_id(7)
HOME = FileHome(path="/m/a.md", relative="a.md", scope=a_workspace_scope(), origin=Origin.USER)


def read(attributes: str, home: FileHome = HOME) -> MemoryRecord:
    return read_marker(f"<!-- memory:{ID} {attributes} -->", home)


def test_a_bare_marker_has_the_defaults_of_its_folder() -> None:
    record = read_marker(f"<!-- memory:{ID} -->", HOME)

    assert record == MemoryRecord(
        memory_id=ID,
        anchor_id=f"memory:{ID}",
        kind=MemoryKind.SEMANTIC,
        scope=HOME.scope,
        text="",
        created_at=0,
        origin=Origin.USER,
    )


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('kind="procedural"', {"kind": MemoryKind.PROCEDURAL}),
        ('tags=["ci", "a b", "]"]', {"tags": ("ci", "a b", "]")}),
        ('title="How -- to \\u003e \\"quote\\""', {"title": 'How -- to > "quote"'}),
        ('title="two\\nlines"', {"title": "two lines"}),
        ('status="superseded" supersededBy="mem_' + "f" * 32 + '"', {"status": Status.SUPERSEDED}),
        ('risk="high"  pinned=true', {"risk_level": Risk.HIGH, "pinned": True}),
        ("priority=-1 importance=100", {"priority": -1, "importance": 100}),
        ('flags=["muted"]', {"flags": (Flag.MUTED,)}),
        ("created=1000", {"created_at": 1000}),
        ('created="1970-01-01T00:00:01Z"', {"created_at": 1000}),
        ('created="1970-01-01T01:00:01+01:00"', {"created_at": 1000}),
        ('created="1970-01-02"', {"created_at": 86_400_000}),
        ('validFrom=5 expires="1970-01-01T00:00:00.006Z"', {"valid_from": 5, "expires_at": 6}),
        ("occurred=[5]", {"occurred": Period(start=5)}),
        ("occurred=[5, 6]", {"occurred": Period(start=5, end=6)}),
        ('scope="Workspace"', {"scope": a_workspace_scope()}),
        ('scope="Session:s-1"', {"scope": ScopeRef(kind=Scope.SESSION, key="s-1")}),
        ('origin="extracted"', {"origin": Origin.EXTRACTED}),
        (
            'about=["lib/money.py",1,"def f(x): [0] \\"--\\""]',
            {"about": CodeAnchor(path="lib/money.py", line=1, snippet='def f(x): [0] "--"')},
        ),
    ],
)
def test_attributes_are_json_values(attributes: str, expected: dict[str, object]) -> None:
    record = read(attributes)

    assert {name: getattr(record, name) for name in expected} == expected


@pytest.mark.parametrize(
    "attributes",
    [
        'colour="red"',  # unknown
        'kind="fact"',
        "kind=semantic",  # not JSON
        'title="a" title="b"',
        'tags="ci"',
        "tags=[1]",
        "pinned=1",
        "priority=101",
        "created=1e300",
        'created="yesterday"',
        f"created={10**30}",
        "occurred=[]",
        'supersededBy="m1"',
        'title="a"kind="semantic"',
        "kind",
        '="a"',
        "about=[]",
        'about="lib/a.py"',
        'about=["lib/a.py",1]',
        'about=["lib/a.py",0,"x"]',
        'about=["lib/a.py",true,"x"]',
        'about=["lib/a.py",1,"x",2]',
        'about=["",1,"x"]',
        'about=["/etc/passwd",1,"x"]',
        'about=["../a.py",1,"x"]',
        'about=["a/../../b.py",1,"x"]',
        'about=["./a.py",1,"x"]',
        'about=["a//b.py",1,"x"]',
        'about=["C:/a.py",1,"x"]',
        'about=["a\\\\b.py",1,"x"]',
        'about=["a\\u0000.py",1,"x"]',
        'about=["a.py",1,""]',
        'about=["a.py",1," "]',
        'about=["a.py",1,"x\\ny"]',
        f'title="{"t" * LONGEST}"',
        'scope="User"',  # wider than the workspace's folder
        'scope="User:user"',
        'scope="Workspace:ws_other"',
        'scope="Session"',  # no key
        'scope="Galaxy:1"',
    ],
)
def test_what_cannot_be_read_is_malformed(attributes: str) -> None:
    with pytest.raises(Malformed):
        read(attributes)


@pytest.mark.parametrize(
    "line",
    [
        "<!-- memory:mem_12 -->",
        f"<!-- memory:{ID.upper()} -->",
        f"<!-- memory:{ID}0 -->",
        f"<!-- memory:{ID}",
        f"<!-- memory:{ID} --> text",
        "<!-- memory: -->",
    ],
)
def test_a_line_that_begins_like_a_marker_is_one_or_is_malformed(line: str) -> None:
    assert looks_like_marker(line.encode())
    with pytest.raises(Malformed):
        read_marker(line, HOME)


@pytest.mark.parametrize(
    "line", ["", "text <!-- memory:", "    <!-- memory:mem_", "<!-- remember:", "<!--\tno memory:"]
)
def test_other_lines_are_content(line: str) -> None:
    assert not looks_like_marker(line.encode())


def test_a_repository_that_is_trusted_says_as_little_of_its_records() -> None:
    """What it says counts as reviewed, and neither as the user's own nor as more urgent than that."""
    trusted = msgspec.structs.replace(HOME, origin=Origin.REVIEWED)

    record = read('origin="user" pinned=true priority=-1 importance=100', trusted)

    assert (record.origin, record.pinned, record.priority, record.importance) == (Origin.REVIEWED, False, None, None)
    with pytest.raises(Malformed):
        read('scope="Session:s"', trusted)


def test_an_imported_folder_cannot_claim_that_a_person_wrote_it() -> None:
    imported = msgspec.structs.replace(HOME, origin=Origin.IMPORTED)

    assert read('origin="user"', imported).origin is Origin.IMPORTED


@pytest.mark.promise("no-leak")
@pytest.mark.parametrize("scope", ["Session:s-1", "Turn:1", "User", "Workspace:ws_other"])
def test_an_imported_folder_cannot_speak_to_a_session_elsewhere(scope: str) -> None:
    imported = msgspec.structs.replace(HOME, origin=Origin.IMPORTED)

    with pytest.raises(Malformed):
        read(f'scope="{scope}"', imported)
    assert read('scope="Workspace"', imported).scope == HOME.scope


def test_an_imported_folder_cannot_put_its_records_first() -> None:
    imported = msgspec.structs.replace(HOME, origin=Origin.IMPORTED)

    record = read("pinned=true priority=-1 importance=100", imported)

    assert (record.pinned, record.priority, record.importance) == (False, None, None)


def test_a_users_folder_may_hold_what_is_only_for_one_workspace() -> None:
    home = msgspec.structs.replace(HOME, scope=a_user_scope())

    assert read('scope="Workspace:ws_1"', home).scope == ScopeRef(kind=Scope.WORKSPACE, key="ws_1")


one_line = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"], include_characters=" "), max_size=30
)
moments = st.integers(-(2**53) + 1, 2**53 - 1)
memories = st.builds(
    a_memory,
    kind=st.sampled_from(MemoryKind),
    status=st.sampled_from(Status),
    risk_level=st.sampled_from(Risk),
    origin=st.sampled_from(Origin),
    scope=st.sampled_from([HOME.scope, ScopeRef(kind=Scope.SESSION, key="s 1 -->")]),
    created_at=moments,
    title=one_line.map(lambda text: " ".join(text.split()) or None),
    tags=st.lists(one_line, max_size=3).map(tuple),
    flags=st.lists(st.sampled_from(Flag), max_size=2).map(tuple),
    pinned=st.booleans(),
    priority=st.none() | st.integers(-1, 100),
    importance=st.none() | st.integers(0, 100),
    valid_from=st.none() | moments,
    expires_at=st.none() | moments,
    occurred=st.none() | st.builds(Period, start=moments, end=st.none() | moments),
    superseded_by=st.none() | st.just(a_memory_id(9)),
    about=st.none()
    | st.builds(
        CodeAnchor,
        path=st.sampled_from(["a.py", "src/部署/x y.ts", "a-->b.md", 'q".py']),
        line=st.integers(1, 2**53 - 1),
        snippet=one_line.filter(lambda text: text.strip() != ""),
    ),
)


@given(memories)
def test_a_marker_line_reads_back_as_the_record_it_was_made_from(record: MemoryRecord) -> None:
    line = marker_line(record, HOME)

    assert looks_like_marker(line.encode()) and "\n" not in line and line.count("-->") == 1
    assert read_marker(line, HOME) == msgspec.structs.replace(record, text="")
