"""Chunks: whole turns, speech that is never cut, and payloads that say that they are shown in part."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from governance.team.chunking import CHUNK_BYTES, LONE_TURN_BYTES, chunked, coverage, fitted
from governance.team.contracts.turns import TurnContent
from tests.support.team_recall import a_tool, a_turn, an_event, filling


def sizes(*contents: TurnContent) -> list[list[int]]:
    return [[one.turn.place for one in chunk] for chunk in chunked(contents).chunks]


def test_turns_are_put_together_until_the_next_would_not_fit() -> None:
    half = CHUNK_BYTES // 2
    turns = [a_turn(place, an_event("user", "x" * size, place)) for place, size in enumerate([half, half, 1, half])]
    assert sizes(*turns) == [[0, 1], [2, 3]]


def test_a_turn_that_fills_a_chunk_is_one_and_a_byte_more_is_still_whole() -> None:
    over = a_turn(1, an_event("user", "u" * (CHUNK_BYTES + 1), 10))
    assert sizes(filling(0), over, a_turn(2)) == [[0], [1], [2]]
    (_, shown, _) = (chunk[0] for chunk in chunked([filling(0), over, a_turn(2)]).chunks)
    assert not any(part.cut for part in shown.parts)


def test_the_largest_payload_is_cut_first_and_no_more_than_needed() -> None:
    small, large = "s" * 10_000, "l" * 60_000
    shown = fitted(a_turn(0, an_event("user", "go", 1), a_tool(small, 2), a_tool(large, 3)))
    assert shown is not None
    assert [part.cut for part in shown.parts] == [False, False, True]
    assert shown.parts[1].text == small
    head, note, tail = shown.parts[2].text.split("\n")
    assert (head, tail) == ("l" * 1024, "l" * 1024)
    assert "57952 bytes" in note
    assert shown.size == 2 + 10_000 + 2048


def test_equal_payloads_are_cut_from_the_first_on() -> None:
    shown = fitted(a_turn(0, *(a_tool("p" * 25_000, number) for number in range(3))))
    assert shown is not None
    assert [part.cut for part in shown.parts] == [True, True, False]


def test_a_payload_of_2048_bytes_is_never_cut() -> None:
    whole = [a_tool("p" * 2048, number) for number in range(30)]
    shown = fitted(a_turn(0, *whole))
    assert shown is not None
    assert not any(part.cut for part in shown.parts)
    assert shown.size == 30 * 2048  # more than a chunk: it has one of its own
    just = fitted(a_turn(0, an_event("user", "u" * CHUNK_BYTES, 1), a_tool("p" * 2049, 2)))
    assert just is not None
    assert just.parts[1].cut
    assert just.size == CHUNK_BYTES + 2048


def test_a_cut_leaves_whole_characters() -> None:
    shown = fitted(a_turn(0, a_tool("字" * 20_000, 1)))
    assert shown is not None
    head, _, tail = shown.parts[0].text.split("\n")
    assert set(head) == set(tail) == {"字"}
    assert len(head.encode()) <= 1024 and len(tail.encode()) <= 1024


def test_speech_has_a_chunk_of_its_own_up_to_a_bound_and_is_named_above_it() -> None:
    fits = a_turn(0, an_event("user", "u" * LONE_TURN_BYTES, 1))
    over = a_turn(1, an_event("assistant", "a" * (LONE_TURN_BYTES + 1), 10))
    found = chunked([fits, over, a_turn(2)])
    assert [[one.turn.place for one in chunk] for chunk in found.chunks] == [[0], [2]]
    assert [turn.place for turn in found.too_large] == [1]


def test_a_turn_of_countless_empty_texts_is_too_large() -> None:
    events = [an_event("assistant", "", number) for number in range(20_000)]
    assert fitted(a_turn(0, *events)) is None


def test_coverage_names_each_turn_and_each_text_that_is_not_whole() -> None:
    contents = [a_turn(3), a_turn(4, an_event("user", "go", 1), a_tool("l" * 60_000, 2))]
    ((first, second),) = chunked(contents).chunks
    found = coverage([first, second])
    assert [(one.kind, one.ref, one.completeness) for one in found] == [
        ("turn", "3", "full"),
        ("turn", "4", "truncated"),
        ("tool-result", "4.2", "truncated"),
    ]
    assert [one.bytes for one in found[1:]] == [60_002, 60_000]


def test_a_text_that_the_log_cut_is_said_to_be_truncated() -> None:
    cut = msgspec.structs.replace(an_event("user", "the beginning of", 1), whole=False)
    ((shown,),) = chunked([a_turn(0, cut)]).chunks
    assert [one.completeness for one in coverage([shown])] == ["truncated", "truncated"]


def test_a_half_of_a_surrogate_pair_breaks_nothing() -> None:
    shown = fitted(a_turn(0, an_event("user", "half \ud83d of one", 1, digest="d" * 64)))
    assert shown is not None
    assert shown.parts[0].text == "half ? of one"


@given(st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 50_000)), min_size=1, max_size=4), max_size=8))
def test_every_turn_is_in_one_chunk_in_order_and_speech_is_whole(turns: list[list[tuple[bool, int]]]) -> None:
    contents = [
        a_turn(
            place,
            *(
                an_event("tool-result" if tool else "assistant", "t" * size, place * 10 + number)
                for number, (tool, size) in enumerate(events)
            ),
        )
        for place, events in enumerate(turns)
    ]
    found = chunked(contents)
    shown = [one for chunk in found.chunks for one in chunk]
    assert [one.turn.place for one in shown] == list(range(len(turns)))  # none of these is too large
    for chunk in found.chunks:
        assert len(chunk) == 1 or sum(one.size for one in chunk) <= CHUNK_BYTES
    for one, content in zip(shown, contents, strict=True):
        for part, event in zip(one.parts, content.events, strict=True):
            assert part.text == event.text or (part.kind == "tool-result" and part.cut and part.bytes > 2048)
