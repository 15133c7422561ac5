"""Batch extraction as a whole: windows until none is left, the ladder of failures, and what is never read."""

import asyncio
import itertools
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.formation import batch as engine
from governance.formation.contracts import (
    Admission,
    Barrier,
    Door,
    KnownRecord,
    Line,
    RangeStatus,
    SnapshotOrigin,
)
from governance.formation.errors import ModelErrorKind, ParameterFault, StateFault
from governance.formation.store import memories
from governance.migrations import queue_steps
from host.models.scripted import Step
from tests.support.batching import (
    KEY,
    WS,
    Bench,
    a_decision,
    a_memory_said,
    a_segment,
    a_snapshot,
    a_text,
    chose,
    ids_in,
    said,
)
from tests.support.fakes import FakeDatabase

T = TypeVar("T")
SHIP = a_memory_said("Releases go out on Thursdays.", "m-1")
EXTRACTED, SKIPPED, PENDING, DISCARDED, DENIED, UNAVAILABLE, NO_RANGE = (
    RangeStatus.EXTRACTED,
    RangeStatus.SKIPPED,
    RangeStatus.PENDING,
    RangeStatus.DISCARDED,
    RangeStatus.DENIED,
    RangeStatus.UNAVAILABLE,
    RangeStatus.NO_RANGE,
)


def texts(count: int) -> list[Any]:
    return [a_text(1, "We ship on Thursdays."), *(a_text(seq) for seq in range(2, count + 1))]


def statuses(found: Any) -> list[RangeStatus]:
    return [one.status for one in found]


async def test_a_boundary_is_formed_once() -> None:
    bench = Bench(steps=[said(a_segment(SHIP)), said()], texts=texts(12))
    assert statuses(await bench.run()) == [EXTRACTED, SKIPPED]
    again = await bench.run()
    assert (statuses(again), len(bench.driver.requests)) == ([NO_RANGE], 2)
    assert bench.rows("SELECT processed_seq FROM cursor WHERE pipeline = 'batch'") == [(12,)]


async def test_what_comes_later_is_read_after_it_with_what_came_before_as_background() -> None:
    bench = Bench(steps=[said(a_segment(SHIP, scene="shipping"))], texts=texts(4))
    await bench.run()
    bench.texts += [a_text(5), a_text(6)]
    bench.also(said())
    assert statuses(await bench.run()) == [SKIPPED]
    told = bench.shown(0)
    assert ids_in(told) == [f"m-{seq}" for seq in range(1, 7)]
    assert told.count('"use":"new"') == 2
    assert '"scene_name":"shipping"' in told  # as it stands in the store


async def test_a_session_is_read_in_pieces_and_its_windows_are_full_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "READ_AT_ONCE", 3)
    bench = Bench(steps=[said(), said(), said(), said()], texts=texts(37))
    found = await bench.run()
    assert [(one.from_seq, one.through_seq) for one in found] == [(0, 10), (11, 20), (21, 30), (31, 37)]
    new = [line for call in range(4) for line in bench.shown(call).splitlines() if '"use":"new"' in line]
    assert [ids_in(line)[0] for line in new] == [f"m-{seq}" for seq in range(1, 38)]


async def test_nothing_to_read_moves_the_cursor_and_asks_nobody() -> None:
    bench = Bench(texts=[a_text(1, "/compact"), a_text(2, "NO_REPLY")])
    (found,) = await bench.run(9)
    assert (found.status, found.from_seq, found.through_seq, found.calls) == (SKIPPED, 0, 9, 0)
    assert bench.rows("SELECT count(*) FROM generation") == [(0,)]


# ------------------------------------------------------------------------------------------------------------ failures


async def test_a_window_fails_twice_before_it_is_given_up_and_is_in_a_letter_then() -> None:
    bench = Bench(steps=[Step(text="BANANA")], texts=texts(4))
    (first,) = await bench.run()
    assert (first.status, first.reason, first.calls) == (PENDING, "schema", 1)
    assert bench.rows("SELECT attempts FROM failure") == [(1,)]
    assert bench.rows("SELECT count(*) FROM cursor") == [(0,)]
    bench.texts += [a_text(seq) for seq in range(5, 9)]  # it is tried just so, then what came since
    bench.also(Step(text="BANANA"), said())
    second, third = await bench.run()
    assert (second.status, second.through_seq, third.status, third.from_seq) == (DISCARDED, 4, SKIPPED, 5)
    assert bench.rows("SELECT from_seq, through_seq, class, attempts, state FROM dead_letter") == [
        (0, 4, "schema", 2, "open")
    ]
    assert bench.rows("SELECT count(*) FROM failure") == [(0,)]


