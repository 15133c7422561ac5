"""Levels and hesitation through real parts: what is advised is checked, shown, audited, raised once, and kept over a
restart; what the agent says reaches it with the result of the same step."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.contracts import ActivationTrace, AuditEntry, AuditKind
from host.clock import SetClock
from host.contracts import Claimed, MemoryPacket, PacketItem, Reason, Silence, Surface
from recall.activation import ActivationPolicy, Occasion, advise
from recall.contracts import ActivationLevel, ActivationRequest, EventType, MemoryKind, Origin, Scored
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_reply, a_result, an_event
from tests.support.claude_code import ClaudeCode
from tests.support.clock import START
from tests.support.world import FAILURE, LESSON, World, a_world

LONG = (
    "When `make integration-test` fails with ECONNREFUSED on port 5433, the pg-fixture container is not running. "
    "Nobody starts it on a fresh checkout, and the error of psycopg names only the port. "
    "Other targets of the Makefile start their containers themselves, this one expects it to be there already. "
    "Start it with docker compose up -d pg-fixture before the integration-test target, and wait for its health check."
)
RELEASE = (
    "To publish remora-core with the release script:\n"
    "1. run scripts/check_wheel.py on the built wheel\n"
    "2. tag the commit with the version of pyproject.toml\n"
    "3. git push origin --tags, never the branch alone\n"
    "4. watch the publish-wheel workflow until it is green"
)
RELEASE_FAILURE = (
    "scripts/check_wheel.py: version of pyproject.toml differs from the tag\n"
    "the publish-wheel workflow of remora-core refuses the wheel: push --tags first"
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data") as opened:
        yield opened


async def fails(world: World, call_id: str, failure: str = FAILURE, call: str = "make integration-test") -> None:
    where = {"call_id": call_id, "workspace": world.workspace()}
    await world.feed(a_call(call, **where), a_result(failure, **where))


async def handed(world: World, surface: Surface = Surface.POST_TOOL) -> MemoryPacket:
    claim = await world.claim(surface)
    assert isinstance(claim, Claimed), claim
    await world.deliver(claim)
    return claim.packet


async def item(world: World, surface: Surface = Surface.POST_TOOL) -> PacketItem:
    (only,) = (await handed(world, surface)).items
    return only


async def last(world: World, trigger: str = "result:failed") -> AuditEntry:
    return [one for one in await world.audit(kind=AuditKind.PASS) if one.trigger == trigger][-1]


def activation(entry: AuditEntry) -> ActivationTrace:
    assert entry.activation is not None
    return entry.activation


def middling(world: World, share: float = 1.2) -> None:
    """Evidence that clears the bar by this much, whatever it is: how sure the gate is, is not this test's matter."""

    def adviser(scored: Scored, occasion: Occasion, policy: ActivationPolicy) -> ActivationRequest | None:
        return advise(msgspec.structs.replace(scored, score=share * scored.bar), occasion, policy)

    world.parts.host.stage.adviser = adviser


# ------------------------------------------------------------------------------------------------ levels


async def test_a_validated_procedure_is_shown_as_its_checklist(world: World) -> None:
    middling(world, 2.0)
    await world.remember(RELEASE, kind=MemoryKind.PROCEDURAL, origin=Origin.REVIEWED)
    await fails(world, "c1", RELEASE_FAILURE, "scripts/check_wheel.py dist/remora_core.whl")

    shown = await item(world)

    assert shown.level is ActivationLevel.CHECKLIST
    assert "\n1. run scripts/check_wheel.py" in shown.text
    trace = activation(await last(world))
    assert (trace.level, trace.taken) == (ActivationLevel.CHECKLIST, ActivationLevel.CHECKLIST)
    assert (trace.memory_id, trace.refused, trace.similarity > 0) == (shown.memory_id, None, True)


