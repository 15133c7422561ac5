"""The pass from event to audit: what is silent and why, what looks, and that a fault is a silence."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from governance.contracts import AuditEntry, AuditKind
from host.contracts import Claimed, Reason, Rollout, Silence, Surface
from host.scenery import EMPTY, LONG_TEXTS
from recall.contracts import EventEnvelope, EventType, Found, Ranked, Shown, SourceKind
from tests.support.builders import a_call, a_candidate, a_failure, a_prompt, a_reply, a_result, a_start, an_event
from tests.support.world import FAILURE, LESSON, World, a_world

NOTIFICATION = (
    "<task-notification>\n<task-id>b5x</task-id>\n<summary>Nightly build finished</summary>\n</task-notification>"
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data") as opened:
        await opened.remember(LESSON)
        await opened.remember("We decided to use pnpm in this repository, because npm breaks the workspace links.")
        yield opened


async def last_pass(world: World, *envelopes: EventEnvelope) -> AuditEntry:
    await world.feed(*envelopes)
    return (await world.audit(kind=AuditKind.PASS))[-1]


def here(world: World, envelope: EventEnvelope) -> EventEnvelope:
    return EventEnvelope(
        **{name: getattr(envelope, name) for name in envelope.__struct_fields__} | {"workspace": world.workspace()}
    )


@pytest.mark.promise("gate-suppresses")
@pytest.mark.promise("silence-has-a-reason")
@pytest.mark.parametrize(
    ("envelope", "reason"),
    [
        (a_prompt("ok"), Reason.EMPTY_SIGNAL),
        (a_prompt("继续"), Reason.EMPTY_SIGNAL),
        (a_prompt("thanks"), Reason.EMPTY_SIGNAL),
        (a_prompt("👍"), Reason.EMPTY_SIGNAL),
        (a_prompt(""), Reason.NO_SEGMENT),
        (an_event(EventType.USER_MESSAGE, {"text": "", "images": 1}), Reason.EMPTY_SIGNAL),
        (a_prompt(NOTIFICATION, source_kind=SourceKind.LIFECYCLE), Reason.MACHINE_AUTHORED),
        (a_prompt("Look at the integration tests.", agent_id="sub-1", source_kind=SourceKind.AGENT), Reason.SUBAGENT),
        (a_result("Makefile\nREADME.md", ok=True, call_id="c9"), Reason.UNSUPPORTED_TRIGGER),
    ],
)
async def test_what_needs_no_memory_is_silent_without_a_look(
    world: World, envelope: EventEnvelope, reason: Reason
) -> None:
    await world.feed(here(world, a_start()))

    entry = await last_pass(world, here(world, envelope))

    assert (entry.outcome, entry.reason) == ("silence", reason)
    assert entry.arms == ()


@pytest.mark.promise("gate-retrieves")
@pytest.mark.parametrize(
    "envelopes",
    [
        [a_result(FAILURE)],
        [a_result(FAILURE, call_id="c1"), a_result(FAILURE, call_id="c2")],
        [a_prompt("what did we decide about pnpm?")],
        [a_prompt("不对，应该用 pnpm")],
        [a_prompt("Please refactor src/billing/invoice.py so that totals are rounded once.")],
        [a_reply("I will run make integration-test with the pg-fixture container now.")],
    ],
)
async def test_a_need_is_a_pass_that_looks(world: World, envelopes: list[EventEnvelope]) -> None:
    entry = await last_pass(world, *(here(world, envelope) for envelope in envelopes))

    assert [arm.name for arm in entry.arms if arm.name == "lexical"] == ["lexical"]
    assert entry.gate is not None
    assert entry.gate.score >= 800_000


async def test_a_pass_tells_all_it_weighed(world: World) -> None:
    entry = await last_pass(world, here(world, a_call("make integration-test")), here(world, a_result(FAILURE)))

    assert entry.outcome == "packet"
    assert entry.packet is not None
    assert [trace.memory_id for trace in entry.candidates if trace.kept] == list(entry.packet.items)
    assert all(trace.kept or trace.drop_reason for trace in entry.candidates)
    assert set(entry.versions) == {"gate", "lexical", "rank", "confidence", "broker", "index"}


SEAL = "SealBrokenError in `make seal`: delete the stale stamp file build/seal.stamp, then run make seal again."


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("SealBrokenError: seal check failed", "packet"),
        ("seal check failed", "silence"),
        ("RuntimeError: seal check failed", "silence"),
    ],
)
async def test_one_line_that_names_a_records_error_is_enough_for_the_command_that_it_is_about(
    world: World, output: str, outcome: str
) -> None:
    await world.remember(SEAL)
    await world.feed(
        here(world, a_prompt("Please go through the notes of last week, tidy the changelog and bring it out.")),
        here(world, a_reply("The changelog is tidy and the notes agree with it, so the last step is left.")),
        here(world, a_call("make seal")),
    )
    entry = await last_pass(world, here(world, a_result(output)))

    assert entry.outcome == outcome
    if entry.packet is not None:
        assert entry.candidates[0].kept and entry.candidates[0].door == "evidence"


@pytest.mark.promise("silence-has-a-reason")
async def test_a_fault_in_a_stage_is_a_silence_and_the_next_pass_works(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("canary-of-a-fault")

    with monkeypatch.context() as patched:
        patched.setattr("host.scenery.rank", broken)
        failed = await last_pass(world, here(world, a_result(FAILURE, call_id="c1")))
    entry = await last_pass(world, here(world, a_result(FAILURE, call_id="c2")))

    assert (failed.reason, failed.note) == (Reason.FAULT, "RuntimeError")
    assert entry.outcome == "packet"


async def test_a_shadow_workspace_shows_what_would_have_come(world: World) -> None:
    runtime = await world.feed(here(world, a_prompt("Good morning, let us look at the README.")))
    await world.parts.rollouts.set(runtime.scope.workspace, Rollout.SHADOW)

    entry = await last_pass(world, here(world, a_result(FAILURE)))

    assert (entry.outcome, entry.reason) == ("would", Reason.SHADOW)
    assert entry.packet is not None
    assert await world.claim() == Silence(reason=Reason.NONE_PENDING)


async def test_the_outcome_told_and_logged_is_the_one_that_was_concluded(world: World) -> None:
    runtime = await world.feed(here(world, a_prompt("Good morning, let us look at the README.")))
    await world.parts.rollouts.set(runtime.scope.workspace, Rollout.SHADOW)
    segment = a_failure(FAILURE, context_version=runtime.context_version)

    outcome = await world.parts.host.consider(segment, runtime, world.clock.now())

    assert outcome == Silence(reason=Reason.SHADOW)


async def test_a_workspace_that_is_off_makes_no_pass(world: World) -> None:
    runtime = await world.feed(here(world, a_prompt("Good morning, let us look at the README.")))
    before = await world.audit()
    await world.parts.rollouts.set(runtime.scope.workspace, Rollout.OFF)

    await world.feed(here(world, a_result(FAILURE)))

    assert await world.audit() == before


async def test_pinned_records_open_a_session(world: World) -> None:
    memory_id = await world.remember("Answer in British English.", pinned=True)
    await world.feed(here(world, a_start()))

    claim = await world.claim(Surface.SESSION_START)

    assert isinstance(claim, Claimed)
    assert [item.memory_id for item in claim.packet.items] == [memory_id]


async def test_an_overtaken_packet_competes_in_the_next(world: World) -> None:
    second = await world.remember(
        "cargo build fails with E0463 can't find crate for core until rustup target add thumbv7em-none-eabihf was run."
    )
    await world.feed(
        here(world, a_call("make integration-test", call_id="c1")), here(world, a_result(FAILURE, call_id="c1"))
    )
    await world.feed(
        here(world, a_call("cargo build --target thumbv7em-none-eabihf", call_id="c2")),
        here(
            world,
            a_result(
                "error[E0463]: can't find crate for `core`\nthe thumbv7em-none-eabihf target may not be "
                "installed: rustup target add",
                call_id="c2",
            ),
        ),
    )

    claim = await world.claim()

    assert isinstance(claim, Claimed)
    assert second in [item.memory_id for item in claim.packet.items]
    assert len(claim.packet.items) == 2


async def test_ranking_very_long_texts_leaves_everybody_else_his_turn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty records of sixteen thousand characters that say nearly the same took two seconds of everybody's time."""
    heard = threading.Event()
    monkeypatch.setattr("host.scenery.rank", lambda *_: Ranked(ranked=()) if heard.wait(5) else pytest.fail("alone"))
    long = Found(candidates=(a_candidate("x" * (LONG_TEXTS + 1)),), arms=(), statistics=EMPTY, index_version="")

    ranking = asyncio.ensure_future(world.parts.host.stage.ranked(long, Shown(), world.clock.now()))
    await asyncio.sleep(0)
    heard.set()  # were it ranked here, nobody would come to this line

    assert await ranking == Ranked(ranked=())
