"""The audit: committed before it is heard of, chained, found again."""

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from governance.audit import SUBSCRIBER_QUEUE, Audit, Verification, session_ref
from governance.contracts import AuditEntry, AuditFilter, AuditKind, EvidenceKind, EvidenceTrace
from governance.errors import AuditUnavailable
from governance.migrations import schema
from host.database import open_database
from tests.support.builders import a_memory_id
from tests.support.clock import START, CountedIds
from tests.support.entries import REF, a_full_pass, a_trace, an_entry
from tests.support.fakes import FakeDatabase

KEY = b"k" * 32
NAMES = "audit_id, at, session_ref, kind, outcome, reason, step, packet_id, digest, entry"


@pytest_asyncio.fixture
async def audit(tmp_path: Path) -> AsyncIterator[Audit]:
    async with open_database(tmp_path / "audit.db", [schema(), schema(4)]) as database:
        yield Audit(database, KEY, CountedIds())


@pytest.fixture
def fake() -> FakeDatabase:
    return FakeDatabase([schema(), schema(4)])


async def ids(audit: Audit, **wanted: object) -> list[str]:
    return [entry.audit_id for entry in await audit.query(AuditFilter(**wanted))]


async def test_entries_are_chained_in_their_order_and_verify(audit: Audit) -> None:
    first, second = await audit.append([an_entry(), an_entry(reason="cooldown")])
    (third,) = await audit.append([an_entry(reason="late")])
    assert first.prev_digest == ""
    assert second.prev_digest == first.digest
    assert third.prev_digest == second.digest
    assert len({first.audit_id, second.audit_id, third.audit_id}) == 3
    assert await audit.verify() == Verification(ok=True, entries=3)
    assert await audit.count() == 3


async def test_many_writers_at_once_make_one_chain(audit: Audit) -> None:
    await asyncio.gather(*(audit.append([an_entry(step=step), an_entry(step=step)]) for step in range(40)))
    found = await audit.verify()
    assert (found.ok, found.entries) == (True, 80)


async def test_an_entry_shares_somebody_elses_transaction_and_its_fate(fake: FakeDatabase) -> None:
    audit = Audit(fake, KEY, CountedIds())
    await fake.write(audit.statement(an_entry(audit_id="aud_kept")))
    fake.fail_next = RuntimeError("the packet could not be stored")
    with pytest.raises(RuntimeError):
        await fake.write(audit.statement(an_entry(audit_id="aud_undone")))
    await fake.write(audit.statement(an_entry(audit_id="aud_next")))
    assert await ids(audit) == ["aud_next", "aud_kept"]
    assert (await audit.verify()).ok


@pytest.mark.promise("audit-first")
async def test_a_failing_audit_says_so_and_tells_nobody_of_the_entry(fake: FakeDatabase) -> None:
    audit = Audit(fake, KEY, CountedIds())
    following = audit.subscribe()
    fake.fail_next = sqlite3.OperationalError("disk is full")
    with pytest.raises(AuditUnavailable, match="disk is full"):
        await audit.append([an_entry()])
    following.close()
    assert [entry async for entry in following] == []
    assert await audit.count() == 0


# ----------------------------------------------------------------------------------------------------------- tampering


