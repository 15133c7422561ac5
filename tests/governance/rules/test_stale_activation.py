"""Advice about another moment is no advice."""

import pytest

from governance.rules.stale_activation import stale_activation
from tests.support.audience import a_proposal, an_activation, an_audience
from tests.support.clock import START


@pytest.mark.promise("sent-is-final")
def test_advice_holds_for_its_own_context_and_index() -> None:
    def objection(**fields: object) -> str | None:
        return stale_activation(a_proposal(activation=an_activation(**fields)), an_audience(), START)

    assert stale_activation(a_proposal(), an_audience(), START) is None
    assert objection() is None
    assert objection(context_version=2) == "the activation was meant for another context version"
    assert objection(memory_index_version="idx_2") == "the activation was meant for another memory index"
