"""Packets kept back to measure: drawn by hash, never what must be given, and out of the window as if given."""

import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.contracts import Action, AuditKind, Verdict
from host.contracts import Claimed, MemoryPacket, Pass, Reason, Rollout, Silence
from host.holdout import HELD_OUT, HoldoutPolicy, may_draw
from host.policy import Policy
from recall.contracts import Risk, Scored
from recall.workspace import workspace_key
from tests.support.builders import a_memory_id, a_packet, a_prompt, a_scored, a_start, an_event, an_item
from tests.support.entries import a_trace, an_entry
from tests.support.holdout import HALF, a_session, drawn, fail
from tests.support.runtimes import a_runtime, take
from tests.support.world import LESSON, World, a_world

SECOND = "cargo build fails with E0463 can't find crate for core until rustup target add thumbv7em-none-eabihf was run."
SECOND_FAILURE = (
    "error[E0463]: can't find crate for `core`\n"
    "the thumbv7em-none-eabihf target may not be installed: rustup target add"
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", HALF) as opened:
        yield opened


async def told(world: World, session: str) -> list[tuple[str, str]]:
    """Outcome and reason of a session's passes on failing results."""
    entries = await world.audit(kind=AuditKind.PASS, session_ref=world.parts.audit.ref(session))
    return [(entry.outcome, entry.reason) for entry in entries if entry.trigger == "result:failed"]


# ---------------------------------------------------------------------------------------------------------- the draw


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25, 0.5])
def test_the_share_holds_over_many_needs(share: float) -> None:
    kept = sum(drawn(f"session-{number % 100}", number // 100, share) for number in range(10_000))

    assert abs(kept / 10_000 - share) < 0.015  # three standard deviations at one half


def test_a_need_is_drawn_the_same_way_every_time_and_another_installation_draws_otherwise() -> None:
    ours = [drawn(f"s{number}") for number in range(64)]

    assert ours == [drawn(f"s{number}") for number in range(64)]
    assert ours != [drawn(f"s{number}", key=b"x" * 32) for number in range(64)]
    assert ours != [drawn(f"s{number}", 2) for number in range(64)]


def test_who_is_kept_back_at_a_small_share_is_kept_back_at_a_larger_one() -> None:
    small, large = ({n for n in range(500) if drawn(f"s{n}", share=share)} for share in (0.1, 0.3))

    assert small and small < large


def test_without_a_share_nothing_is_kept_back() -> None:
    assert not any(drawn(f"s{number}", share=0.0) for number in range(1_000))
    assert Policy().holdout.share == 0


@pytest.mark.parametrize("share", [-0.1, 0.51])
def test_a_share_beyond_a_half_is_no_share(share: float) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"share": share}, HoldoutPolicy)


# ------------------------------------------------------------------------------------------------------- who is drawn


def a_walk(*kept: Scored, signals: dict[str, float] | None = None) -> Pass:
    verdict = Verdict(action=Action.ALLOW, reason="clear", kept=kept)
    return Pass(segment=None, outcome=Silence(reason=Reason.FAULT), verdict=verdict, signals=signals or {})


def packet_of(*numbers: int) -> MemoryPacket:
    return a_packet(items=tuple(an_item(memory_id=a_memory_id(number)) for number in numbers))


ONE, TWO = a_scored(memory_id=a_memory_id(1)), a_scored(memory_id=a_memory_id(2))


@pytest.mark.parametrize(
    ("walk", "given", "may"),
    [
        (a_walk(ONE, TWO), (), True),
        (a_walk(ONE, TWO, signals={"tool-failure": 1.0, "explicit-request": 0.0}), (), True),
        (a_walk(ONE, TWO, signals={"explicit-request": 1.0}), (), False),
        (a_walk(ONE, a_scored(memory_id=a_memory_id(2), pinned=True)), (), False),
        (a_walk(ONE, a_scored(memory_id=a_memory_id(2), risk_level=Risk.HIGH)), (), False),
        (a_walk(ONE, TWO, a_scored(memory_id=a_memory_id(3), pinned=True)), (), True),  # it did not fit in
        (a_walk(ONE, TWO), (3,), True),
        (a_walk(ONE, TWO), (3, 2), False),
        (Pass(segment=None, outcome=Silence(reason=Reason.FAULT)), (), False),
    ],
)
def test_only_what_may_be_missed_is_drawn(walk: Pass, given: Sequence[int], may: bool) -> None:
    assert may_draw(walk, packet_of(1, 2), {a_memory_id(number) for number in given}) is may


