"""A recording has the surfaces of the host it was recorded from."""

import msgspec

from host.contracts import Surface
from host.demo.recording import surface
from host.evaluation.sessions import Recorded


def recorded(type_: str, step: int = 1, **fields: object) -> Recorded:
    values = {"seq": 7, "ts": "2026-01-06T09:15:59.901Z", "source": "agent", "turn": 1, "text": "said"} | fields
    return msgspec.convert({"type": type_, "step": step} | values, Recorded)


def check(types: list[tuple[str, int]], expected: list[Surface | None]) -> None:
    events = [recorded(type_, step) for type_, step in types]
    assert [surface(events, place) for place in range(len(events))] == expected


def test_a_host_asks_at_a_start_at_a_prompt_and_after_a_result() -> None:
    check(
        [("session/start", 0), ("user/message", 0), ("assistant/message", 1), ("tool/call", 1), ("tool/result", 1)],
        [Surface.SESSION_START, Surface.USER_PROMPT, None, None, Surface.POST_TOOL],
    )


def test_parallel_results_are_one_boundary_after_the_last_of_them() -> None:
    check(
        [("tool/call", 1), ("tool/call", 1), ("tool/result", 1), ("tool/result", 1), ("assistant/message", 2)],
        [None, None, None, Surface.POST_TOOL, None],
    )


def test_a_call_made_between_two_results_of_one_reply_is_no_boundary() -> None:
    check(
        [("tool/result", 1), ("tool/call", 1), ("tool/result", 1), ("tool/call", 2)],
        [None, None, Surface.POST_TOOL, None],
    )