async def test_a_window_that_failed_once_is_formed_when_it_goes_well() -> None:
    bench = Bench(steps=[Step(text="BANANA")], texts=texts(4))
    await bench.run()
    bench.also(said(a_segment(SHIP)))
    (found,) = await bench.run()
    assert (found.status, len(found.committed)) == (EXTRACTED, 1)
    assert bench.rows("SELECT count(*) FROM failure") == [(0,)]


@pytest.mark.parametrize("kind", ["unavailable", "rate-limited", "timeout", "configuration"])
async def test_an_outage_counts_for_nothing_however_long(kind: str) -> None:
    bench = Bench(texts=texts(4))
    for _ in range(10):
        bench.also(Step(error=ModelErrorKind(kind), retry_after_ms=7))
        (found,) = await bench.run()
        assert (found.status, found.reason, found.retry_after_ms) == (UNAVAILABLE, kind, 7)
    assert bench.rows("SELECT (SELECT count(*) FROM failure) + (SELECT count(*) FROM cursor)") == [(0,)]
    bench.also(said(a_segment(SHIP)))
    assert statuses(await bench.run()) == [EXTRACTED]


async def test_an_outage_in_the_middle_leaves_what_was_formed() -> None:
    bench = Bench(steps=[said(a_segment(SHIP)), Step(error=ModelErrorKind.UNAVAILABLE)], texts=texts(25))
    assert statuses(await bench.run()) == [EXTRACTED, UNAVAILABLE]
    assert bench.rows("SELECT processed_seq FROM cursor") == [(10,)]


async def test_of_a_cut_answer_the_rest_is_read_again_and_nothing_twice() -> None:
    cut = said(a_segment(SHIP, messages=["m-1", "m-2"]), finish="length")
    bench = Bench(steps=[cut], texts=texts(4))
    (first,) = await bench.run()
    assert (first.status, len(first.committed)) == (PENDING, 1)
    bench.also(said())
    (second,) = await bench.run()
    assert second.status is SKIPPED
    assert ids_in(bench.shown(0)) == ["m-3", "m-4"]
    assert bench.rows("SELECT count(*) FROM memory") == [(1,)]


async def test_texts_that_are_not_what_failed_are_reported_and_not_formed() -> None:
    bench = Bench(steps=[Step(text="BANANA")], texts=texts(4))
    await bench.run()
    bench.texts[1] = a_text(2, "Something else is said here now.")
    (found,) = await bench.run()
    assert (found.status, found.reason) == (UNAVAILABLE, "coverage-changed")
    assert len(bench.driver.requests) == 1


async def test_a_failure_beyond_the_boundary_waits_and_one_of_no_range_is_taken_away() -> None:
    bench = Bench(steps=[Step(text="BANANA")], texts=texts(4))
    await bench.run()
    (found,) = await bench.run(3)
    assert (found.status, found.reason) == (UNAVAILABLE, "range-ahead")
    bench.rows("UPDATE failure SET from_seq = 2")
    bench.also(said(a_segment(SHIP)))
    assert statuses(await bench.run()) == [EXTRACTED]


async def test_a_letter_is_tried_again_by_hand_and_the_cursor_stays() -> None:
    bench = Bench(steps=[Step(text="BANANA")], texts=texts(4))
    await bench.run()
    bench.also(Step(text="BANANA"))
    await bench.run()
    ((letter,),) = bench.rows("SELECT letter_id FROM dead_letter")
    bench.also(Step(text="BANANA"))
    assert (await bench.batch.retry(letter, a_snapshot(4))).status is DISCARDED
    bench.also(said(a_segment(SHIP)))
    found = await bench.batch.retry(letter, a_snapshot(4))
    assert (found.status, len(found.committed)) == (EXTRACTED, 1)
    assert bench.rows("SELECT state FROM dead_letter") == [("retried",)]
    assert bench.rows("SELECT processed_seq FROM cursor") == [(4,)]
    for wrong, snapshot, code in (
        (letter, a_snapshot(4), "letter-retried"),
        (letter, a_snapshot(4, "s-2"), "other-session"),
        ("letter_none", a_snapshot(4), "unknown-letter"),
    ):
        with pytest.raises(ParameterFault) as fault:
            await bench.batch.retry(wrong, snapshot)
        assert fault.value.code == code


async def test_a_letter_whose_texts_or_gate_are_not_there_is_not_formed() -> None:
    bench = Bench(steps=[Step(text="BANANA")], texts=texts(4))
    await bench.run()
    bench.also(Step(text="BANANA"))
    await bench.run()
    ((letter,),) = bench.rows("SELECT letter_id FROM dead_letter")
    bench.answers = [Admission(door=Door.CLOSED, reason="workspace-off")]
    assert (await bench.batch.retry(letter, a_snapshot(4))).reason == "workspace-off"
    del bench.texts[2]
    assert (await bench.batch.retry(letter, a_snapshot(4))).reason == "coverage-changed"


