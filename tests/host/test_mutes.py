"""What is muted in a workspace holds there alone, ends by the clock, and is known after a restart."""

from pathlib import Path

import pytest

from host.mutes import EVERYTHING, Mute, until_of
from recall.contracts import MemoryKind
from tests.support.builders import WORKSPACE
from tests.support.clock import START
from tests.support.world import a_world

OTHER = "ws_" + "b" * 32
HOUR = 3_600_000
EPISODIC, SEMANTIC = MemoryKind.EPISODIC, MemoryKind.SEMANTIC


async def test_a_kind_and_everything_are_muted_apart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        mutes = world.parts.marks.workspaces
        await mutes.mute(WORKSPACE, EPISODIC, START, None)
        assert (mutes.kinds(WORKSPACE, START), mutes.quiet(WORKSPACE, START)) == ({EPISODIC}, False)
        await mutes.mute(WORKSPACE, EVERYTHING, START, START + HOUR)
        assert (mutes.kinds(WORKSPACE, START), mutes.quiet(WORKSPACE, START)) == ({EPISODIC}, True)
        assert (mutes.kinds(OTHER, START), mutes.quiet(OTHER, START)) == (frozenset(), False)
        assert list(mutes.of(WORKSPACE, START)) == [EVERYTHING, EPISODIC]


async def test_a_mute_ends_by_the_clock_alone_also_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        mutes = world.parts.marks.workspaces
        await mutes.mute(WORKSPACE, EVERYTHING, START, START + HOUR)
        await mutes.mute(WORKSPACE, SEMANTIC, START, START + 2 * HOUR)
        await mutes.mute(WORKSPACE, EPISODIC, START, None)
    async with a_world(tmp_path) as world:
        mutes = world.parts.marks.workspaces
        assert (mutes.quiet(WORKSPACE, START + HOUR - 1), mutes.quiet(WORKSPACE, START + HOUR)) == (True, False)
        assert mutes.kinds(WORKSPACE, START + HOUR) == {EPISODIC, SEMANTIC}
        assert mutes.of(WORKSPACE, START + 2 * HOUR) == {EPISODIC: Mute(since=START)}


async def test_the_last_word_holds_and_an_ended_mute_begins_anew(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        mutes = world.parts.marks.workspaces
        told = [(0, START + 5), (1, START + 9), (2, START + 9), (9, START + 20)]
        changed = [await mutes.mute(WORKSPACE, EPISODIC, START + at, until) for at, until in told]
        assert changed == [True, True, False, True]
        assert mutes.of(WORKSPACE, START + 9) == {EPISODIC: Mute(since=START + 9, until=START + 20)}


async def test_what_is_unmuted_speaks_again_also_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        mutes = world.parts.marks.workspaces
        await mutes.mute(WORKSPACE, EPISODIC, START, None)
        await mutes.mute(WORKSPACE, SEMANTIC, START, START + 1)
        assert [await mutes.unmute(WORKSPACE, EPISODIC, START) for _ in range(2)] == [True, False]
        assert await mutes.unmute(WORKSPACE, SEMANTIC, START + 1) is False  # it had ended
    async with a_world(tmp_path) as world:
        assert world.parts.marks.workspaces.of(WORKSPACE, START) == {}


async def test_a_kind_of_a_later_version_is_passed_over(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        statement = "INSERT INTO mute (workspace, kind, muted_at) VALUES (?, 'prospective', 1)"
        database = world.parts.marks._database
        await database.write(lambda connection: connection.execute(statement, (WORKSPACE,)))
    async with a_world(tmp_path) as world:
        assert world.parts.marks.workspaces.of(WORKSPACE, START) == {}


@pytest.mark.parametrize(("length", "end"), [(None, None), (HOUR, START + HOUR)])
def test_a_length_becomes_an_end(length: int | None, end: int | None) -> None:
    assert until_of(length, START) == end
