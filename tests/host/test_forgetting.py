"""Forgetting reaches everything that is kept. The whole path stands in `test_memories` and `test_corrections`."""

import sqlite3
from pathlib import Path

import pytest

from host.forgetting import _cut
from host.marks import load_marks
from tests.support.asking import asking
from tests.support.noted import a_note, said
from tests.support.remembering import a_need, kept
from tests.support.reviewing import decide, waiting
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


@pytest.mark.promise("forgotten-everywhere")
@pytest.mark.parametrize("decided", [False, True], ids=["waits", "put-away"])
async def test_a_note_that_no_memory_was_made_of_can_be_forgotten_too(tmp_path: Path, decided: bool) -> None:
    secret = f"The vault of {WORDS.decode()} opens with the blue key."
    async with asking(tmp_path) as remora:
        folder = remora.world.workspace()
        await said(remora, folder, secret)
        item = await a_note(remora, folder, secret, secret)
        if decided:
            await decide(remora, folder, item, "archive", reason=f"{WORDS.decode()} moved")
        other = remora.world.workspace("other")
        unseen = await remora.refused("memory.forget", memoryId=item["itemId"], workspace=other)
        assert unseen.kind == "unknown-memory"
        done = await remora.ask("memory.forget", memoryId=item["itemId"], workspace=folder)
        assert done["forgotten"]
        assert await waiting(remora, folder) == []
        assert [name for name in holds(tmp_path) if not name.startswith("log.db")] == []
        again = {"text": secret, "quotes": [secret], "workspace": folder, "principal": "human"}
        assert (await remora.ask("review.add", **again))["added"] is False


async def test_a_damaged_draft_of_the_team_keeps_nothing_else_from_being_forgotten(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        folder, kept_in = remora.world.workspace(), remora.world.parts.kept
        memory_id = await kept(remora, f"{LESSON} Ask {WORDS.decode()} when it stays down.", folder)
        columns = "candidate_id, kind, task_id, repository_key, worktree_key, state, revision, memory_id, target_path"
        damaged = f"INSERT INTO team_candidate ({columns}, payload, supersedes, created_at, changed_at) VALUES"
        row = "('c1', 'entry', 't', 'r', 'w', 'staged', 1, 'm', 'p', '{}', '{', 0, 0)"
        await kept_in.write(lambda connection: connection.execute(f"{damaged} {row}"))

        fault = await remora.refused("memory.forget", memoryId=memory_id, workspace=folder)

        assert (fault.kind, bool(fault.next_step)) == ("state-corrupt", True)
        assert fault.problem.startswith("It is forgotten")
        assert holds(tmp_path) == []
