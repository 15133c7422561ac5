"""Which events are boundaries."""

import pytest

from governance.formation.contracts import Trigger
from host.formation.triggers import boundary
from recall.contracts import EventEnvelope, EventType
from tests.support.builders import a_call, a_prompt, a_reply, a_result, a_start, an_event


@pytest.mark.parametrize(
    ("event", "trigger"),
    [
        (an_event("session/compacting", {"trigger": "auto"}), Trigger.COMPACT),
        (an_event("session/compacted", {"text": "a summary"}), Trigger.COMPACT),
        (an_event(EventType.SESSION_COMPACT, {"text": "a summary"}), Trigger.COMPACT),
        (a_start("compact"), Trigger.COMPACT),
        (an_event(EventType.SESSION_END, {}), Trigger.END),
        (a_start("startup"), None),
        (a_start("resume"), None),
        (an_event(EventType.SESSION_START, ["odd"]), None),
        (an_event(EventType.TURN_END, {}), None),
        (an_event(EventType.AGENT_STOP, {}), None),
        (a_prompt(), None),
        (a_reply(), None),
        (a_call(), None),
        (a_result(), None),
        (an_event("x/unknown", {}), None),
    ],
)
def test_compactions_and_ends_are_boundaries_and_nothing_else_is(event: EventEnvelope, trigger: Trigger | None) -> None:
    assert boundary(event) is trigger
