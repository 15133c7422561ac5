"""Windows: who is taken, who is swept along, what fits, and what identifies it all."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.contracts import (
    Completeness,
    Continuation,
    EvidenceRef,
    ExtractL1Request,
    Limits,
    Role,
    RunError,
    Use,
)
from governance.formation.errors import ParameterFault
from governance.formation.windows import (
    Window,
    coverage,
    evidence_digest,
    mismatch,
    packet,
    packet_of,
    snapshot_digest,
    source_of,
    window,
    window_digest,
)
from recall.canonical import text_digest
from tests.support.noting import SCOPE, STREAM, a_message, a_request, a_tool, truncated


def opened(request: ExtractL1Request, start: int = 0) -> Window:
    found = window(request, start)
    assert isinstance(found, Window)
    return found


def sized(*lengths: int, most: int, **fields: Any) -> ExtractL1Request:
    messages = [a_message(number, "x" * length) for number, length in enumerate(lengths)]
    return a_request(*messages, limits=Limits(max_input_chars=most), **fields)


def test_tools_and_blank_messages_are_swept_along() -> None:
    request = a_request(a_message(0), a_tool(1), a_message(2, " \n"), a_message(3, role=Role.ASSISTANT), a_tool(4))
    assert opened(request) == Window(total=5, from_=0, through=5, new=(0, 3), background=(), tool_count=2, remaining=0)


def test_a_window_ends_before_the_first_message_that_it_did_not_take() -> None:
    request = a_request(a_message(0), a_tool(1), a_tool(2), a_message(3), a_message(4), max_new_messages=1)
    first = opened(request)
    assert (first.through, first.tool_count, first.remaining) == (3, 2, 2)
    second = opened(request, first.through)
    assert (second.new, second.background, second.through) == ((3,), (0,), 4)


def test_background_is_what_was_said_just_before() -> None:
    messages = [a_message(0), a_message(1), a_tool(2), a_message(3), a_message(4, " "), a_message(5)]
    assert opened(a_request(*messages, max_background_messages=2), 5).background == (1, 3)
    assert opened(a_request(*messages, max_background_messages=0), 5).background == ()
    assert opened(a_request(*messages), 5).background == (0, 1, 3)


def test_background_goes_first_and_its_oldest_before_the_others() -> None:
    assert opened(sized(4, 3, 2, 10, most=15), 3).background == (1, 2)
    assert opened(sized(4, 3, 2, 10, most=14), 3).background == (2,)
    assert opened(sized(1, 5, 2, 10, most=13), 3).background == (2,)  # a smaller one behind it is older
    assert opened(sized(4, 3, 2, 10, most=10), 3).background == ()


def test_then_the_last_new_messages_go_whole_and_open_the_next_window() -> None:
    request = sized(1, 6, 6, 6, most=14)
    first = opened(request, 1)
    assert (first.new, first.background, first.through, first.remaining) == ((1, 2), (), 3, 1)
    assert opened(request, first.through).new == (3,)


def test_one_message_that_is_too_long_is_named_and_nothing_is_cut() -> None:
    error = window(sized(3, 15, most=14), 1)
    assert isinstance(error, RunError) and error.code == "message-over-budget" and "m1" in error.problem
    assert opened(sized(3, 15, most=14)).new == (0,)


def test_nothing_to_send_ends_the_conversation() -> None:
    for messages in ([], [a_tool(0), a_message(1, "\t")]):
        found = opened(a_request(*messages))
        assert (found.new, found.through, found.remaining) == ((), len(messages), 0)


@given(st.lists(st.sampled_from("uatb"), max_size=40), st.integers(1, 5), st.integers(0, 4), st.integers(6, 40))
def test_windows_cover_each_message_exactly_once(kinds: list[str], new: int, background: int, most: int) -> None:
    roles = {"u": Role.USER, "a": Role.ASSISTANT, "t": Role.TOOL, "b": Role.USER}
    messages = [
        a_message(place, " " if kind == "b" else "said" + "!" * (place % 3), roles[kind])
        for place, kind in enumerate(kinds)
    ]
    limits = Limits(max_input_chars=most)
    request = a_request(*messages, max_new_messages=new, max_background_messages=background, limits=limits)
    taken: list[int] = []
    place = 0
    while True:
        found = opened(request, place)
        taken += found.new
        shown = [*found.background, *found.new]
        assert sum(len(messages[one].content) for one in shown) <= most
        assert len(found.new) <= new and len(found.background) <= background
        assert found.from_ == place and all(one < place for one in found.background)
        place = found.through
        if not found.remaining:
            break
    assert taken == [one for one, kind in enumerate(kinds) if kind in "ua"]
    assert place == len(messages)


def test_a_packet_shows_its_messages_in_their_order_with_their_use() -> None:
    request = a_request(a_message(0), a_tool(1), a_message(2, role=Role.ASSISTANT), a_message(3))
    shown = packet(request, opened(request, 2))
    assert [(one.message_id, one.index, one.use) for one in shown.sources] == [
        ("m0", 0, Use.BACKGROUND),
        ("m2", 2, Use.NEW),
        ("m3", 3, Use.NEW),
    ]
    assert (shown.scope_key, shown.stream_id) == (SCOPE, STREAM)
    assert shown.sources[0].hash == text_digest(request.messages[0].content)
    with pytest.raises(ParameterFault):
        packet_of(SCOPE, STREAM, [*shown.sources, shown.sources[0]])


def test_coverage_says_who_was_shown_and_what_was_cut() -> None:
    request = a_request(truncated(0, "old"), a_tool(1), truncated(2, "new"), a_message(3), max_new_messages=1)
    said = coverage(request, opened(request, 1))
    assert (said.new_ids, said.background_ids, said.truncated_ids) == (("m2",), ("m0",), ("m0", "m2"))
    assert (said.total, said.from_, said.through, said.tool_count, said.remaining) == (4, 1, 3, 1, 1)


def test_the_evidence_is_the_same_whatever_its_order_place_and_use() -> None:
    one, two = a_message(1), a_message(2)
    forth = [source_of(one, 0, Use.NEW), source_of(two, 1, Use.NEW)]
    back = [source_of(two, 7, Use.BACKGROUND), source_of(one, 9, Use.NEW)]
    assert evidence_digest(forth) == evidence_digest(back)
    several = (EvidenceRef(id="b", version=1), EvidenceRef(id="a", version=2))
    ways = [[source_of(a_message(1, evidence=refs), 0, Use.NEW)] for refs in (several, several[::-1])]
    assert evidence_digest(ways[0]) == evidence_digest(ways[1])


@pytest.mark.parametrize(
    "changed",
    [
        {"content": "Something else."},
        {"id": "m9"},
        {"role": Role.ASSISTANT},
        {"completeness": Completeness.TRUNCATED},
        {"evidence": (EvidenceRef(id="e", version=1),)},
        {"evidence": (EvidenceRef(id=f"{STREAM}#1", version=2),)},
        {"hash": "0" * 64},
    ],
)
def test_any_change_of_a_message_is_other_evidence(changed: dict[str, Any]) -> None:
    before = [source_of(a_message(1), 0, Use.NEW), source_of(a_message(2), 1, Use.NEW)]
    after = [source_of(msgspec.structs.replace(a_message(1), **changed), 0, Use.NEW), before[1]]
    assert evidence_digest(before) != evidence_digest(after)
    assert evidence_digest(before[:1]) != evidence_digest(before)
    assert snapshot_digest([a_message(1)]) != snapshot_digest([msgspec.structs.replace(a_message(1), **changed)])


def test_a_cut_piece_of_evidence_cuts_its_message() -> None:
    cut = EvidenceRef(id="e", version=1, completeness=Completeness.TRUNCATED)
    assert source_of(a_message(1, evidence=(cut,)), 0, Use.NEW).completeness is Completeness.TRUNCATED


def test_the_settings_of_the_window_are_told_by_a_digest() -> None:
    plain = a_request(a_message(1))
    assert window_digest(plain) == window_digest(a_request(a_message(2), run_id="r9"))
    for other in (
        a_request(max_new_messages=19),
        a_request(max_background_messages=4),
        a_request(limits=Limits(max_input_chars=1)),
    ):
        assert window_digest(other) != window_digest(plain)


def test_a_continuation_of_another_run_names_its_field() -> None:
    names = Continuation.__struct_fields__
    given_one = Continuation(**{name: 3 if name == "next_index" else name for name in names})
    assert mismatch(given_one, given_one) is None
    for name, shown in zip(names, Continuation.__struct_encode_fields__, strict=True):
        other = msgspec.structs.replace(given_one, **{name: 4 if name == "next_index" else "other"})
        assert mismatch(other, given_one) == (None if name == "next_index" else shown)