async def test_middling_evidence_is_a_hint_and_an_extracted_record_never_more(world: World) -> None:
    middling(world)
    await world.remember(LONG)
    await fails(world, "c1")
    assert (await item(world)).level is ActivationLevel.HINT

    middling(world, 9.0)
    await world.remember(RELEASE, kind=MemoryKind.PROCEDURAL, origin=Origin.EXTRACTED)
    await fails(world, "c2", RELEASE_FAILURE, "scripts/check_wheel.py dist/remora_core.whl")
    assert (await item(world)).level is ActivationLevel.HINT


async def test_who_asks_for_what_is_known_gets_the_whole_record(world: World) -> None:
    await world.remember(LONG)
    question = "What did we find out about make integration-test failing with ECONNREFUSED on port 5433, pg-fixture?"
    await world.feed(a_prompt(question, workspace=world.workspace()))

    shown = await item(world, Surface.USER_PROMPT)

    assert (shown.level, shown.text, shown.cut) == (ActivationLevel.FULL, LONG, False)


async def test_what_does_not_fit_is_a_resource_whose_reference_the_packet_lists(world: World) -> None:
    long = LONG + "\n" + "It took us long to find that out, as the log of the container is elsewhere. " * 60
    memory_id = await world.remember(long)
    question = "What did we find out about make integration-test failing with ECONNREFUSED on port 5433, pg-fixture?"
    await world.feed(a_prompt(question, workspace=world.workspace()))

    packet = await handed(world, Surface.USER_PROMPT)

    assert packet.items[0].level is ActivationLevel.RESOURCE
    assert packet.resource_refs == (f"memory:{memory_id}",)
    assert f"whole: memory:{memory_id} v1 {packet.items[0].record_digest[:16]}" in packet.rendered


async def test_a_resource_that_changed_is_not_handed_over(world: World) -> None:
    middling(world, 2.0)
    long = LONG + " It took us long to find that out, as the log of the container is elsewhere." * 3
    memory_id = await world.remember(long)
    for number in range(1, 4):
        await fails(world, f"c{number}")
    slot, _ = await world.parts.inbox.slot(SESSION, AGENT)
    assert slot is not None and slot.packet.items[0].level is ActivationLevel.RESOURCE
    runtime = await world.parts.sessions.find(SESSION, AGENT)
    await world.parts.library.forget(memory_id, runtime.scope)
    await world.remember(LESSON, memory_id=memory_id)

    claim = await world.claim()

    assert claim == Silence(reason=Reason.STALE_INDEX)


# ------------------------------------------------------------------------------------------------ advice that fails


def advises(**changes: Any) -> Any:
    def adviser(scored: Scored, occasion: Occasion, policy: ActivationPolicy) -> ActivationRequest | None:
        request = advise(scored, occasion, policy)
        return None if request is None else msgspec.structs.replace(request, **changes)

    return adviser


def broken(*_: object) -> Any:
    raise RuntimeError("the engine is gone")


@pytest.mark.parametrize(
    ("adviser", "refused"),
    [
        (broken, "fault"),
        (advises(procedure_id="mem_other"), "wrong-record"),
        (advises(context_version=1), "stale-context"),
        (advises(memory_index_version="idx_pre_old"), "stale-index"),
        (advises(level=ActivationLevel.FULL), "not-asked-for"),
        (advises(similarity=7.0), "out-of-range"),
        (lambda *_: None, None),
    ],
)
async def test_advice_that_does_not_hold_is_none_and_the_pass_goes_on(
    world: World, adviser: Any, refused: str | None
) -> None:
    world.parts.host.stage.adviser = adviser
    await world.remember(LESSON)
    await world.feed(a_prompt("Good morning, let us go on.", workspace=world.workspace()))

    await fails(world, "c1")

    shown, trace = await item(world), activation(await last(world))
    assert (trace.refused, trace.level, trace.taken) == (refused, None, shown.level)
    assert shown.level in (ActivationLevel.HINT, ActivationLevel.EXCERPT)


class RushingClock(SetClock):
    """Each reading of `micros` is a tenth of a second later than the one before."""

    readings = 0

    def micros(self) -> int:
        self.readings += 1
        return self.readings * 100_000


