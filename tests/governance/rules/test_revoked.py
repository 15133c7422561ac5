"""A memory that was taken back is not shown."""

import pytest

from governance.rules.revoked import revoked
from recall.contracts import Status
from tests.support.audience import an_audience
from tests.support.builders import a_candidate
from tests.support.clock import START


@pytest.mark.parametrize("status", list(Status))
def test_only_live_statuses_pass(status: Status) -> None:
    objection = revoked(a_candidate(status=status), an_audience(), START)
    live = status in (Status.ACTIVE, Status.SUPERSEDED)  # superseded has its own rule
    assert (objection is None) is live
    assert live or status.value in str(objection)
