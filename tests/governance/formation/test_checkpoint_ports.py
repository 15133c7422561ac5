"""The engine's settings begin as formation.md 4.5 says, and take nothing that makes no sense."""

import msgspec
import pytest

from governance.formation.checkpoint_ports import CheckpointPolicy


def test_the_defaults_are_those_of_the_settings() -> None:
    policy = CheckpointPolicy()
    assert (policy.timeout_seconds, policy.min_sessions, policy.gap_max_age_days, policy.importance) == (
        60.0,
        2,
        90,
        50,
    )
    assert policy.auto_commit and policy.exclude_subagents and policy.dedupe


@pytest.mark.parametrize(
    "given",
    [{"minSessions": -1}, {"gapMaxAgeDays": -1}, {"importance": 101}, {"timeoutSeconds": 0}, {"importance": "0.5"}],
)
def test_a_setting_out_of_its_bounds_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, CheckpointPolicy)
