"""A memory that was taken back is not shown."""

import pytest

from governance.contracts import Stage
from governance.rules.revoked import revoked
from recall.contracts import MemoryKind, Status
from tests.support.audience import an_audience
from tests.support.builders import a_candidate
from tests.support.clock import START


@pytest.mark.parametrize("status", list(Status))
def test_only_live_statuses_pass(status: Status) -> None:
    objection = revoked(a_candidate(status=status), an_audience(), START)
    live = status in (Status.ACTIVE, Status.SUPERSEDED)  # superseded has its own rule
    assert (objection is None) is live
    assert live or status.value in str(objection)


def test_a_procedure_that_nobody_used_for_long_is_not_shown() -> None:
    candidate = a_candidate(kind=MemoryKind.PROCEDURAL)
    for stage in Stage:
        objection = revoked(candidate, an_audience(stages={candidate.memory_id: stage}), START)
        assert objection == ("it is deprecated" if stage is Stage.DEPRECATED else None)
