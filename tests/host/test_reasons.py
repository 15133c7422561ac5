"""Every way to hold our tongue has a sentence that explains it."""

from pathlib import Path

import pytest

from governance.explain import REASONS
from host.contracts import Reason
from recall.rank import DropReason

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.promise("silence-has-a-reason")
@pytest.mark.parametrize("reason", list(Reason))
def test_a_reason_has_a_sentence(reason: Reason) -> None:
    assert REASONS[reason.value]


@pytest.mark.parametrize("reason", list(DropReason))
def test_a_drop_of_the_ranking_has_a_sentence(reason: DropReason) -> None:
    assert REASONS[reason.value]


@pytest.mark.parametrize("reason", list(DropReason))
def test_a_drop_of_the_ranking_is_explained_in_the_reference(reason: DropReason) -> None:
    page = (ROOT / "docs" / "reference" / "reasons.md").read_text("utf-8")

    assert f"| `{reason}` | " in page