async def test_an_adviser_that_holds_everybody_up_is_not_asked_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def slow(scored: Scored, occasion: Occasion, policy: ActivationPolicy) -> ActivationRequest | None:
        asked.append(scored.candidate.memory_id)
        return advise(scored, occasion, policy)

    async with a_world(tmp_path / "slow", clock=RushingClock(START)) as world:
        world.parts.host.stage.adviser = slow
        await world.remember(LESSON)
        for session in ("s1", "s2"):
            where = {"session_id": session, "workspace": world.workspace()}
            await world.feed(a_call("make integration-test", **where), a_result(FAILURE, **where))

        first, second = [activation(entry) for entry in await world.audit(outcome="packet")]

    assert len(asked) == 1
    assert (first.refused, first.level) == ("late", None) and first.taken is not None
    assert (second.refused, second.level) == (None, second.taken)


async def test_a_checklist_advised_for_what_is_no_procedure_is_refused_by_the_ladder(world: World) -> None:
    world.parts.host.stage.adviser = advises(level=ActivationLevel.CHECKLIST)
    await world.remember(LESSON)

    await fails(world, "c1")

    assert (await item(world)).level in (ActivationLevel.HINT, ActivationLevel.EXCERPT)
    assert activation(await last(world)).refused == "inactive-procedure"


# ------------------------------------------------------------------------------------------------ raised once


async def test_a_cut_hint_is_shown_once_more_when_the_failure_comes_again_with_hesitation(world: World) -> None:
    middling(world)
    await world.remember(LONG)
    await fails(world, "c1")
    hint = await item(world)

    await fails(world, "c2")
    await fails(world, "c3")
    more = await item(world)
    after = []
    for number in range(4, 8):
        await fails(world, f"c{number}")
        after.append(await world.claim())

    assert (hint.level, hint.cut, hint.raised) == (ActivationLevel.HINT, True, False)
    assert (more.level, more.raised, more.text) == (ActivationLevel.EXCERPT, True, LONG)
    assert after == [Silence(reason=Reason.NONE_PENDING)] * 4
    assert (await last(world)).reason == Reason.ALREADY_VISIBLE


async def test_what_was_shown_whole_is_not_shown_again_however_much_the_agent_hesitates(world: World) -> None:
    middling(world)
    await world.remember(LESSON)  # fits a hint
    await fails(world, "c1")
    assert not (await item(world)).cut

    for number in range(2, 8):
        await fails(world, f"c{number}")
        assert await world.claim() == Silence(reason=Reason.NONE_PENDING)


async def test_without_advice_nothing_is_shown_again(world: World) -> None:
    middling(world)
    await world.remember(LONG)
    await fails(world, "c1")
    await item(world)
    world.parts.host.stage.adviser = broken

    for number in range(2, 6):
        await fails(world, f"c{number}")
        assert await world.claim() == Silence(reason=Reason.NONE_PENDING)
    assert activation(await last(world)).refused == "fault"


async def test_after_a_compaction_it_is_given_again_once(world: World) -> None:
    middling(world)
    memory_id = await world.remember(LONG)
    for number in range(1, 6):
        await fails(world, f"c{number}")
        claim = await world.claim()
        if isinstance(claim, Claimed):
            await world.deliver(claim)
    await world.feed(an_event(EventType.SESSION_COMPACT, {"text": "so far"}, workspace=world.workspace()))

    packets = [await handed(world, Surface.SESSION_START)]
    for number in range(6, 12):
        await fails(world, f"c{number}")
        claim = await world.claim()
        packets += [claim.packet] if isinstance(claim, Claimed) else []

    assert [[one.memory_id for one in packet.items] for packet in packets] == [[memory_id]]
    assert not packets[0].brief  # a new window is told in full again how to read it


