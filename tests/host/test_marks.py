"""Marks: what a person said about memories is kept, holds at once, and an older database gets its place for it."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from governance.audit import Audit
from governance.screen import redact
from host.compose import main_schema
from host.contracts import Rollout
from host.database import open_database
from host.eventlog import EventLog
from host.marks import Kept, Marks, Said, effective_version, load_marks
from host.mutes import Mute, Mutes
from host.rollouts import load_rollouts
from recall.contracts import Flag
from recall.sql import statements
from tests.support.builders import SESSION, WORKSPACE, a_memory, a_memory_id, a_prompt
from tests.support.clock import START, CountedIds
from tests.support.entries import an_entry
from tests.support.world import KEY, a_world

DATA = Path(__file__).parents[1] / "data"
RELEASED = [(DATA / "schema" / name).read_text("utf-8") for name in ("main_001.sql", "main_002.sql")]
ONE, TWO = a_memory_id(1), a_memory_id(2)
FOR_GOOD = Mute(since=START)
HOUR = 3_600_000


async def test_a_muted_memory_is_known_at_once_and_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        assert (await marks.mute(ONE, START), await marks.mute(ONE, START + 5)) == (True, False)
        assert (marks.muted(START), marks.mute_of(ONE, START), marks.mute_of(TWO, START)) == ({ONE}, FOR_GOOD, None)
    async with a_world(tmp_path) as world:
        assert (world.parts.marks.muted(START), world.parts.marks.mute_of(ONE, START)) == ({ONE}, FOR_GOOD)


async def test_a_memory_may_speak_again(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        await marks.mute(ONE, START)
        await marks.mute(TWO, START)
        assert (await marks.unmute(ONE, START), await marks.unmute(ONE, START)) == (True, False)
        assert await marks.mute(TWO, START) is False
    async with a_world(tmp_path) as world:
        assert world.parts.marks.muted(START) == {TWO}
        assert await world.parts.marks.mute(ONE, START + 9) is True
        assert world.parts.marks.mute_of(ONE, START + 9) == Mute(since=START + 9)


async def test_a_mute_with_an_end_ends_by_the_clock_alone_also_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        await marks.mute(ONE, START, START + HOUR)
        await marks.mute(TWO, START)
        assert marks.mute_of(ONE, START) == Mute(since=START, until=START + HOUR)
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        assert (marks.muted(START + HOUR - 1), marks.muted(START + HOUR)) == ({ONE, TWO}, {TWO})
        assert marks.mute_of(ONE, START + HOUR) is None
        assert await marks.unmute(ONE, START + HOUR) is False


async def test_the_last_word_on_a_mute_holds(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        changes = [
            await marks.mute(ONE, START + at, until) for at, until in ((0, None), (1, START + 9), (2, START + 9))
        ]
        assert changes == [True, True, False]
        assert marks.mute_of(ONE, START + 2) == Mute(since=START, until=START + 9)
        assert await marks.mute(ONE, START + 20, None) is True
    async with a_world(tmp_path) as world:
        assert world.parts.marks.mute_of(ONE, START + 20) == Mute(since=START + 20)


async def test_what_is_said_again_is_counted_also_of_a_muted_memory(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        await marks.mute(TWO, START)
        counts = [await marks.said_again(memory_id, START) for memory_id in (ONE, ONE, TWO)]

        assert counts == [2, 3, 2]
        assert [await marks.sightings(memory_id) for memory_id in (ONE, TWO, a_memory_id(3))] == [3, 2, 1]
        assert marks.muted(START) == {TWO}


async def test_a_forgotten_memory_leaves_no_mark(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        await marks.mute(ONE, START)
        await marks.said_again(ONE, START)

        await marks.forget(ONE)

        assert (marks.muted(START), await marks.sightings(ONE)) == (frozenset(), 1)
    async with a_world(tmp_path) as world:
        assert world.parts.marks.muted(START) == frozenset()


def test_a_person_reads_the_mark_as_a_flag(tmp_path: Path) -> None:
    marks = Marks(None, Kept(muted={ONE: FOR_GOOD}), Mutes(None, {}))  # type: ignore[arg-type]
    aside = a_memory(memory_id=ONE, flags=(Flag.RECHECK,))
    flagged = a_memory(memory_id=ONE, flags=(Flag.MUTED,))

    assert marks.shown(aside, START).flags == (Flag.RECHECK, Flag.MUTED)
    assert marks.shown(flagged, START) is flagged
    assert marks.shown(a_memory(memory_id=TWO), START).flags == ()


# --------------------------------------------------------------------------------------- corrected, held, approved


async def test_corrected_held_back_and_approved_outlive_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        assert [await marks.correct(ONE, START + at) for at in (0, 1)] == [True, False]
        assert [await marks.quarantine(TWO, START + at) for at in (0, 1)] == [True, False]
        assert [await marks.approve(TWO, digest, START) for digest in ("a", "a", "b")] == [True, False, True]
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        assert (marks.corrected, marks.quarantined, marks.approved) == ({ONE}, {TWO}, {TWO: "b"})
        assert (marks.withheld([ONE, TWO, a_memory_id(3)]), marks.generation) == ({ONE, TWO}, 4)
        assert [await marks.clear(memory_id) for memory_id in (ONE, TWO, ONE)] == [True, True, False]
        assert (marks.withheld([ONE, TWO]), marks.approved) == (frozenset(), {TWO: "b"})
        assert [await marks.disapprove(TWO) for _ in range(2)] == [True, False]


async def test_the_version_changes_with_what_decides_and_with_nothing_else(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        await marks.mute(ONE, START)
        await marks.said_again(ONE, START)
        assert marks.effective("idx") == effective_version("idx", 0) == "idx"
        seen = {marks.effective("idx")}
        for change in (marks.correct(ONE, START), marks.clear(ONE), marks.approve(ONE, "a", START), marks.forget(ONE)):
            await change
            seen.add(marks.effective("idx"))
        assert len(seen) == 5
    async with a_world(tmp_path) as world:
        assert world.parts.marks.effective("idx") in seen - {"idx"}


async def test_changes_of_one_memory_at_once_lose_nothing(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        marks = world.parts.marks
        await asyncio.gather(marks.correct(ONE, START), marks.approve(ONE, "a", START), marks.quarantine(ONE, START))
        said = marks.said_of(ONE)
        assert (said.corrected_at, said.quarantined_at, said.approved) == (START, START, "a")
        loaded = await load_marks(world.parts.main)
        assert loaded.said_of(ONE) == said


def test_a_person_reads_every_mark_as_a_flag() -> None:
    said = Said(corrected_at=START, quarantined_at=START)
    marks = Marks(None, Kept(said={ONE: said}), Mutes(None, {}))  # type: ignore[arg-type]
    assert marks.shown(a_memory(memory_id=ONE), START).flags == (Flag.QUARANTINED, Flag.CORRECTED)


# ---------------------------------------------------------------------------------------------------- older databases


OLD_MUTE = "INSERT INTO mark (memory_id, muted_at) VALUES (?, ?)"


def schema_of(path: Path) -> tuple[int, set[str]]:
    connection = sqlite3.connect(path)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return version, {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        connection.close()


async def an_old_database(path: Path, released: int, rows: int) -> None:
    """A database as that version left it, filled by the parts that write to it."""
    async with open_database(path, RELEASED[:released]) as database:
        if released > 1:
            await database.write(lambda connection: connection.execute(OLD_MUTE, (TWO, START)))
        log = EventLog(database, KEY, redact)
        await log.append([a_prompt(f"question {number}", event_id=f"e{number}") for number in range(rows)], START)
        audit = Audit(database, KEY, CountedIds())
        for number in range(rows):
            await audit.append([an_entry(step=number)])
        await (await load_rollouts(database)).set(WORKSPACE, Rollout.SHADOW)


@pytest.mark.promise("field-cases")
@pytest.mark.parametrize("released", [1, 2])
async def test_a_database_of_each_released_version_is_brought_up_to_date_and_keeps_its_rows(
    tmp_path: Path, released: int
) -> None:
    told = json.loads((DATA / "cases" / "migration-step-order.json").read_text("utf-8"))
    rows = told["given"]["rows"]
    await an_old_database(tmp_path / "log.db", released, rows)
    assert schema_of(tmp_path / "log.db")[0] == released

    async with a_world(tmp_path) as world:
        assert world.parts.marks.muted(START + HOUR) == ({TWO} if released > 1 else set())
        await world.parts.marks.mute(ONE, START, START + HOUR)
        assert len(await world.parts.eventlog.replay(SESSION)) == told["then"]["rows"]
        assert (await world.parts.audit.verify()).entries == told["then"]["rows"]
        assert world.parts.rollouts.of(WORKSPACE, SESSION) is Rollout.SHADOW

    version, tables = schema_of(tmp_path / "log.db")
    assert version == len(main_schema())
    assert {"mark", "mute"} <= tables


async def test_opening_again_and_again_applies_no_step_twice(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    async with open_database(path, main_schema()) as database:
        await (await load_marks(database)).mute(ONE, START)
    for _ in range(2):
        async with open_database(path, main_schema()) as database:
            assert (await load_marks(database)).muted(START) == {ONE}


@pytest.mark.parametrize("step", range(len(RELEASED)))
def test_a_step_stays_what_was_released(step: int) -> None:
    assert statements("\n".join(RELEASED[step].splitlines()[1:])) == statements(main_schema()[step])
