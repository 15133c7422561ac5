"""What is remembered is a line in a file and a row in the index; what is not ours is not written."""

import sqlite3
from pathlib import Path

import pytest

from host.swapping import open_swappable
from recall.canonical import bytes_digest
from recall.contracts import Origin, RecordState
from recall.entries import Guard
from recall.files import RefusalKind, Refused
from recall.library import SCHEMA, Library, Root
from tests.support.builders import a_memory, a_memory_id, a_scope, a_user_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.library import a_library, a_root, found, write_records
from tests.support.team_entries import an_entry, write_entry

M1, M2, M3 = a_memory_id(1), a_memory_id(2), a_memory_id(3)


async def test_what_is_remembered_is_found_read_and_placed(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        locator = await library.remember(a_memory("Use pnpm here.", memory_id=M1), root)
        await library.remember(a_memory("Deploys go through staging.", memory_id=M2), root)

        assert locator and locator.source_file == str(tmp_path / "memory" / "records" / "2026-05.md")
        assert await found(library, "pnpm") == [M1]
        record, place = await library.get(M2, a_scope()) or (None, None)
        assert record == a_memory("Deploys go through staging.", memory_id=M2)
        data = Path(locator.source_file).read_bytes()
        assert place and data[place.byte_start : place.byte_end] == b"Deploys go through staging."
        assert await library.locators(locator.source_file) == (await library.locators(locator.source_file))
        assert [one.memory_id for one in await library.locators(locator.source_file)] == [M1, M2]


async def test_remember_goes_to_the_next_volume_when_a_person_left_the_months_file_unusable(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    month = tmp_path / "memory" / "records" / "2026-05.md"
    month.parent.mkdir(parents=True)
    month.write_bytes(b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")
    async with a_library(tmp_path) as library:
        locator = await library.remember(a_memory("Kept all the same.", memory_id=M1), root)

        assert locator and locator.source_file.endswith("2026-05-2.md")
        assert month.read_bytes().startswith(b"<<<<<<< HEAD") and await found(library, "kept") == [M1]


async def test_forget_removes_the_text_and_the_record(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        locator = await library.remember(a_memory("Secret sauce.", memory_id=M1), root)
        await library.remember(a_memory("Plain sauce.", memory_id=M2), root)

        assert await library.forget(M1, a_scope()) is True
        assert await library.forget(M1, a_scope()) is False

        assert locator and b"Secret" not in Path(locator.source_file).read_bytes()
        assert await found(library, "sauce") == [M2] and list(await library.digests([M1, M2])) == [M2]


async def test_what_is_not_ours_is_not_written(tmp_path: Path) -> None:
    team = a_root(tmp_path / "team", writable=False, origin=Origin.IMPORTED)
    write_records(tmp_path / "team" / "a.md", [a_memory("Shared.", memory_id=M1)])
    before = (tmp_path / "team" / "a.md").read_bytes()
    async with a_library(tmp_path) as library:
        await library.adopt(team)

        refusals = [await library.remember(a_memory(memory_id=M2), team), await library.forget(M1, a_scope())]

        assert [isinstance(one, Refused) and one.kind for one in refusals] == [RefusalKind.READ_ONLY] * 2
        assert (tmp_path / "team" / "a.md").read_bytes() == before
        record, _ = await library.get(M1, a_scope()) or (None, None)
        assert record and record.origin is Origin.IMPORTED


async def test_another_workspaces_record_can_neither_be_read_nor_forgotten(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    elsewhere = a_scope(workspace="ws_other")
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("Ours alone.", memory_id=M1), root)

        assert await library.get(M1, elsewhere) is None
        assert await library.forget(M1, elsewhere) is False
        assert (await library.listed(elsewhere, 10)).records == ()
        assert await library.digests([M1], elsewhere) == {}
        assert await found(library, "alone", a_scope(workspace="")) == []
        taken = await library.remember(
            a_memory(memory_id=M1, scope=a_user_scope()), a_root(tmp_path / "u", a_user_scope())
        )
        assert isinstance(taken, Refused) and taken.kind is RefusalKind.DUPLICATE


async def test_a_legacy_file_is_read_and_its_records_stand_apart(tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text("# Build\nRun make gen first.\n")
    async with a_library(tmp_path / "data") as library:
        await library.adopt(Root(path=str(file), scope=a_workspace_scope(), origin=Origin.IMPORTED))

        (hit,) = await library.snapshot(START).match(["gen"], a_scope(), 5)
        assert (hit.state, hit.title, hit.provenance) == (RecordState.LEGACY, "Build", "CLAUDE.md")
        file.write_text("# Build\nRun make all.\n")
        assert list(await library.verify([hit.memory_id])) == [hit.memory_id]
        assert await found(library, "gen") == [] and await found(library, "make") == [hit.memory_id]


async def test_what_changed_since_indexing_is_seen_before_a_claim(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "a.md"
    write_records(file, [a_memory("Port 8080.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(file.parent))
        (before,) = (await library.verify([M1])).values()

        write_records(file, [a_memory("Port 9090.", memory_id=M1)])

        (after,) = (await library.verify([M1])).values()
        assert after != before and await library.file_digest(str(file)) is not None
        file.unlink()
        assert await library.verify([M1]) == {} and await library.file_digest(str(file)) is None


async def test_an_index_that_cannot_be_written_stops_no_session(tmp_path: Path) -> None:
    write_records(tmp_path / "memory" / "a.md", [a_memory("Waits.")])
    database = FakeDatabase(SCHEMA)
    library = Library(database)
    await library.open()
    database.fail_next = sqlite3.OperationalError("database or disk is full")

    await library.adopt(a_root(tmp_path / "memory"))

    assert (await library.status()).problem == "database or disk is full"
    await library.adopt(a_root(tmp_path / "memory"))
    assert await found(library, "waits") == [a_memory().memory_id] and (await library.status()).problem == ""


async def test_what_a_person_let_through_is_found_once_it_is_judged_anew_and_after_a_rebuild(tmp_path: Path) -> None:
    """The file is as it was; what changed is whether its record may be proposed."""
    let: dict[str, str] = {}
    guard = Guard("words", lambda text: "poison" in text, lambda memory_id, digest: let.get(memory_id) == digest)
    write_records(tmp_path / "root" / "a.md", [a_memory("A poisoned heron."), a_memory("x", memory_id=a_memory_id(2))])
    async with open_swappable(tmp_path / "index.db", SCHEMA) as database:
        library = Library(database, guard)
        await library.open()
        await library.adopt(a_root(tmp_path / "root"))
        found = await library.get(a_memory_id(), a_scope())
        assert found is not None
        assert await library.digests([a_memory_id()]) == {}

        let[a_memory_id()] = digest = found[1].record_digest
        assert await library.digests([a_memory_id()]) == {}
        await library.reconsider([a_memory_id(), a_memory_id(99)])
        assert await library.digests([a_memory_id()]) == {a_memory_id(): digest}
        await library.rebuild()
        assert await library.digests([a_memory_id()]) == {a_memory_id(): digest}

        let.clear()
        await library.reconsider([a_memory_id()])
        assert list(await library.digests([a_memory_id(), a_memory_id(2)])) == [a_memory_id(2)]
        await library.close()


@pytest.mark.promise("team-injectable")
async def test_an_entry_that_we_wrote_is_reviewed_once_it_is_looked_at_anew(tmp_path: Path) -> None:
    """The file may have been read before its receipt was there."""
    written: set[tuple[str, str]] = set()
    guard = Guard(vouches=lambda workspace, digest: (workspace, digest) in written)
    (tmp_path / "top" / ".git").mkdir(parents=True)
    file = write_entry(tmp_path / "top", an_entry())
    root = Root(
        path=str(file.parents[1]), scope=a_workspace_scope(), origin=Origin.IMPORTED, inside=str(tmp_path / "top")
    )
    async with open_swappable(tmp_path / "index.db", SCHEMA) as database:
        library = Library(database, guard)
        await library.open()
        await library.adopt(root)

        async def origin() -> Origin:
            found = await library.get(a_memory_id(1), a_scope())
            assert found is not None
            return found[0].origin

        assert await origin() is Origin.IMPORTED
        written.add((root.scope.key, bytes_digest(file.read_bytes())))
        await library.refresh(str(file))
        assert await origin() is Origin.IMPORTED  # its bytes are as they were
        await library.look_anew(str(file))
        assert await origin() is Origin.REVIEWED
        await library.rebuild()
        assert await origin() is Origin.REVIEWED

        file.write_bytes(file.read_bytes().replace(b"strength: direct", b"strength: unknown"))
        await library.refresh(str(file))
        assert await origin() is Origin.IMPORTED
        await library.close()
