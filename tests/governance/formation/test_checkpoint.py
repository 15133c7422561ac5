"""The checkpoint's way through a range: what is done once, what waits, what is tried again, and what never is."""

import sqlite3
from pathlib import Path

import msgspec
import pytest

from governance.formation.checkpoint import OpenRange
from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import (
    Admission,
    Barrier,
    Door,
    RangeResult,
    RangeStatus,
    Snapshot,
    SnapshotOrigin,
)
from governance.formation.errors import ModelError, ModelErrorKind, StateFault
from tests.support.builders import WORKSPACE
from tests.support.checkpoints import Desk, a_snapshot, asked_text, complete, item, said, worded

CASES = Path(__file__).parents[2] / "data" / "cases"
THURSDAYS = "We ship releases on Thursdays."
FACT = "Releases are shipped on Thursdays."
NIGHT = "Backups are taken at night."
MARROW = "The gateway is called Marrow."


@pytest.fixture
def desk() -> Desk:
    return Desk(policy=CheckpointPolicy(min_sessions=0))


def spans(results: tuple[RangeResult, ...]) -> list[tuple[int, int, str]]:
    return [(one.from_seq, one.through_seq, str(one.status)) for one in results]


# ------------------------------------------------------------------------------------------------------ gate and origin


async def test_a_closed_gate_changes_nothing_and_says_why(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    desk.gate.says = Admission(door=Door.CLOSED, reason="workspace-off")
    result = await desk.one(3)
    assert (result.status, result.reason) == (RangeStatus.UNAVAILABLE, "workspace-off")
    assert desk.material.reads == [] and await desk.count("cursor") == 0


async def test_a_gate_that_closes_during_a_call_leaves_nothing_of_it(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))

    def closes(request):
        desk.gate.says = Admission(door=Door.CLOSED, reason="disabled")
        return complete(item(FACT, ("s-one#1", THURSDAYS)))

    desk.answers(closes)
    result = await desk.one(3)
    assert (result.status, result.reason, desk.calls) == (RangeStatus.UNAVAILABLE, "disabled", 1)
    assert await desk.count("queue") == await desk.count("receipt") == 0


async def test_a_session_that_is_denied_during_a_call_is_denied(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))

    def denies(request):
        desk.gate.says = Admission(door=Door.DENIED, reason="incognito")
        return complete(item(FACT, ("s-one#1", THURSDAYS)))

    desk.answers(denies)
    assert spans(await desk.run(3)) == [(0, 3, "denied")]
    assert await desk.count("queue") == 0
    assert await desk.rows("SELECT from_seq, through_seq FROM barrier") == [(0, 3)]


async def test_a_workspace_that_is_off_holds_up_its_part_and_what_is_behind_and_says_why(desk: Desk) -> None:
    other = "ws_" + "b" * 32
    desk.gate.says = lambda snapshot: (
        Admission(door=Door.CLOSED, reason="workspace-off")
        if snapshot.workspace_key == other
        else Admission(door=Door.OPEN)
    )
    desk.tells(said(THURSDAYS, 1), said(NIGHT, 4, workspace_key=other), said(MARROW, 7))
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    results = await desk.run(9)
    assert [(str(one.status), one.reason) for one in results] == [("extracted", ""), ("unavailable", "workspace-off")]
    assert await desk.rows("SELECT processed_seq FROM cursor") == [(3,)]


async def test_an_incognito_session_with_no_model_is_denied_and_what_was_before_it_waits(desk: Desk) -> None:
    desk.model = None
    desk.gate.denies("s-one", (3, 9))
    denied = desk.gate.says
    assert callable(denied)

    def says(snapshot: Snapshot) -> Admission:
        found = denied(snapshot)
        return (
            found if found.door is Door.DENIED else msgspec.structs.replace(found, door=Door.CLOSED, reason="no-driver")
        )

    desk.gate.says = says
    desk.tells(said("Remember: releases go out on Thursdays.", 1), said("Remember: the codename is HALCYON.", 5))
    results = await desk.run(9)
    assert [(str(one.status), one.reason) for one in results] == [("unavailable", "no-driver")]
    assert await desk.rows("SELECT count(*), group_concat(text) FROM queue") == [
        (1, "Remember: releases go out on Thursdays.")
    ]


