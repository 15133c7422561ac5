"""What a restart of a session must know of audit entries that were let go: a section of the audit's checkpoint. Pure.

A session's runtime is a fold over its events and its audit entries. Of entries that are gone only what that fold needs
is left: where the gate and the agreement of passes stood, and which packets were claimed, delivered and kept back, in
their order. Texts are not in here: they are in the packets, as long as those are kept.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from governance.contracts import AuditEntry, AuditKind, ContextTrace, GateTrace, PacketTrace
from host.holdout import HELD_OUT
from host.trace import WOULD
from recall.confidence import aged
from recall.contracts import ActivationLevel, ContextCursor, Frozen, Millis

SECTION = "past"
KEPT: Millis = 90 * 86_400_000  # a session that was not heard of for longer is not told from a new one
OWNERS = 2_000
STEPS = 128  # of an owner: far more than one context window holds
TOLD = frozenset({AuditKind.PASS, AuditKind.CLAIM, AuditKind.DELIVERY})  # their events were heard to the end


class Step(Frozen, frozen=True, kw_only=True):
    """What happened to a packet: an entry without what a restart does not look at."""

    kind: AuditKind
    outcome: str
    event_seq: int
    packet_id: str
    exact_digest: str
    items: tuple[str, ...]
    context: ContextTrace | None = None


class Past(Frozen, frozen=True, kw_only=True):
    """Of one agent of one session. `agree`: exact, as hexadecimal floats: no digest covers a decimal one."""

    at: Millis = 0
    event_seq: int = 0  # the last event that was heard
    decided_seq: int = 0  # of the last pass
    gate: str | None = None
    confidence: str = ""
    agree: dict[str, str] = {}
    steps: tuple[Step, ...] = ()

    def agreement(self) -> dict[str, float]:
        """As a runtime holds it."""
        return {memory_id: float.fromhex(value) for memory_id, value in self.agree.items()}

    def entries(self) -> tuple[AuditEntry, ...]:
        """The entries that are gone, as far as a runtime looks at them."""
        steps = tuple(_entry(step) for step in self.steps)
        if not self.decided_seq:
            return steps
        last = _bare(
            kind=AuditKind.PASS,
            outcome="silence",
            cursor=_cursor(self.decided_seq),
            gate=None if self.gate is None else GateTrace(state=self.gate),
            versions={"confidence": self.confidence},
        )
        place = sum(step.event_seq < self.decided_seq or step.kind is AuditKind.PASS for step in self.steps)
        return (*steps[:place], last, *steps[place:])


def owner_of(session_ref: str, agent_ref: str) -> str:
    """The name of an owner in the section."""
    return f"{session_ref} {agent_ref}"


def pasts(section: Any | None) -> dict[str, Past]:
    """The section read."""
    return msgspec.convert(section or {}, dict[str, Past])


def fold_past(section: Any | None, entries: Sequence[AuditEntry], now: Millis) -> Any:
    """`governance.checkpoint.Section`: the section with more entries in it, and without what is too old."""
    found = pasts(section)
    for entry in entries:
        if entry.session_ref and entry.cursor is not None:
            owner = owner_of(entry.session_ref, entry.agent_ref)
            found[owner] = _with(found.get(owner, Past()), entry, entry.cursor)
    recent = {owner: past for owner, past in found.items() if past.at > now - KEPT}
    latest = sorted(recent, key=lambda owner: (-recent[owner].at, owner))[:OWNERS]
    return msgspec.to_builtins({owner: recent[owner] for owner in latest})


def _with(past: Past, entry: AuditEntry, cursor: ContextCursor) -> Past:
    changes: dict[str, Any] = {"at": max(past.at, entry.at)}
    if entry.kind in TOLD:
        changes["event_seq"] = max(past.event_seq, cursor.event_seq)
    if entry.kind is AuditKind.PASS:
        changes |= {"decided_seq": cursor.event_seq, "confidence": entry.versions.get("confidence", "")}
        if entry.gate is not None:
            changes["gate"] = entry.gate.state
        if entry.arms:
            changes["agree"] = {name: value.hex() for name, value in aged(past.agreement(), entry.votes).items()}
    if entry.packet is not None and (entry.kind is not AuditKind.PASS or _held_or_watched(entry)):
        step = Step(
            kind=entry.kind,
            outcome=entry.outcome,
            event_seq=cursor.event_seq,
            packet_id=entry.packet.packet_id,
            exact_digest=entry.packet.exact_digest,
            items=entry.packet.items,
            context=entry.packet.context,
        )
        changes["steps"] = (*past.steps[1 - STEPS :], step)
    return msgspec.structs.replace(past, **changes)


def _held_or_watched(entry: AuditEntry) -> bool:
    """Whether a pass did something to the session besides deciding: what it made was kept back, or only watched."""
    context = None if entry.packet is None else entry.packet.context
    return entry.outcome == HELD_OUT or (entry.outcome == WOULD and context is not None)


def _entry(step: Step) -> AuditEntry:
    packet = PacketTrace(
        packet_id=step.packet_id,
        exact_digest=step.exact_digest,
        semantic_digest="",
        bytes=0,
        level=ActivationLevel.EXCERPT,
        items=step.items,
        context=step.context,
    )
    return _bare(kind=step.kind, outcome=step.outcome, cursor=_cursor(step.event_seq), packet=packet)


def _bare(**fields: Any) -> AuditEntry:
    return AuditEntry(audit_id="", at=0, session_ref="", agent_ref="", reason="", **fields)


def _cursor(event_seq: int) -> ContextCursor:
    return ContextCursor(session_id="", event_seq=event_seq, context_version=0)
