"""What has to be said of the runtime context: nothing, a beginning, a replacement, or that it was cleared."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.contracts import Context
from host.maintained import NOTHING, Maintained, Sight, maintained
from host.projection import BEGINS, CLEARED, REPLACES, project
from tests.support.builders import a_candidate, a_memory_id


def in_view(*numbers: int) -> Maintained:
    records = (a_candidate(f"Rule number {n}.", memory_id=a_memory_id(n), pinned=True) for n in numbers)
    return maintained(Sight(records=tuple(records)))


def named(context: Context | None) -> list[str]:
    assert context is not None
    return [record.memory_id for record in context.records]


@pytest.mark.promise("context-maintained")
def test_the_same_text_is_not_said_again() -> None:
    assert project(in_view(1, 2).state, in_view(1, 2)) is None
    assert project(NOTHING.state, NOTHING) is None


@pytest.mark.promise("context-maintained")
def test_never_any_and_none_now_is_nothing() -> None:
    assert project(None, NOTHING) is None


def test_a_window_that_never_showed_any_is_told_what_is_in_view_from_here_on() -> None:
    context = project(None, in_view(1, 2))
    assert context is not None and context.text.startswith(BEGINS)
    assert named(context) == [a_memory_id(1), a_memory_id(2)]
    assert context.state == in_view(1, 2).state


@pytest.mark.promise("context-maintained")
def test_another_text_replaces_the_former_as_a_whole() -> None:
    context = project(in_view(1).state, in_view(1, 2), {a_memory_id(1), a_memory_id(2)})
    assert context is not None and context.text.startswith(REPLACES)
    assert named(context) == [a_memory_id(1), a_memory_id(2)]  # also what the window holds: a list replaces a list


@pytest.mark.promise("context-maintained")
def test_what_was_emptied_is_cleared_with_one_fixed_message() -> None:
    assert project(in_view(1).state, NOTHING) == Context(state=NOTHING.state, text=CLEARED)


def test_after_a_clearing_there_may_be_a_next_list() -> None:
    context = project(NOTHING.state, in_view(3))
    assert context is not None and named(context) == [a_memory_id(3)]


def test_what_begins_the_window_in_full_is_not_listed_beside_it() -> None:
    assert project(None, in_view(1), {a_memory_id(1)}) == Context(state=in_view(1).state)
    context = project(None, in_view(1, 2), {a_memory_id(1)})
    assert named(context) == [a_memory_id(2)]
    assert context is not None and context.state == in_view(1, 2).state


steps = st.tuples(
    st.sets(st.integers(1, 4), max_size=3),  # what is in view from here on
    st.sampled_from(["delivered", "delivered", "lost", "compacted"]),  # what becomes of a message
)


@pytest.mark.promise("context-maintained")
@given(st.lists(steps, max_size=30))
def test_whoever_reads_the_messages_knows_what_is_in_view(script: Sequence[tuple[set[int], str]]) -> None:
    """A reader who takes each message at its word always ends up with what is in view, and no message says what the
    one before it said."""
    visible: str | None = None
    read: set[str] = set()
    last = ""
    for numbers, fate in script:
        now = in_view(*sorted(numbers))
        context = project(visible, now)
        if context is None:
            assert read == {line.record.memory_id for line in now.lines}
        elif fate == "delivered":
            assert context.text != last
            last, visible = context.text, context.state
            read = {record.memory_id for record in context.records}
            assert read == {line.record.memory_id for line in now.lines}
        if fate == "compacted":
            visible, read, last = None, set(), ""


def test_a_line_of_our_own_is_said_and_names_no_record() -> None:
    alone, beside = (
        maintained(Sight(waiting=1)),
        maintained(Sight(records=(a_candidate("Rule.", memory_id=a_memory_id(1), pinned=True),), waiting=1)),
    )
    begun = project(None, alone)
    assert begun is not None and "1 checkpoint waits" in (begun.text or "") and begun.records == ()
    assert named(project(alone.state, beside)) == [a_memory_id(1)]
    held = project(None, beside, {a_memory_id(1)})  # the record begins the window in full; what waits is said still
    assert held is not None and "1 checkpoint waits" in (held.text or "") and held.records == ()
    assert project(alone.state, NOTHING) == Context(state=NOTHING.state, text=CLEARED)
