"""What becomes of calls: taken in order, refused apart, kept when they stay true."""

from typing import Any

import msgspec

from host.inprocess.outbox import CALL_BYTES, KEPT_BYTES, Outbox, kept, weight
from host.inprocess.talk import Call
from tests.support.builders import a_prompt

DELIVERED = Call(method="inbox.delivered", params={"packetId": "p1"})
CLAIM = Call(method="inbox.claim", params={"sessionId": "s"})
STATUS = Call(method="session.status", params={"sessionId": "s"})


def a_step(*events: str) -> Call:
    return Call(method="step", params={"events": events, "host": "h", "claim": {"surface": "post-tool"}})


def an_append(*events: str) -> Call:
    return Call(method="event.append", params={"events": events, "host": "h"})


def shown(calls: list[Call]) -> list[Any]:
    return [(call.method, call.params.get("events", ()), "claim" in call.params) for call in calls]


def test_calls_go_in_order_and_the_last_answer_is_the_answer() -> None:
    outbox = Outbox([DELIVERED, CLAIM])

    assert outbox.next() is DELIVERED
    outbox.answered(msgspec.Raw(b"1"))
    assert outbox.next() is CLAIM and outbox.answer is None
    outbox.answered(msgspec.Raw(b"2"))
    assert outbox.next() is None
    assert outbox.answer == msgspec.Raw(b"2") and outbox.left() == []


def test_what_was_not_answered_is_kept_as_far_as_it_stays_true() -> None:
    assert shown(Outbox([DELIVERED, a_step("a"), CLAIM, STATUS]).left()) == [
        ("inbox.delivered", (), False),
        ("event.append", ("a",), False),
    ]


def test_events_that_were_refused_for_one_of_them_are_told_one_by_one() -> None:
    outbox = Outbox([a_step("a", "b", "c")])
    outbox.next()
    outbox.refused("conflict", "It differs.")

    told = []
    while (call := outbox.next()) is not None:
        told.append(call)
        outbox.refused("conflict", "It differs.")

    assert outbox.problem == "It differs."
    assert shown(told) == [("event.append", ("a",), False), ("event.append", ("b",), False), ("step", ("c",), True)]
    assert outbox.left() == [] and outbox.answer is None


def test_a_refusal_that_passes_is_tried_again_later() -> None:
    outbox = Outbox([an_append("a"), DELIVERED])
    outbox.next()
    outbox.refused("store-unavailable", "The disk is full.")
    outbox.next()
    outbox.answered(msgspec.Raw(b"1"))

    assert outbox.next() is None and outbox.left() == [an_append("a")]


def test_after_a_refusal_that_ends_the_connection_the_rest_waits() -> None:
    outbox = Outbox([an_append("a"), DELIVERED])
    outbox.next()
    outbox.refused("frame-too-large", "A line is too long.")

    assert outbox.next() is None
    assert outbox.left() == [DELIVERED], "what was too large is too large again"


def test_what_waits_is_bounded_and_the_newest_stays() -> None:
    large = Call(method="event.append", params={"events": (a_prompt("x" * (KEPT_BYTES // 3)),)})

    assert weight(large) > KEPT_BYTES // 3 and weight(DELIVERED) == CALL_BYTES
    assert kept([DELIVERED, large, large, large, DELIVERED]) == [large, large, DELIVERED]
    assert kept([]) == []
