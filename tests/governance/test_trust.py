"""How much may be shown, by origin."""

import pytest

from governance.trust import ceiling, within
from recall.contracts import ActivationLevel, Origin, RecordState
from tests.support.builders import a_candidate


@pytest.mark.parametrize(
    ("origin", "level"),
    [
        (Origin.USER, ActivationLevel.FULL),
        (Origin.REVIEWED, ActivationLevel.FULL),
        (Origin.EXTRACTED, ActivationLevel.HINT),
        (Origin.IMPORTED, ActivationLevel.HINT),
    ],
)
def test_weak_origins_are_hinted_at(origin: Origin, level: ActivationLevel) -> None:
    assert ceiling(a_candidate(origin=origin)) is level


@pytest.mark.parametrize("state", [state for state in RecordState if state is not RecordState.ANCHORED])
def test_what_is_not_anchored_counts_as_imported(state: RecordState) -> None:
    assert ceiling(a_candidate(state=state)) is ActivationLevel.HINT


def test_levels_rise_from_index_to_full() -> None:
    assert within(ActivationLevel.INDEX, ActivationLevel.HINT)
    assert within(ActivationLevel.HINT, ActivationLevel.HINT)
    assert not within(ActivationLevel.FULL, ActivationLevel.RESOURCE)
