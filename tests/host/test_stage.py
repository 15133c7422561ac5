"""How a pass ends: its conclusion, and what becomes of a packet that was overtaken."""

import pytest

from governance.contracts import AuditKind
from host.contracts import (
    Decision,
    GateMode,
    GateState,
    InboxState,
    Intent,
    Pass,
    Reason,
    Rollout,
    Silence,
)
from host.mutes import EVERYTHING
from recall.contracts import Ranked
from tests.support.builders import (
    AGENT,
    SESSION,
    a_cue,
    a_memory_id,
    a_packet,
    a_reply,
    a_segment,
)
from tests.support.stages import SECOND, SECOND_FAILURE, fail, found, opened, pending
from tests.support.world import FAILURE, LESSON, World

# ------------------------------------------------------------------------------------------------ conclusions


@pytest.mark.promise("audit-first")
async def test_a_silence_is_concluded_with_its_entry_and_the_gate_settled(world: World) -> None:
    stage, runtime = await opened(world)
    runtime.gate = GateState(mode=GateMode.ARMED)
    decision = Decision(intent=Intent.RETRIEVE, cue=a_cue(), score=1.0, signals={}, reason="prompt")
    walk = Pass(
        segment=a_segment(),
        outcome=Silence(reason=Reason.NO_CONFIDENT_HIT),
        decision=decision,
        found=found(1),
        sure=Ranked(ranked=(), votes=(a_memory_id(1),)),
    )

    concluded = await stage.conclude(walk, runtime, world.parts.inbox)

    entry = (await world.audit())[-1]
    assert concluded is walk
    assert (entry.outcome, entry.reason, entry.votes) == ("silence", "no-confident-hit", (a_memory_id(1),))
    assert (entry.versions["index"], entry.session_ref) == ("idx_1", world.parts.audit.ref(SESSION))
    assert runtime.gate.quiet_need == decision.cue.retrieval_key
    assert runtime.agree == {a_memory_id(1): 1.0}


async def test_in_the_shadow_a_packet_is_only_shown_in_the_audit(world: World) -> None:
    stage, runtime = await opened(world)
    await world.parts.rollouts.set(runtime.scope.workspace, Rollout.SHADOW)

    concluded = await stage.conclude(Pass(segment=None, outcome=a_packet()), runtime, world.parts.inbox)

    entry = (await world.audit())[-1]
    assert concluded.outcome == Silence(reason=Reason.SHADOW)
    assert (entry.outcome, entry.reason, entry.packet is None) == ("would", "shadow", False)
    assert await world.parts.inbox.slot(SESSION, AGENT) == (None, ())


async def test_what_was_under_way_when_the_workspace_was_switched_off_is_discarded(world: World) -> None:
    stage, runtime = await opened(world)
    await world.parts.rollouts.set(runtime.scope.workspace, Rollout.OFF)

    concluded = await stage.conclude(Pass(segment=None, outcome=a_packet()), runtime, world.parts.inbox)

    entry = (await world.audit())[-1]
    assert concluded.outcome == Silence(reason=Reason.DISCARDED)
    assert (entry.outcome, entry.reason, entry.packet) == ("silence", "discarded", None)
    assert await world.parts.inbox.slot(SESSION, AGENT) == (None, ())


async def test_what_was_under_way_when_everything_was_muted_is_silent(world: World) -> None:
    stage, runtime = await opened(world)
    mutes, now = world.parts.marks.workspaces, world.clock.now()
    await mutes.mute(runtime.scope.workspace, EVERYTHING, now, now + 1)

    concluded = await stage.conclude(Pass(segment=None, outcome=a_packet()), runtime, world.parts.inbox)

    entry = (await world.audit())[-1]
    assert concluded.outcome == Silence(reason=Reason.USER_MUTED)
    assert (entry.outcome, entry.reason, entry.packet) == ("silence", "user-muted", None)
    assert await world.parts.inbox.slot(SESSION, AGENT) == (None, ())


