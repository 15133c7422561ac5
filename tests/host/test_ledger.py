"""The ledger: entries and what depends on them are one transaction; subscribers hear of it after the commit."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from governance.audit import Audit
from governance.contracts import AuditEntry, AuditFilter, AuditKind, EvidenceKind, EvidenceTrace
from governance.errors import AuditUnavailable
from governance.migrations import schema
from host.database import SqliteDatabase, open_database
from host.ledger import AuditLedger
from tests.support.builders import a_memory_id
from tests.support.clock import CountedIds
from tests.support.entries import an_entry

BESIDE = "CREATE TABLE beside (name TEXT NOT NULL UNIQUE);"


class Opened:
    """A ledger over a real file, and who hears of its entries."""

    def __init__(self, database: SqliteDatabase) -> None:
        self.database = database
        self.audit = Audit(database, b"k" * 32, CountedIds())
        self.told: list[str] = []
        self.ledger = AuditLedger(self.audit, self.heard)

    def heard(self, entries: Sequence[AuditEntry]) -> None:
        self.told.extend(entry.audit_id for entry in entries)

    async def ids(self) -> list[str]:
        return [entry.audit_id for entry in await self.audit.query(AuditFilter())][::-1]

    async def beside(self) -> list[str]:
        return await self.database.read(
            lambda connection: [row[0] for row in connection.execute("SELECT name FROM beside")]
        )


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opened]:
    async with open_database(tmp_path / "audit.db", [schema() + "\n" + BESIDE, schema(4)]) as database:
        yield Opened(database)


def note(name: str) -> Callable[[sqlite3.Connection], object]:
    return lambda connection: connection.execute("INSERT INTO beside VALUES (?)", (name,))


async def test_entries_are_chained_in_their_order_and_told(opened: Opened) -> None:
    subscription = opened.audit.subscribe()

    stored = await opened.ledger.append([an_entry(), an_entry(kind=AuditKind.CLAIM)], also=note("one"))

    first, second = stored
    assert (first.prev_digest, second.prev_digest) == ("", first.digest)
    assert opened.told == [first.audit_id, second.audit_id] == await opened.ids()
    assert await opened.beside() == ["one"]
    assert [(await anext(subscription)).audit_id for _ in stored] == opened.told
    assert (await opened.audit.verify()).ok


async def test_an_entry_can_stand_alone(opened: Opened) -> None:
    (stored,) = await opened.ledger.append([an_entry()])

    assert await opened.ids() == [stored.audit_id]


@pytest.mark.promise("audit-first")
async def test_what_depends_on_an_entry_takes_it_along_when_it_fails(opened: Opened) -> None:
    class Moved(Exception):
        pass

    def moved(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO beside VALUES ('half')")
        raise Moved

    with pytest.raises(Moved):
        await opened.ledger.append([an_entry()], also=moved)

    assert (await opened.ids(), await opened.beside(), opened.told) == ([], [], [])


@pytest.mark.promise("audit-first")
async def test_an_audit_that_cannot_be_written_takes_what_depends_on_it_along(opened: Opened) -> None:
    full = "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
    await opened.database.write(lambda connection: connection.execute(full))

    with pytest.raises(AuditUnavailable, match="disk is full"):
        await opened.ledger.append([an_entry()], also=note("one"))
    assert opened.audit.problem == "database or disk is full"
    await opened.database.write(lambda connection: connection.execute("DROP TRIGGER full"))

    assert (await opened.ids(), await opened.beside(), opened.told) == ([], [], [])
    await opened.ledger.append([an_entry()], also=note("one"))
    assert ((await opened.audit.verify()).entries, opened.audit.problem) == (1, "")


async def test_who_wants_no_evidence_has_none_in_any_entry(opened: Opened) -> None:
    trace = EvidenceTrace(kind=EvidenceKind.CORRECTION, memory_id=a_memory_id(), source_version=1, record_digest="d")
    wanting, unwilling = opened.ledger, AuditLedger(opened.audit, opened.heard, evidence=False)

    (kept,) = await wanting.append([an_entry(evidence=(trace,))])
    (bare,) = await unwilling.append([an_entry(evidence=(trace,))])

    assert (kept.evidence, bare.evidence) == ((trace,), ())
