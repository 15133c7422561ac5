"""What is remembered, edited and forgotten: in the file first, then in the index."""

from pathlib import Path

import msgspec
import pytest

from recall import volumes
from recall.contracts import MemoryLocator, Origin
from recall.files import RefusalKind, Refused
from recall.library import Library
from tests.support.builders import a_memory, a_memory_id, a_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, found, texts, until, write_records

M1, M2, M3 = a_memory_id(1), a_memory_id(2), a_memory_id(3)
APRIL = START - 40 * 86_400_000


def kinds(outcome: object) -> RefusalKind | None:
    return outcome.kind if isinstance(outcome, Refused) else None


def names(outcome: list[MemoryLocator | Refused]) -> list[str]:
    return [Path(one.source_file).name for one in outcome if isinstance(one, MemoryLocator)]


async def digest_of(library: Library, memory_id: str) -> str:
    return (await library.digests([memory_id]))[memory_id]


async def test_many_are_remembered_each_with_its_own_outcome(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    given = [
        a_memory("In May.", memory_id=M1),
        a_memory("In April.", memory_id=M2, created_at=APRIL),
        a_memory("<!-- memory:mem_forged -->", memory_id=M3),
        a_memory("Also in May.", memory_id=a_memory_id(4)),
        a_memory("Twice.", memory_id=M1),
    ]
    async with a_library(tmp_path) as library:
        outcome = await library.remember_all(given, root)

        assert [kinds(one) for one in outcome] == [None, None, RefusalKind.UNSAFE_TEXT, None, RefusalKind.DUPLICATE]
        assert names(outcome) == ["2026-05.md", "2026-04.md", "2026-05.md"]
        assert sorted(await found(library, "may april also")) == [M1, M2, a_memory_id(4)]
        assert [kinds(one) for one in await library.remember_all(given[:1], root)] == [RefusalKind.DUPLICATE]


async def test_a_volume_that_is_full_is_followed_by_the_next_also_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volumes, "MOST", 2)
    root = a_root(tmp_path / "memory")
    memories = [a_memory(f"Number {n}.", memory_id=a_memory_id(n)) for n in range(1, 8)]
    async with a_library(tmp_path) as library:
        outcome = await library.remember_all(memories[:5], root)
        assert names(outcome) == ["2026-05.md"] * 2 + ["2026-05-2.md"] * 2 + ["2026-05-3.md"]
        assert names(await library.remember_all(memories[5:6], root)) == ["2026-05-3.md"]

    async with a_library(tmp_path) as library:
        assert names(await library.remember_all(memories[6:], root)) == ["2026-05-4.md"]
        assert len(await found(library, "number")) == 7


async def test_a_root_that_is_not_ours_takes_nothing(tmp_path: Path) -> None:
    async with a_library(tmp_path) as library:
        outcome = await library.remember_all([a_memory()], a_root(tmp_path / "team", writable=False))

        assert [kinds(one) for one in outcome] == [RefusalKind.READ_ONLY] and not (tmp_path / "team").exists()


async def test_a_folder_that_cannot_be_written_refuses_every_record(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "records").write_text("in the way")
    async with a_library(tmp_path) as library:
        outcome = await library.remember_all(
            [a_memory(memory_id=M1), a_memory(memory_id=M2)], a_root(tmp_path / "memory")
        )

        assert all(isinstance(one, Refused) for one in outcome) and len(outcome) == 2


async def test_an_edit_replaces_what_the_caller_saw(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("The limit is 10.", memory_id=M1), root)
        await library.remember(a_memory("Neighbour.", memory_id=M2), root)
        seen = await digest_of(library, M1)

        locator = await library.edit(a_memory("The limit is 25.", memory_id=M1, tags=("ci",)), seen, a_scope())

        assert isinstance(locator, MemoryLocator) and locator.record_digest == await digest_of(library, M1) != seen
        data = Path(locator.source_file).read_bytes()
        assert data[locator.byte_start : locator.byte_end] == b"The limit is 25."
        assert await texts(library, "limit") == {M1: "The limit is 25."} and await found(library, "neighbour") == [M2]
        again = await library.edit(a_memory("The limit is 30.", memory_id=M1), seen, a_scope())
        assert kinds(again) is RefusalKind.CONFLICT and await texts(library, "limit") == {M1: "The limit is 25."}


