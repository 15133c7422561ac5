"""A packet belongs to one session and one agent."""

import pytest

from governance.rules.identity_mismatch import identity_mismatch
from tests.support.audience import a_proposal, an_audience, some_candidates
from tests.support.builders import a_candidate
from tests.support.clock import START


@pytest.mark.promise("no-leak")
@pytest.mark.parametrize("fields", [{"session_id": "session-2"}, {"agent_id": "helper"}])
def test_a_packet_for_somebody_else_is_vetoed(fields: dict[str, str]) -> None:
    objection = identity_mismatch(a_proposal(a_candidate(), **fields), an_audience(), START)
    assert objection == "the packet is for another session or agent"


def test_items_are_who_they_say_they_are() -> None:
    one, two = some_candidates(2)
    assert identity_mismatch(a_proposal(one, two), an_audience(), START) is None
    assert identity_mismatch(a_proposal(a_candidate(anchor_id=None)), an_audience(), START) is None
    assert identity_mismatch(a_proposal(one, one), an_audience(), START) == "a memory stands in the packet twice"
    borrowed = a_candidate(anchor_id=two.anchor_id)
    assert identity_mismatch(a_proposal(borrowed), an_audience(), START) == "an anchor belongs to another memory"
