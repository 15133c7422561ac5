"""What surrounds a pass: its frame, its conclusion, and what becomes of a packet that was overtaken."""

from collections.abc import Sequence

import msgspec
import pytest

from governance.contracts import AuditKind
from host.capability import CAPABILITIES
from host.clock import SetClock
from host.contracts import (
    Claimed,
    Decision,
    GateMode,
    GateState,
    InboxState,
    Intent,
    MemoryPacket,
    Pass,
    Reason,
    Rollout,
    Silence,
)
from host.mutes import EVERYTHING
from host.props import Props
from host.runtime import SessionRuntime
from host.stage import EMPTY, Stage
from recall.contracts import ActivationLevel, Drop, Found, Ranked, Scope, Scored
from tests.support.builders import (
    AGENT,
    SESSION,
    a_call,
    a_candidate,
    a_cue,
    a_memory_id,
    a_packet,
    a_prompt,
    a_reply,
    a_result,
    a_scored,
    a_segment,
)
from tests.support.world import FAILURE, KEY, LESSON, World

SECOND = "cargo build fails with E0463 can't find crate for core until rustup target add thumbv7em-none-eabihf was run."
SECOND_FAILURE = (
    "error[E0463]: can't find crate for `core`\n"
    "the thumbv7em-none-eabihf target may not be installed: rustup target add"
)


async def opened(world: World, host: str = "socket") -> tuple[Stage, SessionRuntime]:
    runtime = await world.feed(a_prompt("Good morning, let us go on.", workspace=world.workspace()), host=host)
    return world.parts.host.stage, runtime


async def fail(world: World, call: str, failure: str, call_id: str) -> SessionRuntime:
    where = {"call_id": call_id, "workspace": world.workspace()}
    return await world.feed(a_call(call, **where), a_result(failure, **where))


async def pending(world: World) -> MemoryPacket:
    slot, _ = await world.parts.inbox.slot(SESSION, AGENT)
    assert slot is not None
    return slot.packet


def found(*ids: int) -> Found:
    candidates = tuple(a_candidate(memory_id=a_memory_id(number)) for number in ids)
    return Found(candidates=candidates, arms=(), statistics=EMPTY, index_version="idx_1")


# ------------------------------------------------------------------------------------------------ before and between


class TickingClock(SetClock):
    """Each reading of `micros` is ten later than the one before."""

    ticks = 0

    def micros(self) -> int:
        self.ticks += 10
        return self.ticks


async def test_a_stopwatch_books_the_time_since_its_last_call_on_the_stage(world: World) -> None:
    parts = world.parts
    props = Props(TickingClock(), KEY, lambda *_: pytest.fail("nobody's entry"), parts.rollouts, parts.marks)
    lap = Stage(parts.library, parts.ledger, parts.host.rules, parts.host.policy, props).stopwatch()
    walk = Pass(segment=None, outcome=Silence(reason=Reason.FAULT))

    walk = lap("gate", walk, score=0.5)
    walk = lap("rank", walk)
    walk = lap("gate", walk, trigger="prompt")

    assert (walk.score, walk.trigger) == (0.5, "prompt")
    assert walk.latency == {"gate": 20, "rank": 10}


@pytest.mark.parametrize(
    ("intent", "ids", "reason"),
    [
        (Intent.PREFETCH, (1,), Reason.PREFETCHED),
        (Intent.PREFETCH, (), Reason.PREFETCHED),
        (Intent.RETRIEVE, (1,), Reason.NO_CONFIDENT_HIT),
        (Intent.RETRIEVE, (), Reason.NO_CANDIDATES),
    ],
)
async def test_a_pass_that_looked_says_why_it_says_nothing(
    world: World, intent: Intent, ids: Sequence[int], reason: Reason
) -> None:
    stage, _ = await opened(world)
    decision = Decision(intent=intent, cue=a_cue(), score=1.0, signals={}, reason="prompt")

    assert stage.nothing(decision, found(*ids), Ranked(ranked=(a_scored(),))) == Silence(reason=reason)


@pytest.mark.parametrize(
    ("drops", "left", "reason"),
    [
        (["already-shown", "already-read", "shown-alike"], (), Reason.ALREADY_VISIBLE),
        (["held-out", "already-shown"], (), Reason.HELD_OUT),
        (["held-out", "contradicted"], (), Reason.NO_CONFIDENT_HIT),
        (["held-out"], (a_scored(),), Reason.NO_CONFIDENT_HIT),
        (["already-shown"], (a_scored(),), Reason.NO_CONFIDENT_HIT),
        (["already-shown", "contradicted"], (), Reason.NO_CONFIDENT_HIT),
    ],
)
async def test_what_the_window_holds_already_is_named_when_nothing_else_was_found(
    world: World, drops: Sequence[str], left: tuple[Scored, ...], reason: Reason
) -> None:
    stage, _ = await opened(world)
    decision = Decision(intent=Intent.RETRIEVE, cue=a_cue(), score=1.0, signals={}, reason="prompt")
    dropped = tuple(Drop(id=a_memory_id(number), reason=drop) for number, drop in enumerate(drops))

    silence = stage.nothing(decision, found(1, 2, 3), Ranked(ranked=left, dropped=dropped))

    assert silence == Silence(reason=reason)