async def test_an_edit_sees_what_someone_else_wrote_a_moment_ago(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "a.md"
    write_records(file, [a_memory("Port 8080.", memory_id=M1), a_memory("Neighbour.", memory_id=M2)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(file.parent))
        seen = await digest_of(library, M1)
        write_records(file, [a_memory("Port 9090.", memory_id=M1), a_memory("Neighbour, changed.", memory_id=M2)])
        theirs = file.read_bytes()

        refused = await library.edit(a_memory("Port 7070.", memory_id=M1), seen, a_scope())

        assert kinds(refused) is RefusalKind.CONFLICT and file.read_bytes() == theirs
        assert await texts(library, "port neighbour") == {M1: "Port 9090.", M2: "Neighbour, changed."}
        fine = await library.edit(a_memory("Port 7070.", memory_id=M1), await digest_of(library, M1), a_scope())
        assert isinstance(fine, MemoryLocator)
        assert await texts(library, "port neighbour") == {M1: "Port 7070.", M2: "Neighbour, changed."}


async def test_what_is_not_ours_or_cannot_be_seen_is_not_edited(tmp_path: Path) -> None:
    write_records(tmp_path / "team" / "a.md", [a_memory("Shared.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(tmp_path / "team", writable=False, origin=Origin.IMPORTED))
        seen = await digest_of(library, M1)

        assert kinds(await library.edit(a_memory("Mine.", memory_id=M1), seen, a_scope())) is RefusalKind.READ_ONLY
        assert await library.edit(a_memory("Mine.", memory_id=M2), seen, a_scope()) is None
        assert await library.edit(a_memory("Mine.", memory_id=M1), seen, a_scope(workspace="ws_other")) is None


async def test_a_record_that_moved_to_another_file_is_edited_there(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    write_records(folder / "a.md", [a_memory("Moves.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(folder))
        seen = await digest_of(library, M1)
        (folder / "a.md").rename(folder / "b.md")
        assert await library.verify([M1]) == {M1: seen} or await library.refresh(str(folder)) is None
        await library.refresh(str(folder))

        locator = await library.edit(a_memory("Moved.", memory_id=M1), seen, a_scope())

        assert isinstance(locator, MemoryLocator) and locator.source_file == str(folder / "b.md")


async def test_what_cannot_be_indexed_just_now_is_written_and_placed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("First.", memory_id=M1), root)
        await library._database.write(lambda connection: connection.execute("DROP TABLE record"))
        monkeypatch.setattr(type(library._catalogue), "begin_rebuild", lambda self: False)

        locator = await library.remember(a_memory("Second.", memory_id=M2), root)

        assert isinstance(locator, MemoryLocator)
        data = Path(locator.source_file).read_bytes()
        assert data[locator.byte_start : locator.byte_end] == b"Second."
        monkeypatch.undo()
        await library.rebuild()
        assert sorted(await found(library, "first second")) == [M1, M2]


async def test_forgetting_one_of_many_leaves_the_others(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        done = await library.remember_all([a_memory(f"Fact {n}.", memory_id=a_memory_id(n)) for n in (1, 2, 3)], root)

        assert await library.forget(M2, a_scope()) is True

        assert sorted(await found(library, "fact")) == [M1, M3] and await library.get(M2, a_scope()) is None
        assert isinstance(done[0], MemoryLocator) and b"Fact 2" not in Path(done[0].source_file).read_bytes()
        assert [one.memory_id for one in library.snapshot(START).hot(a_scope())] != [] and all(
            one.memory_id != M2 for one in library.snapshot(START).hot(a_scope())
        )


async def test_a_pin_leaves_the_digest_alone(tmp_path: Path) -> None:
    root, memory = a_root(tmp_path / "memory"), a_memory("Pin me.", memory_id=M1)
    async with a_library(tmp_path) as library:
        await library.remember(memory, root)
        seen = await digest_of(library, M1)

        await library.edit(msgspec.structs.replace(memory, pinned=True), seen, a_scope())

        assert await digest_of(library, M1) == seen
        assert [one.memory_id for one in await library.snapshot(START).pinned(a_scope(), 5)] == [M1]


async def test_no_word_of_what_was_forgotten_is_left_in_the_index_or_its_log(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("The zyzzyva is a beetle.", memory_id=M1), root)
        await library.remember(a_memory("Something else.", memory_id=M2), root)

        await library.forget(M1, a_scope())

        def left() -> bool:
            return any(b"zyzzyva" in path.read_bytes() for path in tmp_path.glob("index.db*"))

        await until(lambda: not left())
        assert await found(library, "something") == [M2]
