"""A resource that is offered is the one that was meant."""

import pytest

from governance.rules.stale_resource import stale_resource
from tests.support.audience import a_proposal, an_activation, an_audience
from tests.support.builders import a_candidate
from tests.support.clock import START

ITEM = a_candidate(resource_ref="memory://one")
WHOLE = {"resource_ref": "memory://one", "resource_version": 1, "resource_digest": ITEM.record_digest}


@pytest.mark.parametrize(
    ("fields", "objection"),
    [
        ({}, None),
        (WHOLE, None),
        (WHOLE | {"resource_digest": None}, "the resource is named in part only"),
        (WHOLE | {"resource_ref": "memory://two"}, "no item of the packet holds the resource"),
        (WHOLE | {"resource_version": 2}, "the resource changed meanwhile"),
        (WHOLE | {"resource_digest": "0" * 64}, "the resource changed meanwhile"),
    ],
)
def test_a_resource_is_named_whole_and_fits(fields: dict[str, object], objection: str | None) -> None:
    proposal = a_proposal(ITEM, activation=an_activation(**fields))
    assert stale_resource(proposal, an_audience(ITEM), START) == objection


def test_without_an_activation_there_is_no_resource() -> None:
    assert stale_resource(a_proposal(ITEM), an_audience(), START) is None
