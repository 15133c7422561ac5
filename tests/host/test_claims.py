"""Claims over a whole remora: what becomes of a packet between the pass that built it and the request it enters."""

import asyncio
from pathlib import Path

import pytest

from governance.contracts import AuditKind, EvidenceKind
from governance.errors import AuditUnavailable
from host.claims import Ask
from host.contracts import Claimed, InboxState, Reason, Silence, Surface
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_reply, a_result, a_start
from tests.support.clock import START
from tests.support.world import FAILURE, LESSON, RunningClock, World, a_world

MINUTE = 60_000


async def a_failure(world: World, number: int = 1, **fields: object) -> str:
    """One remembered lesson, and a failing result that needs it. Returns the memory's id."""
    folder = world.workspace()
    memory_id = await world.remember(LESSON)
    await world.feed(
        a_prompt("Good morning, please go on where we stopped.", workspace=folder),
        a_call("make integration-test", call_id=f"c{number}", workspace=folder),
        a_result(FAILURE, call_id=f"c{number}", workspace=folder),
    )
    return memory_id


async def state_of(world: World, claim: Claimed) -> InboxState:
    slot = await world.parts.inbox.find(claim.packet.packet_id)
    assert slot is not None
    return slot.state


@pytest.mark.promise("sent-is-final")
async def test_a_failure_brings_its_lesson_to_the_next_boundary(world: World) -> None:
    memory_id = await a_failure(world)

    claim = await world.claim(Surface.POST_TOOL)

    assert isinstance(claim, Claimed)
    assert [item.memory_id for item in claim.packet.items] == [memory_id]
    assert "pg-fixture" in claim.packet.rendered


@pytest.mark.promise("seen-only-delivered")
async def test_only_a_delivered_packet_leaves_seen(world: World) -> None:
    memory_id = await a_failure(world)
    claim = await world.claim()
    before = await world.parts.evidence.of_memory(memory_id)

    settled = await world.deliver(claim)

    after = await world.parts.evidence.of_memory(memory_id)
    assert settled.settled
    assert before == ()
    assert [row.kind for row in after] == [EvidenceKind.SEEN]


@pytest.mark.promise("no-leak")
async def test_a_request_id_used_again_in_another_context_window_gets_nothing_of_the_first(world: World) -> None:
    await a_failure(world)
    first = await world.claim(request_id="r1")
    await world.deliver(first)

    await world.feed(a_start(workspace=world.workspace("other")))

    assert await world.claim(request_id="r1") == Silence(reason=Reason.CONTEXT_RESET)


@pytest.mark.promise("packet-duplicate-claim")
async def test_the_same_request_gets_the_same_claim(world: World) -> None:
    await a_failure(world)

    first = await world.claim(request_id="r1")
    again = await world.claim(request_id="r1")
    other = await world.claim(request_id="r2")

    assert isinstance(first, Claimed)
    assert again == first
    assert isinstance(other, Silence)


@pytest.mark.promise("packet-expired")
async def test_a_packet_expires_after_ten_minutes(world: World) -> None:
    memory_id = await a_failure(world)
    world.clock.set(world.clock.now() + 10 * MINUTE)

    claim = await world.claim()

    assert claim == Silence(reason=Reason.EXPIRED)
    assert await world.parts.evidence.of_memory(memory_id) == ()
    assert await world.claim() == Silence(reason=Reason.NONE_PENDING)


@pytest.mark.promise("packet-stale-index")
async def test_a_forgotten_record_takes_its_packet_with_it(world: World) -> None:
    memory_id = await a_failure(world)
    runtime = world.parts.sessions.known(SESSION, AGENT)
    assert runtime is not None

    assert await world.parts.library.forget(memory_id, runtime.scope) is True
    purged = await world.parts.claims.purge(memory_id, world.parts.sessions.known)

    assert purged == 1
    assert await world.claim() == Silence(reason=Reason.NONE_PENDING)
    drops = await world.audit(kind=AuditKind.DROP)
    assert [(entry.outcome, entry.reason) for entry in drops] == [("dropped", Reason.FORGOTTEN)]


@pytest.mark.promise("packet-stale-index")
async def test_a_record_edited_by_hand_is_seen_at_the_claim(world: World) -> None:
    await a_failure(world)
    folder = Path(world.parts.roots.private(world.parts.sessions.known(SESSION, AGENT).scope.workspace).path)  # type: ignore[union-attr]
    (file,) = folder.rglob("*.md")
    file.write_text(file.read_text("utf-8").replace("before the", "long before the"), "utf-8")

    claim = await world.claim()

    assert claim == Silence(reason=Reason.STALE_INDEX)


@pytest.mark.promise("packet-digest")
async def test_a_packet_whose_stored_text_was_changed_is_dropped(world: World) -> None:
    await a_failure(world)

    def tamper(connection: object) -> None:
        connection.execute("UPDATE packet SET body = replace(body, 'docker compose', 'docker-compose')")  # type: ignore[attr-defined]

    await world.parts.inbox._database.write(tamper)

    assert await world.claim() == Silence(reason=Reason.DIGEST_MISMATCH)


