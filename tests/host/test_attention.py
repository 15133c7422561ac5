"""How often it speaks in a workspace: chosen, applied from the next event on, known after a restart and from the audit
alone."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from governance.contracts import AuditEntry, AuditKind
from host.attention import PREFIX, load_attentions
from host.compose import main_schema
from host.contracts import Claimed, Reason, Silence
from host.database import open_database
from host.policy import Policy
from recall.attention import MORE, attention_of
from recall.confidence import ConfidencePolicy
from recall.contracts import Attention
from recall.workspace import workspace_key
from tests.support.builders import SESSION, WORKSPACE, a_call, a_result
from tests.support.world import FAILURE, LESSON, World, a_world

OTHER = "ws_" + "b" * 32
POINTS = [Attention.QUIET, Attention.NORMAL, Attention.EAGER]


async def a_need(world: World, number: int = 1, session: str = SESSION) -> None:
    folder, call = world.workspace(), f"c{number}"
    await world.feed(
        a_call("make integration-test", call_id=call, session_id=session, workspace=folder),
        a_result(FAILURE, call_id=call, session_id=session, workspace=folder),
    )


async def evidence(folder: Path, needs: int = 1) -> float:
    """The nats that the lesson has in the need of these tests, the last time it comes."""
    async with a_world(folder, with_bar(1_000.0)) as world:
        await world.remember(LESSON)
        for number in range(needs):
            await a_need(world, number)
        (row,) = (await world.audit(kind=AuditKind.PASS))[-1].candidates
        return row.score / 1_000_000


def with_bar(theta: float) -> Policy:
    return Policy(confidence=ConfidencePolicy(theta=theta, failed=0.0))


# ------------------------------------------------------------------------------------------------ the choice


async def test_a_choice_holds_for_its_workspace_alone_and_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        attentions = world.parts.attentions
        assert (attentions.of(WORKSPACE), attentions.chosen(WORKSPACE)) == (Attention.NORMAL, False)
        await attentions.set(WORKSPACE, Attention.EAGER)
        await attentions.set(WORKSPACE, Attention.QUIET)
        await attentions.set(OTHER, Attention.NORMAL)
    async with a_world(tmp_path) as world:
        attentions = world.parts.attentions
        assert (attentions.of(WORKSPACE), attentions.of(OTHER)) == (Attention.QUIET, Attention.NORMAL)
        assert attentions.chosen(WORKSPACE) and attentions.chosen(OTHER) and not attentions.chosen("ws_" + "c" * 32)


async def test_where_nobody_chose_the_default_holds(tmp_path: Path) -> None:
    async with a_world(tmp_path, attention=Attention.EAGER) as world:
        await world.parts.attentions.set(OTHER, Attention.NORMAL)
        assert world.parts.attentions.of(WORKSPACE) is Attention.EAGER
        assert world.parts.attentions.of(OTHER) is Attention.NORMAL


@pytest.mark.parametrize("value", [b'"chatty"', b"7", b"", b"\xff"])
async def test_a_choice_that_this_version_does_not_know_is_passed_over(tmp_path: Path, value: bytes) -> None:
    """It may be of a later version: the daemon starts, and the default holds."""
    row = (PREFIX + WORKSPACE, value)
    statement = "INSERT INTO setting (name, value) VALUES (?, ?)"
    async with open_database(tmp_path / "log.db", main_schema()) as database:
        await database.write(lambda connection: connection.execute(statement, row))

        attentions = await load_attentions(database, Attention.QUIET)

    assert (attentions.of(WORKSPACE), attentions.chosen(WORKSPACE)) == (Attention.QUIET, False)


# ------------------------------------------------------------------------------------------------ the pass


@pytest.mark.parametrize(
    ("beyond", "speaking"),
    [
        (-0.5, {Attention.NORMAL, Attention.EAGER}),  # half a nat above the calibrated bar
        (0.5, {Attention.EAGER}),  # half a nat below
        (-0.5 - MORE[Attention.QUIET], {Attention.QUIET, Attention.NORMAL, Attention.EAGER}),
        (0.5 - MORE[Attention.EAGER], set()),
    ],
)
async def test_each_point_speaks_from_its_own_bar_on(tmp_path: Path, beyond: float, speaking: set[Attention]) -> None:
    theta = await evidence(tmp_path / "measured") + beyond
    spoke = set()
    for attention in POINTS:
        async with a_world(tmp_path / attention, with_bar(theta)) as world:
            await world.remember(LESSON)
            await world.parts.attentions.set(workspace_key(world.workspace()), attention)
            await a_need(world)
            entry = (await world.audit(kind=AuditKind.PASS))[-1]
            assert attention_of(entry.versions["confidence"]) is attention
            if isinstance(await world.claim(), Claimed):
                spoke.add(attention)
            else:
                assert entry.reason == Reason.NO_CONFIDENT_HIT
    assert spoke == speaking


async def test_a_choice_in_mid_session_changes_later_decisions_alone(tmp_path: Path) -> None:
    theta = await evidence(tmp_path / "measured") - 0.5
    async with a_world(tmp_path / "data", with_bar(theta)) as world:
        await world.remember(LESSON)
        key = workspace_key(world.workspace())
        await world.parts.attentions.set(key, Attention.QUIET)
        await a_need(world, 1)
        await world.parts.attentions.set(key, Attention.EAGER)
        await a_need(world, 2)
        await world.parts.attentions.set(key, Attention.QUIET)

        claim = await world.claim()  # decided before: it is handed over all the same

        assert isinstance(claim, Claimed)
        told = [
            (one.trigger, attention_of(one.versions["confidence"])) for one in await world.audit(kind=AuditKind.PASS)
        ]
        assert [held for trigger, held in told if trigger == "result:failed"] == [Attention.QUIET, Attention.EAGER]
        assert told[-1] == ("carry-over", Attention.EAGER)  # built again, by what had decided it
        assert claim.packet.retrieval_version.count("/quiet") == 0


@pytest.mark.promise("deterministic")
async def test_the_log_and_the_points_that_the_audit_names_give_the_same_decisions_again(tmp_path: Path) -> None:
    theta = await evidence(tmp_path / "measured") - 0.5
    lived = await played(tmp_path / "lived", theta, [Attention.QUIET, Attention.NORMAL, Attention.EAGER])
    named = [attention_of(entry.versions["confidence"]) for entry in lived if entry.trigger == "result:failed"]

    again = await played(tmp_path / "again", theta, named)
    otherwise = await played(tmp_path / "otherwise", theta, [Attention.NORMAL] * 3)

    assert [entry.decision_digest for entry in again] == [entry.decision_digest for entry in lived]
    assert [entry.decision_digest for entry in otherwise] != [entry.decision_digest for entry in lived]


async def played(folder: Path, theta: float, points: Sequence[Attention]) -> list[AuditEntry]:
    async with a_world(folder, with_bar(theta)) as world:
        (folder.parent / "same").mkdir(exist_ok=True)
        shared = str(folder.parent / "same")  # one workspace for all: its key stands in the decision
        await world.remember(LESSON, shared)
        for number, point in enumerate(points):
            await world.parts.attentions.set(workspace_key(shared), point)
            call = f"c{number}"
            await world.feed(
                a_call("make integration-test", call_id=call, workspace=shared),
                a_result(FAILURE, call_id=call, workspace=shared),
            )
        return list(await world.audit(kind=AuditKind.PASS))


async def test_a_restart_knows_by_which_point_a_session_was_decided_last(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await world.remember(LESSON)
        await world.parts.attentions.set(workspace_key(world.workspace()), Attention.EAGER)
        await a_need(world)
    async with a_world(tmp_path / "data") as world:
        await world.parts.attentions.set(workspace_key(world.workspace()), Attention.NORMAL)

        runtime = await world.parts.sessions.find(SESSION, "main")

        assert runtime.attention is Attention.EAGER
        await a_need(world, 2)
        assert runtime.attention is Attention.NORMAL


async def test_no_point_lets_through_what_is_muted(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", with_bar(1.0)) as world:
        memory_id = await world.remember(LESSON)
        await world.parts.attentions.set(workspace_key(world.workspace()), Attention.EAGER)
        await world.parts.marks.mute(memory_id, world.clock.now())
        await a_need(world)
        assert await world.claim() == Silence(reason=Reason.NONE_PENDING)
