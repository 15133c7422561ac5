"""The runtime context on its way: what a claim finds, what it shares a packet with, who is told, what it counts for."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from governance.contracts import AuditKind
from host.capability import Capabilities, Evidence, Row
from host.contracts import Claimed, Reason, Rollout, Silence
from host.holdout import HoldoutPolicy
from host.mutes import EVERYTHING
from host.policy import Policy
from host.projection import BEGINS, REPLACES
from host.runtime import SESSION_SET
from host.trace import CONTEXT
from recall.contracts import EventType
from tests.support.builders import SESSION, a_call, a_capability, a_prompt, a_reply, a_result, an_event
from tests.support.long_session import BRITISH, SMALL, Between, Session, due, every_third, never
from tests.support.pins import changed, here, set_pin
from tests.support.world import FAILURE, LESSON

TORN = (
    "CREATE TRIGGER torn BEFORE INSERT ON audit WHEN (SELECT count(*) FROM audit) >= {}"
    " BEGIN SELECT RAISE(FAIL, 'killed'); END"
)


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    async with AsyncExitStack() as stack:
        yield await Session(stack, tmp_path / "data").opened()


# --------------------------------------------------------------------------------- on its way


async def test_what_was_not_claimed_waits_and_is_told_once(session: Session) -> None:
    await due(session)
    for _ in range(6):
        await session.works()
    await session.restarts()

    assert len(await session.told(6)) == 1


async def test_what_changed_back_before_the_claim_is_not_told(session: Session) -> None:
    small = await due(session)
    await session.works()

    await set_pin(session.world, small, pinned=False)

    assert await session.takes() is None
    assert await session.told(4) == []


async def test_what_changed_back_without_another_event_is_not_told_either(session: Session) -> None:
    small = await due(session)
    await session.world.feed(a_reply("I go on.", event_id="reply", **session.where))

    await set_pin(session.world, small, pinned=False)

    assert await session.takes() is None
    dropped = (await session.world.audit(kind=AuditKind.DROP))[-1]
    assert (dropped.outcome, dropped.reason) == ("dropped", Reason.STALE_INDEX)


async def test_what_changed_before_the_claim_is_told_as_it_is_now(session: Session) -> None:
    await due(session)
    await session.works()
    await changed(session.world, "mem_" + f"{2:032x}", title="Small commits")

    packet = await session.takes()

    assert packet is not None and "Small commits" in packet.rendered and SMALL not in packet.rendered
    assert await session.told(4) == []


@pytest.mark.parametrize("between", [never, every_third])
async def test_a_claim_that_came_to_nothing_is_made_good(session: Session, between: Between) -> None:
    await due(session)
    await session.works()
    claim = await session.world.claim()
    assert isinstance(claim, Claimed)
    await session.world.release(claim)
    if between is every_third:
        await session.restarts()

    assert len(await session.told(6, between)) == 1


async def test_a_claim_whose_holder_died_is_made_good_when_its_lease_is_over(session: Session) -> None:
    await due(session)
    await session.works()
    assert isinstance(await session.world.claim(), Claimed)
    assert await session.told(2) == []  # on its way, for all that is known

    session.world.clock.set(session.world.clock.now() + 31_000)
    assert len(await session.told(3)) == 1


async def test_a_holder_that_died_with_it_had_it_if_the_transcript_shows_it(session: Session) -> None:
    await due(session)
    await session.works()
    claim = await session.world.claim()
    assert isinstance(claim, Claimed)
    await session.restarts()
    assert await session.world.parts.claims.settle_shown(await session.runtime(), [claim.packet.rendered]) == 1

    assert await session.told(4) == []


async def test_the_silence_and_the_change_are_written_together_or_not_at_all(session: Session) -> None:
    """An event of which only the silence was written would count as heard, and the change would be lost."""
    await due(session)
    database, before = session.world.parts.main, await session.world.audit()
    await database.write(lambda connection: connection.execute(TORN.format(len(before) + 1)))
    session.world.clock.set(session.world.clock.now() + 1000)
    await session.world.parts.host.on_event([a_prompt("Good.", event_id="torn", **session.where)])
    await session.world.parts.tasks.settled()
    session.world.parts.tasks.failed.clear()
    assert await session.world.audit() == before
    await database.write(lambda connection: connection.execute("DROP TRIGGER torn"))
    await session.restarts()

    assert len(await session.told(3)) == 1


async def test_a_need_and_a_change_share_one_packet(session: Session) -> None:
    lesson = await session.world.remember(LESSON)
    small = await due(session)
    where = {"call_id": "c1", **session.where}
    await session.world.feed(a_call("make integration-test", **where), a_result(FAILURE, **where))

    packet = await session.takes()

    assert packet is not None and [item.memory_id for item in packet.items] == [lesson]
    assert REPLACES in packet.rendered and small in packet.rendered
    assert len(packet.rendered.encode()) <= packet.budget_bytes
    assert await session.told(4) == []


async def test_a_need_stays_when_the_change_beside_it_is_over(session: Session) -> None:
    lesson = await session.world.remember(LESSON)
    small = await due(session)
    where = {"call_id": "c1", **session.where}
    await session.world.feed(a_call("make integration-test", **where), a_result(FAILURE, **where))
    await set_pin(session.world, small, pinned=False)  # and no event since

    packet = await session.takes()

    assert packet is not None and [item.memory_id for item in packet.items] == [lesson]
    assert packet.context is None and REPLACES not in packet.rendered
    assert await session.told(4) == []


async def test_the_same_request_again_is_not_given_a_title_that_was_muted_since(session: Session) -> None:
    small = await due(session)
    await session.works()
    assert isinstance(await session.world.claim(request_id="r1"), Claimed)

    await session.world.parts.marks.mute(small, session.world.clock.now())

    assert await session.world.claim(request_id="r1") == Silence(reason=Reason.MUTED)


async def test_a_need_that_overtakes_it_takes_it_along(session: Session) -> None:
    lesson = await session.world.remember(LESSON)
    await due(session)
    await session.works()
    where = {"call_id": "c1", **session.where}
    await session.world.feed(a_call("make integration-test", **where), a_result(FAILURE, **where))

    packet = await session.takes()

    assert packet is not None and [item.memory_id for item in packet.items] == [lesson] and REPLACES in packet.rendered


async def test_a_change_does_not_push_out_what_waits(session: Session) -> None:
    lesson = await session.world.remember(LESSON)
    small = await session.world.remember(SMALL)
    await session.begins()
    where = {"call_id": "c1", **session.where}
    await session.world.feed(a_call("make integration-test", **where), a_result(FAILURE, **where))
    await set_pin(session.world, small, pinned=True)
    await session.works()

    packet = await session.takes()

    assert packet is not None and [item.memory_id for item in packet.items] == [lesson]
    assert BEGINS in packet.rendered and packet.trigger_reason in ("tool-failure", "unresolved-need", "first-prompt")


@pytest.mark.promise("stale-is-dropped")
@pytest.mark.parametrize("reason", [Reason.FORGOTTEN, Reason.CORRECTED])
async def test_what_a_person_takes_out_of_it_is_not_handed_over(session: Session, reason: Reason) -> None:
    small = await due(session)
    await session.works()
    parts = session.world.parts
    if reason is Reason.FORGOTTEN:
        assert await parts.library.forget(small, here(session.world)) is True
    else:
        await parts.marks.correct(small, session.world.clock.now())
    assert await parts.claims.purge(small, parts.sessions.known, reason) == 1

    claim = await session.world.claim()

    assert claim == Silence(reason=Reason.NONE_PENDING)
    assert await session.told(4) == []  # what the window shows is what holds


@pytest.mark.promise("forgotten-everywhere")
async def test_a_forgotten_title_is_erased_from_what_was_handed_over(session: Session) -> None:
    small = await due(session)
    packet = await session.step()
    assert packet is not None and SMALL in packet.rendered

    await session.world.parts.inbox.erase(small)

    slot = await session.world.parts.inbox.find(packet.packet_id)
    assert slot is not None and slot.packet.rendered == "" and slot.packet.context is not None
    assert slot.packet.context.text == ""


async def test_a_user_who_mutes_a_record_takes_it_out_of_view(session: Session) -> None:
    small = await due(session)
    assert len(await session.told(2)) == 1

    await session.world.parts.marks.mute(small, session.world.clock.now(), session.world.clock.now() + 60_000)
    (message,) = await session.told(4)
    assert REPLACES in message and SMALL not in message

    session.world.clock.set(session.world.clock.now() + 120_000)
    (again,) = await session.told(4)
    assert SMALL in again


# --------------------------------------------------------------------------------- who is told, and what it counts for


@pytest.mark.parametrize("wish", ["incognito", "muted"])
async def test_a_session_that_wants_nothing_is_told_nothing(session: Session, wish: str) -> None:
    await due(session)
    await session.world.feed(an_event(SESSION_SET, {wish: True}, **session.where))
    assert await session.told(3) == []

    await session.world.feed(an_event(SESSION_SET, {wish: False}, **session.where))
    assert len(await session.told(3)) == 1


async def test_a_workspace_that_is_muted_is_told_nothing(session: Session) -> None:
    await due(session)
    runtime, parts = await session.runtime(), session.world.parts
    now, key = session.world.clock.now(), runtime.scope.workspace
    await parts.marks.workspaces.mute(key, EVERYTHING, now, None)
    assert await session.told(3) == []
    await parts.marks.workspaces.unmute(key, EVERYTHING, now)
    assert len(await session.told(3)) == 1


async def test_a_subagent_is_told_nothing(session: Session) -> None:
    await session.begins()
    await session.world.remember(BRITISH, pinned=True)
    where = {"agent_id": "helper", **session.where}

    await session.world.feed(a_prompt("Look into it.", **where))

    assert await session.world.claim(agent="helper") == Silence(reason=Reason.NONE_PENDING)


async def test_where_remora_only_watches_it_is_written_down_once(session: Session) -> None:
    await due(session)
    runtime, parts = await session.runtime(), session.world.parts
    await parts.rollouts.set(runtime.scope.workspace, Rollout.SHADOW, session.world.clock.now())

    assert await session.told(4, every_third) == []
    assert await session.passes() == [("would", "shadow")]

    await session.world.parts.rollouts.set(runtime.scope.workspace, Rollout.ACTIVE, session.world.clock.now())
    assert len(await session.told(3)) == 1


async def test_where_remora_is_off_nothing_is_looked_at(session: Session) -> None:
    await due(session)
    runtime, parts = await session.runtime(), session.world.parts
    await parts.rollouts.set(runtime.scope.workspace, Rollout.OFF, session.world.clock.now())

    assert await session.told(3) == []
    assert await session.passes() == []


async def test_a_product_that_nobody_knows_is_told_nothing(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        session = await Session(stack, tmp_path / "data", host="somebody-else").opened()
        await session.world.remember(BRITISH, pinned=True)
        assert await session.begins() is None
        assert await session.told(3) == []


async def test_a_product_that_cannot_show_it_is_given_packets_without_it(session: Session) -> None:
    plain = a_capability(host="socket", maintained=False)
    row = Row(capability=plain, evidence=Evidence.RUN, lands="anywhere")
    session.world.parts.rollouts.capabilities = Capabilities(rows=[row])
    await due(session)
    assert await session.told(3) == []

    await session.world.remember(LESSON)
    where = {"call_id": "c1", **session.where}
    await session.world.feed(a_call("make integration-test", **where), a_result(FAILURE, **where))
    packet = await session.takes()
    assert packet is not None and packet.items and packet.context is None


@pytest.mark.promise("context-maintained")
async def test_a_version_that_nobody_has_run_is_only_watched_and_says_so(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        session = await Session(stack, tmp_path / "data", host="claude-code").opened()
        await session.world.remember(BRITISH, pinned=True)
        client = {"version": "99.0.0", "model": "claude-opus-5-5"}
        await session.world.feed(
            an_event(EventType.SESSION_CLIENT, client, event_id="client:99", **session.where), host="claude-code"
        )
        assert await session.begins() is None
        assert await session.told(3, every_third) == []
        entries = await session.world.audit(kind=AuditKind.PASS, outcome="would")
        assert [(one.reason, one.versions["host"]) for one in entries] == [
            (Reason.UNKNOWN_VERSION, "claude-code/99.0.0")
        ]


async def test_it_meets_no_need(session: Session) -> None:
    await due(session)
    before = (await session.runtime()).last_delivery_step
    evidence = await session.world.parts.evidence.of_session(session.world.parts.audit.ref(SESSION))

    packet = await session.step()

    assert packet is not None and packet.items == ()
    runtime = await session.runtime()
    assert runtime.last_delivery_step == before
    assert await session.world.parts.evidence.of_session(session.world.parts.audit.ref(SESSION)) == evidence
    assert await session.passes() == [("packet", CONTEXT)]
    metrics = await session.world.parts.tally.whole()
    assert metrics.context == {"offered": 2, "replaced": 1, "claimed": 1, "delivered": 1}  # carried over once
    assert metrics.packets == {"built": 1, "claimed": 1, "delivered": 1}  # the one that began the window


async def test_it_is_not_held_out(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        policy = Policy(holdout=HoldoutPolicy(share=0.5))
        session = await Session(stack, tmp_path / "data", policy=policy).opened()
        for number in range(4):
            small = await session.world.remember(f"Rule {number}: {SMALL}")
            await session.begins()
            await set_pin(session.world, small, pinned=True)
            assert len(await session.told(2)) == 1


async def test_other_sessions_see_their_own_workspace(session: Session) -> None:
    await session.world.remember(BRITISH, pinned=True, workspace=session.world.workspace("elsewhere"))
    assert await session.begins() is None
    assert await session.told(3) == []
