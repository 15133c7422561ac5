"""A step is one reply of the model with the calls that it makes."""

from collections.abc import Sequence

import pytest

from host.steps import STEP_END, counted
from recall.contracts import EventEnvelope
from tests.support.builders import a_call, a_prompt, a_reply, a_result, an_event


@pytest.mark.parametrize(
    ("events", "step"),
    [
        ([], 0),
        ([a_prompt()], 0),
        ([a_prompt(), a_reply()], 1),
        ([a_prompt(), a_reply(), a_call(), a_call()], 1),
        ([a_reply(), a_result(), a_call()], 1),
        ([a_call(), a_result(), an_event(STEP_END), a_call()], 2),
        ([a_call(), a_prompt(), a_reply()], 2),
        ([a_call(step=7), a_reply()], 8),
        ([a_call(step=7), a_call(step=3)], 7),
    ],
)
def test_steps_are_counted_by_replies_unless_the_producer_says(events: Sequence[EventEnvelope], step: int) -> None:
    now, replied = 0, False
    for event in events:
        now, replied = counted(event, now, replied)

    assert now == step
