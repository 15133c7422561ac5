"""What may be asked of the team workflow, and what is refused before anything is looked at."""

import msgspec
import pytest

from governance.review import Principal
from host.team.shapes import (
    AssembleParams,
    DiscardParams,
    DocumentParams,
    PromoteParams,
    RecallParams,
    SynthesizeParams,
    TeamParams,
    TeamReviewParams,
)


def test_who_says_nothing_of_themselves_is_an_agent() -> None:
    params = msgspec.json.decode(b'{"workspace": "/project"}', type=TeamParams)

    assert (params.principal, params.holder, params.agent) == (Principal.AGENT, "", "")


def test_a_document_is_kept_as_it_was_written() -> None:
    params = msgspec.json.decode(b'{"workspace": "/p", "document": {"b": 1, "a": "\\u00e9"}}', type=DocumentParams)

    assert bytes(params.document) == b'{"b": 1, "a": "\\u00e9"}'


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (TeamParams, {}),
        (TeamParams, {"workspace": "/p", "principal": "policy-maker"}),
        (TeamParams, {"workspace": "/p", "holder": "h" * 257}),
        (RecallParams, {"workspace": "/p"}),
        (RecallParams, {"workspace": "/p", "request": {}, "limit": 9}),
        (RecallParams, {"workspace": "/p", "request": {}, "limit": 0}),
        (SynthesizeParams, {"workspace": "/p", "mode": "all"}),
        (TeamReviewParams, {"workspace": "/p", "kind": "note"}),
        (PromoteParams, {"workspace": "/p"}),
        (AssembleParams, {"workspace": "/p"}),
        (DiscardParams, {"workspace": "/p", "revision": "2"}),
    ],
)
def test_what_does_not_fit_is_refused(kind: type[msgspec.Struct], given: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(given), type=kind)
