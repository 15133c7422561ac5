"""Old entries are let go: by age, by size, whole rounds or not at all, and what they came to is kept."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest

from governance.audit import Also, Audit
from governance.checkpoint import OUTCOME, Checkpoint
from governance.contracts import AuditEntry, AuditFilter, AuditKind
from governance.errors import AuditUnavailable
from governance.metrics import EMPTY, Metrics, fold
from governance.migrations import schema
from governance.pruning import DAY, OVERHEAD, WORTH, YOUNG, Broken, Limits, Pruning, due_row
from tests.support.clock import START, CountedIds
from tests.support.entries import a_full_pass, an_entry
from tests.support.fakes import FakeDatabase

KEY = b"k" * 32
NOW = START + 20 * DAY


class Kept:
    """An audit, its numbers as they were counted live, and the pruning over it."""

    def __init__(self) -> None:
        self.database = FakeDatabase([schema(), schema(4)])
        self.audit = Audit(self.database, KEY, CountedIds())
        self.live: Metrics = EMPTY
        self.hung: list[Checkpoint] = []
        self.pruning = Pruning(
            self.database,
            self.audit,
            self.append,
            {"reasons": reasons},
            lambda _, checkpoint: self.hung.append(checkpoint),
        )

    async def append(self, entries: Sequence[AuditEntry], also: Also | None = None) -> Sequence[AuditEntry]:
        stored = await self.audit.append(entries, also)
        self.live = fold(self.live, stored)
        return stored

    async def rebuilt(self) -> Metrics:
        metrics = (await self.audit.checkpoint()).metrics
        async for _, entry in self.audit.walk():
            metrics = fold(metrics, [entry])
        return metrics

    def rows(self) -> list[int]:
        return [row for (row,) in self.database.connection.execute("SELECT row FROM audit ORDER BY row")]


def reasons(before: Any | None, entries: Sequence[AuditEntry], now: int) -> Any:
    counts = dict(before or {})
    for entry in entries:
        counts[entry.reason] = counts.get(entry.reason, 0) + 1
    return counts


@pytest.fixture
def kept() -> Kept:
    return Kept()


def aged(*days: int, **fields: Any) -> list[AuditEntry]:
    """Entries that many days before NOW."""
    return [an_entry(at=NOW - day * DAY, **fields) for day in days]


# --------------------------------------------------------------------------------------------------------------- what


async def test_what_is_older_than_the_limit_goes_and_the_chain_holds(kept: Kept) -> None:
    await kept.append([*aged(19, 18, 16), a_full_pass(at=NOW - 15 * DAY), *aged(13, 2)])

    assert await kept.pruning.run(Limits(), NOW) == 4

    found = await kept.audit.verify()
    assert (found.ok, found.entries, found.before) == (True, 3, 4)
    assert kept.rows() == [5, 6, 7]
    (entry,) = await kept.audit.query(AuditFilter(outcome=OUTCOME))
    assert (entry.kind, entry.note) == (AuditKind.POLICY, "4")
    checkpoint = await kept.audit.checkpoint()
    assert checkpoint.sections == {"reasons": {"no-confident-hit": 3, "tool-failure": 1}}
    assert await kept.rebuilt() == kept.live
    assert [one.entries for one in kept.hung] == [4]


async def test_an_entry_in_order_before_a_younger_one_waits_for_it(kept: Kept) -> None:
    await kept.append([*aged(19), *aged(2), *aged(19)])

    assert await kept.pruning.run(Limits(), NOW) == 1
    assert kept.rows()[0] == 2


async def test_what_is_too_much_goes_from_the_old_end_and_makes_room(kept: Kept) -> None:
    await kept.append(aged(*[3] * 40))
    (size,) = kept.database.connection.execute(f"SELECT sum(length(entry) + {OVERHEAD}) FROM audit").fetchone()
    limits = Limits(bytes=size // 2)

    gone = await kept.pruning.run(limits, NOW)

    (left,) = kept.database.connection.execute(
        f"SELECT sum(length(entry) + {OVERHEAD}) FROM audit WHERE outcome != '{OUTCOME}'"
    ).fetchone()
    assert left <= limits.bytes * 0.9
    assert 20 <= gone <= 26
    assert await kept.pruning.run(limits, NOW) == 0
    assert (await kept.audit.verify()).ok
    assert await kept.rebuilt() == kept.live


async def test_what_is_young_stays_however_much_it_is(kept: Kept) -> None:
    await kept.append([an_entry(at=NOW - YOUNG + number) for number in range(10)])

    assert await kept.pruning.run(Limits(bytes=1), NOW) == 0
    assert await kept.pruning.run(Limits(age=0), NOW) == 0


async def test_a_few_that_have_just_come_of_age_are_not_worth_a_round(kept: Kept) -> None:
    just = NOW - 14 * DAY - 1
    await kept.append([an_entry(at=just) for _ in range(3)])
    few = due_row(kept.database.connection, Limits(), NOW)
    await kept.append([an_entry(at=just) for _ in range(WORTH)])

    assert few == 0
    assert due_row(kept.database.connection, Limits(), NOW) == WORTH + 3


async def test_of_nothing_nothing_goes(kept: Kept) -> None:
    assert await kept.pruning.run(Limits(), NOW) == 0
    await kept.append(aged(1))
    assert await kept.pruning.run(Limits(), NOW) == 0
    assert (await kept.audit.verify()).before == 0


@pytest.mark.promise("chain-tampering")
async def test_round_after_round_the_chain_stays_whole(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.pruning.ROUND", 7)
    monkeypatch.setattr("governance.pruning.CHUNK", 3)
    for day in range(18, 0, -1):
        await kept.append(aged(*[day] * 5))
        await kept.pruning.run(Limits(), NOW)
        assert (await kept.audit.verify()).ok

    found = await kept.audit.verify()
    checkpoint = await kept.audit.checkpoint()
    assert checkpoint.entries + found.entries == kept.live.entries
    assert await kept.rebuilt() == kept.live


async def test_the_numbering_goes_on_when_everything_else_is_gone(kept: Kept) -> None:
    await kept.append(aged(19, 18))
    await kept.pruning.run(Limits(), NOW)
    await kept.append(aged(1))

    assert kept.rows() == [3, 4]
    assert (await kept.audit.verify()).ok


# ------------------------------------------------------------------------------------------------------------ trouble


async def test_a_round_that_fails_changes_nothing(kept: Kept) -> None:
    await kept.append(aged(19, 18, 1))
    kept.database.fail_next = sqlite3.OperationalError("disk is full")

    with pytest.raises(AuditUnavailable):
        await kept.pruning.run(Limits(), NOW)

    assert kept.rows() == [1, 2, 3]
    assert (await kept.audit.checkpoint()).entries == 0
    assert (await kept.audit.verify()).ok
    assert await kept.pruning.run(Limits(), NOW) == 2


@pytest.mark.parametrize(
    ("tampering", "row"),
    [
        ("UPDATE audit SET reason = 'disposed' WHERE row = 2", 2),
        ("DELETE FROM audit WHERE row = 2", 3),
        ("DELETE FROM audit WHERE row = 1", 2),
    ],
)
async def test_entries_that_do_not_hold_together_are_kept_as_they_are(kept: Kept, tampering: str, row: int) -> None:
    await kept.append(aged(19, 18, 17, 1))
    kept.database.connection.executescript(tampering)
    before = kept.rows()

    with pytest.raises(Broken, match=f"entry {row}"):
        await kept.pruning.run(Limits(), NOW)

    assert kept.rows() == before
    assert (await kept.audit.verify()).row == row


@pytest.mark.promise("chain-tampering")
@pytest.mark.parametrize(
    ("tampering", "row"),
    [
        ("UPDATE audit_checkpoint SET document = CAST(replace(document, 'no-confident-hit', 'fault') AS BLOB)", 6),
        ("UPDATE audit_checkpoint SET digest = '0'", 6),
        ("UPDATE audit_checkpoint SET document = CAST('?' AS BLOB)", 0),
        ("DELETE FROM audit_checkpoint", 3),
        ("DELETE FROM audit WHERE row = 3", 4),
        ("DELETE FROM audit WHERE row = 6", 6),
        ("UPDATE audit SET reason = 'disposed' WHERE row = 4", 4),
        ("DELETE FROM audit WHERE row <= 5", 6),
    ],
    ids=["document", "digest", "no-document", "gone", "first", "its-entry", "later", "more-cut-off"],
)
async def test_a_touched_checkpoint_or_what_follows_it_is_found(kept: Kept, tampering: str, row: int) -> None:
    await kept.append(aged(19, 19, 1, 1, 1))
    await kept.pruning.run(Limits(), NOW)
    kept.database.connection.executescript(tampering)

    found = await kept.audit.verify()

    assert (found.ok, found.row) == (False, row)
    assert found.problem


async def test_an_old_document_put_back_is_found(kept: Kept) -> None:
    await kept.append(aged(19, 19, 16, 1))
    await kept.pruning.run(Limits(age=18 * DAY), NOW)
    (old,) = kept.database.connection.execute("SELECT document, digest FROM audit_checkpoint").fetchall()
    await kept.pruning.run(Limits(), NOW)
    assert (await kept.audit.verify()).ok
    kept.database.connection.execute("UPDATE audit_checkpoint SET document = ?, digest = ?", old)

    assert not (await kept.audit.verify()).ok
