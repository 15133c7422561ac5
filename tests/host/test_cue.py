"""The cue: what a pass asks of the window of its segment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.cue import asks, build_cue, seed_cue
from recall.contracts import Segment, SegmentKind, SourceKind
from tests.support.builders import a_failure, a_scope, a_segment, a_window


def a_call(text: str, call_id: str, seq: int) -> object:
    return a_segment(text, kind=SegmentKind.CALL, source_kind=SourceKind.AGENT, call_id=call_id, event_seq=seq)


def test_the_window_is_the_event_the_two_before_it_and_the_call_it_answers() -> None:
    call = a_call("make gencall", "call-9", 1)
    recent = [call, *(a_segment(f"prompt{word}", event_seq=seq) for seq, word in enumerate(("one", "two", "three"), 2))]
    cue = build_cue(a_failure("exit boom", call_id="call-9", event_seq=9), a_window(recent=tuple(recent)))
    assert [part.text for part in cue.parts] == ["exit boom", "make gencall", "promptthree", "prompttwo"]
    assert set(cue.terms) == {"exit", "boom", "make", "gencal", "promptthre", "prompttwo"}


def test_a_call_that_is_among_the_two_before_counts_once() -> None:
    call = a_call("make gen", "call-9", 1)
    cue = build_cue(a_failure("boom", call_id="call-9", event_seq=2), a_window(recent=(call,)))
    assert [part.role for part in cue.parts] == ["result", "call"]


def test_the_trigger_weighs_most_and_the_rest_by_who_said_it() -> None:
    reply = a_segment("I will look", kind=SegmentKind.REPLY, source_kind=SourceKind.AGENT, event_seq=2)
    cue = build_cue(a_failure("boom", event_seq=3), a_window(recent=(a_segment("fix it", event_seq=1), reply)))
    assert [(part.role, part.weight) for part in cue.parts] == [("result", 1.0), ("reply", 0.2), ("prompt", 0.8)]


def test_the_focus_is_the_event_alone_and_comes_first_in_the_terms() -> None:
    cue = build_cue(a_segment("alpha beta", event_seq=2), a_window(recent=(a_segment("gamma alpha", event_seq=1),)))
    assert cue.focus == ("alpha", "beta")
    assert cue.terms == ("alpha", "beta", "gamma")


def test_the_same_need_has_the_same_key_wherever_it_comes_up() -> None:
    need, other = a_segment("alpha beta", event_seq=2), a_segment("alpha gamma", event_seq=2)
    again = build_cue(a_segment("beta alpha", event_seq=9), a_window(recent=(other,)))
    assert build_cue(need, a_window()).retrieval_key == again.retrieval_key
    assert build_cue(other, a_window()).retrieval_key != again.retrieval_key


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("How do we format API errors?", True),
        ("where do feature flags live", True),
        ("what did we decide about pnpm", True),
        ("So, which port is it?", True),
        ("remind me how the e2e suite runs", True),
        ("can you tell me where the flags live?", True),
        ("部署流程怎么走", True),
        ("这个接口为什么返回空值", True),
        ("Add an API error for missing users", False),
        ("lint is showing errors, can you take a look?", False),
        ("不对，应该用 pnpm", False),
        ("ok", False),
    ],
)
def test_a_prompt_that_asks_is_known_from_one_that_orders(text: str, question: bool) -> None:
    assert asks(a_segment(text)) is question


def test_only_a_persons_own_prompt_asks() -> None:
    assert not asks(a_segment("why?", source_kind=SourceKind.TOOL))
    assert not asks(a_segment("why?", kind=SegmentKind.REPLY, source_kind=SourceKind.AGENT))


def test_only_a_persons_own_prompt_corrects() -> None:
    said = "no, that is wrong: use the other one"
    assert build_cue(a_segment(said), a_window()).corrects
    assert not build_cue(a_segment("please use the other one"), a_window()).corrects
    assert not build_cue(a_segment(said, source_kind=SourceKind.TOOL), a_window()).corrects
    reply = a_segment(said, kind=SegmentKind.REPLY, source_kind=SourceKind.AGENT)
    assert not build_cue(reply, a_window()).corrects


def test_a_failing_result_brings_the_name_of_its_error_and_the_call_it_answers() -> None:
    text = "make seal: SealBrokenException: TypeError (TS2307)"
    call, other = a_call("make seal", "c1", 1), a_call("make other", "c2", 2)
    cue = build_cue(a_failure(text, call_id="c1", event_seq=3), a_window(recent=(call, other)))
    assert cue.errors == ("sealbrokenexcept", "ts2307"), "as terms; what only tells the sort of error is none"
    assert cue.act == ("make", "seal")
    assert set(cue.errors) <= set(cue.focus)


@pytest.mark.parametrize(
    "segment",
    [
        a_segment("SealBrokenError?"),
        a_segment("SealBrokenError", kind=SegmentKind.RESULT, ok=True, source_kind=SourceKind.TOOL),
        a_failure("seal check failed"),
    ],
    ids=["prompt", "no failure", "no name"],
)
def test_only_a_failing_result_that_names_its_error_brings_one(segment: Segment) -> None:
    cue = build_cue(segment, a_window(recent=(a_call("make seal", segment.call_id or "c", 1),)))
    assert (cue.errors, cue.act) == ((), ())


@given(st.text(alphabet="AbéR_語.E0123 ", max_size=90).map("{0}Error E_{0} {0}Exception".format))
def test_no_name_of_an_error_is_too_odd(text: str) -> None:
    assert all(build_cue(a_failure(text), a_window()).errors)


def test_a_seed_cue_asks_for_what_was_shown_and_what_the_session_was_about() -> None:
    view = (a_segment("alpha", event_seq=1), a_segment("beta", event_seq=2))
    cue = seed_cue(a_scope(), ("mem_2", "mem_1"), view)
    assert cue.memory_ids == ("mem_2", "mem_1")
    assert cue.terms == ("beta", "alpha")
    assert cue.focus == ()
    assert cue.segment_kind is None
    assert seed_cue(a_scope()).retrieval_key != cue.retrieval_key
