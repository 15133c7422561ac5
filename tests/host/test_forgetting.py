"""Forgetting reaches everything that is kept. The whole path stands in `test_memories` and `test_corrections`."""

import sqlite3
from pathlib import Path

from host.forgetting import _cut
from host.marks import load_marks
from tests.support.asking import asking
from tests.support.remembering import a_need, kept
from tests.support.world import LESSON

WORDS = b"Heronsgate-4711"


def holds(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and WORDS in path.read_bytes())


async def test_what_was_forgotten_stands_in_no_file_of_ours(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        folder = remora.world.workspace()
        memory_id = await kept(remora, f"{LESSON} Ask {WORDS.decode()} when it stays down.", folder)
        await a_need(remora, folder)
        await remora.world.parts.marks.correct(memory_id, remora.world.clock.now())
        assert holds(tmp_path)

        await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)

        assert holds(tmp_path) == []
        marks = await load_marks(remora.world.parts.main)
        assert (marks.corrected, marks.generation) == (frozenset(), 2)


async def test_a_reader_that_is_at_it_keeps_nobody_waiting_for_good(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        reader = sqlite3.connect(tmp_path / "log.db")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM event").fetchall()
        await _cut(remora.world.parts.main)
        reader.close()
