"""A packet that cannot be taken is not built."""

from governance.rules.no_surface import no_surface
from tests.support.audience import a_proposal, an_audience
from tests.support.clock import START


def test_a_closed_surface_is_a_veto() -> None:
    assert no_surface(a_proposal(), an_audience(), START) is None
    assert no_surface(a_proposal(), an_audience(surface_available=False), START)
