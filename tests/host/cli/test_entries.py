"""Audit entries as lines for people."""

import msgspec

from governance.contracts import (
    Action,
    AuditEntry,
    AuditKind,
    CandidateTrace,
    EvidenceKind,
    EvidenceTrace,
    GateTrace,
    PacketTrace,
    Removal,
    VerdictTrace,
)
from host.cli.entries import HEADINGS, described, row, without_empty
from recall.contracts import ActivationLevel, ArmReport, ContextCursor

BARE = AuditEntry(
    audit_id="aud_1",
    at=1767690959901,
    session_ref="abcdef0123456789",
    agent_ref="0123",
    cursor=None,
    kind=AuditKind.DROP,
    outcome="dropped",
    reason="expired",
)
WHOLE = msgspec.structs.replace(
    BARE,
    kind=AuditKind.PASS,
    outcome="packet",
    reason="tool-failure",
    trigger="result:failed",
    step=12,
    cursor=ContextCursor(session_id="abcdef0123456789", event_seq=40, context_version=31),
    gate=GateTrace(score=910000, signals={"novelty": 100000, "tool-failure": 800000, "hesitation": 0}, state="normal"),
    arms=(ArmReport(name="lexical", hits=9, micros=1500), ArmReport(name="seed", hits=0, micros=2, shortfall="late")),
    candidates=(
        CandidateTrace(
            memory_id="mem_b", score=9000000, rank=2, kept=False, drop_reason="below-bar", mass=9000000, margin=-8000000
        ),
        CandidateTrace(
            memory_id="mem_a",
            score=23500000,
            rank=1,
            kept=True,
            mass=22000000,
            agree=1500000,
            margin=6500000,
            door="evidence",
        ),
    ),
    verdict=VerdictTrace(
        action=Action.ALLOW, reason="clear", removed=(Removal(candidate_id="mem_c", reason="quarantined"),)
    ),
    packet=PacketTrace(
        packet_id="pkt_1",
        exact_digest="e",
        semantic_digest="s",
        bytes=512,
        level=ActivationLevel.EXCERPT,
        items=("mem_a",),
    ),
    versions={"gate": "gate_pre_v1"},
    latency={"gate": 100, "association": 1900},
    decision_digest="dd",
)


def test_a_row_has_a_cell_a_heading() -> None:
    assert len(row(BARE)) == len(row(WHOLE)) == len(HEADINGS)


def test_a_row_tells_time_step_trigger_outcome_duration_reason_and_packet() -> None:
    cells = dict(zip(HEADINGS, row(WHOLE), strict=True))

    assert cells["time"] == "2026-01-06 09:15:59"
    assert cells["entry"] == "aud_1"
    assert (cells["session"], cells["step"], cells["kind"]) == ("abcdef01", "12", "pass")
    assert (cells["trigger"], cells["outcome"], cells["packet"]) == ("result:failed", "packet", "pkt_1")
    assert (cells["ms"], cells["reason"]) == ("2.0", "tool-failure")


def test_a_column_in_which_nothing_stands_is_left_out() -> None:
    headings, rows = without_empty([row(BARE)])

    assert headings == ("time", "entry", "session", "kind", "outcome", "reason")
    assert rows == [("2026-01-06 09:15:59", "aud_1", "abcdef01", "drop", "dropped", "expired")]
    assert without_empty([row(BARE), row(WHOLE)])[0] == HEADINGS


def test_the_whole_entry_shows_signals_strongest_first_and_leaves_out_zeros() -> None:
    lines = list(described(WHOLE))

    assert [
        line.strip() for line in lines if "tool-failure 0" in line or "novelty" in line or "hesitation" in line
    ] == [
        "tool-failure 0.80",
        "novelty 0.10",
    ]


def test_the_whole_entry_shows_every_source_candidate_removal_and_the_packet() -> None:
    text = "\n".join(described(WHOLE))

    assert "source lexical: 9 found in 1.5 ms" in text
    assert "source seed: 0 found in 0.0 ms, late" in text
    kept = "mem_a  score 23.50, mass 22.00, agree 1.50, margin 6.50 of evidence  kept"
    assert text.index(kept) < text.index("mem_b")
    assert "agree 0.00, margin -8.00  dropped: below-bar" in text
    assert "removed mem_c: quarantined" in text
    assert "packet pkt_1: items 1, bytes 512, as excerpt" in text
    assert text.endswith("decision dd")


def test_a_bare_entry_shows_only_what_it_has() -> None:
    text = "\n".join(described(BARE))

    assert "drop: dropped, expired" in text
    assert "source" not in text and "candidates" not in text and "need" not in text


def test_what_an_entry_shows_of_a_use_is_told() -> None:
    trace = EvidenceTrace(kind=EvidenceKind.CITE, memory_id="mem_1", source_version=1, record_digest="0" * 64)

    assert "shows: mem_1 was named or quoted" in list(described(msgspec.structs.replace(BARE, evidence=(trace, trace))))
