"""What becomes of a range that fails: once more just so, then given up with a letter; an outage gives nothing up."""

import json

import pytest

from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import Admission, Door, RangeResult, RangeStatus, Trigger
from governance.formation.errors import ParameterFault
from tests.support.checkpoints import Desk, a_snapshot, asked_text, complete, cut, item, said, worded

THURSDAYS = "We ship releases on Thursdays."
FACT = "Releases are shipped on Thursdays."
NIGHT = "Backups are taken at night."
MARROW = "The gateway is called Marrow."


@pytest.fixture
def desk() -> Desk:
    return Desk(policy=CheckpointPolicy(min_sessions=0))


def spans(results: tuple[RangeResult, ...]) -> list[tuple[int, int, str]]:
    return [(one.from_seq, one.through_seq, str(one.status)) for one in results]


async def fails_once(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1))
    desk.answers("no JSON")
    assert (await desk.one(3)).status is RangeStatus.PENDING


async def test_a_failed_range_is_tried_just_so_before_anything_newer(desk: Desk) -> None:
    await fails_once(desk)
    desk.tells(said(NIGHT, 5))
    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    desk.answers(complete(item(NIGHT, ("s-one#5", NIGHT))), worded(NIGHT))
    assert spans(await desk.run(6)) == [(0, 3, "extracted"), (4, 6, "extracted")]
    assert desk.model is not None and NIGHT not in asked_text(desk.model.requests[1])
    assert await desk.count("failure") == 0


async def test_a_range_that_was_given_up_does_not_hold_up_what_is_newer(desk: Desk) -> None:
    await fails_once(desk)
    desk.tells(said(NIGHT, 5))
    desk.answers("no JSON", complete(item(NIGHT, ("s-one#5", NIGHT))), worded(NIGHT))
    assert spans(await desk.run(6)) == [(0, 3, "discarded"), (4, 6, "extracted")]


async def test_an_older_boundary_than_that_of_the_failed_range_is_not_taken(desk: Desk) -> None:
    await fails_once(desk)
    result = await desk.one(2)
    assert (result.status, result.reason, desk.calls) == (RangeStatus.UNAVAILABLE, "range-ahead", 1)


async def test_a_failure_of_a_range_that_is_behind_the_cursor_is_taken_away(desk: Desk) -> None:
    await fails_once(desk)
    desk.database.connection.execute("INSERT INTO cursor VALUES ('checkpoint', 's-one', 2, 1)")  # type: ignore[attr-defined]
    assert spans(await desk.run(3)) == [(3, 3, "skipped")]
    assert await desk.count("failure") == 0


async def test_a_failed_range_whose_texts_changed_is_reported_and_waits_for_a_new_projection(desk: Desk) -> None:
    await fails_once(desk)
    desk.material.records = [said(f"{THURSDAYS} Always.", 1)]
    result = await desk.one(3)
    assert (result.status, result.reason, desk.calls) == (RangeStatus.UNAVAILABLE, "coverage-changed", 1)
    desk.database.connection.execute("UPDATE failure SET projection = 'an older one'")  # type: ignore[attr-defined]
    desk.answers("no JSON")
    assert (await desk.one(3)).status is RangeStatus.DISCARDED  # its attempts were kept


async def test_a_failed_range_that_was_denied_since_is_not_tried_again(desk: Desk) -> None:
    await fails_once(desk)
    desk.gate.denies("s-one", (1, 3))
    assert spans(await desk.run(3)) == [(0, 0, "skipped"), (1, 3, "denied")]
    assert await desk.count("failure") == 0 and desk.calls == 1


