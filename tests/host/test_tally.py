"""The numbers of everything that was audited: live, and once the past was read."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from governance.audit import Audit
from governance.contracts import AuditKind
from governance.metrics import EMPTY, as_json, fold
from governance.migrations import schema
from host.tally import Tally
from tests.support.builders import a_call, a_prompt, a_result
from tests.support.clock import CountedIds
from tests.support.entries import a_full_pass, an_entry
from tests.support.fakes import FakeDatabase
from tests.support.world import FAILURE, LESSON, a_world


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase([schema(), schema(4)])


@pytest.fixture
def audit(database: FakeDatabase) -> Audit:
    return Audit(database, b"k" * 32, CountedIds())


def test_a_tally_is_the_fold_of_every_entry_it_heard_however_they_came() -> None:
    entries = [an_entry(), a_full_pass(), an_entry(kind=AuditKind.DROP, outcome="dropped", reason="expired")]
    together, apart = Tally(), Tally()

    together.heard(entries)
    for entry in entries:
        apart.heard([entry])

    assert together.metrics == apart.metrics == fold(EMPTY, entries)


def test_two_tallies_share_nothing() -> None:
    one, other = Tally(), Tally()

    one.heard([an_entry()])

    assert other.metrics == EMPTY


async def test_what_is_committed_while_the_past_is_read_counts_after_it(audit: Audit) -> None:
    past = await audit.append([a_full_pass(), an_entry()])
    tally = Tally()
    tally.expect()
    asked = asyncio.create_task(tally.whole())
    new = await audit.append([an_entry(reason="cooldown")])
    tally.heard(new)
    before = tally.metrics

    await tally.restore(audit, len(past))

    assert before == EMPTY
    assert await asked == tally.metrics == fold(EMPTY, [*past, *new])
    tally.heard(new)
    assert (await tally.whole()).entries == 4


async def test_a_past_that_cannot_be_read_costs_the_past_and_is_said(database: FakeDatabase, audit: Audit) -> None:
    await audit.append([an_entry()])
    database.connection.execute("INSERT INTO audit_checkpoint VALUES (1, '', CAST('{' AS BLOB))")
    tally = Tally()
    tally.expect()
    tally.heard([an_entry()])

    await tally.restore(audit, 1)

    assert (await tally.whole()).entries == 1
    assert "DecodeError" in tally.problem


async def test_a_store_that_fails_makes_nobody_wait_for_ever(database: FakeDatabase, audit: Audit) -> None:
    database.connection.execute("DROP TABLE audit_checkpoint")
    tally = Tally()
    tally.expect()

    with pytest.raises(sqlite3.OperationalError):
        await tally.restore(audit, 1)

    assert await tally.whole() == EMPTY


async def test_the_tally_of_a_running_remora_counts_what_its_audit_holds_and_so_does_the_next(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        folder = world.workspace()
        await world.remember(LESSON)
        await world.feed(a_prompt("Good morning.", workspace=folder), a_call(workspace=folder))
        await world.feed(a_result(FAILURE, workspace=folder))
        await world.deliver(await world.claim())

        counted = as_json(world.parts.tally.metrics)

        assert counted == as_json(fold(EMPTY, await world.audit()))
        assert counted != as_json(EMPTY)
    async with a_world(tmp_path / "data") as world:
        assert as_json(await world.parts.tally.whole()) == counted
