"""A memory that the user corrected waits for review."""

from governance.rules.corrected import corrected
from recall.contracts import Flag
from tests.support.audience import an_audience
from tests.support.builders import a_candidate, a_memory_id
from tests.support.clock import START


def test_the_flag_or_the_evidence_is_enough() -> None:
    assert corrected(a_candidate(), an_audience(corrected=frozenset({a_memory_id(2)})), START) is None
    assert corrected(a_candidate(flags=(Flag.CORRECTED,)), an_audience(), START)
    assert corrected(a_candidate(), an_audience(corrected=frozenset({a_memory_id()})), START)
