"""A memory under suspicion waits for a person."""

import pytest

from governance.rules.quarantined import quarantined
from recall.contracts import Flag
from tests.support.audience import an_audience
from tests.support.builders import a_candidate
from tests.support.clock import START


@pytest.mark.parametrize("flag", list(Flag))
def test_quarantine_and_recheck_hold_a_memory_back(flag: Flag) -> None:
    objection = quarantined(a_candidate(flags=(flag,)), an_audience(), START)
    assert (objection is not None) is (flag in (Flag.QUARANTINED, Flag.RECHECK))
