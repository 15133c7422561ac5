"""Looking over the index: the walk meets every record once, and what is left out is named with its reason."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from host.namespace import REPOSITORY_FOLDER
from recall import survey
from recall.analyzer import distinct
from recall.contracts import Flag, MemoryRecord, Origin, RuntimeScope, Status
from recall.library import Library, Root
from recall.lookup import View
from recall.survey import LOOKED_AT, NAMED, LeftOut
from tests.support.builders import a_memory, a_memory_id, a_scope, a_user_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, write_records
from tests.support.team_entries import an_entry, write_entry

OTHER = a_workspace_scope("ws_" + "b" * 32)


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with a_library(tmp_path / "index") as opened:
        yield opened


async def stocked(library: Library, folder: Path, *records: MemoryRecord) -> None:
    """One root for each scope of the records."""
    for scope in dict.fromkeys(record.scope for record in records):
        place = folder / f"{scope.kind}-{scope.key[:6]}"
        write_records(place / "a.md", [record for record in records if record.scope == scope], scope)
        await library.adopt(a_root(place, scope))


def a_record(number: int, text: str = "", **fields: Any) -> MemoryRecord:
    return a_memory(text or f"Heron number {number} nests.", memory_id=a_memory_id(number), **fields)


async def left_out(library: Library, query: str, scope: RuntimeScope | None = None) -> tuple[LeftOut, ...]:
    view = View(scope=scope or a_scope(), now=START)
    return await library.survey(lambda connection: survey.left_out(connection, distinct(query), view))


# ---------------------------------------------------------------------------------------------------- the walk


async def test_a_walk_meets_every_record_that_can_be_seen_once(library: Library, tmp_path: Path) -> None:
    seen = [a_record(n) for n in range(1, 8)] + [a_record(9, scope=a_user_scope()), a_record(10, status=Status.REVOKED)]
    await stocked(library, tmp_path, *seen, a_record(11, scope=OTHER))
    met: list[str] = []
    after = 0
    while page := await library.survey(lambda connection, at=after: survey.walk(connection, a_scope(), at, 3)):
        met += [one.record.memory_id for one in page]
        after = page[-1].row

    assert sorted(met) == sorted(record.memory_id for record in seen)


async def test_a_record_on_the_walk_says_where_it_stands_and_whether_it_may_be_proposed(
    library: Library, tmp_path: Path
) -> None:
    await stocked(library, tmp_path, a_record(1, "# Owls\n\nThey sleep."), a_record(2, flags=(Flag.QUARANTINED,)))

    first, second = await library.survey(lambda connection: survey.walk(connection, a_scope(), 0, 9))

    file = Path(first.locator.source_file)
    raw = file.read_bytes()[first.locator.byte_start : first.locator.byte_end]
    assert (raw.decode(), first.record.title) == ("# Owls\n\nThey sleep.", "Owls")
    assert file.read_text("utf-8").splitlines()[first.locator.line_start - 1] == "# Owls"
    assert (first.eligible, second.eligible, first.provider) == (True, False, "")


# ---------------------------------------------------------------------------------------------------- left out


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": Status.SUPERSEDED}, "not-active"),
        ({"superseded_by": a_memory_id(9)}, None),
        ({"flags": (Flag.QUARANTINED,)}, "quarantined"),
        ({"flags": (Flag.CORRECTED,)}, "corrected"),
        ({"expires_at": START}, "expired"),
        ({"expires_at": START + 1}, None),
        ({"valid_from": START + 1}, "not-yet-valid"),
        ({"flags": (Flag.MUTED,)}, None),
        ({}, None),
    ],
)
async def test_a_record_that_fits_and_is_no_answer_is_named(
    library: Library, tmp_path: Path, fields: dict[str, Any], reason: str | None
) -> None:
    await stocked(library, tmp_path, a_record(1, **fields))

    found = await left_out(library, "heron nests")

    assert found == ((LeftOut(memory_id=a_memory_id(1), reason=reason),) if reason else ())


async def test_an_id_that_is_two_records_is_nobodys(library: Library, tmp_path: Path) -> None:
    write_records(tmp_path / "m" / "a.md", [a_record(1, "The heron nests.")])
    write_records(tmp_path / "m" / "b.md", [a_record(1, "The heron sleeps.")])
    await library.adopt(a_root(tmp_path / "m"))

    assert await left_out(library, "heron") == (LeftOut(memory_id=a_memory_id(1), reason="index-conflict"),)


async def test_half_of_the_words_must_fit_and_the_best_fitting_come_first(library: Library, tmp_path: Path) -> None:
    texts = ["heron", "heron gate", "heron gate tower", "owl", "heron gate tower moon"]
    gone = [a_record(n, text, status=Status.REVOKED, created_at=START + n) for n, text in enumerate(texts)]
    await stocked(library, tmp_path, *gone)

    found = await left_out(library, "heron gate tower moon")

    assert [one.memory_id for one in found] == [a_memory_id(4), a_memory_id(2), a_memory_id(1)]


async def test_only_some_are_named(library: Library, tmp_path: Path) -> None:
    await stocked(library, tmp_path, *(a_record(n, status=Status.REVOKED) for n in range(NAMED + 9)))

    assert len(await left_out(library, "heron nests")) == NAMED
    assert LOOKED_AT > NAMED


async def test_nothing_of_another_scope_is_named(library: Library, tmp_path: Path) -> None:
    await stocked(library, tmp_path, a_record(1, scope=OTHER, status=Status.REVOKED))

    assert await left_out(library, "heron nests") == ()


# ---------------------------------------------------------------------------------------------------- the overview


async def test_an_overview_counts_and_reports_what_can_be_seen(library: Library, tmp_path: Path) -> None:
    await stocked(library, tmp_path, a_record(1), a_record(2, scope=OTHER))
    own, others = sorted(path for path in tmp_path.iterdir() if path.name.startswith("Workspace"))
    for place in (own, others):
        (place / "bad.md").write_text("<!-- memory:mem_1 -->\nText.\n")
        (place / "latin.md").write_bytes(b"\xe9")
        await library.refresh(str(place))

    seen = await library.survey(lambda connection: survey.overview(connection, a_scope()))

    assert (seen.files, seen.records, seen.missing) == (3, 1, ())
    assert [(Path(one.file).name, one.line, one.state) for one in seen.reported] == [
        ("bad.md", 1, "malformed-anchor"),
        ("latin.md", 0, "not-utf-8"),
    ]
    assert all(one.file.startswith(str(own)) for one in seen.reported)


async def test_an_overview_names_a_folder_that_is_missing_and_keeps_its_records(
    library: Library, tmp_path: Path
) -> None:
    await stocked(library, tmp_path / "m", a_record(1))
    (root,) = (tmp_path / "m").iterdir()
    root.rename(tmp_path / "elsewhere")
    await library.refresh(str(root))

    seen = await library.survey(lambda connection: survey.overview(connection, a_scope()))

    assert (seen.records, seen.missing) == (1, (str(root),))


async def test_nobody_sees_nothing(library: Library, tmp_path: Path) -> None:
    await stocked(library, tmp_path, a_record(1))
    nobody = RuntimeScope(session_id="", agent_id="", workspace="", user="")

    seen = await library.survey(lambda connection: survey.overview(connection, nobody))

    assert (seen.files, seen.records) == (0, 0)
    assert await left_out(library, "heron", nobody) == ()


async def test_ids_are_known_where_they_can_be_seen(library: Library, tmp_path: Path) -> None:
    await stocked(library, tmp_path, a_record(1), a_record(2, status=Status.REVOKED), a_record(3, scope=OTHER))
    ids = [a_memory_id(number) for number in range(1, 5)]

    found = await library.survey(lambda connection: survey.known(connection, ids, a_scope()))

    assert found == {a_memory_id(1), a_memory_id(2)}


# ------------------------------------------------------------------------------------------------- in nobody's name


async def test_records_are_found_by_id_wherever_they_are_and_in_order(library: Library, tmp_path: Path) -> None:
    await stocked(library, tmp_path, a_record(1), a_record(2, status=Status.REVOKED), a_record(3, scope=OTHER))
    wanted = [a_memory_id(number) for number in (3, 9, 1, 2)]
    found = await library.survey(partial(survey.anywhere, memory_ids=wanted))
    assert [one.record.memory_id for one in found] == [a_memory_id(number) for number in (1, 2, 3)]
    assert found[2].record.scope == OTHER


async def test_everything_is_walked_through_once(library: Library, tmp_path: Path) -> None:
    await stocked(library, tmp_path, *(a_record(n) for n in range(1, 6)), a_record(7, scope=OTHER))
    met: list[str] = []
    after = 0
    while page := await library.survey(partial(survey.everything, after=after, limit=4)):
        met += [one.record.memory_id for one in page]
        after = page[-1].row
    assert sorted(met) == [a_memory_id(number) for number in (1, 2, 3, 4, 5, 7)]


async def test_what_is_kept_back_is_active_unsearchable_and_can_be_seen_from_there(
    library: Library, tmp_path: Path
) -> None:
    await stocked(
        library,
        tmp_path,
        a_record(1),
        a_record(2, flags=(Flag.QUARANTINED,)),
        a_record(3, flags=(Flag.CORRECTED,), created_at=START + 5),
        a_record(4, flags=(Flag.QUARANTINED,), status=Status.ARCHIVED),
        a_record(5, flags=(Flag.QUARANTINED,), superseded_by=a_memory_id(1)),
        a_record(6, flags=(Flag.QUARANTINED,), scope=OTHER),
        a_record(7, flags=(Flag.QUARANTINED,), scope=a_user_scope()),
    )
    found = await library.survey(partial(survey.kept_back, scope=a_scope()))
    assert {one.record.memory_id for one in found} == {a_memory_id(number) for number in (2, 3, 7)}


# ------------------------------------------------------------------------------------------------ repositories


async def test_the_memory_of_repositories_is_told_from_other_folders(library: Library, tmp_path: Path) -> None:
    top, other = tmp_path / "top", tmp_path / "other"
    for folder, number in ((top, 1), (other, 2)):
        (folder / ".git").mkdir(parents=True)
        write_entry(folder, an_entry(number=number))
    write_entry(top, an_entry("Owls sleep.", number=3))
    (top / ".rules").mkdir()
    (top / ".rules" / "a.md").write_text("A rule.", "utf-8")
    roots = [
        Root(path=str(folder / REPOSITORY_FOLDER / "memory"), scope=scope, origin=origin, inside=str(folder))
        for folder, scope, origin in ((top, a_workspace_scope(), Origin.REVIEWED), (other, OTHER, Origin.IMPORTED))
    ]
    rules = Root(
        path=str(top / ".rules"), scope=OTHER, origin=Origin.IMPORTED, inside=str(top), provider="claude-rules"
    )
    await stocked(library, tmp_path / "own", a_record(9))
    for root in (*roots, rules):
        await library.adopt(root)

    shared = await library.survey(survey.shared_roots)

    assert {(one.top, one.scope, one.origin, one.path) for one in shared} == {
        (root.inside, root.scope, root.origin, root.path) for root in roots
    }
    assert await library.survey(survey.counted) == {
        str(other): (OTHER.key, 1),
        str(top): (a_workspace_scope().key, 2),
    }
    ids = await library.survey(lambda connection: survey.entries_in(connection, a_workspace_scope().key))
    assert ids == (a_memory_id(1), a_memory_id(3))
