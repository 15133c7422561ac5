"""The delivery scenarios of the adversarial fixtures, over a whole remora with a clock that is set: times are seconds
from the making of the packet, and `ctx` is the session's context version, which every event moves on."""

import asyncio
import json
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.contracts import AuditKind
from governance.errors import AuditUnavailable
from host.broker import BrokerPolicy
from host.contracts import LONGEST_LIFE, Claimed, InboxState, MemoryPacket, Reason, Silence
from host.errors import ProtocolFault, StoreFault
from host.policy import Policy
from tests.support.asking import Asking
from tests.support.builders import AGENT, SESSION, a_call, a_reply, a_result
from tests.support.clock import START
from tests.support.delivering import (
    at,
    called,
    corrected,
    forgotten,
    needed,
    policy_of,
    reason_of,
    revoked,
    rewrite,
    same,
    state_of,
    waiting,
)
from tests.support.world import FAILURE, LESSON, World, a_world

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "adversarial" / "delivery_scenarios.jsonl"
CASES: dict[str, Any] = {one["kind"]: one for one in map(json.loads, DATA.read_text("ascii").splitlines())}
BY_TIME = ("fresh", "expired", "exact-boundary", "clock-back-1h", "clock-forward-1d", "restart-between")
BY_TIME = (*BY_TIME, "restart-after-expiry")
AT_WRITE = ("expire-before-created", "no-expiry", "far-expiry")

promise = pytest.mark.promise("adversarial-scenarios")


def given(kind: str, expect: str) -> dict[str, Any]:
    """What a scenario says, and that it ends as the test says."""
    assert CASES[kind]["expect"] == expect
    found: dict[str, Any] = CASES[kind]["given"]
    return found


def test_every_scenario_is_bound() -> None:
    source = Path(__file__).read_text("utf-8")
    assert len(CASES) == 26
    assert [kind for kind in CASES if f'"{kind}"' not in source] == []


# ---------------------------------------------------------------------------------------------------- by the clock


@promise
@pytest.mark.parametrize("kind", BY_TIME)
async def test_a_packet_is_given_within_its_time_and_no_later(tmp_path: Path, kind: str) -> None:
    case = CASES[kind]
    said, expect = case["given"], case["expect"]
    async with waiting(tmp_path, policy_of(said)) as (world, packet):
        assert (packet.created_at, packet.expiry) == (START, at(said["expires"]))
        if "restart_at" not in said:
            world.clock.set(at(said["claim_at"]))
            await judge(world, packet, expect)
    if "restart_at" in said:
        async with a_world(tmp_path, policy_of(said), start=at(said["restart_at"])) as world:
            world.clock.set(at(said["claim_at"]))
            await judge(world, packet, expect)


async def judge(world: World, packet: MemoryPacket, expect: str) -> None:
    claim = await world.claim()
    if expect == "delivered":
        assert same(claim, packet) and (await world.deliver(claim)).settled
        assert await state_of(world, packet) is InboxState.DELIVERED
    else:
        assert expect in ("dropped_expired", "not_delivered")
        assert claim == Silence(reason=Reason.EXPIRED)
        assert await state_of(world, packet) is InboxState.EXPIRED


@promise
@pytest.mark.parametrize("kind", AT_WRITE)
async def test_a_packet_whose_time_never_ends_is_not_kept(tmp_path: Path, kind: str) -> None:
    case = CASES[kind]
    said, expect = case["given"], case["expect"]
    assert expect in ("rejected_at_write", "clamped_or_rejected")
    async with waiting(tmp_path) as (world, packet):
        expiry = None if said["expires"] is None else at(said["expires"])
        wrong = msgspec.structs.replace(
            packet, packet_id="pkt_" + "e" * 32, created_at=at(said["created"]), expiry=expiry
        )

        with pytest.raises(StoreFault):
            await world.parts.inbox.offer(wrong, [])

        assert await world.parts.inbox.find(wrong.packet_id) is None
        assert packet.expiry - packet.created_at <= LONGEST_LIFE


# ---------------------------------------------------------------------------------------------------- by the context


