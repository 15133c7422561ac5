"""How much of a record is advised: by evidence, by hesitation, by the user's request; never above its limit."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.activation import ActivationPolicy, Occasion, advise, plain, raised, similarity, validated
from recall.contracts import (
    LEVELS,
    ActivationLevel,
    ActivationRequest,
    MemoryKind,
    Origin,
    RecordState,
    Scored,
    SourceName,
    Status,
)
from tests.support.builders import a_candidate, a_memory_id, a_scored

POLICY = ActivationPolicy()
INDEX, HINT, EXCERPT, CHECKLIST, RESOURCE, FULL = LEVELS
PROCEDURE: dict[str, Any] = {"kind": MemoryKind.PROCEDURAL, "origin": Origin.REVIEWED}


def weighed(share: float, **fields: Any) -> Scored:
    """A record whose evidence is this multiple of the bar."""
    return msgspec.structs.replace(a_scored(**fields), score=10 * share, bar=10.0)


def occasion(**fields: Any) -> Occasion:
    return Occasion(**({"context_version": 5, "index_version": "idx_1"} | fields))


def advised(scored: Scored, **fields: Any) -> ActivationRequest:
    request = advise(scored, occasion(**fields), POLICY)
    assert request is not None
    return request


@pytest.mark.parametrize(
    ("scored", "fields", "level"),
    [
        (weighed(1.4), {}, HINT),
        (weighed(1.5), {}, EXCERPT),
        (weighed(1.5), {"degraded": True}, HINT),
        (weighed(1.4, **PROCEDURE), {}, HINT),
        (weighed(1.5, **PROCEDURE), {}, CHECKLIST),
        (weighed(1.5, kind=MemoryKind.PROCEDURAL, status=Status.DEPRECATED), {}, EXCERPT),
        (weighed(1.4), {"hesitation": 0.6}, EXCERPT),
        (weighed(1.4), {"hesitation": 0.59}, HINT),
        (weighed(1.5), {"hesitation": 0.6}, RESOURCE),
        (weighed(1.5, **PROCEDURE), {"hesitation": 1.0}, RESOURCE),
        (weighed(1.0), {"asked": True}, FULL),
        (weighed(9.0), {"limit": HINT}, HINT),
        (weighed(9.0), {"asked": True, "limit": HINT}, HINT),
        (weighed(1.1), {"shown": HINT}, EXCERPT),
    ],
)
def test_the_level_follows_evidence_hesitation_and_request(
    scored: Scored, fields: dict[str, Any], level: ActivationLevel
) -> None:
    assert advised(scored, **fields).level is level


def test_nothing_is_advised_for_what_was_shown_at_the_highest_level_that_is_allowed() -> None:
    assert advise(weighed(9.0), occasion(shown=HINT, limit=HINT), POLICY) is None
    assert advise(weighed(9.0), occasion(shown=RESOURCE), POLICY) is None


def test_advice_says_for_what_moment_it_is_and_why() -> None:
    request = advised(weighed(1.5), hesitation=0.2)

    assert (request.procedure_id, request.context_version, request.memory_index_version) == (a_memory_id(), 5, "idx_1")
    assert (request.similarity, request.hesitation) == (0.5, 0.2)
    assert 0 < len(request.reason) <= 160
    assert (request.resource_ref, request.resource_version, request.resource_digest) == (None, None, None)


def test_a_resource_is_named_with_version_and_digest_or_not_at_all() -> None:
    scored = weighed(1.5, resource_ref="memory:mem_1", source_version=3)

    whole, excerpt = advised(scored, hesitation=1.0), advised(scored)

    assert (whole.resource_ref, whole.resource_version) == ("memory:mem_1", 3)
    assert whole.resource_digest == scored.candidate.record_digest
    assert (excerpt.resource_ref, excerpt.resource_version, excerpt.resource_digest) == (None, None, None)


def test_what_nothing_weighed_goes_by_its_own_confidence() -> None:
    assert plain(a_scored(confidence=0.5), POLICY) is EXCERPT
    assert plain(a_scored(confidence=0.4), POLICY) is HINT
    assert plain(a_scored(confidence=0.9), POLICY, degraded=True) is HINT


@pytest.mark.parametrize(
    ("scored", "expected"),
    [
        (weighed(3.0), 1.0),
        (weighed(0.75), 0.25),
        (a_scored(), 0.0),
        (msgspec.structs.replace(weighed(3.0), confidences={SourceName.ENGINE: 0.7}), 0.7),
        (msgspec.structs.replace(weighed(3.0), confidences={SourceName.ENGINE: float("nan")}), 0.0),
        (msgspec.structs.replace(weighed(3.0), confidences={SourceName.ENGINE: -0.2}), 0.0),
    ],
)
def test_similarity_is_the_engines_cosine_or_a_share_of_what_is_sure(scored: Scored, expected: float) -> None:
    assert similarity(scored, POLICY) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (PROCEDURE, True),
        (PROCEDURE | {"origin": Origin.USER}, True),
        (PROCEDURE | {"origin": Origin.EXTRACTED}, False),
        (PROCEDURE | {"status": Status.ARCHIVED}, False),
        (PROCEDURE | {"state": RecordState.LEGACY}, False),
        (PROCEDURE | {"kind": MemoryKind.EPISODIC}, False),
    ],
)
def test_only_a_procedure_in_force_that_a_person_vouches_for_is_validated(
    fields: dict[str, Any], expected: bool
) -> None:
    assert validated(a_candidate(**fields)) is expected


def test_a_rung_up_is_a_checklist_for_a_procedure_alone_and_never_the_whole() -> None:
    procedure, fact = a_candidate(**PROCEDURE), a_candidate()

    assert [raised(level, procedure) for level in LEVELS[:-1]] == [HINT, EXCERPT, CHECKLIST, RESOURCE, RESOURCE]
    assert [raised(level, fact) for level in LEVELS[:-1]] == [HINT, EXCERPT, RESOURCE, RESOURCE, RESOURCE]


@given(
    st.floats(0, 100),
    st.floats(0, 50),
    st.floats(allow_nan=False),
    st.sampled_from(LEVELS),
    st.sampled_from([None, *LEVELS]),
    st.booleans(),
)
def test_no_advice_exceeds_its_limit_or_repeats_what_was_shown(
    score: float,
    bar: float,
    hesitation: float,
    limit: ActivationLevel,
    shown: ActivationLevel | None,
    asked: bool,
) -> None:
    scored = msgspec.structs.replace(a_scored(**PROCEDURE), score=score, bar=bar)
    request = advise(scored, occasion(hesitation=hesitation, limit=limit, shown=shown, asked=asked), POLICY)

    if request is not None:
        assert LEVELS.index(request.level) <= LEVELS.index(limit)
        assert shown is None or LEVELS.index(request.level) > LEVELS.index(shown)
        assert 0 <= request.similarity <= 1 and 0 <= request.hesitation <= 1
