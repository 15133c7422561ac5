"""What is odd about a session is said with its place; a session as it should be has nothing odd."""

from collections.abc import Callable

import msgspec
import pytest

from host.evaluation.oddities import odd
from host.evaluation.sessions import Gold, Recorded, Recording, folders, load
from recall.contracts import SourceKind, Status
from tests.host.evaluation.test_sessions import OURS
from tests.support.labelled import LESSON_ID, a_failure

replace = msgspec.structs.replace


def with_events(change: Callable[[Recorded], Recorded]) -> Recording:
    made = a_failure()
    return replace(made, events=tuple(change(event) for event in made.events))


def with_lesson(**fields: object) -> Recording:
    made = a_failure()
    first, *others = made.memories
    return replace(made, memories=(replace(first, **fields), *others))


def with_labels(**fields: object) -> Recording:
    made = a_failure()
    return replace(made, labels=replace(made.labels, **fields))


def at(seq: int, **fields: object) -> Callable[[Recorded], Recorded]:
    return lambda event: replace(event, **fields) if event.seq == seq else event


def test_a_session_as_it_should_be_has_nothing_odd() -> None:
    assert list(odd(a_failure())) == []
    assert [list(odd(load(folder))) for folder in folders(OURS)] == [[]] * 8


@pytest.mark.parametrize(
    ("recording", "said"),
    [
        (with_events(at(5, type="tool/reslut")), "events of a type that is not known: seq 5"),
        (with_events(at(5, source=SourceKind.USER)), "events whose source is not that of its type: seq 5"),
        (with_events(at(4, tool=None)), "events of tools that name no tool: seq 4"),
        (with_events(at(5, call_id="c9")), "events that answer a call which is not there: seq 5"),
        (
            with_events(lambda event: replace(event, call_id=None)),
            "events that answer a call which is not there: seq 5, 8",
        ),
        (with_events(at(5, ok=None)), "events that do not say whether the call went well: seq 5"),
        (with_events(at(6, step=0)), "events whose step or turn is lower than the one before: seq 6"),
        (with_events(at(9, turn=0)), "events whose step or turn is lower than the one before: seq 9"),
        (
            with_events(lambda event: replace(event, type="said")),
            "events of a type that is not known: seq 1, 2, 3 and 6 more",
        ),
        (
            with_lesson(status=Status.SUPERSEDED),
            f"memories needed and never handed over, not being active: {LESSON_ID}",
        ),
        (
            with_lesson(workspace="blog"),
            f"memories needed and never handed over, being of another workspace than shop: {LESSON_ID}",
        ),
        (
            with_labels(gold=(Gold(memory=LESSON_ID, window=(5, 6)), Gold(memory=LESSON_ID, window=(8, 9)))),
            f"memories labelled as two needs (further windows of one need stand in `also`): {LESSON_ID}",
        ),
        (with_lesson(created="2026-01-06T12:00:02Z"), f"memories younger than the session: {LESSON_ID}"),
    ],
)
def test_a_slip_is_said_with_its_place(recording: Recording, said: str) -> None:
    assert said in list(odd(recording))