async def test_the_gate_is_asked_before_and_after_each_call_and_before_the_commit(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    await desk.one(3)
    assert len(desk.gate.asked) == 1 + 2 * 2 + 1


async def test_a_gate_that_says_something_else_each_time_is_left_in_the_end(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    desk.gate.says = lambda snapshot: Admission(door=Door.OPEN if len(desk.gate.asked) % 2 else Door.DENIED)
    result = await desk.one(3)
    assert (result.status, result.reason, desk.calls) == (RangeStatus.UNAVAILABLE, "gate-changed", 0)


async def test_a_subagent_is_formed_when_it_is_not_excluded(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0, exclude_subagents=False)
    desk.tells(said(THURSDAYS, 1))
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    assert (await desk.one(3, origin=SnapshotOrigin.SUBAGENT)).status is RangeStatus.EXTRACTED


async def test_what_was_open_before_a_session_went_incognito_is_formed_and_the_rest_is_denied(desk: Desk) -> None:
    desk.gate.denies("s-one", (5, 9))
    desk.tells(said(THURSDAYS, 1), said("A secret plan for spring.", 6))
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    assert spans(await desk.run(9)) == [(0, 4, "extracted"), (5, 9, "denied")]
    assert ("s-one", 4, 9) not in desk.material.reads


# ------------------------------------------------------------------------------------------------------- once and again


async def test_a_range_whose_texts_changed_since_is_not_answered_from_its_receipt(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    await desk.one(3)
    desk.material.records = [said(f"{THURSDAYS} Always.", 1)]
    result = await desk.one(3)
    assert (result.status, result.reason) == (RangeStatus.UNAVAILABLE, "operation-reused")
    assert await desk.count("receipt_conflict") == 1 and desk.calls == 2


async def test_a_range_that_grows_is_formed_from_where_it_ended(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    await desk.one(3)
    desk.tells(said(NIGHT, 5))
    desk.answers(complete(item(NIGHT, ("s-one#5", NIGHT))), worded(NIGHT))
    assert spans(await desk.run(7)) == [(4, 7, "extracted")]
    assert desk.model is not None and THURSDAYS not in asked_text(desk.model.requests[2])


async def test_what_is_stopped_before_the_commit_is_not_there_and_is_done_again(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))

    def stops(point: str) -> None:
        if point == "before-commit":
            raise KeyboardInterrupt

    desk.fault = stops
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    with pytest.raises(KeyboardInterrupt):
        await desk.one(3)
    for table in ("queue", "memory", "outbox", "receipt", "cursor", "drawn", "gap", "generation"):
        assert await desk.count(table) == 0, table
    desk.fault = lambda point: None
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    assert (await desk.one(3)).status is RangeStatus.EXTRACTED


async def test_what_is_stopped_after_the_commit_is_found_by_its_receipt(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))

    def stops(point: str) -> None:
        if point == "after-commit":
            raise KeyboardInterrupt

    desk.fault = stops
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    with pytest.raises(KeyboardInterrupt):
        await desk.one(3)
    desk.fault = lambda point: None
    again = await desk.one(3)
    assert again.idempotent and len(again.committed) == 1 and desk.calls == 2
    assert await desk.count("queue") == 1


async def test_a_cursor_that_was_moved_meanwhile_rolls_everything_back(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    rows = ("checkpoint", "s-one", 2, 1)

    def moves(request):
        desk.database.connection.execute("INSERT INTO cursor VALUES (?, ?, ?, ?)", rows)  # type: ignore[attr-defined]
        return complete(item(FACT, ("s-one#1", THURSDAYS)))

    desk.answers(moves, worded(FACT))
    result = await desk.one(3)
    assert (result.status, result.reason) == (RangeStatus.UNAVAILABLE, "cursor-moved")
    assert await desk.count("queue") == await desk.count("receipt") == await desk.count("outbox") == 0


async def test_settings_may_change_between_two_attempts(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=2)
    desk.tells(said(THURSDAYS, 1))
    desk.answers("no JSON")
    assert (await desk.one(3)).status is RangeStatus.PENDING
    desk.policy = CheckpointPolicy(min_sessions=0, gap_max_age_days=0, auto_commit=False)
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    result = await desk.one(3)
    assert (result.status, len(result.pending)) == (RangeStatus.EXTRACTED, 1)


# ------------------------------------------------------------------------------------------------------------- ranges


async def test_a_range_is_split_where_the_workspace_changes_and_nothing_crosses(desk: Desk) -> None:
    other = "ws_" + "b" * 32
    desk.tells(said(THURSDAYS, 1), said(NIGHT, 4, workspace_key=other))
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    desk.answers(complete(item(NIGHT, ("s-one#4", NIGHT))), worded(NIGHT))
    assert spans(await desk.run(6)) == [(0, 3, "extracted"), (4, 6, "extracted")]
    assert await desk.rows("SELECT workspace_key, text FROM queue ORDER BY text") == [(other, NIGHT), (WORKSPACE, FACT)]
    assert {(one.boundary_seq, one.workspace_key) for one in desk.gate.asked[1:]} == {(3, WORKSPACE), (6, other)}


async def test_eight_segments_are_a_job_and_the_rest_waits(desk: Desk) -> None:
    for turn in range(40):
        desk.tells(said(f"Topic {turn}. " + "Some words of it. " * 200, turn))
    desk.answers(*[complete()] * 40)
    results = await desk.run(50)
    assert len(results) == 8 == desk.calls and {str(one.status) for one in results} == {"skipped"}
    rest = await desk.run(50)
    assert rest[0].from_seq == results[-1].through_seq + 1
    assert rest[-1].through_seq == 50
    shown = "".join(asked_text(request) for request in desk.model.requests)  # type: ignore[union-attr]
    assert all(shown.count(f"Topic {turn}.") == 1 for turn in range(40))


async def test_a_failing_segment_holds_up_those_behind_it(desk: Desk) -> None:
    for turn in range(4):
        desk.tells(said("Some words of it. " * 220, turn))
    desk.answers(complete(), ModelError(ModelErrorKind.UNAVAILABLE, "down"))
    results = await desk.run(9)
    assert [str(one.status) for one in results] == ["skipped", "unavailable"]
    assert await desk.rows("SELECT processed_seq FROM cursor") == [(results[0].through_seq,)]


# -------------------------------------------------------------------------------------------------------------- store


async def test_a_store_that_cannot_be_used_is_a_reason_and_no_exception(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    for error, reason in (
        (sqlite3.OperationalError("database is locked"), "store"),
        (StateFault("state-failed", "gone"), "store"),
    ):
        desk.database.fail_next = error  # type: ignore[attr-defined]
        desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
        assert ((await desk.one(3)).reason) == reason
    assert await desk.count("queue") == await desk.count("failure") == 0


async def test_a_row_that_cannot_be_read_fails_closed(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    desk.answers("no JSON")
    assert (await desk.one(3)).status is RangeStatus.PENDING
    desk.database.connection.execute("UPDATE failure SET class = 'odd'")  # type: ignore[attr-defined]
    result = await desk.one(3)
    assert (result.status, result.reason, desk.calls) == (RangeStatus.UNAVAILABLE, "state-corrupt", 1)


# ---------------------------------------------------------------------------------------------- the agent is the model


async def test_without_a_model_the_range_waits_and_what_was_asked_to_be_remembered_is_noted_once(desk: Desk) -> None:
    desk.model = None
    desk.gate.says = Admission(
        door=Door.CLOSED,
        reason="no-driver",
        denied=(Barrier(session_id="s-one", from_seq=4, through_seq=6),),
    )
    desk.tells(
        said("Remember: releases go out on Thursdays.", 1),
        said(NIGHT, 2),
        said("Remember: the codename is HALCYON.", 5),
    )
    first = await desk.one(7)
    assert (first.status, first.reason, len(first.pending)) == (RangeStatus.UNAVAILABLE, "no-driver", 1)
    assert (first.from_seq, first.through_seq) == (0, 7)
    assert (await desk.one(7)).pending == ()
    assert await desk.rows("SELECT kind, state, workspace_key FROM queue") == [("note", "pending", WORKSPACE)]
    assert await desk.count("cursor") == await desk.count("receipt") == 0


async def test_the_agent_takes_a_range_and_its_answer_moves_the_cursor_in_one_transaction(desk: Desk) -> None:
    desk.model = None
    desk.gate.denies("s-one", (0, 2))
    denied = desk.gate.says
    assert callable(denied)
    desk.gate.says = lambda snapshot: msgspec.structs.replace(denied(snapshot), door=Door.CLOSED, reason="no-driver")
    desk.tells(said(THURSDAYS, 4))
    engine, snapshot = desk.engine(), a_snapshot(6)
    taken = await engine.next_range(snapshot)
    assert isinstance(taken, OpenRange)
    assert [one.text for one in taken.records] == [THURSDAYS]
    assert (taken.operation.from_seq, taken.operation.through_seq) == (3, 6)
    assert await desk.rows("SELECT status FROM receipt") == [("denied",)]
    assert await engine.next_range(snapshot) == taken

    def breaks(connection: sqlite3.Connection) -> tuple[str, ...]:
        connection.execute("INSERT INTO drawn VALUES ('o', 1, 'x')")
        raise StateFault("state-failed", "no room")

    with pytest.raises(StateFault):
        await engine.close(snapshot, taken, breaks)
    assert await desk.count("drawn") == 0

    result = await engine.close(snapshot, taken, lambda connection: ("note_1",))
    assert (result.status, result.pending) == (RangeStatus.EXTRACTED, ("note_1",))
    assert await desk.rows("SELECT processed_seq FROM cursor") == [(6,)]
    assert (await engine.close(snapshot, taken, lambda connection: ("note_2",))).reason == "cursor-moved"
    again = await engine.next_range(snapshot)
    assert isinstance(again, RangeResult) and again.status is RangeStatus.NO_RANGE


async def test_the_agents_answer_to_texts_that_changed_is_not_taken(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 4))
    engine, snapshot = desk.engine(), a_snapshot(6)
    taken = await engine.next_range(snapshot)
    assert isinstance(taken, OpenRange)
    desk.material.records = [said(NIGHT, 4)]
    assert (await engine.close(snapshot, taken, lambda connection: ("note_1",))).reason == "coverage-changed"
    assert await desk.count("cursor") == 0