async def test_a_need_whose_memory_was_handed_over_is_silent_as_already_visible(world: World) -> None:
    await world.remember(LESSON)
    await fail(world, "make integration-test", FAILURE, "c1")
    await world.deliver(await world.claim())

    await fail(world, "make integration-test", FAILURE, "c2")

    entry = (await world.audit(kind=AuditKind.PASS))[-1]
    assert (entry.outcome, entry.reason) == ("silence", Reason.ALREADY_VISIBLE)
    assert [candidate.drop_reason for candidate in entry.candidates] == ["already-shown"]


@pytest.mark.parametrize(("host", "surface"), [("socket", True), ("claude-code", True), ("unheard-of", False)])
async def test_a_host_that_is_not_known_has_no_surface(world: World, host: str, surface: bool) -> None:
    stage, runtime = await opened(world, host)

    assert stage.surface(runtime) is surface
    assert stage.capability(runtime).host == host


async def test_the_audience_is_who_asks_and_what_the_index_holds_now(world: World) -> None:
    memory_id = await world.remember(LESSON)
    stage, runtime = await opened(world)
    sure = Ranked(ranked=(a_scored(memory_id=memory_id), a_scored(memory_id=a_memory_id(99))))

    audience = await stage.audience(runtime, sure, msgspec.structs.replace(found(), degraded=True))

    assert (audience.scope, audience.context_version) == (runtime.scope, runtime.context_version)
    assert (list(audience.digests), audience.index_version) == ([memory_id], world.parts.library.version)
    assert (audience.degraded, audience.surface_available) == (True, True)


async def test_the_proposal_is_the_packet_about_to_be_built(world: World) -> None:
    stage, runtime = await opened(world)
    sure = Ranked(ranked=(a_scored(),))

    proposal = stage.proposal(sure, runtime, "idx_1")

    assert (proposal.session_id, proposal.agent_id, proposal.context_version) == (SESSION, AGENT, 1)
    assert (proposal.index_version, proposal.level) == ("idx_1", ActivationLevel.EXCERPT)
    assert proposal.items == (sure.ranked[0].candidate,)


async def test_a_frames_tag_follows_the_occasion_and_the_installs_key(world: World) -> None:
    stage, runtime = await opened(world)
    parts = world.parts
    other_key = Stage(
        parts.library,
        parts.ledger,
        parts.host.rules,
        parts.host.policy,
        Props(world.clock, b"other", None, None, None),  # type: ignore[arg-type]
    )

    draft = stage.draft(runtime, "seg_1", "prompt", "idx_1")

    assert (draft.cursor, draft.window, draft.step) == (runtime.cursor, runtime.window_no, runtime.step)
    assert draft.retrieval_version.endswith("+idx_1")
    assert draft.tag == stage.draft(runtime, "seg_1", "another reason", "idx_2").tag
    assert len({draft.tag, stage.draft(runtime, "seg_2", "prompt", "idx_1").tag}) == 2
    assert draft.tag != other_key.draft(runtime, "seg_1", "prompt", "idx_1").tag


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


@pytest.mark.parametrize("able", [False, True])
async def test_subagents_are_left_alone_unless_the_host_can_take_it(
    world: World, able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = CAPABILITIES["socket"]
    monkeypatch.setitem(CAPABILITIES, "socket", msgspec.structs.replace(socket, subagents=able))
    await opened(world)
    runtime = await world.feed(a_prompt("Look at the tests.", agent_id="sub-1", workspace=world.workspace()))

    window = world.parts.host.stage.window(runtime, world.clock.now(), None)

    assert (runtime.subagent, window.subagent) == (True, not able)


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


@pytest.mark.promise("no-leak")
async def test_only_items_that_hold_where_the_agent_works_now_are_carried_over(world: World) -> None:
    elsewhere, mine = await world.remember(LESSON), await world.remember(SECOND, scope=Scope.USER)
    await fail(world, "make integration-test", FAILURE, "c1")
    await fail(world, "cargo build --target thumbv7em-none-eabihf", SECOND_FAILURE, "c2")
    both = [item.memory_id for item in (await pending(world)).items]
    await world.feed(a_reply("I go to the other project.", workspace=world.workspace("other")))

    claim = await world.claim()

    assert sorted(both) == sorted([elsewhere, mine])
    assert isinstance(claim, Claimed)
    assert [item.memory_id for item in claim.packet.items] == [mine]


async def test_to_check_nothing_again_costs_nothing(world: World) -> None:
    stage, runtime = await opened(world)

    assert await stage.recheck((), runtime) == ()
