"""Builders of audit entries."""

from typing import Any

from governance.contracts import Action, AuditEntry, AuditKind, CandidateTrace, GateTrace, PacketTrace, VerdictTrace
from recall.contracts import ActivationLevel, ArmReport, ContextCursor
from tests.support.builders import a_memory_id
from tests.support.clock import START

REF = "a" * 32


def an_entry(**fields: Any) -> AuditEntry:
    """A silent pass of one session unless fields say otherwise."""
    given = {
        "audit_id": "",
        "at": START,
        "session_ref": REF,
        "agent_ref": "b" * 32,
        "cursor": ContextCursor(session_id=REF, event_seq=1, context_version=1),
        "kind": AuditKind.PASS,
        "outcome": "silence",
        "reason": "no-confident-hit",
        "trigger": "result:failed",
        "step": 3,
    } | fields
    return AuditEntry(**given)


def a_trace(number: int = 1, **fields: Any) -> PacketTrace:
    """A packet's trace, of one memory."""
    given = {
        "packet_id": f"pkt_{number:032x}",
        "exact_digest": "1" * 64,
        "semantic_digest": "2" * 64,
        "bytes": 412,
        "level": ActivationLevel.EXCERPT,
        "items": (a_memory_id(),),
    } | fields
    return PacketTrace(**given)


def a_full_pass(**fields: Any) -> AuditEntry:
    """A pass that went all the way: gate, arm, candidates, verdict, packet."""
    given = {
        "outcome": "packet",
        "reason": "tool-failure",
        "gate": GateTrace(score=930_000, signals={"tool-failure": 1_000_000, "novelty": 120_000}, state="armed"),
        "arms": (ArmReport(name="lexical", hits=12, micros=812),),
        "candidates": (
            CandidateTrace(
                memory_id=a_memory_id(1), score=910_000, rank=1, kept=True, mass=24_100_000, agree=1_200_000
            ),
            CandidateTrace(memory_id=a_memory_id(2), score=400_000, rank=2, kept=False, drop_reason="already-shown"),
        ),
        "verdict": VerdictTrace(action=Action.ALLOW, reason="clear"),
        "packet": a_trace(),
        "latency": {"gate": 40, "recall": 900},
        "versions": {"gate": "gate_pre_v1"},
    } | fields
    return an_entry(**given)
