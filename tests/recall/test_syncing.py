"""A root is taken in batch by batch, whatever its files do meanwhile."""

import asyncio
import dataclasses
import os
import shutil
import sys
from pathlib import Path

import pytest

from recall import intake, syncing, tables
from recall.contracts import Origin
from recall.entries import OPEN, Root
from recall.indexing import Applied, find_root, recomputed
from recall.intake import place_of
from recall.reader import ReaderSetup
from recall.syncing import Names, Sync
from recall.tables import SCHEMA, version
from recall.work import Progress, Work
from tests.support.builders import a_memory, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.fakes import FakeDatabase
from tests.support.library import write_records

M1, M2 = a_memory_id(1), a_memory_id(2)


class Desk:
    """A sync over an index in memory, with what it told."""

    def __init__(self) -> None:
        self.database = FakeDatabase(SCHEMA)
        tables.begin(self.database.connection, "test")
        self.turn, self.work, self.epoch = asyncio.Lock(), Work(), 1
        self.told: list[Applied] = []
        self.roots_changed = 0
        self.seen: list[Progress | None] = []
        self.sync = Sync(
            database=self.database,
            guard=OPEN,
            turn=self.turn,
            work=self.work,
            epoch=lambda: self.epoch,
            told=self._told,
            roots_changed=self._roots,
        )

    async def _told(self, applied: Applied) -> None:
        assert self.turn.locked()
        self.told.append(applied)
        self.seen.append(self.work.progress())

    async def _roots(self) -> None:
        self.roots_changed += 1

    async def take(self, folder: Path, names: Names = None, **fields: object) -> None:
        given = {"path": str(folder), "scope": a_workspace_scope(), "origin": Origin.USER} | fields
        await self.sync.root(Root(**given), place_of(str(folder)), names)  # type: ignore[arg-type]

    def files(self) -> dict[str, list[str]]:
        rows = self.database.connection.execute(
            "SELECT f.relative, r.memory_id FROM file f LEFT JOIN record r ON r.file = f.id WHERE f.present = 1"
            " ORDER BY 1, 2"
        ).fetchall()
        return {name: [memory_id for file, memory_id in rows if file == name and memory_id] for name, _ in rows}

    def standings(self) -> set[str]:
        return {row[0] for row in self.database.connection.execute("SELECT standing FROM record")}


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_a_root_of_many_files_is_written_batch_by_batch_and_told_as_it_goes(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_FILES", 2)
    for number in range(5):
        write_records(tmp_path / f"{number}.md", [a_memory(f"Of {number}.", memory_id=a_memory_id(number))])

    await desk.take(tmp_path)

    assert [len(one.listed) for one in desk.told if one.listed] == [2, 2, 1]
    assert [(one.done, one.total) for one in desk.seen if one] == [(0, 5), (2, 5), (4, 5)]
    assert desk.work.progress() is None and desk.roots_changed == 2  # begun, and taken in to the end
    root = find_root(desk.database.connection, str(tmp_path))
    assert root is not None and root.taken and not desk.turn.locked()
    assert desk.told[-1].version == version(desk.database.connection) == recomputed(desk.database.connection)


async def test_others_get_their_turn_between_two_batches(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_FILES", 1)
    for number in range(4):
        write_records(tmp_path / "large" / f"{number}.md", [a_memory(f"Of {number}.", memory_id=a_memory_id(number))])
    write_records(tmp_path / "small" / "a.md", [a_memory("Small.", memory_id=a_memory_id(9))])

    await asyncio.gather(desk.take(tmp_path / "large"), desk.take(tmp_path / "small"))

    order = [row[0] for row in desk.database.connection.execute("SELECT memory_id FROM record ORDER BY id")]
    assert order.index(a_memory_id(9)) < 4


async def test_a_file_taken_in_by_name_while_it_waits_in_a_batch_is_not_doubled(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_FILES", 1)
    for name in "abcd":
        write_records(tmp_path / f"{name}.md", [a_memory(f"Of {name}.", memory_id=a_memory_id(ord(name)))])

    await asyncio.gather(desk.take(tmp_path), *(desk.take(tmp_path, [f"{name}.md"]) for name in "dcba"))

    assert desk.files() == {f"{name}.md": [a_memory_id(ord(name))] for name in "abcd"}
    assert desk.standings() == {"live"}


async def test_an_index_that_is_replaced_meanwhile_is_begun_again(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_FILES", 1)
    for name in "abc":
        write_records(tmp_path / f"{name}.md", [a_memory(f"Of {name}.", memory_id=a_memory_id(ord(name)))])
    told = desk._told

    async def swap(applied: Applied) -> None:
        await told(applied)
        if desk.epoch == 1 and applied.listed:
            desk.epoch = 2
            async with desk.database.aside() as fresh:
                await fresh.write(lambda connection: tables.begin(connection, "test"))

    await Sync(
        **{name: getattr(desk.sync, name) for name in ("database", "guard", "turn", "work", "epoch", "roots_changed")},
        told=swap,
    ).root(Root(path=str(tmp_path), scope=a_workspace_scope(), origin=Origin.USER), place_of(str(tmp_path)), None)

    assert list(desk.files()) == ["a.md", "b.md", "c.md"] and desk.epoch == 2


async def test_what_is_not_there_and_not_known_costs_nothing(desk: Desk, tmp_path: Path) -> None:
    await desk.take(tmp_path / "missing")
    await desk.take(tmp_path / "CLAUDE.md")

    assert desk.database.writes == 0 and desk.told == []


async def test_a_folder_that_goes_is_missing_and_one_that_comes_back_is_looked_at(desk: Desk, tmp_path: Path) -> None:
    folder, away = tmp_path / "memory", tmp_path / "away"
    write_records(folder / "a.md", [a_memory(memory_id=M1)])
    await desk.take(folder)
    shutil.move(folder, away)

    await desk.take(folder)
    root = find_root(desk.database.connection, str(folder))
    assert root is not None and root.missing and desk.files() == {"a.md": [M1]}

    write_records(away / "b.md", [a_memory(memory_id=M2)])
    shutil.move(away, folder)
    await desk.take(folder)
    assert desk.files() == {"a.md": [M1], "b.md": [M2]}


@pytest.mark.promise("identity")
async def test_a_record_that_moved_is_no_conflict_though_only_its_new_file_is_named(desk: Desk, tmp_path: Path) -> None:
    one, two = a_memory("Moves.", memory_id=M1), a_memory("Stays.", memory_id=M2)
    write_records(tmp_path / "a.md", [one, two])
    await desk.take(tmp_path)

    write_records(tmp_path / "a.md", [two])
    write_records(tmp_path / "b.md", [one])
    await desk.take(tmp_path, ["b.md"])

    assert desk.files() == {"a.md": [M2], "b.md": [M1]} and desk.standings() == {"live"}


@pytest.mark.promise("identity")
async def test_a_folder_of_files_that_was_renamed_keeps_its_records_all_the_time(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_FILES", 2)
    for number in range(5):
        write_records(tmp_path / "old" / f"{number}.md", [a_memory(f"Of {number}.", memory_id=a_memory_id(number))])
    await desk.take(tmp_path)
    (tmp_path / "old").rename(tmp_path / "new")
    desk.told.clear()

    await desk.take(tmp_path)

    assert list(desk.files()) == [f"new/{number}.md" for number in range(5)] and desk.standings() == {"live"}
    assert [(len(one.listed), len(one.unlisted)) for one in desk.told if one.listed or one.unlisted] == [
        (2, 2),
        (2, 2),
        (1, 1),
    ]


async def test_a_root_of_which_something_else_is_said_is_read_again(desk: Desk, tmp_path: Path) -> None:
    write_records(tmp_path / "a.md", [a_memory(memory_id=M1)])
    await desk.take(tmp_path)
    before = version(desk.database.connection)

    await desk.take(tmp_path, ["nothing.md"], scope=a_user_scope())

    (kind,) = desk.database.connection.execute(
        "SELECT s.kind FROM record r JOIN scope s ON s.id = r.scope WHERE r.memory_id = ?", (M1,)
    ).fetchone()
    assert kind == "User" and desk.told[-1].version == version(desk.database.connection) != before


SERVES = (
    "from recall.entries import OPEN; from recall.reader import answer; import sys;"
    " answer(sys.stdin.buffer, sys.stdout.buffer, OPEN)"
)


@pytest.mark.parametrize(
    "program",
    [SERVES, "", "print('no frame', flush=True); input()", "import signal; signal.pause()"],
    ids=["serves", "ends", "talks", "hangs"],
)
async def test_a_large_root_is_read_by_another_process_and_by_this_one_when_that_is_of_no_use(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(intake, "BATCH_FILES", 1)
    if "pause" in program:
        monkeypatch.setattr(syncing, "READER_SECONDS", 0.01)
    for name in "abcd":
        write_records(tmp_path / f"{name}.md", [a_memory(f"Of {name}.", memory_id=a_memory_id(ord(name)))])
    here: list[int] = []
    really = syncing.take
    monkeypatch.setattr(syncing, "take", lambda *args: here.append(len(args[2])) or really(*args))
    setup = ReaderSetup(command=(sys.executable, "-P", "-c", program), environment=os.environ)
    desk.sync = dataclasses.replace(desk.sync, reader=setup)

    await desk.take(tmp_path)

    assert desk.files() == {f"{name}.md": [a_memory_id(ord(name))] for name in "abcd"}
    assert len(here) == (1 if program == SERVES else 4)


async def test_a_program_that_cannot_be_started_is_done_without(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_FILES", 1)
    for name in "abcd":
        write_records(tmp_path / f"{name}.md", [a_memory(f"Of {name}.", memory_id=a_memory_id(ord(name)))])
    desk.sync = dataclasses.replace(desk.sync, reader=ReaderSetup(command=("/nowhere",), environment={}))

    await desk.take(tmp_path)

    assert len(desk.files()) == 4


async def test_a_repository_without_memory_leaves_nothing_in_the_index(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    root = Root(path=str(tmp_path / "m"), scope=a_workspace_scope(), origin=Origin.IMPORTED, inside=str(tmp_path))
    place = intake.placed(root)
    assert place is not None

    await desk.sync.root(root, place, None)
    assert desk.database.writes == 0

    write_records(tmp_path / "m" / "a.md", [a_memory(memory_id=M1)])
    await desk.sync.root(root, place, None)
    assert desk.files() == {"a.md": [M1]}
    shutil.rmtree(tmp_path / "m")
    await desk.sync.root(root, place, None)
    assert desk.files() == {}
