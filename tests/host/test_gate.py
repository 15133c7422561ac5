import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.contracts import Decision, GateMode, GateState, Intent, Reason, Silence, Window
from host.cue import build_cue
from host.gate import Gated, GatePolicy, closed, decide, is_acknowledgement, settle
from host.gate_signals import SIGNALS
from recall.contracts import Segment, SegmentKind, SourceKind
from tests.support.builders import a_failure, a_packet, a_scope, a_segment, a_window

POLICY = GatePolicy()
FRESH = GateState()
CASES = Path(__file__).parents[1] / "data" / "cases"
ROUTINE = a_segment("3 passed", kind=SegmentKind.RESULT, ok=True, tool="shell", source_kind=SourceKind.TOOL)
CALL = a_segment("make", kind=SegmentKind.CALL, tool="shell", args_digest="d-make", call_id="c1", entities=("make",))
FAILS = a_failure("make: error 2", call_id="c1", event_seq=2)
PUSH = a_segment("git push --force", kind=SegmentKind.CALL, tool="shell", source_kind=SourceKind.AGENT)
REPLY = a_segment("I will look at the parser.", kind=SegmentKind.REPLY, source_kind=SourceKind.AGENT)


def gated(segment: Segment | None, state: GateState = FRESH, **window: Any) -> Gated:
    return decide(state, a_window(**window), segment, POLICY)


def check(segment: Segment | None, expected: Reason | Intent, **window: Any) -> None:
    answer = gated(segment, **window).answer
    assert (answer.reason if isinstance(answer, Silence) else answer.intent) == expected


def acknowledgements() -> list[str]:
    case = json.loads((CASES / "gate-acknowledgements.json").read_text())
    return [*case["when"]["prompts"], "继续", "[image]", "yes please, go ahead"]


@pytest.mark.promise("gate-suppresses")
@pytest.mark.promise("field-cases")
@pytest.mark.parametrize("text", acknowledgements())
def test_an_acknowledgement_is_an_empty_signal(text: str) -> None:
    check(a_segment(text), Reason.EMPTY_SIGNAL)


@pytest.mark.promise("gate-suppresses")
@pytest.mark.parametrize(
    ("segment", "window", "reason"),
    [
        (a_segment(), {"scope": a_scope(session_id="")}, Reason.NO_OWNER),
        (a_segment(), {"scope": a_scope(agent_id="")}, Reason.NO_OWNER),
        (a_segment(), {"disposed": True}, Reason.DISPOSED),
        (a_segment(), {"subagent": True}, Reason.SUBAGENT),
        (None, {}, Reason.NO_SEGMENT),  # an empty prompt
        (a_segment(session_id="another"), {}, Reason.NO_OWNER),
        (ROUTINE, {}, Reason.UNSUPPORTED_TRIGGER),
        (a_failure(ok=None), {}, Reason.UNSUPPORTED_TRIGGER),
        (CALL, {}, Reason.UNSUPPORTED_TRIGGER),
        (a_segment("[task-notification]", source_kind=SourceKind.TOOL), {}, Reason.MACHINE_AUTHORED),
        (a_segment("the and of"), {}, Reason.EMPTY_SIGNAL),
        (a_segment(), {"recent": (a_segment(event_seq=9),)}, Reason.DUPLICATE_CONTEXT),
        (a_segment(), {"muted": True}, Reason.USER_MUTED),
        (a_segment(), {"incognito": True}, Reason.INCOGNITO),
        (a_segment(), {"surface": False}, Reason.NO_SURFACE),
    ],
)
def test_each_hard_rule_has_its_reason(segment: Segment | None, window: dict[str, Any], reason: Reason) -> None:
    check(segment, reason, **window)


def test_the_first_hard_rule_that_holds_is_the_reason() -> None:
    worst: dict[str, Any] = {
        "scope": a_scope(session_id=""),
        "disposed": True,
        "subagent": True,
        "muted": True,
        "incognito": True,
        "surface": False,
    }
    better: dict[str, Any] = {"scope": a_scope(), "disposed": False, "subagent": False}
    machine = a_segment("ok", source_kind=SourceKind.TOOL)

    check(None, Reason.NO_OWNER, **worst)
    check(None, Reason.DISPOSED, **worst | {"scope": a_scope()})
    check(None, Reason.SUBAGENT, **worst | {"scope": a_scope(), "disposed": False})
    check(None, Reason.NO_SEGMENT, **worst | better)
    check(ROUTINE, Reason.UNSUPPORTED_TRIGGER, **worst | better)
    check(machine, Reason.MACHINE_AUTHORED, **worst | better)
    check(a_segment("ok"), Reason.EMPTY_SIGNAL, **worst | better)
    check(a_segment(), Reason.USER_MUTED, **worst | better)
    check(a_segment(), Reason.INCOGNITO, **worst | better | {"muted": False})
    check(a_segment(), Reason.NO_SURFACE, **worst | better | {"muted": False, "incognito": False})