@promise
async def test_a_packet_of_an_earlier_context_is_never_given(tmp_path: Path) -> None:
    """Right after the next reply it is built anew at the version that holds then; later on it is dropped."""
    given("ctx-newer", "dropped_version")
    async with waiting(tmp_path) as (world, packet):
        await world.feed(a_reply("I will look at the container.", workspace=world.workspace()))

        claim = await world.claim()

        runtime = await world.parts.sessions.find(SESSION, AGENT)
        assert isinstance(claim, Claimed) and not same(claim, packet)
        assert claim.packet.context_cursor.context_version == runtime.context_version
        assert await state_of(world, packet) is InboxState.REPLACED

    async with waiting(tmp_path / "later") as (world, packet):
        known = {"workspace": world.workspace()}
        for step in (2, 3):
            await world.feed(
                a_reply(f"Step {step} is something else.", step=step, **known),
                a_call("ls", call_id=f"d{step}", step=step, **known),
            )
        assert await reason_of(world) is Reason.STALE_CONTEXT
        assert await state_of(world, packet) is InboxState.DROPPED


@promise
async def test_a_packet_of_a_context_that_has_not_come_is_never_given(tmp_path: Path) -> None:
    said = given("ctx-older", "dropped_version")
    async with waiting(tmp_path) as (world, packet):
        ahead = packet.context_cursor.context_version + said["packet_ctx"] - said["claim_ctx"]
        cursor = msgspec.structs.replace(packet.context_cursor, context_version=ahead)
        await rewrite(world, msgspec.structs.replace(packet, context_cursor=cursor))

        assert await reason_of(world) is Reason.STALE_CONTEXT
        assert await state_of(world, packet) is InboxState.DROPPED


@promise
async def test_a_session_that_nobody_knows_gets_no_packet_of_another(tmp_path: Path) -> None:
    """Our claims name a session, and its context is what the log says: a claim without one is of a session unheard."""
    said = given("ctx-missing", "not_delivered")
    assert said["claim_ctx"] is None
    async with waiting(tmp_path) as (world, packet):
        with pytest.raises(ProtocolFault, match="No event of this session"):
            await world.claim(session="session-unheard")
        assert await state_of(world, packet) is InboxState.PENDING


# ---------------------------------------------------------------------------------------------------- once


@promise
async def test_the_same_request_gets_the_same_packet_and_another_nothing(tmp_path: Path) -> None:
    first, other = CASES["claim-retry-same-request-id"], CASES["claim-retry-new-request-id"]
    assert (first["expect"], other["expect"]) == ("same_packet_same_delivery_id", "nothing_second_time")
    async with waiting(tmp_path) as (world, packet):
        world.clock.set(at(first["given"]["claim_at"]))
        claim = await world.claim(request_id="r1")
        world.clock.set(at(first["given"]["retry_at"]))

        assert same(claim, packet) and await world.claim(request_id="r1") == claim
        assert isinstance(await world.claim(request_id="r2"), Silence)
        await world.deliver(claim)
        assert isinstance(await world.claim(request_id="r3"), Silence)


@promise
async def test_a_claim_whose_reply_was_lost_is_claimed_and_then_given_again(tmp_path: Path) -> None:
    """Policy: the holder has its lease; whoever asks after that gets it, and one that is not acknowledged is no
    delivery."""
    given("claim-reply-lost", "claimed_not_acknowledged_then_policy")
    async with waiting(tmp_path) as (world, packet):
        await world.claim(request_id="r1")
        assert await state_of(world, packet) is InboxState.CLAIMED

        world.clock.set(at(31))
        assert same(await world.claim(request_id="r2"), packet)
        assert not await world.audit(kind=AuditKind.DELIVERY)


@promise
async def test_after_a_crash_behind_the_commit_the_same_request_gets_the_same(tmp_path: Path) -> None:
    given("crash-after-claim-commit", "retry_returns_same")
    async with waiting(tmp_path) as (world, packet):
        claim = await world.claim(request_id="r1")
        assert same(claim, packet)
    async with a_world(tmp_path, start=at(1)) as world:
        assert await world.claim(request_id="r1") == claim


@promise
async def test_after_a_crash_before_the_commit_it_is_given_once(tmp_path: Path) -> None:
    given("crash-before-claim-commit", "delivered_once_on_retry")
    async with waiting(tmp_path) as (world, packet):
        append = world.parts.inbox._audit.append

        async def lost(*_: object, **__: object) -> None:
            raise AuditUnavailable("gone", "gone")

        world.parts.inbox._audit.append = lost  # type: ignore[method-assign, assignment]
        assert await reason_of(world, request_id="r1") is Reason.AUDIT_UNAVAILABLE
        world.parts.inbox._audit.append = append  # type: ignore[method-assign]
        assert await state_of(world, packet) is InboxState.PENDING
    async with a_world(tmp_path, start=at(1)) as world:
        claim = await world.claim(request_id="r1")
        assert same(claim, packet) and (await world.deliver(claim)).settled
        assert len(await world.audit(kind=AuditKind.DELIVERY)) == 1


