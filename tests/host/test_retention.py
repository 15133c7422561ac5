"""Old entries go by themselves, packets with them, and trouble is said and waited out."""

import asyncio
from pathlib import Path

import pytest

from governance.pruning import DAY
from host.contracts import Claimed
from host.history import Histories
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result
from tests.support.clock import START
from tests.support.world import FAILURE, LESSON, World, a_world


async def a_story(world: World) -> Claimed:
    """A lesson that was handed over."""
    folder = world.workspace()
    await world.remember(LESSON)
    await world.feed(a_call(workspace=folder), a_result(FAILURE, workspace=folder))
    claim = await world.claim(request_id="r1")
    await world.deliver(claim)
    assert isinstance(claim, Claimed)
    return claim


async def count(world: World, table: str) -> int:
    (number,) = await world.parts.inbox._database.read(
        lambda connection: connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    )
    return int(number)


async def test_entries_go_after_two_weeks_and_packets_with_them(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claim = await a_story(world)
        early = await world.parts.retention.round()
        counted = world.parts.tally.metrics

        world.clock.set(START + 15 * DAY)
        gone = await world.parts.retention.round()

        assert (early, gone) == (0, 4)
        assert [entry.outcome for entry in await world.audit()] == ["checkpoint"]
        assert await world.parts.inbox.find(claim.packet.packet_id) is None
        assert (await count(world, "packet_item"), await count(world, "claim_answer")) == (0, 0)
        assert world.parts.tally.metrics.packets == counted.packets
        found = await world.parts.audit.verify()
        assert (found.ok, found.before) == (True, 4)


async def test_a_session_that_is_older_than_its_entries_is_not_decided_again_nor_told_twice(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claim = await a_story(world)
        world.clock.set(START + 15 * DAY)
        await world.parts.retention.round()
    async with a_world(tmp_path / "data", start=START + 15 * DAY) as world:
        folder = world.workspace()
        runtime = await world.feed(a_prompt("And now?", workspace=folder))
        await world.feed(a_call(call_id="c2", workspace=folder), a_result(FAILURE, call_id="c2", workspace=folder))

        triggers = [entry.trigger for entry in await world.audit() if entry.trigger]
        assert triggers == ["prompt", "call", "result:failed"]
        assert set(runtime.shown) == {item.memory_id for item in claim.packet.items}
        assert claim.packet.exact_digest in runtime.delivered
        assert not isinstance(await world.claim(wait_ms=0), Claimed)


async def test_events_whose_entries_are_gone_were_heard_even_if_nothing_else_is_known(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await a_story(world)
        world.clock.set(START + 200 * DAY)
        await world.parts.retention.round()
        history = await Histories(
            world.parts.inbox._database, world.parts.eventlog, world.parts.audit, world.parts.evidence
        ).of(SESSION, AGENT)
        assert (history.entries, history.heard_seq, history.settled_at) == ((), 0, START)
    async with a_world(tmp_path / "data", start=START + 200 * DAY) as world:
        runtime = await world.feed(a_prompt("Good morning.", workspace=world.workspace()))

        assert runtime.event_seq == 3
        assert [entry.trigger for entry in await world.audit() if entry.trigger] == ["prompt"]


async def test_a_chain_that_does_not_hold_is_kept_and_said(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await a_story(world)
        await world.parts.inbox._database.write(
            lambda connection: connection.execute("UPDATE audit SET reason = 'fault' WHERE row = 2")
        )
        world.clock.set(START + 15 * DAY)

        assert await world.parts.retention.round() == 0
        assert "entry 2" in world.parts.retention.problem
        assert len(await world.audit()) == 4


async def test_a_checkpoint_that_cannot_be_read_costs_the_round_and_not_the_loop(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await a_story(world)
        world.clock.set(START + 15 * DAY)
        database = world.parts.inbox._database
        await database.write(
            lambda connection: connection.execute("INSERT INTO audit_checkpoint VALUES (1, '', CAST('{' AS BLOB))")
        )

        assert await world.parts.retention.round() == 0
        assert world.parts.retention.problem
        await database.write(lambda connection: connection.execute("DELETE FROM audit_checkpoint"))
        assert await world.parts.retention.round() == 4
        assert world.parts.retention.problem == ""


async def test_rounds_begin_once_the_past_was_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.retention.ROUND_SECONDS", 0)
    async with a_world(tmp_path / "data") as world:
        await a_story(world)
    async with a_world(tmp_path / "data", start=START + 15 * DAY) as world:
        keeping = asyncio.create_task(world.parts.retention.keep_short(world.parts.tally))
        async with asyncio.timeout(5):
            while world.parts.tally.metrics.entries < 5:
                await asyncio.sleep(0)
        keeping.cancel()

        assert (await world.parts.audit.checkpoint()).entries == 4
