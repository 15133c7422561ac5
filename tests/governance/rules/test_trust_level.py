"""A memory of weak origin is not lent weight."""

import pytest

from governance.rules.trust_level import trust_level
from recall.contracts import ActivationLevel, Origin
from tests.support.audience import an_audience
from tests.support.builders import a_candidate
from tests.support.clock import START


@pytest.mark.parametrize("level", list(ActivationLevel))
@pytest.mark.parametrize("origin", list(Origin))
def test_weak_origins_stop_where_showing_less_would_change_what_is_shown(
    level: ActivationLevel, origin: Origin
) -> None:
    objection = trust_level(a_candidate(origin=origin), an_audience(level=level), START)
    weak = origin in (Origin.EXTRACTED, Origin.IMPORTED)
    heavy = level in (ActivationLevel.CHECKLIST, ActivationLevel.RESOURCE, ActivationLevel.FULL)
    assert (objection is not None) is (weak and heavy)
