"""What a session did with a memory."""

import msgspec
import pytest

from governance.contracts import AuditKind, EvidenceKind
from governance.evidence import (
    WHOLE,
    Covered,
    Given,
    Occasion,
    corrections,
    edges,
    given_of,
    named,
    of_delivery,
    of_event,
    of_read,
    traced,
)
from recall.contracts import ContextCursor
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.entries import a_trace, an_entry

OCCASION = Occasion(session_ref="a" * 32, event_seq=7, context_version=5, at=START, call_id="call-1")
ONE = Given(memory_id=a_memory_id(1), source_version=2, record_digest="1" * 64)
TWO = Given(memory_id=a_memory_id(2), source_version=1, record_digest="2" * 64)


def covered(ratio: int, *, fresh: bool = True) -> Covered:
    return Covered(memory_id=ONE.memory_id, source_version=2, record_digest="1" * 64, ratio=ratio, fresh=fresh)


@pytest.mark.promise("seen-only-delivered")
def test_each_delivered_item_was_seen() -> None:
    edges = of_delivery([ONE, TWO], "pkt_1", OCCASION)
    assert [(edge.kind, edge.memory_id) for edge in edges] == [("seen", ONE.memory_id), ("seen", TWO.memory_id)]
    assert edges[0].record_digest == ONE.record_digest
    assert edges[0].source_version == 2
    assert edges[0].coverage is None


@pytest.mark.promise("read-is-no-citation")
@pytest.mark.parametrize(
    ("ratio", "fresh", "kinds"),
    [
        (0, True, []),
        (1, True, [EvidenceKind.SEEN]),
        (WHOLE - 1, True, [EvidenceKind.SEEN]),
        (WHOLE, True, [EvidenceKind.READ]),
        (WHOLE + 5, True, [EvidenceKind.READ]),
        (WHOLE, False, []),
    ],
)
def test_coverage_decides_what_a_read_was(ratio: int, fresh: bool, kinds: list[EvidenceKind]) -> None:
    edges = of_read([covered(ratio, fresh=fresh)], OCCASION)
    assert [edge.kind for edge in edges] == kinds
    assert [edge.coverage for edge in edges] == [min(ratio, WHOLE) for _ in kinds]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"see {ONE.memory_id}", {ONE.memory_id}),
        (f"as memory:{ONE.memory_id} says, and memory://{TWO.memory_id}", {ONE.memory_id, TWO.memory_id}),
        (f"({ONE.memory_id}).", {ONE.memory_id}),
        (f"按{ONE.memory_id}说的做", {ONE.memory_id}),
        (ONE.memory_id[:20], set()),
        (f"x{ONE.memory_id}", set()),
        (f"{ONE.memory_id}0", set()),
        ("", set()),
    ],
)
def test_only_a_full_id_names_a_memory(text: str, found: set[str]) -> None:
    assert named(text) == found


def test_the_same_event_told_twice_makes_the_same_edges() -> None:
    late = msgspec.structs.replace(OCCASION, at=START + 60_000)
    assert of_read([covered(5)], OCCASION)[0].evidence_id == of_read([covered(7)], late)[0].evidence_id
    again = msgspec.structs.replace(late, event_seq=9, call_id=None)
    first, second = of_delivery([ONE], "pkt_1", OCCASION), of_delivery([ONE], "pkt_1", again)
    assert first[0].evidence_id == second[0].evidence_id


def test_what_differs_in_kind_record_session_or_event_is_another_edge() -> None:
    def other(**fields: object) -> Occasion:
        return msgspec.structs.replace(OCCASION, **fields)

    edges = [
        *of_read([covered(5), covered(WHOLE)], OCCASION),
        *of_read([covered(5)], other(event_seq=8)),
        *of_read([covered(5)], other(call_id="call-2")),
        *of_read([covered(5)], other(session_ref="b" * 32)),
        *of_delivery([ONE, TWO], "pkt_1", OCCASION),
        *of_delivery([ONE], "pkt_2", OCCASION),
        *of_event(EvidenceKind.CITE, [ONE], OCCASION),
        *of_event(EvidenceKind.REUSE, [ONE], OCCASION, "call-1"),
        *of_event(EvidenceKind.REUSE, [ONE], OCCASION, "call-2"),
    ]
    assert len({edge.evidence_id for edge in edges}) == len(edges)


@pytest.mark.promise("evidence-rebuilt")
def test_what_an_entry_carries_makes_the_edges_that_were_formed() -> None:
    cursor = ContextCursor(session_id="a" * 32, event_seq=7, context_version=5)
    rows = (
        *of_read([covered(WHOLE), covered(5)], OCCASION),
        *of_event(EvidenceKind.REUSE, [TWO], OCCASION, "call-1"),
        *of_event(EvidenceKind.CITE, [ONE], OCCASION),
    )
    entry = an_entry(at=START, session_ref="a" * 32, cursor=cursor, evidence=traced(rows))
    assert edges(entry) == rows
    given = of_delivery([ONE], "pkt_" + "0" * 31 + "1", msgspec.structs.replace(OCCASION, call_id=None))
    delivery = msgspec.structs.replace(entry, kind=AuditKind.DELIVERY, packet=a_trace(1), evidence=traced(given))
    assert edges(delivery) == given
    assert [given_of(row) for row in given] == [ONE]


def test_a_correction_is_carried_by_the_entry_that_says_so() -> None:
    entry = an_entry(
        audit_id="aud_1", kind=AuditKind.FEEDBACK, cursor=None, session_ref="", evidence=corrections([ONE])
    )
    (row,) = edges(entry)
    assert (row.kind, row.memory_id, row.event_seq) == (EvidenceKind.CORRECTION, ONE.memory_id, 0)
    assert row != edges(msgspec.structs.replace(entry, audit_id="aud_2"))[0]
