"""What surfaces are told goes over the wire."""

import msgspec

from governance.formation.contracts import Pipeline, Trigger
from host.formation.ports import Ask, FormationStatus, Recovered


def test_an_ask_that_says_nothing_more_is_a_checkpoint_by_hand() -> None:
    ask = msgspec.json.decode(b'{"sessionId": "s"}', type=Ask)

    assert (ask.pipeline, ask.trigger, ask.driver) == (Pipeline.CHECKPOINT, Trigger.COMMAND, "")


def test_they_come_back_as_they_went() -> None:
    for told in (
        FormationStatus(state="state-failed", problem="missing"),
        Recovered(records=1, versions=2, superseded=0, cursors=3, torn=("a:1",)),
    ):
        assert msgspec.json.decode(msgspec.json.encode(told), type=type(told)) == told
