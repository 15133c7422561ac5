"""A memory that a newer one replaces is not shown."""

from governance.rules.superseded import superseded
from recall.contracts import Status
from tests.support.audience import an_audience
from tests.support.builders import a_candidate, a_memory_id
from tests.support.clock import START


def test_status_or_a_named_successor_is_enough() -> None:
    assert superseded(a_candidate(), an_audience(), START) is None
    assert superseded(a_candidate(status=Status.SUPERSEDED), an_audience(), START)
    assert superseded(a_candidate(superseded_by=a_memory_id(2)), an_audience(), START)
