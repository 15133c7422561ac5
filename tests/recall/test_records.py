"""Records by id, by file and by age: only what can be seen, each once."""

from pathlib import Path

from recall import records
from recall.contracts import Flag, Status
from recall.files import record_digest
from tests.support.builders import a_memory, a_memory_id, a_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, write_records
from tests.support.shelf import Shelf

M1, M2, M3 = a_memory_id(1), a_memory_id(2), a_memory_id(3)


async def test_pages_of_a_list_are_newest_first_and_miss_nothing(tmp_path: Path) -> None:
    memories = [a_memory(f"Note {n}.", memory_id=a_memory_id(n), created_at=START + n // 2) for n in range(7)]
    write_records(tmp_path / "memory" / "a.md", memories)
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(tmp_path / "memory"))

        seen: list[str] = []
        after: str | None = None
        while True:
            page = await library.listed(a_scope(), 3, after)
            seen += [record.memory_id for record in page.records]
            after = page.next
            if after is None:
                break

        newest = sorted(memories, key=lambda one: (-one.created_at, one.memory_id))
        assert seen == [one.memory_id for one in newest]
        assert (await library.listed(a_scope(), 3, "nonsense")).records[0].memory_id == seen[0]


async def test_digests_are_of_records_that_may_be_shown(tmp_path: Path) -> None:
    write_records(
        tmp_path / "memory" / "a.md",
        [
            a_memory("Good.", memory_id=M1),
            a_memory("Revoked.", memory_id=M2, status=Status.REVOKED),
            a_memory("Corrected.", memory_id=M3, flags=(Flag.CORRECTED,)),
        ],
    )
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(tmp_path / "memory"))

        assert list(await library.digests([M1, M2, M3, "mem_unknown"])) == [M1]
        assert [one.memory_id for one in await library.snapshot(START).by_id([M3, M2, M1, M3], a_scope())] == [
            M3,
            M2,
            M1,
        ]


async def test_a_path_that_is_of_no_root_has_no_records(tmp_path: Path) -> None:
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(tmp_path / "memory"))
        for path in ("", "a\0b", "/", str(tmp_path / "memory-2" / "a.md")):
            assert await library.locators(path) == () and await library.file_digest(path) is None
        await library.refresh("/nowhere", str(tmp_path))


def test_digests_stamps_and_ids_cost_the_same_in_a_large_store() -> None:
    shelf, asked = Shelf(), [M1]

    def steps() -> list[int]:
        asks = (
            lambda: records.digests(shelf.connection, asked, a_scope()),
            lambda: records.stamps(shelf.connection, asked, a_scope()),
            lambda: records.one(shelf.connection, M1, a_scope()),
            lambda: records.existing(shelf.connection, asked),
        )
        return [shelf.steps(ask) for ask in asks]

    shelf.put(a_memory("One of few.", memory_id=M1))
    few = steps()
    shelf.put(*(a_memory(f"One of many {n}.", memory_id=a_memory_id(n)) for n in range(100, 600)))

    assert all(now <= before + 2 for now, before in zip(steps(), few, strict=True))


def test_all_that_is_held_of_a_file_can_be_had_again() -> None:
    shelf, memory = Shelf(), a_memory("Kept.", memory_id=M1)
    shelf.put(memory, name="a.md")
    (path,) = shelf.connection.execute("SELECT path FROM root").fetchone()

    (file,) = records.kept(shelf.connection, path, ["a.md", "gone.md"])

    ((record, digest, span),) = file.records
    assert record == memory and digest == record_digest(memory) and span[2] < span[3]
    assert (file.relative, file.refused, file.findings) == ("a.md", None, ())
    assert records.existing(shelf.connection, [M1, M2]) == {M1}