async def test_a_cut_answer_commits_its_whole_items_and_only_the_rest_is_shown_again(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1), said(NIGHT, 2))
    text = json.dumps(complete(item(FACT, ("s-one#1", THURSDAYS)), item(NIGHT, ("s-one#2", NIGHT))))
    desk.answers(cut(text[: text.index("Backups") + 4]), worded(FACT))
    first = await desk.one(3)
    assert (first.status, first.reason, len(first.committed)) == (RangeStatus.PENDING, "length", 1)
    assert await desk.count("cursor") == await desk.count("receipt") == 0
    assert await desk.rows("SELECT done_refs FROM failure") == [('["s-one#1"]',)]

    desk.answers(complete(item(NIGHT, ("s-one#2", NIGHT))), worded(NIGHT))
    second = await desk.one(3)
    assert (second.status, len(second.committed)) == (RangeStatus.EXTRACTED, 1)
    assert desk.model is not None and THURSDAYS not in asked_text(desk.model.requests[2])
    assert await desk.count("queue") == 2 and await desk.count("failure") == 0


async def test_a_second_cut_gives_the_rest_up_with_a_letter_of_what_is_left(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1), said(NIGHT, 2), said(MARROW, 3))
    text = json.dumps(complete(item(FACT, ("s-one#1", THURSDAYS)), item("x", ("s-one#3", "x"))))
    desk.answers(cut(text[: text.index('"x"') + 1]), worded(FACT))
    await desk.one(3)
    text = json.dumps(complete(item(NIGHT, ("s-one#2", NIGHT)), item("x", ("s-one#3", "x"))))
    desk.answers(cut(text[: text.index('"x"') + 1]), worded(NIGHT))
    result = await desk.one(3)
    assert (result.status, result.reason, len(result.committed)) == (RangeStatus.DISCARDED, "length", 1)
    assert await desk.rows("SELECT refs FROM dead_letter") == [('["s-one#3"]',)]


async def test_a_letter_is_tried_again_without_moving_the_cursor(desk: Desk) -> None:
    await fails_once(desk)
    desk.answers("no JSON")
    await desk.one(3)
    ((letter,),) = await desk.rows("SELECT letter_id FROM dead_letter")
    engine, snapshot = desk.engine(), a_snapshot(3, trigger=Trigger.COMMAND)

    desk.answers("still no JSON")
    assert (await engine.retry(letter, snapshot)).status is RangeStatus.DISCARDED
    assert await desk.rows("SELECT attempts, state FROM dead_letter") == [(3, "open")]

    desk.answers(complete(item(FACT, ("s-one#1", THURSDAYS))), worded(FACT))
    result = await engine.retry(letter, snapshot)
    assert (result.status, len(result.committed)) == (RangeStatus.EXTRACTED, 1)
    assert await desk.rows("SELECT state FROM dead_letter") == [("retried",)]
    assert await desk.rows("SELECT processed_seq FROM cursor") == [(3,)]
    with pytest.raises(ParameterFault, match="formed since"):
        await engine.retry(letter, snapshot)


async def test_a_letter_of_nothing_or_of_another_session_is_refused(desk: Desk) -> None:
    with pytest.raises(ParameterFault) as caught:
        await desk.engine().retry("letter_0", a_snapshot(3))
    assert caught.value.code == "unknown-letter"
    await fails_once(desk)
    desk.answers("no JSON")
    await desk.one(3)
    ((letter,),) = await desk.rows("SELECT letter_id FROM dead_letter")
    with pytest.raises(ParameterFault) as caught:
        await desk.engine().retry(letter, a_snapshot(3, "s-two"))
    assert caught.value.code == "other-session"
    desk.gate.says = Admission(door=Door.DENIED, reason="incognito")
    assert (await desk.engine().retry(letter, a_snapshot(3))).reason == "incognito"
    desk.gate.says = Admission(door=Door.OPEN)
    desk.material.records = []
    assert (await desk.engine().retry(letter, a_snapshot(3))).reason == "coverage-changed"


async def test_texts_that_break_the_bounds_of_their_range_are_given_up_after_two_attempts(desk: Desk) -> None:
    desk.tells(said(THURSDAYS, 1, ref="x" * 200))
    assert [(one.status, one.reason) for one in (await desk.one(3), await desk.one(3))] == [
        (RangeStatus.PENDING, "evidence"),
        (RangeStatus.DISCARDED, "evidence"),
    ]
    assert desk.calls == 0 and (await desk.one(3)).status is RangeStatus.NO_RANGE