# ---------------------------------------------------------------------------------------------------- in a whole remora


async def test_what_is_held_out_is_audited_and_not_offered(world: World) -> None:
    memory_id, session = await world.remember(LESSON), a_session(held_out=True)

    await fail(world, session, "c1")

    (entry,) = await world.audit(outcome=HELD_OUT)
    assert (entry.kind, entry.reason, entry.versions["holdout"]) == (
        AuditKind.PASS,
        Reason.HELD_OUT,
        "holdout_pre_v1@0.5",
    )
    assert entry.packet is not None and entry.packet.items == (memory_id,)
    assert await world.claim(session=session) == Silence(reason=Reason.NONE_PENDING)
    kept = await world.parts.inbox.find(entry.packet.packet_id)
    assert kept is not None and "pg-fixture" in kept.packet.rendered
    assert (await world.parts.audit.verify()).ok


async def test_what_is_given_says_that_it_was_drawn(world: World) -> None:
    await world.remember(LESSON)
    session = a_session(held_out=False)

    await fail(world, session, "c1")

    assert isinstance(await world.claim(session=session), Claimed)
    (entry,) = await world.audit(outcome="packet")
    assert entry.versions["holdout"] == "holdout_pre_v1@0.5"


async def test_a_need_that_comes_again_does_not_get_what_is_held_out(world: World) -> None:
    await world.remember(LESSON)
    session = a_session(held_out=True)

    for number in range(3):
        await fail(world, session, f"c{number}")

    assert await told(world, session) == [
        (HELD_OUT, "held-out"),
        ("silence", "held-out"),
        ("silence", "held-out"),
    ]
    assert await world.claim(session=session) == Silence(reason=Reason.NONE_PENDING)


async def test_a_restart_in_between_gives_nothing_that_was_held_out(tmp_path: Path) -> None:
    session = a_session(held_out=True)
    async with a_world(tmp_path / "data", HALF) as world:
        await world.remember(LESSON)
        await fail(world, session, "c1")

    async with a_world(tmp_path / "data", HALF) as world:
        await fail(world, session, "c2")

        assert await told(world, session) == [(HELD_OUT, "held-out"), ("silence", "held-out")]


async def test_what_says_nearly_the_same_does_not_come_in_place_of_what_is_held_out(world: World) -> None:
    await world.remember(LESSON)
    session = a_session(held_out=True)
    await fail(world, session, "c1")
    await world.remember(LESSON.replace("start it with", "please start it with"))

    await fail(world, session, "c2")

    assert await told(world, session) == [(HELD_OUT, "held-out"), ("silence", "held-out")]


async def test_in_a_new_context_window_the_same_need_is_drawn_the_same_way(world: World) -> None:
    await world.remember(LESSON)
    session = a_session(held_out=True)
    await fail(world, session, "c1")

    await world.feed(a_start("clear", session_id=session, workspace=world.workspace()))
    await fail(world, session, "c2")

    assert await told(world, session) == [(HELD_OUT, "held-out")] * 2


async def test_what_waits_already_is_still_handed_over_when_the_next_packet_is_held_out(world: World) -> None:
    await world.remember(LESSON)
    second = await world.remember(SECOND)
    session = next(
        name for name in map("s{}".format, range(100)) if not drawn(name) and drawn(name, int(second[4:], 16))
    )

    await fail(world, session, "c1")
    await fail(world, session, "c2", SECOND_FAILURE)

    assert await told(world, session) == [("packet", "tool-failure"), (HELD_OUT, "held-out")]
    claim = await world.claim(session=session)
    assert isinstance(claim, Claimed)
    assert [item.memory_id for item in claim.packet.items] == [a_memory_id(1)]


async def test_a_packet_that_holds_what_waits_already_is_not_drawn_again(world: World) -> None:
    await world.remember(LESSON)
    session = a_session(held_out=False)

    await fail(world, session, "c1")
    await fail(world, session, "c2")

    entries = await world.audit(outcome="packet")
    assert ["holdout" in entry.versions for entry in entries] == [True, False]


