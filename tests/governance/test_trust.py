"""How much may be shown, by origin."""

import pytest

from governance.contracts import Audience, Stage
from governance.standing import Standing
from governance.trust import ceiling, earned, helped, is_evidenced, within
from recall.contracts import ActivationLevel, MemoryKind, Origin, RecordState
from tests.support.builders import a_candidate, a_scope


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


@pytest.mark.parametrize(
    ("kind", "stage", "level"),
    [
        (MemoryKind.SEMANTIC, None, ActivationLevel.EXCERPT),
        (MemoryKind.PROCEDURAL, None, ActivationLevel.EXCERPT),
        (MemoryKind.PROCEDURAL, Stage.VALIDATED, ActivationLevel.EXCERPT),
        (MemoryKind.PROCEDURAL, Stage.ACTIVE, ActivationLevel.CHECKLIST),
        (MemoryKind.SEMANTIC, Stage.ACTIVE, ActivationLevel.EXCERPT),
    ],
)
def test_what_its_use_has_shown_to_hold_may_be_shown_in_more_words(
    kind: MemoryKind, stage: Stage | None, level: ActivationLevel
) -> None:
    one = a_candidate(origin=Origin.EXTRACTED, kind=kind)
    stages = {} if stage is None else {one.memory_id: stage}
    assert ceiling(one, {one.memory_id}, stages) is level
    audience = Audience(
        scope=a_scope(), index_version="", digests={}, evidenced=frozenset({one.memory_id}), stages=stages
    )
    assert earned([one, a_candidate(memory_id="mem_" + "9" * 32)], audience) == {one.memory_id: level}


@pytest.mark.parametrize("origin", [Origin.IMPORTED, Origin.USER, Origin.REVIEWED])
def test_use_changes_nothing_of_another_origin(origin: Origin) -> None:
    one = a_candidate(origin=origin)
    assert ceiling(one, {one.memory_id}) is ceiling(one)
    legacy = a_candidate(origin=Origin.EXTRACTED, state=RecordState.LEGACY)
    assert ceiling(legacy, {legacy.memory_id}) is ActivationLevel.HINT


@pytest.mark.parametrize(
    ("standing", "holds"),
    [
        (Standing(reuse_sessions=2, success=1), True),
        (Standing(reuse_sessions=1, success=5), False),
        (Standing(reuse_sessions=5, success=0), False),
        (Standing(reuse_sessions=5, success=5, correction=1), False),
        (Standing(seen=100, read=100, cite=100, sessions=100), False),
    ],
)
def test_evidenced_takes_two_sessions_a_success_and_no_correction(standing: Standing, holds: bool) -> None:
    assert is_evidenced(standing) is holds


def test_success_and_citation_raise_and_a_correction_takes_all() -> None:
    none, seen = Standing(), Standing(seen=9, read=3, sessions=9)
    cited, worked = Standing(cite=1, sessions=1), Standing(success=1, success_sessions=1, sessions=1)
    again, often = Standing(success=2, success_sessions=2, sessions=2), Standing(cite=90, sessions=1)
    values = [helped(one) for one in (none, seen, cited, worked, again)]
    assert values[:2] == [0.0, 0.0] and values == sorted(values) and len(set(values)) == 4
    assert helped(often) == helped(cited) and helped(Standing(success_sessions=10**6)) <= 1.0
    assert helped(Standing(success_sessions=9, correction=1)) == 0.0
