"""The rows of the access-evidence graph."""

import msgspec
import pytest

from governance.evidence import WHOLE, Covered, Given, Occasion, of_delivery, of_read
from governance.evidence_store import EvidenceStore
from governance.migrations import schema
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

OCCASION = Occasion(session_ref="a" * 32, event_seq=7, context_version=5, at=START, call_id="call-1")
ONE = Given(memory_id=a_memory_id(1), source_version=2, record_digest="1" * 64)


def read_at(event_seq: int, session_ref: str = "a" * 32) -> Occasion:
    return msgspec.structs.replace(OCCASION, event_seq=event_seq, at=START + event_seq, session_ref=session_ref)


READ = Covered(memory_id=ONE.memory_id, source_version=2, record_digest="1" * 64, ratio=WHOLE, fresh=True)


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase([schema()])


async def test_edges_come_back_as_they_went_in(database: FakeDatabase) -> None:
    store = EvidenceStore(database)
    edges = (*of_read([READ], read_at(1)), *of_delivery([ONE], "pkt_1", read_at(2)))
    assert await store.insert(edges) == 2
    assert await store.of_memory(ONE.memory_id) == edges
    assert await store.of_memory(a_memory_id(2)) == ()


async def test_telling_the_same_twice_adds_nothing(database: FakeDatabase) -> None:
    store = EvidenceStore(database)
    edges = of_read([READ], OCCASION)
    assert await store.insert(edges) == 1
    assert await store.insert(edges) == 0
    assert await store.insert(()) == 0
    assert len(await store.of_memory(ONE.memory_id)) == 1


async def test_a_session_is_told_in_the_order_of_its_events(database: FakeDatabase) -> None:
    store = EvidenceStore(database)
    for event_seq in (9, 3, 5):
        await store.insert(of_read([READ], read_at(event_seq)))
    await store.insert(of_read([READ], read_at(4, "b" * 32)))
    assert [edge.event_seq for edge in await store.of_session("a" * 32)] == [3, 5, 9]


async def test_counts_are_a_fold_over_the_rows(database: FakeDatabase) -> None:
    store = EvidenceStore(database)
    await store.insert((*of_read([READ], read_at(1)), *of_read([READ], read_at(2, "b" * 32))))
    counts = await store.counts(ONE.memory_id)
    assert (counts.kinds, counts.sessions) == ({"read": 2}, 2)


async def test_edges_share_somebody_elses_transaction(database: FakeDatabase) -> None:
    store = EvidenceStore(database)
    database.fail_next = RuntimeError("the delivery could not be stored")
    with pytest.raises(RuntimeError):
        await database.write(store.statement(of_read([READ], OCCASION)))
    assert await store.of_memory(ONE.memory_id) == ()