async def test_a_forgotten_memory_leaves_no_text_in_what_was_held_out(world: World) -> None:
    memory_id, session = await world.remember(LESSON), a_session(held_out=True)
    await fail(world, session, "c1")
    (entry,) = await world.audit(outcome=HELD_OUT)
    assert entry.packet is not None

    await world.parts.inbox.erase(memory_id)

    kept = await world.parts.inbox.find(entry.packet.packet_id)
    assert kept is not None and "pg-fixture" not in str(kept.packet)


@pytest.mark.parametrize(("window", "held_out"), [(0, True), (1, False)])
def test_only_this_windows_packets_are_out_of_it_and_a_restart_knows_them(window: int, held_out: bool) -> None:
    runtime, packet = a_runtime(), msgspec.structs.replace(packet_of(1, 2), window=window)
    entry = an_entry(outcome=HELD_OUT, packet=a_trace(packet_id=packet.packet_id))

    runtime.apply(entry, {packet.packet_id: packet})
    runtime.apply(entry, {})  # its packet is gone

    visible = runtime.visible()
    assert visible.held_out == (frozenset({a_memory_id(1), a_memory_id(2)}) if held_out else frozenset())
    assert (visible.records, bool(visible.texts)) == (frozenset(), held_out)
    take(runtime, a_prompt(), a_start("compact"))
    assert runtime.visible().held_out == frozenset()


@pytest.mark.parametrize(
    ("fields", "prompt"),
    [
        (
            {"pinned": True},
            "make integration-test fails with ECONNREFUSED on port 5433 again, the pg-fixture container",
        ),
        ({}, "What did we decide last time about make integration-test, ECONNREFUSED, port 5433, pg-fixture?"),
    ],
    ids=["pinned", "asked-for"],
)
async def test_what_must_be_given_is_never_held_out(world: World, fields: dict[str, Any], prompt: str) -> None:
    await world.remember(LESSON, **fields)

    for number in range(12):
        await world.feed(a_prompt(prompt, session_id=f"s{number}", workspace=world.workspace()))

    passes = await world.audit(kind=AuditKind.PASS)
    assert sum(drawn(f"s{number}") for number in range(12)) > 2
    assert {(entry.outcome, "holdout" in entry.versions) for entry in passes} == {("packet", False)}


@pytest.mark.parametrize(("rollout", "outcome"), [(Rollout.SHADOW, "would"), (Rollout.ACTIVE, HELD_OUT)])
async def test_the_shadow_comes_before_the_draw(world: World, rollout: Rollout, outcome: str) -> None:
    await world.remember(LESSON)
    await world.parts.rollouts.set(workspace_key(world.workspace()), rollout)

    await fail(world, a_session(held_out=True), "c1")

    assert (await told(world, a_session(held_out=True)))[0][0] == outcome


async def decisions(folder: Path, policy: Policy, sessions: Sequence[str]) -> list[tuple[str, str]]:
    """Of every pass its outcome and the digest of what was decided."""
    async with a_world(folder, policy) as world:
        await world.remember(LESSON)
        await world.remember(SECOND)
        for session in sessions:
            await fail(world, session, "c1")
            await world.feed(an_event("step/end", {}, session_id=session, workspace=world.workspace()))
            await fail(world, session, "c2", SECOND_FAILURE)
        passes = await world.audit(kind=AuditKind.PASS)
        return [(entry.outcome, entry.decision_digest) for entry in passes]


async def test_the_same_events_again_hold_out_the_same(tmp_path: Path) -> None:
    sessions = [f"s{number}" for number in range(6)]

    first = await decisions(tmp_path / "data", HALF, sessions)
    shutil.rmtree(tmp_path / "data")
    again = await decisions(tmp_path / "data", HALF, sessions)

    assert {HELD_OUT, "packet"} <= {outcome for outcome, _ in first}
    assert first == again


async def test_without_a_share_no_pass_knows_of_a_draw(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await world.remember(LESSON)
        await fail(world, a_session(held_out=True), "c1")

        (entry,) = await world.audit(outcome="packet")
        assert "holdout" not in entry.versions
