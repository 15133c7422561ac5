"""Hesitation is measured from what an agent repeats, varies, undoes and says."""

from typing import Any

import pytest

from host.hesitation import ENOUGH, WEIGHTS, hesitation, signs
from host.observer import GAP
from recall.contracts import Segment, SegmentKind
from tests.support.builders import a_failure, a_segment


def a_call(number: int, args: str, tool: str = "shell", path: str | None = None, **fields: Any) -> Segment:
    given = {"kind": SegmentKind.CALL, "event_seq": number, "args_digest": args, "tool": tool, "path": path} | fields
    return a_segment(f"call {number}", **given)


def shell(number: int, command: str, **fields: Any) -> Segment:
    named = tuple(command.split())
    given: dict[str, Any] = {"args_digest": command, "tool": "shell", "entities": named, "call_id": f"c{number}"}
    return a_segment(command, kind=SegmentKind.CALL, event_seq=number, **(given | fields))


def fails(number: int) -> Segment:
    """The failing result of the shell call with this number."""
    return a_failure(f"error {number}", call_id=f"c{number}", event_seq=100 + number)


def edit(number: int, old: str, new: str, path: str = "/w/a.py") -> Segment:
    text = f"{path}\n--- old\n{old}\n+++ new\n{new}"
    return a_segment(text, kind=SegmentKind.CALL, event_seq=number, args_digest=f"{old}>{new}", tool="edit", path=path)


def write(number: int, text: str) -> Segment:
    return a_segment(text, kind=SegmentKind.CALL, event_seq=number, args_digest=text, tool="write", path="/w/a.py")


def says(text: str) -> Segment:
    return a_segment(text, kind=SegmentKind.REPLY)


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


def check(expected: dict[str, int], *recent: Segment) -> None:
    assert signs(recent) == expected


def test_to_run_the_tests_after_an_edit_is_work_unless_they_failed_before() -> None:
    test, again = shell(1, "make test"), shell(3, "make test")

    check({}, test, edit(2, "x", "y"), again)
    check({"same-call": 1}, test, fails(1), edit(2, "x", "y"), again)
    check({"same-call": 1}, test, again)


def test_calls_whose_arguments_nobody_told_are_no_repetition() -> None:
    check({}, shell(1, "make test", args_digest=None), shell(2, "make test", args_digest=None))


def test_a_file_read_again_counts_unless_it_was_changed() -> None:
    first, again = a_call(1, "a", "read", "/w/a.py"), a_call(3, "b", "read", "/w/a.py")

    check({"same-file": 1}, first, again)
    check({}, first, edit(2, "x", "y"), again)


@pytest.mark.parametrize(
    ("calls", "undone"),
    [
        ([edit(1, "a = 1", "a = 2"), edit(2, "a = 2", "a = 1")], True),
        ([edit(1, "a = 1", "a = 2"), edit(2, "a = 2", "a = 3")], False),
        ([edit(1, "a = 1", "a = 2"), edit(2, "a = 2", "a = 1", path="/w/b.py")], False),  # another file
        ([edit(1, "", "a = 2"), edit(2, "a = 2", "")], False),  # nothing is put in again
        ([edit(1, "a = 1", ""), edit(2, "", "a = 1")], True),
        ([edit(1, "a = 1", "a = 2"), edit(2, f"a{GAP}2", "a = 1")], False),  # cut: nobody knows
        ([write(1, "one"), write(2, "two"), write(3, "one")], True),
        ([write(1, "one"), write(2, "two"), write(3, "three")], False),
        ([edit(1, "x", "y"), shell(2, "git checkout -- a.py")], True),
        ([edit(1, "x", "y"), shell(2, "git checkout main")], False),
        ([edit(1, "x", "y"), shell(2, "git reset --hard")], True),
        ([edit(1, "x", "y"), shell(2, "git stash")], True),
        ([edit(1, "x", "y"), shell(2, "git stash pop")], False),
        ([edit(1, "x", "y"), shell(2, "git restore .")], True),
        ([edit(1, "x", "y"), shell(2, "git restore b.py")], False),
        ([shell(1, "ls"), shell(2, "git reset --hard")], False),  # it had edited nothing
    ],
)
def test_undoing_its_own_edit_is_a_sign(calls: list[Segment], undone: bool) -> None:
    assert signs(calls).get("undone", 0) == int(undone)


def test_a_failing_command_tried_with_small_variations_is_a_sign() -> None:
    first = shell(1, "make test", entities=("make", "test"))

    check({"varied": 1}, first, fails(1), shell(2, "make test -k", entities=("make", "test")))
    check({}, first, shell(2, "make test -k", entities=("make", "test")))  # nothing failed
    check({}, first, fails(1), shell(2, "ls src", entities=("ls", "src")))


def test_doubt_in_its_own_words_is_a_sign() -> None:
    check({"said": 1}, says("Hmm, let me try again."), says("All tests pass."))
    check({"said": 2}, says("不确定原因。"), says("再试一次"))
    check({}, a_segment("I am not sure what you mean"))  # the user doubts, not the agent


def test_signs_add_up_to_full_hesitation_and_no_further() -> None:
    loop = [one for n in range(1, 9) for one in (shell(n, "make test"), fails(n), says("Still failing."))]

    assert hesitation(loop[:3]) == pytest.approx(WEIGHTS["said"] / ENOUGH)
    assert hesitation(loop[:6]) == pytest.approx((2 * WEIGHTS["said"] + WEIGHTS["same-call"]) / ENOUGH)
    assert hesitation(loop) == 1.0


def test_what_lies_far_back_is_forgotten() -> None:
    calls = [a_call(1, "a"), *(a_call(n, f"other-{n}") for n in range(2, 30)), a_call(30, "a")]

    assert hesitation(calls) == 0.0
