from typing import Any

import pytest

from host.gate_signals import MUCH_ALIKE, SIGNALS, failure_marks
from recall.contracts import Segment, SegmentKind
from tests.support.builders import a_failure, a_segment, a_window

BUILD = a_segment("make", kind=SegmentKind.CALL, tool="shell", call_id="c1", args_digest="d-make", entities=("make",))
BUILD_FAILS = a_failure("make: nothing to be done for target 'all'", call_id="c1", event_seq=2)
BUILD_WORKS = a_segment("done", kind=SegmentKind.RESULT, ok=True, tool="shell", event_seq=3)
READ_WORKS = a_segment("a file", kind=SegmentKind.RESULT, ok=True, tool="read", event_seq=4)


def a_call(args: str, **fields: Any) -> Segment:
    return a_segment(args, **({"kind": SegmentKind.CALL, "tool": "shell", "args_digest": args} | fields))


def check(signal: str, segment: Segment, expected: float, **window: Any) -> None:
    assert SIGNALS[signal](segment, a_window(**window)) == expected


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        (a_segment("build it"), 1.0),
        (a_segment("I will", kind=SegmentKind.REPLY), 1.0),
        (a_failure(), 1.0),
        (a_failure(ok=True), 0.0),
        (a_failure(ok=None), 0.0),
        (a_call("make"), 0.0),
    ],
)
def test_prompts_failures_and_replies_are_triggers(segment: Segment, expected: float) -> None:
    check("trigger", segment, expected)


def test_a_call_is_a_trigger_when_it_failed_before_and_is_the_same() -> None:
    check("trigger", a_call("make", args_digest="d-make"), 1.0, recent=(BUILD, BUILD_FAILS))
    check("trigger", a_call("make all", entities=("make",)), 0.0, recent=(BUILD, BUILD_FAILS))


def test_only_a_prompt_asks_and_corrects() -> None:
    check("explicit-request", a_segment("what did we decide about X?"), 1.0)
    check("explicit-request", a_segment("what did we decide about X?", kind=SegmentKind.REPLY), 0.0)
    check("correction", a_segment("不对，应该用 pnpm"), 1.0)
    check("correction", a_failure("no, use pnpm"), 0.0)


def test_a_failure_is_one_when_the_host_says_so() -> None:
    check("tool-failure", BUILD_FAILS, 1.0)
    check("tool-failure", BUILD_WORKS, 0.0)


@pytest.mark.parametrize(
    ("segment", "recent", "failures", "expected"),
    [
        (BUILD_FAILS, (), (), 0.0),
        (BUILD_FAILS, (), (BUILD_FAILS.digest,), 1.0),  # the same output
        (
            a_failure("other words", call_id="c2"),
            (BUILD, a_call("make", call_id="c2", args_digest="d-make")),
            ("d-make",),
            1.0,
        ),
        (a_failure("KeyError: b", call_id="c2"), (a_failure("KeyError: a", call_id="c1"),), (), 1.0),  # the same class
        (a_failure("ValueError: b", call_id="c2"), (a_failure("KeyError: a", call_id="c1"),), (), 0.0),
        (a_call("make", args_digest="d-make"), (), ("d-make",), 1.0),  # the act about to be repeated
        (a_call("make", args_digest="d-make"), (BUILD, BUILD_FAILS), (), 1.0),
        (a_call("make all", entities=("make",)), (BUILD, BUILD_FAILS), (), MUCH_ALIKE),
        (a_call("make all", entities=("make",), tool="edit"), (BUILD, BUILD_FAILS), (), 0.0),
        (a_call("ls"), (BUILD, BUILD_FAILS), (), 0.0),
        (a_call("make", args_digest="d-make"), (BUILD, BUILD_WORKS), (), 0.0),  # that call did not fail
        (a_segment("make"), (BUILD, BUILD_FAILS), ("d-make",), 0.0),
    ],
)
def test_an_act_that_failed_and_comes_again_is_a_repeated_failure(
    segment: Segment, recent: tuple[Segment, ...], failures: tuple[str, ...], expected: float
) -> None:
    check("repeated-failure", segment, expected, recent=recent, failures=failures)


@pytest.mark.parametrize(
    ("recent", "expected"),
    [
        ((), 0.0),
        ((BUILD_FAILS,), 1.0),
        ((BUILD_FAILS, READ_WORKS), 1.0),
        ((BUILD_FAILS, BUILD_WORKS), 0.0),
        ((BUILD_FAILS, BUILD_WORKS, a_failure("again", event_seq=9)), 1.0),
    ],
)
def test_a_need_is_open_until_the_tool_succeeds(recent: tuple[Segment, ...], expected: float) -> None:
    check("unresolved-need", a_segment("go on with it"), expected, recent=recent)


def test_the_windows_own_numbers_are_signals() -> None:
    check("hesitation", a_segment(), 0.4, hesitation=0.4)
    check("first-prompt", a_segment(), 1.0, first_prompt=True)
    check("first-prompt", a_failure(), 0.0, first_prompt=True)


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        (a_segment("Now let me push it.", kind=SegmentKind.REPLY), 1.0),
        (a_segment("All tests pass.", kind=SegmentKind.REPLY), 0.0),
        (a_segment("Let me push it."), 0.0),  # the user's words are no intention of the agent
        (a_call("git push origin main"), 1.0),
        (a_call("ls"), 0.0),
        (a_call("notes about git push --force", tool="write"), 0.0),
        (a_call("{}", tool="mcp__github__merge_pull_request"), 1.0),
        (a_call("git push", tool=None), 0.0),
    ],
)
def test_an_intention_is_said_or_is_an_act_that_is_hard_to_take_back(segment: Segment, expected: float) -> None:
    check("intention", segment, expected)
    assert SIGNALS["trigger"](segment, a_window()) == float(segment.kind is not SegmentKind.CALL or expected > 0)


def test_a_failure_is_known_by_text_call_and_errors() -> None:
    failing = a_failure("KeyError: a", call_id="c1")

    assert failure_marks(failing, (BUILD,)) == (failing.digest, "d-make", "keyerror")
    assert failure_marks(a_failure("bad", call_id=None), (BUILD,))[1:] == ()
