"""What surrounds the stages of a pass: the stopwatch, the audience, the frame, and what may still be shown."""

from collections.abc import Sequence

import msgspec
import pytest

from governance.contracts import AuditKind
from host.capability import Capabilities, Evidence, Row, capability
from host.clock import SetClock
from host.contracts import (
    Claimed,
    Decision,
    Intent,
    Pass,
    Reason,
    Silence,
)
from host.props import Props
from host.stage import Stage
from recall.contracts import ActivationLevel, Drop, Ranked, Scope, Scored
from tests.support.builders import (
    AGENT,
    SESSION,
    a_cue,
    a_memory_id,
    a_prompt,
    a_reply,
    a_scored,
)
from tests.support.stages import SECOND, SECOND_FAILURE, fail, found, opened, pending
from tests.support.world import FAILURE, KEY, LESSON, World


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


@pytest.mark.parametrize("able", [False, True])
async def test_subagents_are_left_alone_unless_the_host_can_take_it(world: World, able: bool) -> None:
    socket = msgspec.structs.replace(capability("socket"), subagents=able)
    row = Row(capability=socket, evidence=Evidence.RUN, lands="anywhere")
    world.parts.rollouts.capabilities = Capabilities(rows=[row])
    await opened(world)
    runtime = await world.feed(a_prompt("Look at the tests.", agent_id="sub-1", workspace=world.workspace()))

    window = world.parts.host.stage.window(runtime, world.clock.now(), None)

    assert (runtime.subagent, window.subagent) == (True, not able)


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