@pytest.mark.promise("audit-first")
async def test_a_packet_is_offered_with_its_entry(world: World) -> None:
    stage, runtime = await opened(world)
    packet = a_packet(context_cursor=runtime.cursor)

    await stage.conclude(Pass(segment=a_segment(), outcome=packet), runtime, world.parts.inbox)

    entry = (await world.audit())[-1]
    assert (entry.outcome, entry.packet.packet_id if entry.packet else None) == ("packet", packet.packet_id)
    assert await pending(world) == packet


# ------------------------------------------------------------------------------------------------ overtaken packets


async def test_what_was_overtaken_competes_for_the_room_that_is_left(world: World) -> None:
    first, second = await world.remember(LESSON), await world.remember(SECOND)
    await fail(world, "make integration-test", FAILURE, "c1")
    overtaken = await pending(world)

    await fail(world, "cargo build --target thumbv7em-none-eabihf", SECOND_FAILURE, "c2")

    packet, old = await pending(world), await world.parts.inbox.find(overtaken.packet_id)
    assert [item.memory_id for item in packet.items] == [second, first]
    assert packet.carried == 0
    assert old is not None and old.state is InboxState.REPLACED
    drops = await world.audit(kind=AuditKind.DROP)
    assert [(e.outcome, e.packet.packet_id if e.packet else "") for e in drops] == [("replaced", overtaken.packet_id)]


@pytest.mark.promise("stale-is-dropped")
async def test_what_was_overtaken_and_forgotten_competes_no_more(world: World) -> None:
    first, second = await world.remember(LESSON), await world.remember(SECOND)
    runtime = await fail(world, "make integration-test", FAILURE, "c1")
    await world.parts.library.forget(first, runtime.scope)

    await fail(world, "cargo build --target thumbv7em-none-eabihf", SECOND_FAILURE, "c2")

    assert [item.memory_id for item in (await pending(world)).items] == [second]


async def test_what_waits_from_another_context_window_does_not_compete(world: World) -> None:
    memory_id = await world.remember(LESSON)
    _, runtime = await opened(world)
    await world.parts.inbox.offer(a_packet(context_cursor=runtime.cursor, window=99), [])

    await fail(world, "make integration-test", FAILURE, "c1")

    assert [item.memory_id for item in (await pending(world)).items] == [memory_id]


@pytest.mark.promise("packet-carried-over")
async def test_carrying_over_builds_the_packet_again_where_the_session_stands(world: World) -> None:
    await world.remember(LESSON)
    await fail(world, "make integration-test", FAILURE, "c1")
    old = await pending(world)
    runtime = await world.feed(a_reply("Let me see.", workspace=world.workspace()))
    slot, _ = await world.parts.inbox.slot(SESSION, AGENT)
    assert slot is not None

    await world.parts.host.stage.carry(slot, runtime, world.parts.inbox)

    new = await pending(world)
    assert (new.context_cursor, new.carried, new.items) == (runtime.cursor, 1, old.items)
    assert new.tag != old.tag
    assert [entry.outcome for entry in (await world.audit())[-2:]] == ["packet", "replaced"]


@pytest.mark.promise("packet-stale-index")
async def test_what_cannot_be_carried_over_is_told_and_dropped_at_the_claim(world: World) -> None:
    memory_id = await world.remember(LESSON)
    runtime = await fail(world, "make integration-test", FAILURE, "c1")
    await world.parts.library.forget(memory_id, runtime.scope)
    await world.feed(a_reply("Let me see.", workspace=world.workspace()))

    claim = await world.claim()

    assert claim == Silence(reason=Reason.STALE_CONTEXT)
    told = [(entry.kind, entry.trigger, entry.reason) for entry in (await world.audit())[-2:]]
    assert told == [(AuditKind.PASS, "carry-over", "stale-index"), (AuditKind.DROP, "", "stale-context")]