@pytest.mark.promise("packet-dead-holder")
async def test_the_late_acknowledgement_of_a_dead_holder_settles_nothing(world: World) -> None:
    memory_id = await a_failure(world)
    dead = await world.claim(request_id="r1")
    assert isinstance(dead, Claimed)
    world.clock.set(world.clock.now() + 31_000)
    alive = await world.claim(request_id="r2")
    assert isinstance(alive, Claimed)

    late = await world.deliver(dead)

    assert (late.settled, late.reason) == (False, "stale-claim")
    assert await world.parts.evidence.of_memory(memory_id) == ()
    assert (await world.deliver(alive)).settled


async def test_within_its_lease_a_claim_is_the_holders_alone(world: World) -> None:
    await a_failure(world)
    await world.claim(request_id="r1")
    world.clock.set(world.clock.now() + 29_000)

    assert isinstance(await world.claim(request_id="r2"), Silence)


@pytest.mark.promise("packet-released")
async def test_a_released_claim_can_be_claimed_again(world: World) -> None:
    await a_failure(world)
    first = await world.claim(request_id="r1")

    released = await world.release(first)

    second = await world.claim(request_id="r2")
    assert released.settled
    assert isinstance(first, Claimed)
    assert isinstance(second, Claimed)
    assert second.packet.packet_id == first.packet.packet_id
    assert second.claim_id != first.claim_id


@pytest.mark.promise("packet-carried-over")
async def test_a_reply_and_its_tool_result_do_not_lose_the_packet(world: World) -> None:
    folder = world.workspace()
    memory_id = await a_failure(world)
    before = world.parts.sessions.known(SESSION, AGENT).context_version  # type: ignore[union-attr]
    await world.feed(
        a_reply("I will look at the container.", workspace=folder),
        a_call("ls", call_id="c9", workspace=folder),
        a_result("Makefile", ok=True, call_id="c9", workspace=folder),
    )

    claim = await world.claim()

    assert isinstance(claim, Claimed)
    assert [item.memory_id for item in claim.packet.items] == [memory_id]
    assert claim.packet.context_cursor.context_version == before + 3
    triggers = [entry.trigger for entry in await world.audit(kind=AuditKind.PASS)]
    assert triggers[-1] == "carry-over"


@pytest.mark.promise("packet-carried-over")
async def test_parallel_tool_results_carry_the_packet_over(world: World) -> None:
    folder = world.workspace()
    memory_id = await world.remember(LESSON)
    await world.feed(
        a_call("make integration-test", call_id="c1", workspace=folder),
        a_call("ls", call_id="c2", workspace=folder),
        a_result(FAILURE, call_id="c1", workspace=folder),
        a_result("Makefile", ok=True, call_id="c2", workspace=folder),
    )

    claim = await world.claim()

    assert isinstance(claim, Claimed)
    assert [item.memory_id for item in claim.packet.items] == [memory_id]


@pytest.mark.promise("packet-carried-over")
async def test_two_steps_later_it_is_too_late(world: World) -> None:
    folder = world.workspace()
    await a_failure(world)
    for number in (1, 2):
        await world.feed(
            a_reply(f"Step {number} is something else.", workspace=folder, step=number + 1),
            a_call("ls", call_id=f"d{number}", workspace=folder, step=number + 1),
        )

    assert await world.claim() == Silence(reason=Reason.STALE_CONTEXT)


@pytest.mark.promise("packet-wrong-context")
async def test_a_new_context_window_drops_what_waits(world: World) -> None:
    folder = world.workspace()
    await a_failure(world)
    await world.feed(a_start("clear", workspace=folder))

    claim = await world.claim()

    assert claim == Silence(reason=Reason.NONE_PENDING)
    assert Reason.CONTEXT_RESET in [entry.reason for entry in await world.audit(kind=AuditKind.DROP)]


async def test_a_boundary_takes_one_packet(world: World) -> None:
    folder = world.workspace()
    await a_failure(world)
    await world.deliver(await world.claim())
    await world.remember("The release notes live in docs/changes/next.md, one line a merge request.")
    await world.feed(a_prompt("Where do the release notes live, which docs/changes file?", workspace=folder))

    held_back = await world.claim(Surface.USER_PROMPT)
    await world.feed(a_reply("Reading.", workspace=folder))

    assert held_back == Silence(reason=Reason.BOUNDARY_USED)
    assert isinstance(await world.claim(Surface.PRE_STEP), Claimed)


async def test_a_record_is_not_told_twice_in_one_window_but_again_after_compaction(world: World) -> None:
    folder = world.workspace()
    await a_failure(world)
    await world.deliver(await world.claim())
    await world.feed(
        a_call("make integration-test", call_id="c2", workspace=folder),
        a_result(FAILURE, call_id="c2", workspace=folder),
    )
    again = await world.claim()
    await world.feed(a_start("compact", workspace=folder))
    await world.feed(
        a_call("make integration-test", call_id="c3", workspace=folder),
        a_result(FAILURE, call_id="c3", workspace=folder),
    )

    assert again == Silence(reason=Reason.NONE_PENDING)
    assert isinstance(await world.claim(), Claimed)


