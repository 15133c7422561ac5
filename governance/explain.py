"""The audit in plain words: why something was handed over, why not, and what happened to it afterwards. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

from governance.checkpoint import OUTCOME as CHECKPOINT
from governance.contracts import (
    ActivationTrace,
    AuditEntry,
    AuditKind,
    CandidateTrace,
    EvidenceKind,
    EvidenceTrace,
    PacketTrace,
)
from recall.contracts import Millis

MILLION = 1_000_000
SHOWN = 5  # candidates told of in a pass; the rest are counted

REASONS: Mapping[str, str] = MappingProxyType(
    {
        # the gate's silences
        "no-owner": "the event did not say whose it was",
        "disposed": "the session was over",
        "subagent": "it came from a subagent, and subagents are left alone",
        "no-segment": "there was nothing in it to think about",
        "unsupported-trigger": "a routine result is watched, not looked up for",
        "machine-authored": "a machine wrote it, not the user",
        "empty-signal": "it was an acknowledgement or had no words that say anything",
        "duplicate-context": "the same had been seen just before",
        "user-muted": "the user had muted this session, or the whole workspace for a time",
        "incognito": "the session is incognito",
        "no-surface": "the host had no place for a packet here",
        "cooldown": "it was too soon after the last look at this need",
        "below-threshold": "the need was too weak",
        "prefetched": "it was looked up in advance only; such a result is never handed over",
        # the pass's silences
        "superseded": "a newer memory, or a newer step, had taken its place",
        "no-candidates": "no memory in reach had anything to do with it",
        "no-confident-hit": "what was found did not match well enough to interrupt for",
        "unsafe": "the safety rules let nothing through",
        "awaiting-approval": "the procedure found is risky and waits for the user's approval",
        "packet-oversize": "nothing fitted into the host's limits",
        "discarded": "remora was switched off here before the pass was done",
        "shadow": "remora only watches in this workspace: this is what would have been handed over",
        "unknown-version": "this version of the agent product is not known, so it is only watched: this is what would "
        "have been handed over",
        "held-out": "it was kept back, to measure what handing over does",
        "fault": "something broke; a fault is a silence",
        "audit-unavailable": "it could not be written down, and what is not written down is not handed over",
        "rollout-off": "remora is switched off in this workspace",
        # the inbox
        "none-pending": "nothing was waiting",
        "expired": "its time had passed",
        "stale-context": "the conversation had moved on",
        "stale-index": "a memory in it, or the memory index, had changed",
        "digest-mismatch": "its text was not the one that had been recorded",
        "already-visible": "the agent could see it already",
        "boundary-used": "one packet had gone into this request already",
        "context-reset": "a new context window had begun",
        "replaced": "a newer packet took its place",
        "late": "it was not ready in time",
        "released": "the host gave it back unused",
        "forgotten": "a memory in it was forgotten",
        "session-closed": "the session was closed",
        # the ranking's drops
        "index-conflict": "two different records claim the same id",
        "out-of-scope": "it belongs to another workspace, session or user",
        "not-active": "it is not active",
        "not-yet-valid": "it is not valid yet",
        "overruled": "it was inferred, and a person says otherwise",
        "contradicted": "a newer memory says otherwise",
        "already-shown": "it was shown in this context window before",
        "already-in-context": "it stands in a file that the agent's product loads by itself",
        "shown-alike": "one that says nearly the same was shown or held out before, or stands in a file that is loaded",
        "already-read": "the agent had read it at this version",
        "duplicate-content": "another memory has the same text",
        "near-duplicate": "another memory says nearly the same",
        "paraphrase": "another memory says it in other words",
        "same-topic": "enough was said about this already",
        "over-budget": "there was no room left",
        "below-bar": "it did not match well enough",
        # the safety rules
        "scope": "its scope does not admit this session",
        "revoked": "it was taken back, put away or deprecated",
        "corrected": "the user corrected it",
        "muted": "the user muted it",
        "quarantined": "it is under suspicion or must be checked again",
        "secret": "it holds a secret or personal data",
        "injection": "it reads like an instruction to the agent",
        "stale-record": "it changed or is gone since it was found",
        "high-risk": "it is a risky procedure that the user has not approved",
        "trust-level": "its origin is too weak for what would have been shown",
        "inactive-procedure": "there is no validated, active procedure behind it",
        "stale-activation": "the advice to show it was meant for another moment",
        "activation-cooldown": "the procedure was offered just before",
        "stale-resource": "the resource it points to had changed",
        "identity-mismatch": "it was not made for this session and agent",
        # verdicts
        "clear": "no rule objected",
        "degraded": "no rule objected, and only the fallback search had answered",
        "nothing-left": "every memory found was removed by a rule",
        "nothing-ranked": "there was nothing to judge",
    }
)

IN_PACKET: Mapping[str, str] = MappingProxyType(  # why a packet was dropped, where the reason speaks of one memory
    {"corrected": "a memory in it was corrected"}
)

DECIDED: Mapping[str, str] = MappingProxyType(  # what the user did with a memory: the audit's word -> in a sentence
    {
        "approved": "approved",
        "archived": "archived",
        "cleared": "took back the correction of",
        "corrected": "corrected",
        "disapproved": "took back the approval of",
        "edited": "edited",
        "forgotten": "forgot",
        "kept": "kept",
        "missed": "missed",
        "muted": "muted",
        "pinned": "pinned",
        "promoted": "promoted",
        "superseded": "replaced",
        "unmuted": "unmuted",
        "unpinned": "unpinned",
    }
)
MOVED = "stage-"
MOVES: Mapping[str, str] = MappingProxyType(  # why a procedure is at another stage
    {
        "approved": "its user approved it",
        "corrected": "somebody said that it is wrong",
        "evidence": "agents used it with success often enough, and a person is asked",
        "kept": "a person kept it",
        "too-few-sessions": "what speaks for it does not hold any more",
        "too-few-successes": "what speaks for it does not hold any more",
        "too-often-corrected": "it was corrected too often",
        "unused": "nobody used it for long",
    }
)
BEYOND = "it cleared the bar and was not the one: another stood first, or it shares too few things with this very event"


USED: Mapping[EvidenceKind, str] = MappingProxyType(  # what came of a memory in the agent's hands
    {
        EvidenceKind.READ: "the agent read {} whole",
        EvidenceKind.CITE: "{} was named or quoted",
        EvidenceKind.REUSE: "the agent did what {} says",
        EvidenceKind.SUCCESS: "what {} says was done, and it worked",
        EvidenceKind.CORRECTION: "{} was corrected: it is kept back until it is looked at",
    }
)


def sentence(reason: str) -> str:
    """What a reason means, in words. A rule that broke says so; an unknown reason stands for itself."""
    broken = reason.removeprefix("broken:")
    if broken != reason:
        return f"the rule {broken} broke, and a broken rule denies"
    return REASONS.get(reason, reason)


def explain(entries: Sequence[AuditEntry], memory_id: str | None = None, let_go: Millis | None = None) -> list[str]:
    """The entries, newest first as a query gives them, as lines: oldest first, a headline each, details indented.

    With `memory_id` only what concerns that memory is told. `let_go`: up to when entries are gone.
    """
    ordered = list(reversed(entries))
    ordered.sort(key=lambda entry: entry.at)  # stable: the same instant keeps the chain's order
    before = (
        [] if let_go is None else [f"Entries up to {_when(let_go)} UTC were let go: only numbers are left of them."]
    )
    if not ordered:
        return [*before, "Nothing is recorded about this."]
    return [*before, *(line for entry in ordered for line in _told(entry, memory_id))]


def used(entry: AuditEntry, memory_ids: Collection[str] | None = None) -> tuple[str, ...]:
    """What the entry shows of a use of memories, of these or of all, a sentence each."""
    told = (_used(trace) for trace in entry.evidence if memory_ids is None or trace.memory_id in memory_ids)
    return tuple(line for line in dict.fromkeys(told) if line)


def _told(entry: AuditEntry, memory_id: str | None) -> Iterator[str]:
    step = "" if entry.step is None else f", step {entry.step}"
    yield f"{_when(entry.at)} UTC{step}: {_headline(entry)} [{entry.audit_id}]"
    if entry.kind is AuditKind.PASS and not (memory_id and _only_used(entry, memory_id)):
        yield from (f"  {line}" for line in _pass(entry, memory_id))
    yield from (f"  {line}" for line in used(entry, None if memory_id is None else {memory_id}))


def _when(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _only_used(entry: AuditEntry, memory_id: str) -> bool:
    """Whether the pass is told of because of what its event shows of the memory, and not because it was found."""
    found = (*(one.memory_id for one in entry.candidates), *(entry.packet.named if entry.packet else ()))
    return memory_id not in found and any(trace.memory_id == memory_id for trace in entry.evidence)


def _used(trace: EvidenceTrace) -> str:
    """What an edge says; nothing for a delivery, whose headline says it."""
    if trace.kind is EvidenceKind.SEEN:
        return "" if trace.coverage is None else f"the agent read a part of {trace.memory_id}: {_share(trace.coverage)}"
    return USED[trace.kind].format(trace.memory_id)


def _headline(entry: AuditEntry) -> str:
    why = sentence(entry.reason)
    packet = "a packet" if entry.packet is None else f"packet {entry.packet.packet_id}"
    match entry.kind:
        case AuditKind.PASS if entry.packet is not None and entry.packet.alone:
            return f"{packet} {_offer(entry)}: what is kept in view had changed."
        case AuditKind.PASS if entry.packet is not None and entry.outcome != "packet":
            return f"{packet} after {_trigger(entry)} was not offered: {why}."
        case AuditKind.PASS if entry.packet is not None:
            return f"{packet} was offered after {_trigger(entry)}, because of {entry.reason.replace('-', ' ')}."
        case AuditKind.PASS:
            return f"silent after {_trigger(entry)}: {why}{_note(entry)}."
        case AuditKind.CLAIM if entry.packet is None:
            return f"a claim{_place(entry)} got nothing: {why}."
        case AuditKind.CLAIM:
            return f"{packet} was claimed{_place(entry)}."
        case AuditKind.DELIVERY:
            return f"{packet} reached the agent{_place(entry)}."
        case AuditKind.DROP:
            return f"{packet} was dropped: {IN_PACKET.get(entry.reason, why)}."
        case AuditKind.FEEDBACK if entry.outcome in DECIDED:
            return f"the user {DECIDED[entry.outcome]} {entry.memory_id}."
        case AuditKind.FEEDBACK:
            return f"the user called {entry.memory_id or packet} {entry.outcome}."
        case AuditKind.POLICY if entry.memory_id is not None and entry.outcome.startswith(MOVED):
            why = MOVES.get(entry.reason, entry.reason)
            return f"the procedure {entry.memory_id} is {entry.outcome.removeprefix(MOVED)} now: {why}."
        case AuditKind.POLICY if entry.outcome == CHECKPOINT:
            return f"old entries were let go, {entry.note} in all so far: only numbers are left of them."
        case _:
            return f"the settings changed: {entry.outcome}."


def _pass(entry: AuditEntry, memory_id: str | None) -> Iterator[str]:
    if memory_id is None:
        yield from _looked(entry)
    told = [one for one in entry.candidates if memory_id in (None, one.memory_id)]
    told.sort(key=lambda one: (not one.kept, one.rank or len(entry.candidates) + 1, one.memory_id))
    yield from (_fate(one) for one in told[:SHOWN])
    if len(told) > SHOWN:
        yield f"and {len(told) - SHOWN} more, left out"
    if memory_id is not None and not told:
        named = entry.packet is not None and memory_id in entry.packet.named
        yield f"{memory_id} {'is kept in view by its title' if named else 'was not among what was found'}"
    if entry.packet is not None and memory_id is None:
        yield f"packet: {_holds(entry.packet)}"
    if entry.activation is not None and memory_id in (None, entry.activation.memory_id):
        yield from _advised(entry.activation)


def _offer(entry: AuditEntry) -> str:
    """Whether a packet with the runtime context alone was offered."""
    return "was offered" if entry.outcome == "packet" else f"was not offered, for {sentence(entry.reason)}"


def _holds(packet: PacketTrace) -> str:
    """What is in a packet, in words."""
    titles = 0 if packet.context is None else len(packet.context.items)
    kept = f"{_count(titles)} kept in view by title" if titles else "what is kept in view"
    if packet.alone:
        return f"{kept}, {packet.bytes} bytes"
    beside = "" if packet.context is None else f", and {kept}"
    return f"{_count(len(packet.items))}, {packet.bytes} bytes, shown as {packet.level.value}{beside}"


def _count(memories: int) -> str:
    return "1 memory" if memories == 1 else f"{memories} memories"


def _advised(one: ActivationTrace) -> Iterator[str]:
    """What was advised about a level; nothing where the adviser had nothing to say."""
    if one.level is not None:
        shown = "" if one.taken in (None, one.level) else f", shown as {one.taken.value}"
        hesitation = f"hesitation {_share(one.hesitation)}"
        yield f"advised {one.level.value}{shown} (similarity {_share(one.similarity)}, {hesitation})"
    elif one.refused is not None:
        yield f"advice on how much to show was not followed: {one.refused}"


def _looked(entry: AuditEntry) -> Iterator[str]:
    _, named, point = entry.versions.get("confidence", "").rpartition("/")
    if named:
        yield f"attention: {point}"
    if entry.gate is not None and (entry.gate.score or entry.gate.signals):
        strongest = sorted(entry.gate.signals.items(), key=lambda item: (-item[1], item[0]))
        signals = ", ".join(f"{name.replace('-', ' ').replace('_', ' ')} {_share(value)}" for name, value in strongest)
        yield f"need {_share(entry.gate.score)}{f' ({signals})' if signals else ''}"
    for arm in entry.arms:
        late = f", {arm.shortfall}" if arm.shortfall else ""
        yield f"{arm.name}: {arm.hits} found in {arm.micros / 1000:.1f} ms{late}"
    if entry.verdict is not None:
        yield f"safety: {entry.verdict.action}, {sentence(entry.verdict.reason)}"


def _fate(candidate: CandidateTrace) -> str:
    evidence = f"match {_share(candidate.mass)}, agreement {_share(candidate.agree)}{_margin(candidate)}"
    if candidate.kept:
        return f"kept {candidate.memory_id}: {evidence}"
    reason = candidate.drop_reason or "below-bar"
    beyond = reason == "below-bar" and candidate.margin is not None and candidate.margin >= 0
    return f"left out {candidate.memory_id}: {BEYOND if beyond else sentence(reason)} ({evidence})"


def _margin(candidate: CandidateTrace) -> str:
    """How far its score is from the bar of its door; nothing where no bar was asked."""
    if candidate.margin is None:
        return ""
    return f", {_share(abs(candidate.margin))} {'over' if candidate.margin >= 0 else 'short of'} the bar"


def _trigger(entry: AuditEntry) -> str:
    kind, _, state = entry.trigger.partition(":")
    named = {
        "prompt": "a prompt",
        "call": "a tool call",
        "result": "a tool result",
        "reply": "a reply",
        "seed": "a start",
    }
    words = named.get(kind, kind or "an event")
    return words.replace("a tool", f"a {state} tool") if state else words


def _place(entry: AuditEntry) -> str:
    return "" if entry.surface is None else f" at {entry.surface}"


def _note(entry: AuditEntry) -> str:
    return "" if not entry.note else f" ({sentence(entry.note)})"


def _share(millionths: int) -> str:
    return f"{millionths / MILLION:.2f}"
