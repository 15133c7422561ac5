"""The need gate's signals (C-03): each looks at a segment and its window and says how much, in [0, 1]. Pure.

A signal is one function and one line in `SIGNALS`; its weight stands in the gate's policy.
"""

from collections.abc import Callable, Sequence

from host.contracts import Window
from host.gate_words import asks_to_recall, corrects, error_classes, intends, risky
from recall.contracts import Segment, SegmentKind

TRIGGER = "trigger"
MUCH_ALIKE = 0.75  # a call that resembles one that failed, where 1 is the same call
FAILURES_COMPARED = 8
HARMLESS = frozenset({"read", "search", "web", "edit", "write", "agent", "todo"})  # tools that can be taken back


def trigger(segment: Segment, window: Window) -> float:
    """1 for what is looked up for its own sake: a prompt, a failing result, a reply; of calls one that is hard to take
    back, and one that failed before and is made again as it was."""
    if segment.kind is SegmentKind.CALL:
        return float(_risky(segment) or repeated_failure(segment, window) == 1.0)
    return float(segment.kind in (SegmentKind.PROMPT, SegmentKind.REPLY) or _fails(segment))


def explicit_request(segment: Segment, window: Window) -> float:
    """1: the user asks what was said, decided or done before."""
    return float(segment.kind is SegmentKind.PROMPT and asks_to_recall(segment.text))


def repeated_failure(segment: Segment, window: Window) -> float:
    """1: a failing result with an error or a call that failed before, or that call about to be made again. Less: a
    call of the same tool that names the same things."""
    if _fails(segment):
        earlier = [one for one in window.recent if _fails(one)][-FAILURES_COMPARED:]
        known = set(window.failures).union(*(failure_marks(one, window.recent) for one in earlier))
        return float(not known.isdisjoint(failure_marks(segment, window.recent)))
    if segment.kind is SegmentKind.CALL:
        if segment.args_digest is not None and segment.args_digest in window.failures:
            return 1.0
        return max((likeness(segment, call) for call in _failed_calls(window.recent)), default=0.0)
    return 0.0


def correction(segment: Segment, window: Window) -> float:
    """1: the user says that something is wrong, or wants something else instead."""
    return float(segment.kind is SegmentKind.PROMPT and corrects(segment.text))


def intention(segment: Segment, window: Window) -> float:
    """1: a reply that says what the agent does next, and a call that is hard to take back."""
    if segment.kind is SegmentKind.REPLY:
        return float(intends(segment.text))
    return float(_risky(segment))


def tool_failure(segment: Segment, window: Window) -> float:
    """1: the host says that this call failed."""
    return float(_fails(segment))


def unresolved_need(segment: Segment, window: Window) -> float:
    """1: a failure stands in the window and no later success of its tool."""
    succeeded: set[str | None] = set()
    for one in reversed(window.recent):
        if _fails(one) and one.tool not in succeeded:
            return 1.0
        if one.kind is SegmentKind.RESULT and one.ok:
            succeeded.add(one.tool)
    return 0.0


def hesitation(segment: Segment, window: Window) -> float:
    """How much the agent repeats, varies, undoes and doubts, as `host/hesitation.py` counts it."""
    return window.hesitation


def first_prompt(segment: Segment, window: Window) -> float:
    """1: the first prompt of a session, or after a compaction."""
    return float(window.first_prompt and segment.kind is SegmentKind.PROMPT)


Signal = Callable[[Segment, Window], float]
SIGNALS: dict[str, Signal] = {
    TRIGGER: trigger,
    "explicit-request": explicit_request,
    "repeated-failure": repeated_failure,
    "correction": correction,
    "tool-failure": tool_failure,
    "intention": intention,
    "unresolved-need": unresolved_need,
    "hesitation": hesitation,
    "first-prompt": first_prompt,
}


def failure_marks(segment: Segment, recent: Sequence[Segment]) -> tuple[str, ...]:
    """What a failing result is known by when it comes again: its text, the call it answers, the errors it names."""
    calls = [call.args_digest for call in recent if _answers(segment, call) and call.args_digest is not None]
    return (segment.digest, *calls, *error_classes(segment.text))


def _risky(call: Segment) -> bool:
    """A call that is hard to take back: by the command in a shell, by its name where the tool is the host's own."""
    if call.kind is not SegmentKind.CALL or call.tool is None or call.tool in HARMLESS:
        return False
    return risky(call.text if call.tool == "shell" else call.tool)


def _fails(segment: Segment) -> bool:
    return segment.kind is SegmentKind.RESULT and segment.ok is False


def _answers(result: Segment, call: Segment) -> bool:
    return call.kind is SegmentKind.CALL and result.call_id is not None and call.call_id == result.call_id


def _failed_calls(recent: Sequence[Segment]) -> list[Segment]:
    failed = [one for one in recent if _fails(one)]
    return [call for call in recent if any(_answers(one, call) for one in failed)]


def likeness(call: Segment, failed: Segment) -> float:
    """How much a call is one that failed: the same, much alike (same tool, same path or mostly the same names), not."""
    if call.tool != failed.tool:
        return 0.0
    if call.args_digest is not None and call.args_digest == failed.args_digest:
        return 1.0
    one, other = set(call.entities), set(failed.entities)
    same_path = call.path is not None and call.path == failed.path
    return MUCH_ALIKE if same_path or (one and len(one & other) * 2 >= len(one | other)) else 0.0
