"""The source over the engine: what it asks, and what it makes of the answer."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from recall.contracts import CuePart, Flag, ScopeRef, SegmentKind, SourceName, Status, visible_scopes
from recall.errors import ArmUnavailable
from recall.frames import ASKED, EngineHits
from recall.sources.engine import asked, engine_source
from tests.support.builders import (
    a_candidate,
    a_cue,
    a_memory,
    a_memory_id,
    a_scope,
    a_user_scope,
    a_workspace_scope,
)
from tests.support.clock import START
from tests.support.fakes import FakeIndex
from tests.support.library import a_library, a_root, write_records
from tests.support.running_engines import an_engine, settled


class Near:
    """An engine that has its answers ready: (row, cosine), best first."""

    def __init__(self, *near: tuple[int, float], epoch: int = 1, alike: tuple[tuple[int, int], ...] = ()) -> None:
        self.near = near
        self.alike = alike
        self.epoch = epoch
        self.asked: list[tuple[str, tuple[ScopeRef, ...], int]] = []

    async def search(self, text: str, scopes: Sequence[ScopeRef], limit: int) -> EngineHits:
        self.asked.append((text, tuple(scopes), limit))
        some = self.near[:limit]
        return EngineHits(
            epoch=self.epoch,
            rows=tuple(row for row, _ in some),
            digests=tuple(HELD[row].record_digest for row, _ in some),
            cosines=tuple(cosine for _, cosine in some),
            alike=self.alike,
        )


HELD = [
    a_candidate("Use pnpm.", memory_id=a_memory_id(1)),
    a_candidate("Old.", memory_id=a_memory_id(2), status=Status.SUPERSEDED),
    a_candidate("Theirs.", memory_id=a_memory_id(3), scope=a_workspace_scope("ws_other")),
    a_candidate("Use uv.", memory_id=a_memory_id(4)),
    a_candidate("Deploy on Fridays.", memory_id=a_memory_id(5)),
]
INDEX = FakeIndex(HELD)


@pytest.mark.promise("no-leak")
async def test_nothing_comes_out_of_a_real_store_that_may_not_be_shown(tmp_path: Path) -> None:
    ids = [a_memory_id(number) for number in range(1, 7)]
    here = [
        a_memory("deploy checklist one", memory_id=ids[0]),
        a_memory("deploy checklist two", memory_id=ids[1], status=Status.SUPERSEDED),
        a_memory("deploy checklist three", memory_id=ids[2], flags=(Flag.QUARANTINED,)),
        a_memory("deploy checklist four", memory_id=ids[3], expires_at=START),
    ]
    mine, theirs = a_user_scope(), a_workspace_scope("ws_other")
    stores = (
        ("here", a_workspace_scope(), here),
        ("mine", mine, [a_memory("deploy checklist five", memory_id=ids[4], scope=mine)]),
        ("theirs", theirs, [a_memory("deploy checklist six", memory_id=ids[5], scope=theirs)]),
    )
    async with a_library(tmp_path) as library, an_engine(tmp_path) as engine:
        for name, scope, records in stores:
            write_records(tmp_path / name / "a.md", records, scope)
            await library.adopt(a_root(tmp_path / name, scope))
        await settled(engine)

        asked_once, asked_again = [
            await engine_source(engine)(a_cue("deploy checklist", limit=limit), library.snapshot(START))
            for limit in (2, 50)
        ]

    assert {one.memory_id for one in asked_once} == {one.memory_id for one in asked_again} == {ids[0], ids[4]}
    assert all(one.source is SourceName.ENGINE and 0 < one.score <= one.confidence <= 1 for one in asked_again)


async def test_the_nearest_eligible_records_come_with_their_cosines() -> None:
    engine = Near((3, 0.9), (1, 0.8), (2, 0.7), (0, 0.4))

    found = await engine_source(engine)(a_cue("which package manager?"), INDEX)

    assert [(one.id, one.source, one.score, one.confidence) for one in found] == [
        (f"engine:{a_memory_id(4)}", SourceName.ENGINE, 0.9, 0.9),
        (f"engine:{a_memory_id(1)}", SourceName.ENGINE, 0.4, 0.4),
    ]
    assert engine.asked == [("which package manager?", visible_scopes(a_scope()), 50)]


async def test_records_that_say_the_same_name_each_other() -> None:
    engine = Near((3, 0.9), (1, 0.8), (0, 0.7), (4, 0.6), alike=((0, 2), (0, 1), (1, 3)))

    found = await engine_source(engine)(a_cue("x"), INDEX)

    assert {one.memory_id: one.alike for one in found} == {
        a_memory_id(4): (a_memory_id(1),),
        a_memory_id(1): (a_memory_id(4),),
        a_memory_id(5): (),
    }


async def test_a_confidence_is_at_most_one() -> None:
    (only,) = await engine_source(Near((0, 1.0000001)))(a_cue("x"), INDEX)
    assert only.confidence == 1.0


async def test_records_that_are_left_out_make_room_for_those_behind_them() -> None:
    engine = Near((1, 0.9), (2, 0.8), (0, 0.5), (4, 0.4), (3, 0.3))

    found = await engine_source(engine)(a_cue("x", limit=2), INDEX)

    assert [one.memory_id for one in found] == [a_memory_id(1), a_memory_id(5)]
    assert [limit for _, _, limit in engine.asked] == [2, 8]


async def test_a_record_that_changed_in_between_is_left_out() -> None:
    changed = FakeIndex([a_candidate("Use npm.", memory_id=a_memory_id(1), record_digest="ff" * 32), *HELD[1:]])

    assert await engine_source(Near((0, 0.9)))(a_cue("x"), changed) == []


async def test_rows_of_an_index_that_was_made_anew_are_nobodys() -> None:
    with pytest.raises(ArmUnavailable):
        await engine_source(Near((0, 0.9), epoch=2))(a_cue("x"), INDEX)


async def test_what_is_far_beside_the_nearest_is_not_named_however_small_the_store() -> None:
    found = await engine_source(Near((3, 0.5), (0, 0.21), (4, 0.19)))(a_cue("x"), INDEX)

    assert [one.memory_id for one in found] == [a_memory_id(4), a_memory_id(1)]


async def test_the_nearest_is_one_that_may_be_shown() -> None:
    found = await engine_source(Near((1, 0.9), (3, 0.3)))(a_cue("x"), INDEX)

    assert [one.memory_id for one in found] == [a_memory_id(4)]


async def test_a_cosine_that_says_nothing_names_nothing() -> None:
    assert await engine_source(Near((3, 0.09), (0, 0.08)))(a_cue("x"), INDEX) == []


async def test_nothing_near_is_nothing() -> None:
    assert await engine_source(Near())(a_cue("x"), INDEX) == []


@pytest.mark.parametrize(
    "cue",
    [a_cue("", parts=()), a_cue("  \n"), a_cue("x", scope=a_scope(workspace="", user="", session_id="", turn=""))],
)
async def test_a_cue_that_says_nothing_or_sees_nothing_asks_nobody(cue: object) -> None:
    engine = Near((0, 0.9))

    assert await engine_source(engine)(cue, INDEX) == ()  # type: ignore[arg-type]
    assert engine.asked == []


LONG = "head " + "x" * 2000 + " tail"


@pytest.mark.parametrize(
    ("role", "kind", "expected"),
    [
        ("prompt", SegmentKind.PROMPT, LONG[:ASKED]),
        ("result", SegmentKind.RESULT, LONG[-ASKED:]),
        ("trigger", SegmentKind.RESULT, LONG[-ASKED:]),
        ("call", SegmentKind.CALL, LONG[:ASKED]),
        ("reply", SegmentKind.REPLY, LONG[:ASKED]),
        ("query", None, LONG[:ASKED]),
    ],
)
def test_a_result_is_asked_by_its_tail_and_all_else_by_its_head(
    role: str, kind: SegmentKind | None, expected: str
) -> None:
    parts = (CuePart(role="prompt", text="before", weight=0.8), CuePart(role=role, text=LONG, weight=1.0))

    assert asked(a_cue(segment_kind=kind, parts=parts)) == expected
