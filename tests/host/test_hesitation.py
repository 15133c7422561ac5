"""Hesitation is measured from repeated calls and repeated reads."""

import pytest

from host.hesitation import hesitation
from recall.contracts import Segment, SegmentKind
from tests.support.builders import a_segment


def a_call(number: int, args: str, tool: str = "shell", path: str | None = None) -> Segment:
    return a_segment(f"call {number}", kind=SegmentKind.CALL, event_seq=number, args_digest=args, tool=tool, path=path)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([], 0.0),
        ([a_call(1, "a"), a_call(2, "b")], 0.0),
        ([a_call(1, "a"), a_call(2, "a")], 1 / 3),
        ([a_call(n, "a") for n in range(1, 9)], 1.0),
        ([a_call(1, "a", "read", "/f"), a_call(2, "b", "read", "/f")], 1 / 6),
        ([a_call(1, "a", "edit", "/f"), a_call(2, "b", "edit", "/f")], 0.0),
    ],
)
def test_repetition_is_hesitation(calls: list[Segment], expected: float) -> None:
    assert hesitation(calls) == pytest.approx(expected)


def test_what_lies_far_back_is_forgotten() -> None:
    calls = [a_call(1, "a"), *(a_call(n, f"other-{n}") for n in range(2, 30)), a_call(30, "a")]

    assert hesitation(calls) == 0.0
