"""What an agent knows of its session's memories: the same live and after a restart."""

from typing import Any

from governance.contracts import EvidenceKind
from host.known import MOST, Known
from recall.contracts import SegmentKind
from tests.support.builders import a_memory_id, a_segment
from tests.support.runtimes import a_read


def a_row(number: int, kind: EvidenceKind = EvidenceKind.SEEN, **fields: Any) -> Any:
    return a_read(number, kind, **({"coverage": None} | fields))


def segments(*seqs: int) -> list[Any]:
    return [a_segment(f"text {seq}", event_seq=seq) for seq in seqs]


def test_what_was_delivered_stands_behind_its_event_and_what_was_read_in_it() -> None:
    known = Known()
    known.took([a_row(1, event_seq=3)], segments(1, 2, 3))
    known.took([a_row(2, EvidenceKind.READ, event_seq=3, coverage=1_000_000)], segments(1, 2, 3))
    before = {name: [one.event_seq for one in held] for name, held in known.before.items()}
    assert before == {a_memory_id(1): [1, 2, 3], a_memory_id(2): [1, 2]}


def test_what_is_shown_again_is_known_since_the_first_time_unless_it_changed() -> None:
    known = Known()
    known.took([a_row(1, event_seq=3)], segments(1, 2, 3))
    known.took([a_row(1, event_seq=9)], segments(8, 9))
    assert (known.records[a_memory_id(1)].since, known.records[a_memory_id(1)].latest) == (3, 9)
    known.took([a_row(1, event_seq=12, record_digest="9" * 64)], segments(12))
    assert known.records[a_memory_id(1)].since == 12


def test_a_good_result_settles_a_reuse_and_a_failed_one_drops_it() -> None:
    known = Known()
    known.took([a_row(1)], [])
    known.took([a_row(1, EvidenceKind.REUSE, call_id="c1"), a_row(2, EvidenceKind.REUSE, call_id="c2")], [])
    known.took([a_row(1, EvidenceKind.SUCCESS, call_id="c1")], [])
    assert (set(known.calls), set(known.unproven)) == ({"c2"}, {a_memory_id(2)})
    known.heard(a_segment("no", kind=SegmentKind.RESULT, ok=False, call_id="c2"))
    assert (known.calls, known.unproven) == ({}, {})


def test_once_the_user_has_spoken_a_reuse_is_not_recent() -> None:
    known = Known()
    known.took([a_row(1, EvidenceKind.REUSE, call_id=None)], [])
    known.heard(a_segment("hello", kind=SegmentKind.PROMPT, event_seq=7))
    assert (known.unproven, list(known.prompts)) == ({}, [7])


def test_what_was_corrected_is_known_no_more() -> None:
    known = Known()
    known.took([a_row(1), a_row(1, EvidenceKind.CORRECTION)], [])
    assert known.records == {}


def test_what_is_kept_in_mind_is_bounded() -> None:
    known = Known()
    known.took([a_row(number) for number in range(1, MOST + 10)], [])
    assert len(known.records) == MOST
    assert a_memory_id(1) not in known.records