def test_a_seed_pass_asks_the_rules_that_need_no_segment() -> None:
    assert closed(a_window()) is None
    assert closed(a_window(subagent=True, surface=False)) is Reason.SUBAGENT
    assert closed(a_window(incognito=True, surface=False)) is Reason.INCOGNITO


@pytest.mark.promise("gate-retrieves")
@pytest.mark.parametrize(
    ("segment", "window", "named"),
    [
        (FAILS, {"recent": (CALL,)}, "tool-failure"),
        (FAILS, {"recent": (CALL,), "failures": (FAILS.digest,)}, "repeated-failure"),
        (a_failure("[no output]"), {}, "tool-failure"),
        (a_segment("what did we decide about X?"), {}, "explicit-request"),
        (a_segment("do you remember?"), {}, "explicit-request"),
        (a_segment("不对，应该用 pnpm"), {}, "correction"),
        (a_segment("yes, use pnpm instead"), {}, "correction"),
        (a_segment("speed up recall/rank.py", entities=("recall/rank.py",)), {"first_prompt": True}, "first-prompt"),
        (a_segment("speed up the parser"), {}, "prompt"),
        (REPLY, {}, "intention"),
        (a_segment("All tests pass.", kind=SegmentKind.REPLY, source_kind=SourceKind.AGENT), {}, "reply"),
        (REPLY, {"hesitation": 1.0}, "hesitation"),
        (PUSH, {}, "intention"),
        (REPLY, {"recent": (CALL, FAILS)}, "unresolved-need"),
    ],
)
def test_the_three_kinds_retrieve_without_being_asked(segment: Segment, window: dict[str, Any], named: str) -> None:
    result = gated(segment, **window)

    assert isinstance(result.answer, Decision)
    assert result.answer.intent is Intent.RETRIEVE
    assert result.score >= 0.80
    assert result.answer.reason == named
    assert result.state.mode is GateMode.ARMED
    assert result.answer.cue == build_cue(segment, a_window(**window))


def test_the_same_failure_again_retrieves_even_after_a_pass_that_found_nothing() -> None:
    first = gated(FAILS, recent=(CALL,))
    assert isinstance(first.answer, Decision)
    quiet = settle(first.state, Silence(reason=Reason.NO_CONFIDENT_HIT), first.answer.cue.retrieval_key, 2, POLICY)

    again = gated(a_failure("make: error 2", call_id="c1", event_seq=4, context_version=3), quiet, recent=(CALL, FAILS))

    assert isinstance(again.answer, Decision)
    assert again.answer.cue.retrieval_key == first.answer.cue.retrieval_key
    assert (again.answer.intent, again.answer.reason) == (Intent.RETRIEVE, "repeated-failure")


def test_a_call_that_resembles_a_failed_one_is_prefetched_and_never_more() -> None:
    alike = a_segment("make all", kind=SegmentKind.CALL, tool="shell", args_digest="x", entities=("make",), event_seq=3)

    result = gated(alike, recent=(CALL, FAILS), hesitation=1.0)

    assert isinstance(result.answer, Decision)
    assert result.answer.intent is Intent.PREFETCH
    assert result.state.mode is GateMode.PREFETCH


@pytest.mark.promise("gate-retrieves")
def test_a_call_that_failed_and_is_made_again_as_it_was_is_looked_up() -> None:
    again = msgspec.structs.replace(CALL, id="again", event_seq=3, context_version=3)

    result = gated(again, recent=(CALL, FAILS))

    assert isinstance(result.answer, Decision)
    assert (result.answer.intent, result.answer.reason) == (Intent.RETRIEVE, "repeated-failure")
    assert result.score >= 0.80


def test_between_the_thresholds_the_latch_decides() -> None:
    alike = a_segment("make all", kind=SegmentKind.CALL, tool="shell", args_digest="x", entities=("make",), event_seq=3)
    bounds: dict[str, Any] = {
        "recent": (CALL, FAILS, a_failure("ls", ok=True, tool="shell"))
    }  # a success in between: need met

    off, on = gated(alike, **bounds), gated(alike, GateState(latch=True), **bounds)

    assert 0.42 <= off.score < 0.55
    assert isinstance(off.answer, Silence) and off.answer.reason is Reason.BELOW_THRESHOLD and not off.state.latch
    assert isinstance(on.answer, Decision) and on.answer.intent is Intent.PREFETCH and on.state.latch