# --------------------------------------------------------------------------------------------------- what is never read


async def test_a_span_that_was_denied_is_passed_with_a_receipt_and_never_read() -> None:
    bench = Bench(steps=[said(), said()], texts=texts(9))
    barrier = Barrier(session_id="s-1", from_seq=3, through_seq=6)
    bench.answers = [Admission(door=Door.OPEN, denied=(barrier,))]
    assert statuses(await bench.run()) == [SKIPPED, DENIED, SKIPPED]
    assert [ids_in(bench.shown(call)) for call in (0, 1)] == [["m-1", "m-2"], ["m-7", "m-8", "m-9"]]
    assert bench.rows("SELECT from_seq, through_seq FROM barrier") == [(3, 6)]
    assert bench.rows("SELECT status FROM receipt WHERE from_seq = 3") == [("denied",)]


async def test_a_boundary_that_is_denied_is_done_without_a_look() -> None:
    bench = Bench(texts=texts(4))
    bench.answers = [Admission(door=Door.DENIED, reason="incognito")]
    (found,) = await bench.run()
    assert (found.status, found.through_seq, bench.driver.requests) == (DENIED, 4, [])


async def test_a_gate_that_changes_on_the_way_makes_a_new_plan() -> None:
    bench = Bench(steps=[said(a_segment(SHIP)), said(a_segment(SHIP))], texts=texts(4))
    barrier = Barrier(session_id="s-1", from_seq=3, through_seq=9)
    opened, denied = Admission(door=Door.OPEN), Admission(door=Door.OPEN, denied=(barrier,))
    bench.answers = [opened, opened, denied, denied, opened, opened, opened]
    found = await bench.run()
    assert statuses(found) == [EXTRACTED, DENIED]
    assert ids_in(bench.shown(1)) == ["m-1", "m-2"]


async def test_a_gate_that_changes_again_and_again_ends_the_run() -> None:
    bench = Bench(texts=texts(4))
    bench.answers = [Admission(door=Door.OPEN), Admission(door=Door.DENIED)] * 3
    found = await bench.run()
    assert (statuses(found), found[0].reason) == ([UNAVAILABLE], "gate-changed")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"origin": SnapshotOrigin.SUBAGENT}, "subagent"), ({"origin": SnapshotOrigin.OWN}, "own-session")],
)
async def test_sessions_that_are_nobodys_are_not_looked_at(changes: dict[str, Any], reason: str) -> None:
    bench = Bench(texts=texts(4))
    (found,) = await bench.run(**changes)
    assert (found.status, found.reason) == (UNAVAILABLE, reason)
    assert (bench.gate.asked, bench.material.reads) == ([], [])


async def test_a_closed_gate_leaves_everything_as_it_is() -> None:
    bench = Bench(texts=texts(4))
    bench.answers = [Admission(door=Door.CLOSED, reason="disabled")]
    (found,) = await bench.run()
    assert (found.status, found.reason, bench.material.reads) == (UNAVAILABLE, "disabled", [])


# ----------------------------------------------------------------------------------------------------------- the store


class BrokenDatabase(FakeDatabase):
    """A store that fails when it is asked."""

    def __init__(self, error: Exception) -> None:
        super().__init__(queue_steps())
        self.error = error

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (sqlite3.OperationalError("database is locked"), "store"),
        (StateFault("state-failed", "It is newer."), "store"),
        (StateFault("state-corrupt", "A row cannot be read."), "state-corrupt"),
    ],
)
async def test_a_store_that_cannot_be_used_is_said_and_raises_nothing(error: Exception, reason: str) -> None:
    bench = Bench(texts=texts(4), database=BrokenDatabase(error))
    (found,) = await bench.run()
    assert (found.status, found.reason) == (UNAVAILABLE, reason)


async def test_of_two_that_form_the_same_one_commits_and_the_other_writes_nothing() -> None:
    bench = Bench(steps=[said(a_segment(SHIP), wait="late"), said(a_segment(SHIP))], texts=texts(4))
    async with asyncio.timeout(5), asyncio.TaskGroup() as both:
        slow = both.create_task(bench.run())
        await bench.driver.reached("late")
        assert statuses(await bench.run()) == [EXTRACTED]
        before = bench.rows("SELECT count(*) FROM memory, queue, outbox, receipt")
        bench.driver.open("late")
    (lost,) = slow.result()
    assert (lost.status, lost.reason) == (UNAVAILABLE, "cursor-moved")
    assert bench.rows("SELECT count(*) FROM memory, queue, outbox, receipt") == before


