"""A memory is shown only as it stands in its file now."""

import pytest

from governance.rules.stale_record import stale_record
from tests.support.audience import an_audience
from tests.support.builders import a_candidate, a_memory_id
from tests.support.clock import START


@pytest.mark.promise("identity")
def test_the_digest_of_now_decides() -> None:
    candidate = a_candidate()
    assert stale_record(candidate, an_audience(candidate), START) is None
    assert stale_record(candidate, an_audience(), START) == "it is gone from the index"
    changed = an_audience(digests={a_memory_id(): "0" * 64})
    assert stale_record(candidate, changed, START) == "it changed since it was found"
