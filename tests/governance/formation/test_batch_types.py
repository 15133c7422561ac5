"""Types, priorities and metadata of memories, as models say them."""

from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.batch_types import KEPT, KINDS, OFFERED, instant, metadata_of, priority_of, type_of
from governance.formation.contracts import MemoryType, Mode
from recall.canonical import canonical
from recall.contracts import MemoryKind

INSTRUCTION, FACT, TASK, EPISODIC = (
    MemoryType.INSTRUCTION,
    MemoryType.WORK_FACT,
    MemoryType.WORK_TASK,
    MemoryType.EPISODIC,
)
NOON = 1_793_707_200_000  # 2026-11-03 12:00 UTC
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=20), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("said", "type_"),
    [
        (None, EPISODIC),
        ("", EPISODIC),
        ("episode", EPISODIC),
        ("preference", MemoryType.PERSONA),
        ("Instruct", INSTRUCTION),
        (" work-fact ", FACT),
        ("Work Method", MemoryType.WORK_METHOD),
        ("work_artifact", MemoryType.WORK_ARTIFACT),
        ("opinion", None),
        (7, None),
        (["work_fact"], None),
    ],
)
def test_a_type_is_known_by_its_name_or_its_alias(said: object, type_: MemoryType | None) -> None:
    assert type_of(said) is type_


@pytest.mark.parametrize(
    ("said", "type_", "priority"),
    [
        (0, FACT, 0),
        (100, FACT, 100),
        (-1, INSTRUCTION, -1),
        (-1, FACT, 0),
        (-1.2, INSTRUCTION, -1),
        (-7, INSTRUCTION, 0),
        (101, FACT, 100),
        (72.6, FACT, 73),
        ("80", FACT, 80),
        (" 64.4 ", FACT, 64),
        ("high", FACT, 50),
        (None, FACT, 50),
        (True, FACT, 50),
        ([70], FACT, 50),
        (float("nan"), FACT, 50),
        (float("inf"), FACT, 100),
        (10**40, FACT, 100),
    ],
)
def test_a_priority_is_rounded_and_clamped_or_usual(said: object, type_: MemoryType, priority: int) -> None:
    assert priority_of(said, type_) == priority


def test_every_type_has_a_kind_and_a_mode_offers_the_types_of_its_own() -> None:
    assert set(KINDS) == set(KEPT) == set(MemoryType)
    assert KINDS[MemoryType.WORK_METHOD] is MemoryKind.PROCEDURAL
    assert [len(OFFERED[mode]) for mode in (Mode.CHAT, Mode.CODE)] == [3, 4]
    assert {*OFFERED[Mode.CHAT], *OFFERED[Mode.CODE]} == set(MemoryType)


def test_metadata_that_its_type_keeps_is_kept_and_the_rest_is_named() -> None:
    said = {
        "owner": ["Ana", "Li"],
        "deadline": "2026-12-01 ",
        "status": "doing",
        "mood": "good",
        "scope": "api",
        "x": None,
    }
    found = metadata_of(said, TASK)
    assert found.values == {"owner": "Ana, Li", "deadline": "2026-12-01", "status": "doing"}
    assert found.dropped == ("mood", "scope")


@pytest.mark.parametrize("said", [{"status": "nearly"}, {"owner": {"name": "Ana"}}, {"owner": True}, {"owner": 3.5}])
def test_metadata_that_cannot_be_read_is_dropped(said: dict[str, object]) -> None:
    found = metadata_of(said, TASK)
    assert found.values == {} and found.dropped == tuple(said)


def test_metadata_that_is_none_is_dropped_whole() -> None:
    assert metadata_of("status=doing", TASK).dropped == ("metadata",)
    assert metadata_of(None, TASK) == ({}, None, None, ())


def test_an_activity_has_a_beginning_and_an_end_in_this_order() -> None:
    said = {"activity_start_time": "2026-11-03T12:00:00Z", "activity_end_time": NOON + 60_000}
    assert metadata_of(said, EPISODIC)[1:3] == (NOON, NOON + 60_000)
    said["activity_end_time"] = NOON - 1
    found = metadata_of(said, EPISODIC)
    assert found[1:] == (NOON, None, ("activity_end_time",))
    assert metadata_of(said, FACT) == ({}, None, None, ("activity_start_time", "activity_end_time"))


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("2026-11-03T12:00:00Z", NOON),
        ("2026-11-03 12:00", NOON),
        ("2026-11-03T14:00:00.250+02:00", NOON),
        ("2026-11-03", NOON - 12 * 3_600_000),
        (NOON, NOON),
        (NOON // 1000, NOON),
        (7, None),
        (True, None),
        (12.5, None),
        ("2026-13-40", None),
        ("yesterday", None),
        ("0001-01-01T00:00+23:59", None),
    ],
)
def test_a_time_is_read_in_the_forms_that_models_write(said: object, at: int | None) -> None:
    assert instant(said) == at


def test_a_time_without_a_zone_is_of_the_zone_that_is_given() -> None:
    assert instant("2026-11-03T14:00", timezone(timedelta(hours=2))) == NOON


@given(ANYTHING, st.sampled_from(MemoryType))
def test_whatever_a_model_says_is_read_and_can_be_stored(said: object, type_: MemoryType) -> None:
    assert type_of(said) in (*MemoryType, None)
    assert -1 <= priority_of(said, type_) <= 100
    found = metadata_of(said, type_)
    assert set(found.values) <= set(KEPT[type_])
    assert all(isinstance(value, str) and value for value in found.values.values())
    canonical({name: value.encode("utf-8", "replace").decode() for name, value in found.values.items()})
    assert metadata_of(dict.fromkeys(KEPT[type_], said), type_).start in (None, found.start, instant(said))