def test_the_latch_goes_on_with_a_need_and_off_when_nothing_stands_open() -> None:
    on = gated(FAILS, recent=(CALL,)).state

    hesitating = gated(ROUTINE, on, recent=(FAILS, a_failure(tool="read", ok=True)), hesitation=1.0).state
    calm = gated(ROUTINE, on).state

    assert (on.latch, hesitating.latch, calm.latch) == (True, True, False)


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        (Reason.NO_CONFIDENT_HIT, GateState(mode=GateMode.COOLDOWN, quiet_need="key", quiet_until=12)),
        (Reason.NO_CANDIDATES, GateState(mode=GateMode.COOLDOWN, quiet_need="key", quiet_until=12)),
        (Reason.ALREADY_VISIBLE, GateState(mode=GateMode.COOLDOWN, quiet_need="key", quiet_until=12)),
        (Reason.SUPERSEDED, GateState(mode=GateMode.NORMAL)),
        (Reason.FAULT, GateState(mode=GateMode.NORMAL)),
    ],
)
def test_a_pass_without_a_packet_quiets_its_need_only_if_it_looked(reason: Reason, state: GateState) -> None:
    assert settle(GateState(mode=GateMode.ARMED), Silence(reason=reason), "key", 10, POLICY) == state


def test_a_packet_quiets_its_need_for_about_two_steps() -> None:
    state = settle(GateState(mode=GateMode.ARMED, latch=True), a_packet(), "key", 10, POLICY)

    assert state == GateState(mode=GateMode.ARMED, latch=True, quiet_need="key", quiet_until=16)


def test_a_prefetch_quiets_nothing() -> None:
    state = GateState(mode=GateMode.PREFETCH)

    assert settle(state, Silence(reason=Reason.PREFETCHED), "key", 10, POLICY) == state
    assert settle(state, Silence(reason=Reason.NO_CANDIDATES), "key", 10, POLICY) == state


def cooled(segment: Segment, version: int = 10, **window: Any) -> Gated:
    key = build_cue(segment, a_window(**window)).retrieval_key
    quiet = GateState(mode=GateMode.COOLDOWN, quiet_need=key, quiet_until=12)
    return gated(msgspec.structs.replace(segment, context_version=version), quiet, **window)


def test_cooldown_blocks_the_same_need_and_no_other() -> None:
    same, other = cooled(a_segment("speed up the parser")), gated(a_segment("fix the lexer"), GateState(quiet_need="k"))

    assert isinstance(same.answer, Silence) and same.answer.reason is Reason.COOLDOWN
    assert isinstance(other.answer, Decision)


def test_cooldown_ends() -> None:
    result = cooled(a_segment("speed up the parser"), version=13)

    assert isinstance(result.answer, Decision)
    assert result.state.quiet_need == ""


@pytest.mark.parametrize(
    ("segment", "window"),
    [
        (a_segment("what did we decide about the parser?"), {}),
        (FAILS, {"recent": (CALL,)}),
        (a_segment("speed up the parser"), {"first_prompt": True}),
    ],
)
def test_a_request_a_failure_and_a_new_task_pass_the_cooldown(segment: Segment, window: dict[str, Any]) -> None:
    assert isinstance(cooled(segment, **window).answer, Decision)


def test_every_signal_has_a_weight_and_every_weight_a_signal() -> None:
    assert [name for name, _ in POLICY.weights] == list(SIGNALS)
    assert POLICY.id == "gate_pre_v3"


def test_acknowledgements_are_a_question_that_others_may_ask() -> None:
    assert is_acknowledgement("ok") and not is_acknowledgement("use pnpm")


segments = st.builds(
    a_segment,
    st.text(max_size=80) | st.sampled_from(["ok", "KeyError: x", "what did we decide?", "不对，应该用 pnpm"]),
    kind=st.sampled_from(list(SegmentKind)),
    ok=st.sampled_from([True, False, None]),
    tool=st.sampled_from(["shell", "read", None]),
    args_digest=st.sampled_from(["d-make", "d-ls", None]),
    call_id=st.sampled_from(["c1", "c2", None]),
    source_kind=st.sampled_from(list(SourceKind)),
    entities=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    context_version=st.integers(1, 20),
    path=st.sampled_from(["a.py", None]),
)
windows = st.builds(
    a_window,
    recent=st.lists(segments, max_size=5).map(tuple),
    first_prompt=st.booleans(),
    muted=st.booleans(),
    surface=st.booleans(),
    failures=st.sampled_from([(), ("d-make", "keyerror")]),
    hesitation=st.floats(),
)
states = st.builds(
    GateState,
    mode=st.sampled_from(list(GateMode)),
    latch=st.booleans(),
    quiet_until=st.integers(0, 20),
    quiet_need=st.sampled_from(["", "key"]),
)


@given(states, windows, segments)
def test_any_segment_gets_one_answer_with_a_score_in_bounds(state: GateState, window: Window, segment: Segment) -> None:
    result = decide(state, window, segment, POLICY)

    assert result == decide(state, window, segment, POLICY)
    assert 0 <= result.score <= 1
    assert all(0 <= value <= 1 for value in result.signals.values())
    if isinstance(result.answer, Decision):
        assert result.score >= POLICY.off
        assert result.answer.intent is Intent.PREFETCH or result.score >= POLICY.retrieve


@given(states, windows, segments)
def test_a_trigger_that_no_hard_rule_stops_scores_enough(state: GateState, window: Window, segment: Segment) -> None:
    result = decide(state, window, segment, POLICY)

    if result.signals.get("trigger"):
        assert result.score >= POLICY.retrieve