@pytest.mark.parametrize(
    ("tampering", "row"),
    [
        ("UPDATE audit SET entry = CAST(replace(entry, 'cooldown', 'disposed') AS BLOB) WHERE row = 3", 3),
        ("UPDATE audit SET reason = 'disposed' WHERE row = 3", 3),
        ("UPDATE audit SET at = at + 1 WHERE row = 2", 2),
        ("DELETE FROM audit WHERE row = 2", 3),
        ("DELETE FROM audit WHERE row >= 4", 4),
        ("DELETE FROM audit WHERE row = 1", 2),
        ("UPDATE audit SET row = CASE row WHEN 2 THEN 30 WHEN 3 THEN 20 ELSE row END WHERE row IN (2, 3)", 4),
        (
            "UPDATE audit SET row = 9 WHERE row = 2; UPDATE audit SET row = 2 WHERE row = 3;"
            "UPDATE audit SET row = 3 WHERE row = 9",
            2,
        ),
        (
            f"INSERT INTO audit ({NAMES}) SELECT {NAMES.replace('audit_id', chr(39) + 'x' + chr(39), 1)} FROM audit"
            " WHERE row = 2",
            6,
        ),
        (
            "UPDATE audit SET row = 7 WHERE row = 5; UPDATE audit SET row = 6 WHERE row = 4;"
            f"INSERT INTO audit (row, {NAMES}) SELECT 4, 'x', at, session_ref, kind, outcome, reason, step, packet_id,"
            " digest, entry FROM audit WHERE row = 3",
            4,
        ),
        (f"INSERT INTO audit (row, {NAMES}) SELECT 0, 'x', {NAMES.partition(', ')[2]} FROM audit WHERE row = 2", 0),
        (f"INSERT INTO audit (row, {NAMES}) SELECT -3, 'x', {NAMES.partition(', ')[2]} FROM audit WHERE row = 2", -3),
        (f"UPDATE audit SET entry = x'5b5d', digest = '{hashlib.sha256(b'[]').hexdigest()}' WHERE row = 3", 3),
        (f"UPDATE audit SET entry = x'ff', digest = '{hashlib.sha256(bytes([255])).hexdigest()}' WHERE row = 3", 3),
        ("DELETE FROM audit WHERE row = 5; DELETE FROM sqlite_sequence", 5),
        ("DELETE FROM audit WHERE row = 5; UPDATE sqlite_sequence SET seq = 'x'", 5),
        ("UPDATE sqlite_sequence SET seq = 3", 6),
    ],
    ids=[
        *("entry", "column", "time", "removed", "cut-off", "head", "renumbered", "swapped", "added", "put-between"),
        *("put-first", "put-before", "no-entry", "no-text", "cut-off-counted", "cut-off-garbled", "counted"),
    ],
)
@pytest.mark.promise("chain-tampering")
async def test_a_touched_chain_is_found_and_where(fake: FakeDatabase, tampering: str, row: int) -> None:
    audit = Audit(fake, KEY, CountedIds())
    await audit.append([an_entry(reason="cooldown", step=step) for step in range(5)])
    fake.connection.executescript(tampering)
    found = await audit.verify()
    assert not found.ok
    assert found.problem
    assert found.row == row


async def test_of_a_damaged_checkpoint_nothing_is_known_and_verify_says_so(fake: FakeDatabase) -> None:
    audit = Audit(fake, KEY, CountedIds())
    await audit.append([an_entry()])
    fake.connection.execute("INSERT INTO audit_checkpoint (one, digest, document) VALUES (1, 'x', x'00ff')")
    assert (await audit.readable()).entries == 0
    assert (await audit.verify()).problem == "the checkpoint was changed"


async def test_an_entry_that_cannot_be_read_is_told_with_a_way_out(fake: FakeDatabase) -> None:
    audit = Audit(fake, KEY, CountedIds())
    await audit.append([an_entry()])
    fake.connection.execute("UPDATE audit SET entry = x'ff'")
    with pytest.raises(AuditUnavailable, match=r"cannot be read.*audit\.verify"):
        await audit.query(AuditFilter())


# ------------------------------------------------------------------------------------------------------------- queries


async def test_every_condition_narrows_and_the_newest_comes_first(audit: Audit) -> None:
    await audit.append(
        [
            an_entry(audit_id="aud_1", step=1),
            an_entry(audit_id="aud_2", session_ref="c" * 32, reason="cooldown"),
            a_full_pass(audit_id="aud_3", step=2),
            an_entry(audit_id="aud_4", kind=AuditKind.DELIVERY, outcome="delivered", packet=a_trace()),
        ]
    )
    assert await ids(audit) == ["aud_4", "aud_3", "aud_2", "aud_1"]
    assert await ids(audit, session_ref=REF) == ["aud_4", "aud_3", "aud_1"]
    assert await ids(audit, kind=AuditKind.DELIVERY) == ["aud_4"]
    assert await ids(audit, outcome="packet") == ["aud_3"]
    assert await ids(audit, reason="cooldown") == ["aud_2"]
    assert await ids(audit, step=2) == ["aud_3"]
    assert await ids(audit, packet_id=a_trace().packet_id) == ["aud_4", "aud_3"]
    assert await ids(audit, memory_id=a_memory_id(1)) == ["aud_4", "aud_3"]
    assert await ids(audit, memory_id=a_memory_id(2)) == ["aud_3"]
    assert await ids(audit, memory_id=a_memory_id(2), session_ref="c" * 32) == []
    assert await ids(audit, limit=2) == ["aud_4", "aud_3"]
    assert await ids(audit, limit=0) == []


async def test_what_is_older_than_a_time_is_left_out(audit: Audit) -> None:
    await audit.append([an_entry(audit_id=f"aud_{n}", at=START + n) for n in range(4)])
    assert await ids(audit, since=START + 2) == ["aud_3", "aud_2"]
    assert await ids(audit, since=START + 4) == []


async def test_pages_continue_below_a_row(audit: Audit) -> None:
    await audit.append([an_entry(audit_id=f"aud_{n}") for n in range(5)])
    page = await audit.rows(AuditFilter(limit=2))
    assert [entry.audit_id for _, entry in page] == ["aud_4", "aud_3"]
    assert await ids(audit, after_row=page[-1][0], limit=2) == ["aud_2", "aud_1"]


