"""The checkpoint engine on real files: items 14, 15, 16 and 21 of formation.md 9."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import (
    KnownRecord,
    RangeStatus,
    RecordLine,
    SnapshotOrigin,
    Trigger,
)
from governance.formation.identity import gap_id_of
from recall.contracts import Origin
from tests.support.builders import WORKSPACE
from tests.support.checkpoints import DAY, Desk, asked_text, complete, item, running, said, worded

THURSDAYS = "We ship releases on Thursdays."
FACT = "Releases are shipped on Thursdays."
PARAPHRASE_SAID = "Remember that? Anyway: releases are shipped on Thursdays only."


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with running(tmp_path) as one:
        yield one


def proposes(desk: Desk, content: str, *quotes: tuple[str, str], gap: str | None = None, words: str = "") -> None:
    """The model will propose one fact, and word it so."""
    desk.answers(complete(item(content, *quotes, gap=gap)), worded(words or content))


async def lines(desk: Desk) -> list[str]:
    return [line for (line,) in await desk.rows("SELECT line FROM outbox WHERE kind = 'record' ORDER BY number")]


async def records(desk: Desk) -> list[RecordLine]:
    return [msgspec.json.decode(line, type=RecordLine) for line in await lines(desk)]


# ------------------------------------------------------------------------------------------------------------------ 14


@pytest.mark.promise("formation-14")
async def test_item_14_the_same_boundary_twice_is_one_item_and_no_second_call(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0)
    desk.tells(said(THURSDAYS, 3))
    proposes(desk, FACT, ("s-one#3", THURSDAYS))
    first = await desk.one(5)
    assert (first.status, first.calls, len(first.committed)) == (RangeStatus.EXTRACTED, 2, 1)

    again = await desk.one(5)
    assert again.idempotent and again.calls == 0 and desk.calls == 2
    assert again.committed == first.committed
    assert (await desk.one(5, trigger=Trigger.END)).status is RangeStatus.NO_RANGE
    assert await desk.count("queue") == await desk.count("memory") == len(await lines(desk)) == 1


@pytest.mark.promise("formation-14")
async def test_item_14_the_event_at_zero_is_evidence(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0)
    desk.tells(said(THURSDAYS, 0))
    proposes(desk, FACT, ("s-one#0", THURSDAYS))
    result = await desk.one(0)
    assert (result.status, result.from_seq, result.through_seq) == (RangeStatus.EXTRACTED, 0, 0)


@pytest.mark.promise("formation-14")
async def test_item_14_a_range_in_which_only_the_assistant_spoke_is_skipped_without_a_call(desk: Desk) -> None:
    desk.tells(said("I shipped it on Thursday.", 2, role="assistant"))
    result = await desk.one(9)
    assert (result.status, result.calls, desk.calls) == (RangeStatus.SKIPPED, 0, 0)
    assert await desk.rows("SELECT processed_seq FROM cursor") == [(9,)]
    assert await desk.rows("SELECT status FROM receipt") == [("skipped",)]


@pytest.mark.promise("formation-14")
@pytest.mark.parametrize("origin", [SnapshotOrigin.SUBAGENT, SnapshotOrigin.OWN])
async def test_item_14_a_subagent_leaves_no_row_at_all(desk: Desk, origin: SnapshotOrigin) -> None:
    desk.tells(said(THURSDAYS, 1))
    result = await desk.one(5, origin=origin)
    assert result.status is RangeStatus.UNAVAILABLE
    plain = "type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'team_terms_%'"  # a table of words has parts
    tables = await desk.rows(f"SELECT name FROM sqlite_master WHERE {plain}")
    assert [name for (name,) in tables if await desk.count(name)] == []
    assert desk.material.reads == [] == desk.gate.asked and desk.calls == 0


# ------------------------------------------------------------------------------------------------------------------ 15


async def seen_once(desk: Desk) -> str:
    desk.tells(said(THURSDAYS, 1))
    proposes(desk, FACT, ("s-one#1", THURSDAYS))
    result = await desk.one(2)
    assert result.status is RangeStatus.DEFERRED and not result.committed
    assert (result.seen, result.floor) == (1, 2)
    return result.deferred[0]


@pytest.mark.promise("formation-15")
async def test_item_15_a_fact_of_one_session_is_deferred_and_no_record_is_made_of_it(desk: Desk) -> None:
    gap = await seen_once(desk)
    assert gap == gap_id_of(WORKSPACE, FACT)
    assert await lines(desk) == [] and await desk.count("memory") == 0
    assert await desk.rows("SELECT state FROM queue") == [("deferred",)]


@pytest.mark.promise("formation-15")
async def test_item_15_the_same_session_and_its_resumption_are_no_second_witness(desk: Desk) -> None:
    await seen_once(desk)
    desk.tells(said(f"As I said: {THURSDAYS}", 4), said(THURSDAYS, 1, session="s-resumed"))
    proposes(desk, FACT, ("s-one#4", THURSDAYS))
    assert (await desk.one(5)).status is RangeStatus.DEFERRED
    proposes(desk, FACT, ("s-resumed#1", THURSDAYS))
    resumed = await desk.one(2, "s-resumed", conversation_key="s-one")
    assert resumed.status is RangeStatus.DEFERRED
    assert await desk.rows("SELECT conversation_key FROM sighting") == [("s-one",)]


@pytest.mark.promise("formation-15")
async def test_item_15_a_second_session_that_names_the_shown_gap_commits_it_as_a_hint_at_most(desk: Desk) -> None:
    gap = await seen_once(desk)
    desk.tells(said("Releases are shipped only on Thursdays, please.", 1, session="s-two"))
    proposes(
        desk,
        "Releases are shipped only on Thursdays.",
        ("s-two#1", "Releases are shipped only on Thursdays"),
        gap=gap,
    )
    result = await desk.one(3, "s-two")
    assert desk.model is not None and gap in asked_text(desk.model.requests[2])
    assert (result.status, len(result.committed)) == (RangeStatus.EXTRACTED, 1)
    (line,) = await records(desk)
    assert line.record.origin is Origin.EXTRACTED  # which may be a hint, and no more
    assert [source.session_id for source in line.sources] == ["s-one", "s-two"]
    assert await desk.rows("SELECT state FROM queue") == [("committed",)]
    assert await desk.rows("SELECT state, covered_by, content FROM gap") == [("covered", result.committed[0], "")]


@pytest.mark.promise("formation-15")
@pytest.mark.parametrize("named", ["gap_000000000000000000000000", "covered"])
async def test_item_15_a_made_up_or_covered_gap_does_not_help(desk: Desk, named: str) -> None:
    gap = await seen_once(desk)
    if named == "covered":
        await desk.database.write(lambda connection: connection.execute("UPDATE gap SET state = 'covered'"))
        named = gap
    desk.tells(said("Backups are taken at night.", 1, session="s-two"))
    proposes(desk, "Backups are taken at night.", ("s-two#1", "Backups are taken at night."), gap=named)
    result = await desk.one(3, "s-two")
    assert result.status is RangeStatus.DEFERRED and result.deferred != (gap,)
    assert await lines(desk) == []


@pytest.mark.promise("formation-15")
async def test_item_15_a_gap_that_fits_nothing_that_was_said_does_not_help(desk: Desk) -> None:
    gap = await seen_once(desk)
    desk.tells(said("Backups are taken at night.", 1, session="s-two"))
    proposes(desk, "Backups are taken at night.", ("s-two#1", "Backups are taken at night."), gap=gap)
    assert (await desk.one(3, "s-two")).status is RangeStatus.DEFERRED


@pytest.mark.promise("formation-15")
async def test_item_15_without_a_floor_a_fact_is_committed_at_once(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0)
    desk.tells(said(THURSDAYS, 1))
    proposes(desk, FACT, ("s-one#1", THURSDAYS))
    assert len((await desk.one(2)).committed) == 1
    assert await desk.count("gap") == 0


@pytest.mark.promise("formation-15")
async def test_item_15_a_sighting_older_than_the_maximum_does_not_count(desk: Desk) -> None:
    await seen_once(desk)
    desk.clock.advance(millis=90 * DAY + 1)
    desk.tells(said(THURSDAYS, 1, session="s-two"))
    proposes(desk, FACT, ("s-two#1", THURSDAYS))
    assert (await desk.one(2, "s-two")).status is RangeStatus.DEFERRED
    desk.clock.advance(millis=90 * DAY)
    desk.tells(said(THURSDAYS, 1, session="s-three"))
    proposes(desk, FACT, ("s-three#1", THURSDAYS))
    assert (await desk.one(2, "s-three")).status is RangeStatus.EXTRACTED


@pytest.mark.promise("formation-15")
async def test_item_15_with_the_ledger_off_there_is_no_row_and_only_what_was_asked_for_is_committed(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(gap_max_age_days=0)
    asked = "Remember: backups are taken at night."
    desk.tells(said(THURSDAYS, 1), said(asked, 2))
    desk.answers(
        complete(
            item(FACT, ("s-one#1", THURSDAYS)),
            item("Backups are taken at night.", ("s-one#2", "backups are taken at night")),
        ),
        worded(FACT, "Backups are taken at night."),
    )
    result = await desk.one(3)
    assert (len(result.committed), result.deferred, result.rejected) == (1, (), {"below-floor": 1})
    assert await desk.count("gap") == await desk.count("sighting") == 0
    assert [line.record.text for line in await records(desk)] == ["Backups are taken at night."]


# ------------------------------------------------------------------------------------------------------------------ 16


@pytest.mark.promise("formation-16")
@pytest.mark.parametrize(
    ("asked", "quote", "words"),
    [
        ("Remember: releases go out on Thursdays.", "releases go out on Thursdays", "Releases go out on Thursdays."),
        (
            "From now on we deploy from the main branch.",
            "we deploy from the main branch",
            "Deploys are from main branch.",
        ),
        ("记住：每周四发布新版本。", "每周四发布新版本", "每周四发布新版本。"),
    ],
)
async def test_item_16_what_the_user_asks_to_remember_is_committed_after_one_session(
    desk: Desk, asked: str, quote: str, words: str
) -> None:
    desk.tells(said(asked, 1))
    proposes(desk, words, ("s-one#1", quote))
    result = await desk.one(2)
    assert len(result.committed) == 1
    (line,) = await records(desk)
    assert line.record.origin is Origin.EXTRACTED
    assert line.sources[0].quote == quote


@pytest.mark.promise("formation-21")
async def test_item_21_a_record_that_is_known_and_said_again_ten_times_is_no_new_item(desk: Desk) -> None:
    desk.known.records = [KnownRecord(memory_id="mem_known", text=FACT, guarded=True)]
    for turn in range(10):
        desk.tells(said(THURSDAYS, turn * 2))
        desk.answers(complete(item(FACT, (f"s-one#{turn * 2}", THURSDAYS))))
        result = await desk.one(turn * 2 + 1)
        assert (result.status, result.rejected) == (RangeStatus.SKIPPED, {"already-known": 1})
    assert await desk.count("queue") == await desk.count("memory") == await desk.count("gap") == 0
