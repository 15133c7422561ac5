"""What the stores know of one agent of one session, in its order: what a restart folds in again."""

from pathlib import Path

import pytest

from governance.contracts import AuditKind
from governance.evidence import traced
from host.contracts import Claimed
from host.history import Histories
from recall.contracts import ContextCursor
from tests.support.builders import AGENT, SESSION, a_call, a_memory_id, a_prompt, a_reply, a_result
from tests.support.entries import an_entry
from tests.support.holdout import HALF, a_session, fail
from tests.support.runtimes import a_read
from tests.support.world import FAILURE, LESSON, World, a_world


def histories(world: World) -> Histories:
    parts = world.parts
    return Histories(parts.inbox._database, parts.eventlog, parts.audit, parts.evidence)


async def test_of_a_session_that_nobody_knows_there_is_nothing(world: World) -> None:
    history = await histories(world).of("unheard-of", "someone")

    assert (history.root_agent, history.entries, history.packets, history.evidence) == ("someone", (), {}, {})


@pytest.mark.parametrize("page", [1, 2, 3, 1_000])
async def test_the_entries_of_one_agent_come_in_their_order_however_they_are_paged(
    world: World, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.history.PAGE", page)
    for number in range(4):
        for session, agent in ((SESSION, AGENT), (SESSION, "sub-1"), ("another", AGENT)):
            await world.feed(a_prompt(f"prompt {number} of {agent}", session_id=session, agent_id=agent))

    history = await histories(world).of(SESSION, AGENT)

    owner = (world.parts.audit.ref(SESSION), world.parts.audit.ref(AGENT))
    mine = [entry for entry in await world.audit() if (entry.session_ref, entry.agent_ref) == owner]
    assert history.entries == tuple(mine)
    assert [entry.cursor.event_seq for entry in history.entries if entry.cursor] == [1, 3, 5, 7]


async def test_the_first_agent_of_a_session_is_its_own(world: World) -> None:
    await world.feed(a_prompt(agent_id="planner"), a_reply(agent_id="sub-1"))

    assert (await histories(world).of(SESSION, "sub-1")).root_agent == "planner"


async def test_only_packets_that_were_claimed_are_read_again(world: World) -> None:
    project = world.workspace()
    await world.remember(LESSON)
    await world.feed(a_call(workspace=project), a_result(FAILURE, workspace=project))
    pending = await histories(world).of(SESSION, AGENT)
    claim = await world.claim()
    assert isinstance(claim, Claimed)
    claimed = await histories(world).of(SESSION, AGENT)
    await world.release(claim)
    released = await histories(world).of(SESSION, AGENT)
    await world.deliver(await world.claim())
    delivered = await histories(world).of(SESSION, AGENT)

    known = {claim.packet.packet_id: claim.packet}
    assert (pending.packets, claimed.packets, released.packets, delivered.packets) == ({}, known, {}, known)
    assert [entry.kind for entry in delivered.entries if entry.kind is not AuditKind.PASS] == [
        *(AuditKind.CLAIM, AuditKind.DROP, AuditKind.CLAIM, AuditKind.DELIVERY)
    ]
    assert (await histories(world).of(SESSION, "sub-1")).packets == {}


async def test_a_packet_that_the_transcript_showed_after_its_claim_was_taken_back_is_read_again(world: World) -> None:
    project = world.workspace()
    await world.remember(LESSON)
    runtime = await world.feed(a_call(workspace=project), a_result(FAILURE, workspace=project))
    claim = await world.claim()
    assert isinstance(claim, Claimed)
    await world.release(claim)

    assert await world.parts.claims.settle_shown(runtime, [claim.packet.rendered]) == 1

    assert (await histories(world).of(SESSION, AGENT)).packets == {claim.packet.packet_id: claim.packet}


async def test_what_was_held_out_is_read_again_for_its_own_session_alone(tmp_path: Path) -> None:
    session = a_session(held_out=True)
    async with a_world(tmp_path / "half", HALF) as world:
        await world.remember(LESSON)
        await fail(world, session, "c1")
        (entry,) = await world.audit(outcome="held-out")

        history = await histories(world).of(session, AGENT)
        other = await histories(world).of(session, "sub-1")

    assert entry.packet is not None
    assert [(one, packet.packet_id) for one, packet in history.packets.items()] == [(entry.packet.packet_id,) * 2]
    assert other.packets == {}


async def test_evidence_is_found_by_its_event(world: World) -> None:
    await world.feed(a_prompt())
    ref = world.parts.audit.ref(SESSION)
    rows = [a_read(number, session_ref=ref, event_seq=seq) for number, seq in ((1, 4), (2, 4), (3, 9))]
    for row in (*rows, a_read(4, session_ref="another")):
        cursor = ContextCursor(session_id=row.session_ref, event_seq=row.event_seq, context_version=1)
        entry = an_entry(session_ref=row.session_ref, cursor=cursor, evidence=traced([row]))
        await world.parts.ledger.append([entry])

    reads = (await histories(world).of(SESSION, AGENT)).evidence

    assert {seq: [row.memory_id for row in found] for seq, found in reads.items()} == {
        4: [a_memory_id(1), a_memory_id(2)],
        9: [a_memory_id(3)],
    }