async def test_one_entry_is_found_by_its_id(audit: Audit) -> None:
    (stored,) = await audit.append([a_full_pass()])
    assert await audit.get(stored.audit_id) == stored
    assert await audit.get("aud_unknown") is None


async def test_what_happened_later_is_told_in_order(audit: Audit) -> None:
    def about(kind: AuditKind, outcome: str, **fields: object) -> AuditEntry:
        return an_entry(audit_id=f"aud_{outcome}", kind=kind, outcome=outcome, **fields)

    stored = await audit.append(
        [
            about(AuditKind.CLAIM, "before", packet=a_trace()),
            a_full_pass(audit_id="aud_pass"),
            about(AuditKind.CLAIM, "claimed", packet=a_trace()),
            about(AuditKind.CLAIM, "other", packet=a_trace(2)),
            about(AuditKind.DELIVERY, "delivered", packet=a_trace()),
            about(AuditKind.FEEDBACK, "useful", memory_id=a_memory_id(1)),
            about(AuditKind.FEEDBACK, "noise", memory_id=a_memory_id(2)),
            about(AuditKind.FEEDBACK, "late", packet=a_trace()),
            about(AuditKind.FEEDBACK, "wrong", packet=a_trace(2)),
        ]
    )
    later = await audit.later(stored[1])
    assert [entry.audit_id for entry in later] == ["aud_claimed", "aud_delivered", "aud_useful", "aud_late"]
    assert await audit.later(an_entry()) == ()


async def test_what_the_session_did_with_a_packets_memories_came_later_too(audit: Audit) -> None:
    def used(number: int, **fields: object) -> AuditEntry:
        trace = EvidenceTrace(
            kind=EvidenceKind.REUSE, memory_id=a_memory_id(number), source_version=1, record_digest="0" * 64
        )
        return an_entry(evidence=(trace,), **fields)

    stored = await audit.append(
        [
            a_full_pass(audit_id="aud_pass"),
            used(1, audit_id="aud_used"),
            used(2, audit_id="aud_other_memory"),
            used(1, audit_id="aud_other_session", session_ref="e" * 32),
            a_full_pass(audit_id="aud_other_packet", packet=a_trace(2)),
            an_entry(audit_id="aud_nothing"),
        ]
    )
    assert [entry.audit_id for entry in await audit.later(stored[0])] == ["aud_used"]


async def test_a_walk_meets_every_entry_in_its_order_up_to_a_row(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.audit.CHUNK", 2)
    stored = await audit.append([an_entry(step=step) for step in range(5)])

    assert [entry async for _, entry in audit.walk()] == list(stored)
    assert [row async for row, _ in audit.walk(1, 4)] == [2, 3, 4]
    assert await audit.head() == 5


# --------------------------------------------------------------------------------------------------------- subscribers


async def test_followers_hear_of_what_is_committed_in_order_until_they_close(audit: Audit) -> None:
    one, other = audit.subscribe(), audit.subscribe()
    first = await audit.append([an_entry(), an_entry()])
    one.close()
    second = await audit.append([an_entry()])
    other.close()
    one.close()  # closing twice is closing
    assert [entry async for entry in one] == list(first)
    assert [entry async for entry in other] == [*first, *second]
    assert not one.dropped


async def test_a_follower_that_never_reads_is_dropped_and_holds_nobody_up(audit: Audit) -> None:
    slow, quick = audit.subscribe(), audit.subscribe()
    heard = asyncio.create_task(collect(quick, SUBSCRIBER_QUEUE + 2))
    for _ in range(SUBSCRIBER_QUEUE + 2):
        await audit.append([an_entry()])
    async with asyncio.timeout(5):
        assert len(await heard) == SUBSCRIBER_QUEUE + 2
    assert slow.dropped
    assert len([entry async for entry in slow]) == SUBSCRIBER_QUEUE
    assert not quick.dropped


async def collect(following: "AsyncIterator[AuditEntry]", count: int) -> list[AuditEntry]:
    heard: list[AuditEntry] = []
    async for entry in following:
        heard.append(entry)
        if len(heard) == count:
            break
    return heard


def test_a_session_has_another_name_under_another_key() -> None:
    ref = session_ref(KEY, "session-1")
    assert len(ref) == 32
    assert ref == session_ref(KEY, "session-1")
    assert ref != session_ref(b"j" * 32, "session-1")
    assert ref != session_ref(KEY, "session-11")
    assert session_ref(KEY, "odd \ud800 id")


def test_the_audit_names_sessions_with_its_own_key(fake: FakeDatabase) -> None:
    assert Audit(fake, KEY, CountedIds()).ref("session-1") == session_ref(KEY, "session-1")
