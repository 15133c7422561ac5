"""The rows of the access-evidence graph: stored with the entry that carries them, and by nothing else."""

from typing import Any

import pytest

from governance.audit import Audit
from governance.checkpoint import Checkpoint
from governance.contracts import AuditEntry, AuditKind, EvidenceKind
from governance.evidence import WHOLE, Covered, Given, Occasion, corrections, edges, of_read, traced
from governance.evidence_store import EvidenceStore, folded, load_standings, trimmed
from governance.migrations import schema
from governance.standing import DAY, EVIDENCE, KEPT, fold_evidence
from recall.contracts import ContextCursor
from tests.support.builders import a_memory_id
from tests.support.clock import START, CountedIds
from tests.support.entries import REF, an_entry
from tests.support.fakes import FakeDatabase

KEY = b"k" * 32
ONE = Given(memory_id=a_memory_id(1), source_version=2, record_digest="1" * 64)
READ = Covered(memory_id=ONE.memory_id, source_version=2, record_digest="1" * 64, ratio=WHOLE, fresh=True)


class Graph:
    """An audit with its evidence table."""

    def __init__(self) -> None:
        self.database = FakeDatabase([schema(), schema(4)])
        self.store = EvidenceStore(self.database)
        self.audit = Audit(self.database, KEY, CountedIds(), self.store.carried)


@pytest.fixture
def graph() -> Graph:
    return Graph()


def a_reading(event_seq: int, ref: str = REF, **fields: Any) -> AuditEntry:
    """An entry of an event that read the record."""
    occasion = Occasion(session_ref=ref, event_seq=event_seq, context_version=1, at=START)
    cursor = ContextCursor(session_id=ref, event_seq=event_seq, context_version=1)
    given = {"session_ref": ref, "cursor": cursor, "evidence": traced(of_read([READ], occasion))} | fields
    return an_entry(**given)


async def test_what_an_entry_carries_is_there_once_it_is_stored(graph: Graph) -> None:
    (kept,) = await graph.audit.append([a_reading(1)])

    assert await graph.store.of_memory(ONE.memory_id) == edges(kept)
    assert await graph.store.of_memory(a_memory_id(2)) == ()


async def test_an_entry_that_is_not_stored_leaves_no_row(graph: Graph) -> None:
    graph.database.fail_next = RuntimeError("the disk")
    with pytest.raises(RuntimeError):
        await graph.audit.append([a_reading(1)])
    assert await graph.store.rows() == ()


async def test_the_same_event_told_twice_is_one_row(graph: Graph) -> None:
    await graph.audit.append([a_reading(1), a_reading(1)])
    assert len(await graph.store.rows()) == 1


async def test_a_session_is_told_in_the_order_of_its_events(graph: Graph) -> None:
    await graph.audit.append([a_reading(seq) for seq in (9, 3, 5)])
    await graph.audit.append([a_reading(4, "b" * 32)])
    assert [edge.event_seq for edge in await graph.store.of_session(REF)] == [3, 5, 9]


async def test_what_a_person_says_of_a_memory_is_an_edge_of_its_entry(graph: Graph) -> None:
    entry = an_entry(kind=AuditKind.FEEDBACK, cursor=None, session_ref="", outcome="wrong", evidence=corrections([ONE]))
    await graph.audit.append([entry, entry])  # said twice: two entries, two edges

    rows = await graph.store.of_memory(ONE.memory_id)
    assert [row.kind for row in rows] == [EvidenceKind.CORRECTION] * 2


async def test_forgetting_takes_the_rows_in_the_entrys_own_transaction(graph: Graph) -> None:
    await graph.audit.append([a_reading(1)])
    gone = an_entry(kind=AuditKind.FEEDBACK, cursor=None, session_ref="", outcome="forgotten", memory_id=ONE.memory_id)
    await graph.audit.append([gone])

    assert await graph.store.rows() == ()
    assert folded(graph.database.connection) == ({}, ())


@pytest.mark.promise("evidence-rebuilt")
async def test_rows_that_were_lost_changed_or_added_come_back_as_the_audit_says(graph: Graph) -> None:
    await graph.audit.append([a_reading(seq) for seq in range(1, 6)])
    before = await graph.store.rows()
    graph.database.connection.execute("DELETE FROM evidence WHERE event_seq = 2")
    graph.database.connection.execute("UPDATE evidence SET coverage = 1 WHERE event_seq = 3")

    rebuilt = await graph.store.rebuild()

    assert rebuilt.differed
    assert await graph.store.rows() == before == rebuilt.rows
    assert not (await graph.store.rebuild()).differed


async def test_what_the_checkpoint_has_as_numbers_only_is_deleted(graph: Graph) -> None:
    old, young = a_reading(1, at=START), a_reading(2, at=START + KEPT + DAY)
    kept = await graph.audit.append([old, young])
    section = fold_evidence(None, kept, START + KEPT + 2 * DAY)

    await graph.database.write(lambda connection: trimmed(connection, Checkpoint(sections={EVIDENCE: section})))

    assert [row.event_seq for row in await graph.store.rows()] == [2]


async def test_a_start_counts_the_rows(graph: Graph) -> None:
    await graph.audit.append([a_reading(1), a_reading(2, "b" * 32)])
    found = await load_standings(graph.audit, graph.store)
    assert (found.of(ONE.memory_id).read, found.of(ONE.memory_id).sessions) == (2, 2)


async def test_a_checkpoint_that_cannot_be_read_counts_for_nothing(graph: Graph) -> None:
    await graph.audit.append([a_reading(1)])
    graph.database.connection.execute("INSERT INTO audit_checkpoint (one, digest, document) VALUES (1, 'x', x'00')")
    assert (await load_standings(graph.audit, graph.store)).of(ONE.memory_id).read == 1
