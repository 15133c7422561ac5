"""A memory that the user muted is not shown."""

from governance.rules.muted import muted
from recall.contracts import Flag, MemoryKind
from tests.support.audience import an_audience
from tests.support.builders import a_candidate, a_memory_id
from tests.support.clock import START


def test_the_flag_or_the_session_is_enough() -> None:
    assert muted(a_candidate(), an_audience(muted=frozenset({a_memory_id(2)})), START) is None
    assert muted(a_candidate(flags=(Flag.MUTED,)), an_audience(), START)
    assert muted(a_candidate(), an_audience(muted=frozenset({a_memory_id()})), START)


def test_a_kind_that_is_muted_here_is_enough_and_another_is_not() -> None:
    candidate = a_candidate(kind=MemoryKind.EPISODIC)
    assert muted(candidate, an_audience(muted_kinds=frozenset({MemoryKind.EPISODIC})), START)
    assert muted(candidate, an_audience(muted_kinds=frozenset({MemoryKind.SEMANTIC})), START) is None
