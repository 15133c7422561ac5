"""A procedure that was offered just now is not offered again."""

from governance.rules.activation_cooldown import activation_cooldown
from tests.support.audience import a_proposal, an_activation, an_audience
from tests.support.builders import a_memory_id
from tests.support.clock import START


def test_a_cooling_procedure_is_not_activated() -> None:
    proposal = a_proposal(activation=an_activation())
    assert activation_cooldown(a_proposal(), an_audience(cooling=frozenset({a_memory_id()})), START) is None
    assert activation_cooldown(proposal, an_audience(cooling=frozenset({a_memory_id(2)})), START) is None
    assert activation_cooldown(proposal, an_audience(cooling=frozenset({a_memory_id()})), START)
