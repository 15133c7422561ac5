"""The spans that a user denied."""

import msgspec

from host.formation.spans import denied, within
from host.runtime import SESSION_SET
from recall.contracts import EventEnvelope
from tests.support.builders import a_prompt, an_event


def numbered(*events: EventEnvelope) -> list[EventEnvelope]:
    return [msgspec.structs.replace(event, event_seq=number) for number, event in enumerate(events, start=1)]


def on() -> EventEnvelope:
    return an_event(SESSION_SET, {"incognito": True})


def off() -> EventEnvelope:
    return an_event(SESSION_SET, {"incognito": False})


def spans(*events: EventEnvelope, last: int = 0, asleep: tuple[str, ...] = ()) -> list[tuple[int, int]]:
    found = denied(numbered(*events), lambda event: event.workspace in asleep, last)
    return [(one.from_seq, one.through_seq) for one in found]


def test_incognito_is_a_span_from_where_it_began_to_where_it_ended() -> None:
    assert spans(a_prompt(), on(), a_prompt(), off(), a_prompt()) == [(2, 4)]


def test_one_that_nothing_ended_reaches_to_the_end_of_the_session() -> None:
    assert spans(a_prompt(), on(), a_prompt(), last=9) == [(2, 9)]


def test_said_twice_is_said_once_and_muting_denies_nothing() -> None:
    assert spans(on(), on(), a_prompt(), off(), off()) == [(1, 4)]
    assert spans(a_prompt(), an_event(SESSION_SET, {"muted": True}), a_prompt()) == []
    assert spans(an_event(SESSION_SET, ["odd"]), a_prompt()) == []


def test_what_came_while_a_workspace_was_off_is_denied_and_neighbouring_spans_are_one() -> None:
    away = {"workspace": "/off"}

    assert spans(a_prompt(), a_prompt(**away), a_prompt(**away), a_prompt(), asleep=("/off",)) == [(2, 3)]
    assert spans(on(), a_prompt(), off(), a_prompt(**away), a_prompt(), asleep=("/off",)) == [(1, 4)]


def test_both_ends_are_inside() -> None:
    (span,) = denied(numbered(a_prompt(), on(), a_prompt(), off()), lambda _: False, 4)

    assert [seq for seq in range(6) if within(seq, [span])] == [2, 3, 4]
