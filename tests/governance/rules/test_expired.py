"""A memory is shown only within its own time."""

import pytest

from governance.rules.expired import expired
from tests.support.audience import an_audience
from tests.support.builders import a_candidate
from tests.support.clock import START


@pytest.mark.parametrize(
    ("expires_at", "valid_from", "shown"),
    [
        (None, None, True),
        (START + 1, None, True),
        (START, None, False),
        (START - 1, None, False),
        (None, START, True),
        (None, START + 1, False),
    ],
)
def test_before_and_after_its_time_a_memory_is_not_shown(
    expires_at: int | None, valid_from: int | None, shown: bool
) -> None:
    candidate = a_candidate(expires_at=expires_at, valid_from=valid_from)
    assert (expired(candidate, an_audience(), START) is None) is shown
