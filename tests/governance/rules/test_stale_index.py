"""A packet is built from the memory as it is now."""

from governance.rules.stale_index import stale_index
from tests.support.audience import a_proposal, an_audience
from tests.support.clock import START


def test_another_index_version_is_a_veto() -> None:
    assert stale_index(a_proposal(), an_audience(), START) is None
    assert stale_index(a_proposal(), an_audience(index_version="idx_2"), START)
