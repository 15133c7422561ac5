"""The policies of a pass: versioned constants, whose ids every audit entry carries."""

import re

import msgspec
import pytest

from host.policy import Policy
from host.runtime import RuntimePolicy
from recall.analyzer import ANALYZER

POLICY_ID = re.compile(r"[a-z]+_pre_v[1-9]\d*")


def test_everything_that_shapes_a_decision_has_an_id_with_the_preview_mark() -> None:
    versions = Policy().versions("idx_7")

    assert list(versions) == ["gate", "lexical", "rank", "confidence", "broker", "index"]
    assert versions.pop("index") == "idx_7"
    assert versions["lexical"] == ANALYZER
    assert [one for one in versions.values() if not POLICY_ID.fullmatch(one)] == []


def test_a_changed_stage_is_another_version() -> None:
    policy = Policy()
    changed = msgspec.structs.replace(policy, rank=msgspec.structs.replace(policy.rank, id="rank_pre_v99"))

    assert changed.versions("idx_7") == policy.versions("idx_7") | {"rank": "rank_pre_v99"}


def test_the_bounds_of_a_session_are_the_designs() -> None:
    assert msgspec.to_builtins(RuntimePolicy()) == {
        "segments": 64,
        "segmentChars": 32_768,
        "working": 32,
        "workingTtl": 900_000,
        "deliveredDigests": 256,
        "terms": 50_000,
    }


def test_a_policy_cannot_be_changed_in_place() -> None:
    with pytest.raises(AttributeError):
        Policy().gate = Policy().gate  # type: ignore[misc]
