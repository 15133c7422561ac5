"""Plans: the spans that may not be read are not asked for, and a whole span is planned as one."""

from governance.formation.contracts import Admission, Barrier, Door, Failure, FailureClass, Pipeline, RangeResult
from governance.formation.planning import Planning, denied_spans
from governance.formation.projecting import PROJECTION
from governance.formation.store import ranges
from tests.support.checkpoints import Desk, a_snapshot, said

THURSDAYS = "We ship releases on Thursdays."


def barred(*spans: tuple[int, int]) -> tuple[Barrier, ...]:
    return tuple(Barrier(session_id="s-one", from_seq=first, through_seq=last) for first, last in spans)


def planning(desk: Desk) -> Planning:
    return Planning(desk.database, desk.material)


async def test_what_is_denied_is_not_even_read() -> None:
    desk = Desk()
    desk.tells(*(said(f"Text number {seq}.", seq) for seq in range(10)))
    found = await planning(desk).read("s-one", (0, 9), barred((2, 3), (8, 12)))
    assert [one.event_seq for one in found] == [0, 1, 4, 5, 6, 7]
    assert desk.material.reads == [("s-one", -1, 1), ("s-one", 3, 7)]


async def test_what_was_said_before_a_denied_span_does_not_help_behind_it() -> None:
    desk = Desk()
    desk.tells(said("It is Marrow.", 1, role="assistant"), said("Good.", 5))
    (one,) = await planning(desk).evidence("s-one", (0, 9), barred((2, 3)))
    assert one.before == ""


async def test_an_operation_is_named_by_the_end_of_its_segment() -> None:
    desk = Desk()
    desk.tells(said(THURSDAYS, 1), said(THURSDAYS, 6))
    tasks = await planning(desk).tasks(a_snapshot(9), -1, barred((3, 4)), 8)
    assert [(one.operation.from_seq, one.operation.through_seq) for one in tasks] == [(0, 2), (3, 4), (5, 9)]
    assert len({one.operation.operation_id for one in tasks}) == 3
    assert [one.formed is None for one in tasks] == [True, False, True]
    (alone,) = await planning(desk).tasks(a_snapshot(2), -1, (), 8)
    assert alone.operation.operation_id == tasks[0].operation.operation_id
    assert alone.operation.coverage_hash == tasks[0].operation.coverage_hash


async def test_a_failed_range_is_planned_as_it_was_however_large_the_session_grew() -> None:
    desk = Desk()
    desk.tells(said(THURSDAYS, 1), said("Some words of it. " * 200, 5))
    snapshot = a_snapshot(9)
    (task, *_) = await planning(desk).tasks(a_snapshot(2), -1, (), 8)
    failure = Failure(
        pipeline=Pipeline.CHECKPOINT,
        session_id="s-one",
        from_seq=0,
        through_seq=2,
        coverage_hash=task.operation.coverage_hash,
        operation_id=task.operation.operation_id,
        projection=PROJECTION,
        attempts=1,
        class_=FailureClass.SCHEMA,
        done_refs=(),
        failed_at=1,
    )
    await desk.database.write(lambda connection: ranges.fail(connection, failure))
    stand = await planning(desk).stand(snapshot)
    again = await planning(desk).failed(snapshot, stand, ())
    assert again is not None and not isinstance(again, RangeResult)
    assert (again.operation.from_seq, again.operation.through_seq, again.operation.base) == (0, 2, failure.operation_id)
    assert again.operation.operation_id != failure.operation_id
    assert again.operation.refs == ("s-one#1",)


async def test_a_gate_that_denies_without_saying_since_when_denies_all_that_is_left() -> None:
    desk = Desk()
    snapshot = a_snapshot(9)
    stand = await planning(desk).stand(snapshot)
    assert denied_spans(snapshot, Admission(door=Door.DENIED), stand) == barred((0, 9))
    since = Admission(door=Door.DENIED, denied=barred((5, 9)))
    assert denied_spans(snapshot, since, stand) == barred((5, 9))
    assert denied_spans(snapshot, Admission(door=Door.OPEN), stand) == ()


async def test_a_span_that_was_denied_once_is_denied_whatever_the_gate_says() -> None:
    desk = Desk()
    await desk.database.write(lambda connection: ranges.bar(connection, barred((2, 4))[0], 1))
    snapshot = a_snapshot(9)
    stand = await planning(desk).stand(snapshot)
    assert denied_spans(snapshot, Admission(door=Door.OPEN), stand) == barred((2, 4))