# ---------------------------------------------------------------------------------------------------- what it holds


@promise
async def test_a_packet_that_was_tampered_with_is_dropped(tmp_path: Path) -> None:
    given("digest-tampered", "dropped_integrity")
    async with waiting(tmp_path) as (world, packet):
        await rewrite(world, msgspec.structs.replace(packet, rendered=packet.rendered.replace("pg-", "my-")))

        assert await reason_of(world) is Reason.DIGEST_MISMATCH
        assert await state_of(world, packet) is InboxState.DROPPED


@promise
@pytest.mark.parametrize("retract", [forgotten, corrected, revoked])
async def test_a_memory_that_was_taken_back_takes_its_packet_along(
    tmp_path: Path, retract: Callable[[World, str], Any]
) -> None:
    said = given("memory-retracted-in-between", "dropped_retracted")
    async with waiting(tmp_path) as (world, packet):
        world.clock.set(at(said["retract_at"]))
        await retract(world, packet.items[0].memory_id)
        world.clock.set(at(said["claim_at"]))

        assert await reason_of(world) in (Reason.NONE_PENDING, Reason.STALE_INDEX)
        assert await state_of(world, packet) is InboxState.DROPPED


@promise
async def test_of_a_memory_and_its_successor_the_newer_alone_is_given(tmp_path: Path) -> None:
    said = given("superseded", "newer_only")
    async with waiting(tmp_path) as (world, packet):
        world.clock.set(at(said["supersede_at"]))
        newer = await Asking(world).ask(
            "memory.remember",
            text=LESSON.replace("docker compose up -d pg-fixture", "podman start pg-fixture"),
            workspace=world.workspace(),
            supersedes=[packet.items[0].memory_id],
        )
        world.clock.set(at(said["claim_at"]))
        assert isinstance(await world.claim(), Silence)
        assert await state_of(world, packet) is InboxState.DROPPED

        later = await needed(world, "c2")

        assert [item.memory_id for item in later.items] == [newer["memoryId"]]


@promise
async def test_what_fits_into_no_packet_is_audited_and_not_given(tmp_path: Path) -> None:
    said = given("over-budget", "not_delivered_stays_or_dropped_budget_audited")
    async with a_world(tmp_path, Policy(broker=BrokerPolicy(packet_bytes=said["budget_bytes"]))) as world:
        await world.remember(LESSON)
        folder = world.workspace()
        await world.feed(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))

        assert await reason_of(world) is Reason.NONE_PENDING
        assert (await world.audit(kind=AuditKind.PASS))[-1].reason == Reason.PACKET_OVERSIZE


# ---------------------------------------------------------------------------------------------------- and nobody there


@promise
async def test_an_empty_inbox_says_so(tmp_path: Path) -> None:
    given("empty-inbox", "empty_fast")
    async with a_world(tmp_path) as world:
        await world.feed(a_reply("I will look.", workspace=world.workspace()))
        assert await reason_of(world) is Reason.NONE_PENDING


@promise
@pytest.mark.parametrize("kind", ["daemon-down", "daemon-hung"])
def test_the_client_ends_well_and_says_nothing_when_nobody_answers(run_dir: Path, kind: str) -> None:
    given(kind, "client_exits_0_empty_under_deadline")
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        if kind == "daemon-hung":
            run_dir.chmod(0o700)  # a socket whose queue takes a caller, and nobody who reads
            listener.bind(str(run_dir / "d.sock"))
            listener.listen()

        done = called(run_dir)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@promise
async def test_a_locked_database_gives_nothing_and_loses_nothing(tmp_path: Path) -> None:
    """The client's deadline is the hung daemon's; here is what becomes of the packet."""
    given("db-locked", "client_exits_0_empty_under_deadline_not_marked_delivered")
    async with waiting(tmp_path) as (world, packet):
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            claim = asyncio.ensure_future(world.claim(request_id="r1"))
            done, _ = await asyncio.wait([claim], timeout=0.6)
            assert not done
            row = other.execute("SELECT state FROM packet WHERE packet_id = ?", (packet.packet_id,)).fetchone()
            assert row == (InboxState.PENDING,)
            other.execute("ROLLBACK")

        assert same(await claim, packet)
        assert not await world.audit(kind=AuditKind.DELIVERY)