async def test_a_text_found_in_the_hosts_transcript_settles_its_packet(world: World) -> None:
    await a_failure(world)
    claim = await world.claim(request_id="r1")
    assert isinstance(claim, Claimed)
    runtime = world.parts.sessions.known(SESSION, AGENT)
    assert runtime is not None

    count = await world.parts.claims.settle_shown(runtime, [f"hook said:\n{claim.packet.rendered}"])

    assert count == 1
    assert await state_of(world, claim) is InboxState.DELIVERED


async def test_a_claim_before_the_pass_is_done_is_late_and_loses_nothing(world: World) -> None:
    folder = world.workspace()
    await world.remember(LESSON)
    runtime = await world.feed(a_prompt("Good morning, please go on where we stopped.", workspace=folder))
    async with runtime.lock:
        await world.parts.host.on_event([a_result(FAILURE, call_id="c1", workspace=folder)])
        late = await world.claim(wait_ms=0)
    await world.settled(runtime)

    assert late == Silence(reason=Reason.LATE)
    assert isinstance(await world.claim(), Claimed)


async def test_a_packet_carried_over_by_the_claim_is_not_older_than_the_claim(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", clock=RunningClock(START)) as world:
        folder = world.workspace()
        await a_failure(world)
        await world.feed(a_reply("I will look at the container.", workspace=folder))

        assert isinstance(await world.claim(), Claimed)


async def test_a_second_claim_while_the_first_is_unsettled_does_not_break(world: World) -> None:
    folder = world.workspace()
    await a_failure(world)
    first = await world.claim(request_id="r1")
    await world.remember(
        "cargo build fails with E0463 can't find crate for core until rustup target add thumbv7em-none-eabihf was run."
    )
    await world.feed(
        a_call("cargo build --target thumbv7em-none-eabihf", call_id="c7", workspace=folder),
        a_result(
            "error[E0463]: can't find crate for `core`: the thumbv7em-none-eabihf target: rustup target add",
            call_id="c7",
            workspace=folder,
        ),
    )

    second = await world.claim(request_id="r2")

    assert isinstance(first, Claimed)
    assert isinstance(second, Claimed)
    assert {item.memory_id for item in first.packet.items}.isdisjoint(i.memory_id for i in second.packet.items)
    assert (await world.deliver(first)).settled
    assert (await world.deliver(second)).settled


@pytest.mark.promise("packet-duplicate-claim")
async def test_the_same_request_twice_at_once_gets_one_claim(world: World) -> None:
    await a_failure(world)

    first, again = await asyncio.gather(world.claim(request_id="r1"), world.claim(request_id="r1"))

    assert isinstance(first, Claimed)
    assert again == first
    assert len(await world.audit(kind=AuditKind.CLAIM)) == 1


@pytest.mark.promise("audit-first")
@pytest.mark.parametrize("request_id", [None, "r1"])
async def test_while_the_audit_cannot_be_written_nothing_is_handed_over_and_afterwards_it_is(
    world: World, request_id: str | None
) -> None:
    await a_failure(world)
    database = world.parts.inbox._database
    for table in ("audit", "claim_answer"):
        full = f"CREATE TRIGGER {table}_full BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        await database.write(lambda connection, statement=full: connection.execute(statement))
    refused = await world.claim(request_id=request_id)
    for table in ("audit", "claim_answer"):
        await database.write(lambda connection, name=table: connection.execute(f"DROP TRIGGER {name}_full"))

    claim = await world.claim(request_id=request_id)

    assert refused == Silence(reason=Reason.AUDIT_UNAVAILABLE)
    assert (await world.deliver(claim)).settled
    assert (await world.parts.audit.verify()).ok


@pytest.mark.promise("acknowledged-is-kept")
async def test_who_waited_for_a_session_that_was_forsaken_is_told_to_ask_again(world: World) -> None:
    await a_failure(world)
    claim = await world.claim()
    assert isinstance(claim, Claimed)
    claims, runtime = world.parts.claims, await world.parts.sessions.find(SESSION, AGENT)
    world.parts.sessions.forsake(runtime)

    late = await claims.claim(runtime, Ask(surface=Surface.POST_TOOL))
    ids = (claim.packet.packet_id, claim.claim_id)
    acts = (claims.delivered(runtime, *ids), claims.release(runtime, *ids), claims.settle_shown(runtime, []))
    refusals = await asyncio.gather(*acts, return_exceptions=True)

    assert late == Silence(reason=Reason.AUDIT_UNAVAILABLE)
    assert [type(refusal) for refusal in refusals] == [AuditUnavailable] * 3
    assert (await world.deliver(claim)).settled  # by the session's runtime as it is found again
