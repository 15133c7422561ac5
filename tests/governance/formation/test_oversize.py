"""Long input made shorter: who loses what, what stays, and what cannot be done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.contracts import Completeness
from governance.formation.errors import ParameterFault
from governance.formation.oversize import (
    GAP,
    LEAST,
    Shortened,
    Strategy,
    apply_oversize_strategy,
    compress_message,
    compress_messages,
)
from recall.canonical import text_digest
from tests.support.noting import a_message

LONG = "".join(f"word{number} " for number in range(400))


def test_what_fits_is_left_as_it_is() -> None:
    message = a_message(1, "x" * 256)
    assert compress_message(message, 256) is message


def test_head_and_tail_stay_around_a_line_that_says_what_is_missing() -> None:
    message = a_message(1, LONG)
    cut = compress_message(message, 300)
    gap = GAP.search(cut.content)
    assert gap is not None
    head, tail = cut.content.split(f"\n{gap[0]}\n")
    assert LONG.startswith(head) and LONG.endswith(tail)
    assert int("".join(filter(str.isdecimal, gap[0]))) == len(LONG) - len(head) - len(tail)
    assert abs(len(head) - 2 * len(tail)) <= 2
    assert len(cut.content) <= 300
    assert (cut.completeness, cut.hash) == (Completeness.TRUNCATED, text_digest(LONG))
    assert (cut.id, cut.evidence, cut.role, cut.timestamp) == (
        message.id,
        message.evidence,
        message.role,
        message.timestamp,
    )


def test_a_message_cut_twice_keeps_the_digest_of_the_whole() -> None:
    assert compress_message(compress_message(a_message(1, LONG), 900), 300).hash == text_digest(LONG)


@given(st.text(alphabet="ab 字🙂\n", min_size=257, max_size=3000), st.integers(LEAST, 2000))
def test_no_message_is_longer_than_asked(content: str, most: int) -> None:
    assert len(compress_message(a_message(1, content), most).content) <= most


def test_the_largest_gives_first_and_no_more_than_is_missing() -> None:
    messages = [a_message(1, "a" * 500), a_message(2, "b" * 900), a_message(3, "c" * 900), a_message(4, "d" * 100)]
    fitted = compress_messages(messages, max_total=1900, max_each=800)
    assert [one.id for one in fitted.shortened] == ["m2", "m3"]
    assert [one.before for one in fitted.shortened] == [900, 900]
    assert sum(len(one.content) for one in fitted.messages) <= 1900
    assert len(fitted.messages[2].content) > 700  # the tie went to the earlier one
    assert fitted.messages[0] is messages[0] and fitted.messages[3] is messages[3]


def test_what_cannot_fit_is_over_budget() -> None:
    with pytest.raises(ParameterFault) as fault:
        compress_messages([a_message(number, "x" * 400) for number in range(4)], max_total=1023, max_each=400)
    assert fault.value.code == "over-budget"
    assert len(compress_messages([a_message(n, "x" * 400) for n in range(4)], 1024, 400).shortened) == 4


@pytest.mark.parametrize("most", [255, 0, -1])
def test_too_little_room_is_refused(most: int) -> None:
    for act in (lambda: compress_message(a_message(1), most), lambda: compress_messages([], 10_000, most)):
        with pytest.raises(ParameterFault) as fault:
            act()
        assert fault.value.code == "limits-out-of-range"


def test_to_fail_lists_the_ids_and_nothing_is_lost() -> None:
    messages = [a_message(1), a_message(2, LONG), a_message(3, LONG)]
    with pytest.raises(ParameterFault, match="m2, m3") as fault:
        apply_oversize_strategy(messages, 300)
    assert fault.value.code == "message-over-budget"
    assert apply_oversize_strategy(messages, 10_000).messages == tuple(messages)


def test_to_compress_and_to_skip_say_what_they_did() -> None:
    messages = [a_message(1), a_message(2, LONG)]
    cut = apply_oversize_strategy(messages, 300, Strategy.COMPRESS)
    assert cut.shortened == (Shortened(id="m2", before=len(LONG), after=len(cut.messages[1].content)),)
    skipped = apply_oversize_strategy(messages, 300, Strategy.SKIP)
    assert ([one.id for one in skipped.messages], skipped.left_out) == (["m1"], ("m2",))