async def test_windows_of_another_workspace_are_of_another_key() -> None:
    bench = Bench(texts=[a_text(1, "We ship on Thursdays."), a_text(3, "We ship on Fridays.", workspace_key="ws_2")])
    here = a_memory_said("Releases go out on Thursdays.", "m-1")
    there = a_memory_said("Releases go out on Fridays.", "m-3")
    bench.also(said(a_segment(here)), said(a_segment(there)))
    assert statuses(await bench.run()) == [EXTRACTED, EXTRACTED]
    assert sorted(bench.rows("SELECT team FROM memory")) == [(WS,), ("ws_2",)]
    assert sorted(bench.rows("SELECT workspace_key FROM queue")) == [(WS,), ("ws_2",)]


# ------------------------------------------------------------------------------------------------ whatever is decided

SENTENCES = [f"The {thing} limit is {number}." for thing in ("retry", "upload", "queue") for number in (10, 20)]
DECISIONS = st.tuples(
    st.sampled_from(["store", "update", "merge", "skip", "drop", "nonsense"]), st.integers(0, 9), st.booleans()
)


@given(st.lists(st.tuples(st.sampled_from(SENTENCES), DECISIONS), min_size=1, max_size=12), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
async def test_whatever_is_decided_the_store_holds_together_and_its_lines_restore_it(
    told: list[tuple[str, tuple[str, int, bool]]], pinned: int
) -> None:
    bench = Bench()
    for seq, (sentence, (decision, target, worded)) in enumerate(told, 1):
        bench.texts.append(a_text(2 * seq - 1, f"{sentence} It was said {'again ' * seq}."))
        live = [row for (row,) in bench.rows("SELECT memory_id FROM memory WHERE state = 'live' ORDER BY memory_id")]
        texts_of = dict(bench.rows("SELECT item_id, text FROM queue"))
        bench.likeness.records = [
            (KEY, KnownRecord(memory_id=name, text=texts_of[name], guarded=place == pinned))
            for place, name in enumerate(live)
        ]
        named = live[target % len(live)] if live else "mem_none"
        content = sentence if worded else ""
        bench.also(
            said(a_segment(a_memory_said(sentence, f"m-{2 * seq - 1}"))),
            chose(a_decision(0, decision, named, content=content)),
        )
        before = bench.rows("SELECT * FROM memory WHERE memory_id = ?", live[pinned]) if pinned < len(live) else []
        (result,) = await bench.run()
        assert result.status is EXTRACTED, result
        if before:
            assert bench.rows("SELECT * FROM memory WHERE memory_id = ?", live[pinned]) == before
    _holds_together(bench)
    _is_restored(bench)


def _holds_together(bench: Bench) -> None:
    claims = [claim for (claim,) in bench.rows("SELECT claim FROM memory WHERE state IN ('live', 'waiting')")]
    assert len(claims) == len(set(claims))
    versions = dict(bench.rows("SELECT memory_id, version FROM memory"))
    for memory_id, state, by, version in bench.rows("SELECT memory_id, state, superseded_by, version FROM memory"):
        assert (state == "superseded") is (by is not None)
        assert by is None or versions[by] > version
        assert bench.rows("SELECT count(*) FROM memory_source WHERE memory_id = ?", memory_id)[0][0] > 0
        ((item,),) = bench.rows("SELECT state FROM queue WHERE item_id = ?", memory_id)
        assert item == {"live": "committed", "waiting": "pending", "superseded": "superseded"}[state]
    spans = bench.rows("SELECT from_seq, through_seq FROM receipt ORDER BY from_seq")
    assert spans[0][0] == 0
    assert all(one[1] + 1 == after[0] for one, after in itertools.pairwise(spans))


def _is_restored(bench: Bench) -> None:
    """The lines of the outbox, read twice, give every row back but those that wait for a person."""
    fresh = FakeDatabase(queue_steps())
    lines = [msgspec.json.decode(line, type=Line) for (line,) in bench.rows("SELECT line FROM outbox ORDER BY number")]
    for line in (*lines, *lines):
        memories.restore(fresh.connection, line)
    lives = "SELECT * FROM memory WHERE state != 'waiting' ORDER BY memory_id"
    assert fresh.connection.execute(lives).fetchall() == bench.rows(lives)
    sources = (
        "SELECT memory_id, session_id, message_id, quote FROM memory_source WHERE memory_id IN"
        " (SELECT memory_id FROM memory WHERE state != 'waiting') ORDER BY 1, 2, 3, 4"
    )
    assert fresh.connection.execute(sources).fetchall() == bench.rows(sources)
    refs = (
        "SELECT memory_id, generation_id FROM generation_ref WHERE memory_id IN"
        " (SELECT memory_id FROM memory WHERE state != 'waiting') ORDER BY 1"
    )
    assert fresh.connection.execute(refs).fetchall() == bench.rows(refs)
