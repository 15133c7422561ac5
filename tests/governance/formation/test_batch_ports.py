"""The settings of batch extraction."""

import msgspec
import pytest

from governance.formation.batch_ports import BatchPolicy
from governance.formation.contracts import Mode


def test_what_a_user_who_set_nothing_has() -> None:
    policy = BatchPolicy()
    assert (policy.mode, policy.auto_commit, policy.exclude_subagents, policy.dedupe) == (Mode.CODE, True, True, True)
    assert policy.importance == 50


@pytest.mark.parametrize("importance", [-1, 101])
def test_an_importance_has_its_bounds(importance: int) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"importance": importance}, BatchPolicy)
