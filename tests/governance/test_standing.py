"""What the evidence of a memory comes to: the same numbers whatever was let go, and however often it was folded."""

import random
from typing import Any

import msgspec
import pytest

from governance import standing as module
from governance.contracts import AccessEvidence, AuditEntry, AuditKind, EvidenceKind, EvidenceTrace
from governance.evidence import edges
from governance.standing import (
    DAY,
    KEPT,
    NOTHING,
    SESSIONS,
    Standing,
    Standings,
    counted,
    edge_of,
    fold_evidence,
    opened,
    with_rows,
)
from recall.contracts import ContextCursor
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.entries import an_entry

ONE, TWO = a_memory_id(1), a_memory_id(2)


def ref(number: int) -> str:
    return f"{number:032x}"[::-1]


def an_edge(kind: EvidenceKind, number: int = 1, **fields: Any) -> AccessEvidence:
    given = {
        "evidence_id": f"ev_{number}",
        "kind": kind,
        "memory_id": ONE,
        "session_ref": ref(1),
        "event_seq": number,
        "context_version": 1,
        "source_version": 1,
        "record_digest": "1" * 64,
        "at": START + number,
    } | fields
    return AccessEvidence(**given)


def an_act(number: int, kind: EvidenceKind, memory_id: str = ONE, session: int = 1, **fields: Any) -> AuditEntry:
    """An entry that carries one edge."""
    trace = EvidenceTrace(kind=kind, memory_id=memory_id, source_version=1, record_digest="1" * 64)
    given = {
        "at": START + number,
        "session_ref": ref(session),
        "cursor": ContextCursor(session_id=ref(session), event_seq=number, context_version=1),
        "evidence": (trace,),
    } | fields
    return an_entry(**given)


def forgotten(memory_id: str = ONE) -> AuditEntry:
    given = {"kind": AuditKind.FEEDBACK, "outcome": "forgotten", "reason": "forgotten", "memory_id": memory_id}
    return an_entry(session_ref="", cursor=None, **given)


def test_edges_are_counted_by_kind_session_and_time() -> None:
    other = {"session_ref": ref(2)}
    rows = [
        an_edge(EvidenceKind.SEEN, 9),
        an_edge(EvidenceKind.REUSE, 2),
        an_edge(EvidenceKind.REUSE, 3, **other),
        an_edge(EvidenceKind.SUCCESS, 4, **other),
        an_edge(EvidenceKind.CORRECTION, 5, session_ref=""),
    ]
    assert counted(rows) == Standing(
        seen=1,
        reuse=2,
        success=1,
        correction=1,
        sessions=2,
        reuse_sessions=2,
        success_sessions=1,
        first_at=START + 2,
        last_at=START + 9,
        last_used_at=START + 4,
    )
    assert counted([]) == NOTHING


def test_seen_and_success_of_one_session_are_told_apart() -> None:
    assert counted([an_edge(EvidenceKind.SEEN)]).success_sessions == 0


def test_distinct_sessions_are_counted_up_to_the_bound() -> None:
    rows = [an_edge(EvidenceKind.REUSE, number, session_ref=ref(number)) for number in range(1, SESSIONS + 20)]
    assert counted(rows).reuse_sessions == SESSIONS
    assert counted(rows).reuse == SESSIONS + 19


def test_what_was_just_committed_counts_and_a_correction_is_known_at_once() -> None:
    standings = Standings()
    standings.heard([an_act(1, EvidenceKind.SEEN), an_act(2, EvidenceKind.CORRECTION, TWO)])
    assert (standings.of(ONE).seen, standings.of(TWO).correction) == (1, 1)
    assert standings.corrected() == {TWO}
    assert standings.known() == (ONE, TWO)
    assert standings.of(a_memory_id(3)) == NOTHING


def test_what_was_forgotten_has_no_evidence() -> None:
    standings = Standings()
    standings.heard([an_act(1, EvidenceKind.CORRECTION), forgotten()])
    assert (standings.of(ONE), standings.corrected(), standings.known()) == (NOTHING, frozenset(), ())
    assert opened(fold_evidence(None, [an_act(1, EvidenceKind.SEEN), forgotten()], START)).rows == []


def test_rows_that_are_old_become_numbers() -> None:
    entries = [an_act(1, EvidenceKind.REUSE), an_act(KEPT, EvidenceKind.SUCCESS, session=2)]
    found = opened(fold_evidence(None, entries, START + KEPT + DAY))
    assert [row.kind for row in map(edge_of, found.rows)] == [EvidenceKind.SUCCESS]
    assert with_rows(found.past, map(edge_of, found.rows)).of(ONE) == counted(
        [edge for entry in entries for edge in edges(entry)]
    )


def test_a_clock_that_was_put_back_lets_nothing_go_uncounted() -> None:
    """Rows of entries that are still in the audit are young enough to stay: they are counted as rows."""
    section = opened(fold_evidence(None, [an_act(1, EvidenceKind.SEEN)], START + 10 * KEPT))
    assert section.floor == START + 1 - DAY


def test_too_many_rows_become_numbers_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 3)
    monkeypatch.setattr(module, "SLACK", 0)
    entries = [an_act(number * DAY, EvidenceKind.SEEN) for number in range(1, 8)]
    found = opened(fold_evidence(None, entries, START + 8 * DAY))
    assert len(found.rows) == 3
    assert found.past[ONE].kinds == {"seen": 4}


def test_the_rows_of_one_day_stay_however_many_and_are_not_put_in_order_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ROWS", 3)
    monkeypatch.setattr(module, "SLACK", 0)
    entries = [an_act(number, EvidenceKind.SEEN) for number in range(1, 60)]
    calls: list[int] = []
    counted_before = module._counted
    monkeypatch.setattr(module, "_counted", lambda *given: (calls.append(1), counted_before(*given))[1])
    found = opened(fold_evidence(None, entries, START + DAY))
    assert (len(found.rows), found.past, len(calls)) == (59, {}, 1)


@pytest.mark.promise("evidence-rebuilt")
@pytest.mark.parametrize("seed", range(8))
def test_folding_in_parts_is_folding_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 40)
    monkeypatch.setattr(module, "SLACK", 5)
    chance = random.Random(seed)
    entries: list[AuditEntry] = []
    for number in range(200):
        entries.append(
            an_act(
                number * DAY // 4,
                chance.choice(list(EvidenceKind)),
                a_memory_id(chance.randint(1, 4)),
                chance.randint(1, 6),
            )
        )
        if chance.random() < 0.03:
            entries.append(forgotten(a_memory_id(chance.randint(1, 4))))
    now, cut = START + 60 * DAY, chance.randint(1, len(entries) - 1)

    at_once = fold_evidence(None, entries, now)
    part = fold_evidence(None, entries[:cut], now)
    live = Standings()
    live.heard(entries)

    assert fold_evidence(part, entries[cut:], now) == at_once
    section = opened(msgspec.json.decode(msgspec.json.encode(at_once)))
    assert with_rows(section.past, map(edge_of, section.rows)).tallied() == live.tallied()
