"""A high-risk procedure needs the user's approval first."""

import pytest

from governance.rules.high_risk import high_risk
from recall.contracts import MemoryKind, Risk
from tests.support.audience import an_audience
from tests.support.builders import a_candidate, a_memory_id
from tests.support.clock import START


@pytest.mark.promise("nothing-executed")
@pytest.mark.parametrize(
    ("kind", "risk", "approved", "shown"),
    [
        (MemoryKind.PROCEDURAL, Risk.HIGH, False, False),
        (MemoryKind.PROCEDURAL, Risk.HIGH, True, True),
        (MemoryKind.PROCEDURAL, Risk.LOW, False, True),
        (MemoryKind.SEMANTIC, Risk.HIGH, False, True),
    ],
)
def test_only_approval_lets_a_risky_procedure_through(
    kind: MemoryKind, risk: Risk, approved: bool, shown: bool
) -> None:
    audience = an_audience(approved=frozenset({a_memory_id()} if approved else ()))
    assert (high_risk(a_candidate(kind=kind, risk_level=risk), audience, START) is None) is shown