async def test_a_restart_does_not_forget_that_a_record_was_raised(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        middling(world)
        await world.remember(LONG)
        await fails(world, "c1")
        await item(world)
    async with a_world(tmp_path / "data") as world:
        middling(world)
        await fails(world, "c2")
        await fails(world, "c3")
        assert (await item(world)).raised
    async with a_world(tmp_path / "data") as world:
        middling(world)
        for number in range(4, 8):
            await fails(world, f"c{number}")
            assert await world.claim() == Silence(reason=Reason.NONE_PENDING)


async def test_a_packet_that_waits_shows_more_at_the_next_claim_when_hesitation_rose(world: World) -> None:
    middling(world)
    await world.remember(LONG)
    await fails(world, "c1")
    where = {"workspace": world.workspace()}
    await world.feed(a_call("cat Makefile", call_id="c2", **where), a_call("cat Makefile", call_id="c3", **where))

    packet = await handed(world)

    assert packet.carried == 1
    assert (packet.items[0].level, packet.items[0].raised) == (ActivationLevel.EXCERPT, True)
    trace = activation(await last(world, "carry-over"))
    assert (trace.level, trace.taken, trace.hesitation) == (ActivationLevel.EXCERPT, ActivationLevel.EXCERPT, 333_333)


async def test_a_record_that_waits_is_raised_when_a_newer_pass_finds_it_again(world: World) -> None:
    middling(world)
    await world.remember(LONG)
    await fails(world, "c1")
    await world.feed(a_call("make integration-test", call_id="c2", workspace=world.workspace()))  # the same again

    packet = await handed(world)

    assert (packet.carried, packet.trigger_reason) == (0, "repeated-failure")
    assert (packet.items[0].level, packet.items[0].raised) == (ActivationLevel.EXCERPT, True)
    assert activation(await last(world, "call")).taken is ActivationLevel.EXCERPT


async def test_a_packet_that_waits_is_carried_as_it_is_while_the_agent_does_not_hesitate(world: World) -> None:
    middling(world)
    await world.remember(LONG)
    await fails(world, "c1")
    await world.feed(a_call("cat Makefile", call_id="c2", workspace=world.workspace()))

    packet = await handed(world)

    assert (packet.items[0].level, packet.items[0].raised) == (ActivationLevel.HINT, False)
    assert (await last(world, "carry-over")).activation is None


# ------------------------------------------------------------------------------------------------ what it says now


async def test_what_the_agent_says_it_will_do_reaches_it_with_the_result_of_the_same_step(world: World) -> None:
    memory_id = await world.remember(LONG)
    where = {"workspace": world.workspace()}
    await world.feed(a_prompt("Good morning, let us go on with the work.", **where))
    log = "ci.log: connection to 127.0.0.1, port 5433 failed: ECONNREFUSED"
    await world.feed(a_call("tail -1 ci.log", call_id="c0", **where), a_result(log, ok=True, call_id="c0", **where))
    said = "Now I'll run make integration-test myself, against the pg-fixture."
    runtime = await world.feed(a_reply(said, **where))
    await world.feed(a_call("ls", call_id="c1", **where))
    step = runtime.step
    await world.feed(a_result("Makefile", ok=True, call_id="c1", **where))

    packet = await handed(world)

    assert [one.memory_id for one in packet.items] == [memory_id]
    assert (packet.step, runtime.step, packet.carried) == (step, step, 1)
    assert (packet.trigger_reason, (await last(world, "reply")).reason) == ("intention", "intention")


async def test_in_claude_code_what_is_found_before_a_risky_call_comes_with_its_result(world: World) -> None:
    await world.remember(
        f"{RELEASE}\n5. tell the mirror in Frankfurt, whose cache of the simple index is stale for an hour"
    )
    claude = ClaudeCode(world)
    await claude.hook("SessionStart", source="startup")
    await claude.hook("UserPromptSubmit", prompt="Good morning, please go on where we stopped.")
    command = "git push origin --tags && scripts/check_wheel.py dist"
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": command}}

    before = await claude.given("PreToolUse", **call)
    after = await claude.given("PostToolUse", tool_response="ok", **call)
    batch = await claude.given("PostToolBatch")

    assert before == ""  # a call carries no text of ours
    assert "check_wheel.py on the built wheel" in after + batch
    assert (await last(world, "call")).reason == "intention"
