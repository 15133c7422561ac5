"""Audit entries as lines for people. Pure: entry in, text out."""

from collections.abc import Iterator, Sequence

from governance.contracts import AuditEntry
from governance.explain import used
from host.cli.tables import when

HEADINGS = ("time", "entry", "session", "step", "kind", "trigger", "outcome", "ms", "reason", "packet")
MILLION = 1_000_000


def row(entry: AuditEntry) -> tuple[str, ...]:
    """The entry on one line, in the order of HEADINGS."""
    return (
        when(entry.at),
        entry.audit_id,
        entry.session_ref[:8],
        "" if entry.step is None else str(entry.step),
        entry.kind,
        entry.trigger or entry.surface or "",
        entry.outcome,
        _ms(sum(entry.latency.values())) if entry.latency else "",
        entry.reason,
        entry.packet.packet_id if entry.packet else "",
    )


def without_empty(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows without the columns that nothing stands in: two ids take up most of a terminal's line."""
    used = [place for place in range(len(HEADINGS)) if any(line[place] for line in rows)]
    return tuple(HEADINGS[place] for place in used), [tuple(line[place] for place in used) for line in rows]


def described(entry: AuditEntry) -> Iterator[str]:
    """The whole entry, line by line: what an `audit show` prints before the packet's text."""
    yield f"{entry.audit_id}  {when(entry.at)}"
    yield f"{entry.kind}: {entry.outcome}, {entry.reason}" + (f" ({entry.note})" if entry.note else "")
    yield f"session {entry.session_ref}, agent {entry.agent_ref}" + _step(entry)
    if entry.cursor:
        yield f"event {entry.cursor.event_seq}, context version {entry.cursor.context_version}"
    if entry.trigger or entry.surface:
        yield f"trigger {entry.trigger or '-'}, surface {entry.surface or '-'}"
    yield from _gate(entry)
    for arm in entry.arms:
        fared = f", {arm.shortfall}" if arm.shortfall else ""
        yield f"source {arm.name}: {arm.hits} found in {_ms(arm.micros)} ms{fared}"
    yield from _candidates(entry)
    if entry.verdict:
        yield f"safety: {entry.verdict.action}, {entry.verdict.reason}"
        yield from (f"  removed {removal.candidate_id}: {removal.reason}" for removal in entry.verdict.removed)
    if entry.packet:
        packet = entry.packet
        yield f"packet {packet.packet_id}: items {len(packet.items)}, bytes {packet.bytes}, as {packet.level}"
        if packet.context is not None:
            yield f"  kept in view: {packet.context.state}, named {' '.join(packet.context.items) or '-'}"
    yield from (f"shows: {line}" for line in used(entry))
    if entry.latency:
        yield "time: " + ", ".join(f"{stage} {_ms(micros)} ms" for stage, micros in entry.latency.items())
    if entry.versions:
        yield "versions: " + ", ".join(f"{name} {value}" for name, value in sorted(entry.versions.items()))
    yield f"decision {entry.decision_digest}"


def _step(entry: AuditEntry) -> str:
    return "" if entry.step is None else f", step {entry.step}"


def _gate(entry: AuditEntry) -> Iterator[str]:
    if entry.gate is None:
        return
    yield f"need {_share(entry.gate.score)}, then {entry.gate.state.partition('|')[0]}"
    strongest = sorted(entry.gate.signals.items(), key=lambda signal: (-signal[1], signal[0]))
    yield from (f"  {name} {_share(value)}" for name, value in strongest if value)


def _candidates(entry: AuditEntry) -> Iterator[str]:
    if not entry.candidates:
        return
    yield f"candidates: {len(entry.candidates)}"
    for trace in sorted(entry.candidates, key=lambda trace: (trace.rank, trace.memory_id)):
        fate = "kept" if trace.kept else f"dropped: {trace.drop_reason}"
        evidence = f"score {_share(trace.score)}, mass {_share(trace.mass)}, agree {_share(trace.agree)}"
        if trace.margin is not None:  # of the score over the bar of the door; below zero it missed it
            evidence += f", margin {_share(trace.margin)}{f' of {trace.door}' if trace.door else ''}"
        yield f"  {trace.rank:>2} {trace.memory_id}  {evidence}  {fate}"


def _share(millionths: int) -> str:
    return f"{millionths / MILLION:.2f}"


def _ms(micros: int) -> str:
    return f"{micros / 1000:.1f}"
