"""What a session did with a memory."""

import msgspec
import pytest

from governance.contracts import EvidenceKind
from governance.evidence import WHOLE, Counts, Covered, Given, Occasion, counted, of_delivery, of_read, of_text
from tests.support.builders import a_memory_id
from tests.support.clock import START

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
    ("text", "cited"),
    [
        (f"see {ONE.memory_id}", [ONE.memory_id]),
        (f"as memory:{ONE.memory_id} says, and memory://{TWO.memory_id}", [ONE.memory_id, TWO.memory_id]),
        (f"({ONE.memory_id}).", [ONE.memory_id]),
        (ONE.memory_id[:20], []),
        (f"x{ONE.memory_id}", []),
        (f"{ONE.memory_id}0", []),
        (a_memory_id(3), []),
    ],
)
def test_only_the_full_id_of_a_known_record_cites_it(text: str, cited: list[str]) -> None:
    edges = of_text(text, [ONE, TWO], OCCASION)
    assert [(edge.kind, edge.memory_id) for edge in edges] == [(EvidenceKind.CITE, memory_id) for memory_id in cited]


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
        *of_text(ONE.memory_id, [ONE], OCCASION),
    ]
    assert len({edge.evidence_id for edge in edges}) == len(edges)


def test_edges_are_counted_by_kind_session_and_time() -> None:
    other = msgspec.structs.replace(OCCASION, session_ref="b" * 32, at=START + 9)
    edges = (*of_delivery([ONE], "pkt_1", OCCASION), *of_read([covered(WHOLE)], other), *of_read([covered(1)], other))
    assert counted(edges) == Counts(kinds={"seen": 2, "read": 1}, sessions=2, first_at=START, last_at=START + 9)
    assert counted([]) == Counts()
