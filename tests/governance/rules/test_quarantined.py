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


def test_a_files_flag_does_not_hold_against_a_person_but_a_mark_does() -> None:
    flagged = a_candidate(flags=(Flag.QUARANTINED,))
    kept = {"approved": frozenset({flagged.memory_id})}
    assert quarantined(flagged, an_audience(flagged, **kept), START) is None
    assert quarantined(a_candidate(flags=(Flag.RECHECK,)), an_audience(flagged, **kept), START)
    assert quarantined(flagged, an_audience(flagged, **kept, quarantined=frozenset({flagged.memory_id})), START)
