"""G-04 MetricsCollector: numbers as a fold over the audit. Pure: the same entries give the same numbers.

A leak is a memory that was handed over though the audit itself says that it must not be: one that a safety rule had
taken out, one of a packet that was held back or built for somebody else, one that a person had forgotten or corrected.
"""

from collections.abc import Iterable, Mapping

import msgspec

from governance.contracts import AuditEntry, AuditKind, PacketTrace
from recall.contracts import Frozen

OPINIONS = frozenset({"useful", "noise", "late", "wrong", "harmful", "missed", "corrected"})
BUCKETS = (100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000)  # µs


LEAKS = ("removed", "held-back", "other-session", "forgotten", "corrected")  # why it must not have been handed over
GAUGE_LABELS = {"breaker": ("arm", "state")}  # of readings that have more than one


class Histogram(Frozen, frozen=True, kw_only=True):
    """Durations in microseconds: how many fell into each bucket (the last: beyond all), how many, and their sum."""

    buckets: tuple[int, ...] = (0,) * (len(BUCKETS) + 1)
    count: int = 0
    total: int = 0


class Offer(Frozen, frozen=True, kw_only=True):
    """A packet that a pass made: for whom, and whether it was to be handed over."""

    packet_id: str
    owner: str
    open: bool


class Metrics(Frozen, frozen=True, kw_only=True):
    """Everything counted. Labels that belong together are joined by a space: `silence no-confident-hit`.

    `context`: packets that bring the runtime context alone, by what became of them; they meet no need and are counted
    nowhere else, but for their bytes and for leaks. `evidence`: edges by kind. `covered`: reads that showed a `part` of
    a record, or the `whole`. `offers` and `barred` count nothing: they are what later entries are held against, to find
    `leaks`.
    """

    entries: int = 0
    passes: dict[str, int] = {}  # "outcome reason"
    triggers: dict[str, int] = {}
    packets: dict[str, int] = {}  # built, held-out, claimed, delivered
    context: dict[str, int] = {}  # offered, would, claimed, delivered, or how it was dropped
    drops: dict[str, int] = {}  # reason
    claims: dict[str, int] = {}  # reason of a claim that got nothing
    removed: dict[str, int] = {}  # safety rule
    feedback: dict[str, int] = {}  # verb
    injected_bytes: int = 0
    injected_items: int = 0
    arm_hits: dict[str, int] = {}
    arm_passes: dict[str, int] = {}
    shortfalls: dict[str, int] = {}  # "arm shortfall"
    evidence: dict[str, int] = {}  # kind
    covered: dict[str, int] = {}  # part, whole
    leaks: dict[str, int] = {}  # why it must not have been handed over
    latency: dict[str, Histogram] = {}  # stage
    offers: tuple[Offer, ...] = ()  # the latest
    barred: dict[str, str] = {}  # memory id -> what a person did


EMPTY = Metrics()
OFFERS = 256  # a packet waits for minutes, and an agent has one at a time
WHOLE = 1_000_000  # coverage is counted in millionths
BYTES_A_TOKEN = 4
FUNNEL = ("seen", "covered", "read", "cite", "reuse", "success", "correction")
BARS = frozenset({"forgotten", "corrected"})
LIFTS = frozenset({"cleared", "kept", "remembered"})


class _Tally:
    """The sums of one fold, while it runs."""

    def __init__(self, start: Metrics) -> None:
        self.counters = {name: dict(getattr(start, name)) for name in _COUNTERS}
        self.numbers = {name: int(getattr(start, name)) for name in _NUMBERS}
        self.latency = dict(start.latency)
        self.offers = start.offers
        self.barred = start.barred

    def count(self, counter: str, label: str, by: int = 1) -> None:
        counts = self.counters[counter]
        counts[label] = counts.get(label, 0) + by


_TOLD = ("passes", "triggers", "packets", "context", "drops", "claims", "removed", "feedback")  # as they are
_COUNTERS = (
    *_TOLD,
    *("arm_hits", "arm_passes", "shortfalls", "evidence", "covered", "leaks"),
)
_NUMBERS = ("entries", "injected_bytes", "injected_items")


def fold(metrics: Metrics, entries: Iterable[AuditEntry]) -> Metrics:
    """`metrics` with `entries` added. Folding in parts gives what folding at once gives."""
    tally = _Tally(metrics)
    for entry in entries:
        tally.numbers["entries"] += 1
        _evidence(tally, entry)
        _bars(tally, entry)
        if entry.packet is not None and entry.packet.alone and entry.kind is not AuditKind.FEEDBACK:
            _context(tally, entry, entry.packet)
            continue
        match entry.kind:
            case AuditKind.PASS:
                _pass(tally, entry)
            case AuditKind.CLAIM if entry.packet is None:
                tally.count("claims", entry.reason)
            case AuditKind.CLAIM:
                tally.count("packets", "claimed")
                _leaks(tally, entry)
            case AuditKind.DELIVERY:
                _delivery(tally, entry)
            case AuditKind.DROP:
                tally.count("drops", entry.reason)
            case AuditKind.FEEDBACK:
                tally.count("feedback", entry.outcome)
            case _:
                pass  # a change of settings is no act
    return msgspec.structs.replace(
        metrics,
        **tally.counters,
        **tally.numbers,
        latency=tally.latency,
        offers=tally.offers,
        barred=tally.barred,
    )


def funnel(metrics: Metrics) -> dict[str, int]:
    """From what was shown to what came of it, in edges: handed over, covered by a read, read whole, cited, reused,
    with success, corrected."""
    partly = metrics.covered.get("part", 0)
    counted = metrics.evidence | {
        "seen": metrics.evidence.get("seen", 0) - partly,
        "covered": partly + metrics.covered.get("whole", 0),
    }
    return {stage: counted.get(stage, 0) for stage in FUNNEL}


def rates(metrics: Metrics) -> dict[str, float]:
    """Each opinion as a share of the packets that were delivered. What else a person did with a memory is none."""
    delivered = metrics.packets.get("delivered", 0)
    said = {verb: number for verb, number in sorted(metrics.feedback.items()) if verb in OPINIONS}
    return {verb: round(number / delivered, 4) for verb, number in said.items()} if delivered else {}


def as_json(metrics: Metrics) -> dict[str, object]:
    """The numbers as the `metrics` method answers them: camelCase, buckets with their upper bounds in microseconds."""
    counts = {name: dict(sorted(getattr(metrics, name).items())) for name in _COUNTERS}
    return {
        "entries": metrics.entries,
        **{name: counts[name] for name in _TOLD},
        "feedbackRates": rates(metrics),
        "injected": {
            "bytes": metrics.injected_bytes,
            "items": metrics.injected_items,
            "tokensEstimated": -(-metrics.injected_bytes // BYTES_A_TOKEN),
        },
        "arms": {
            name: {"passes": passes, "hits": metrics.arm_hits.get(name, 0)}
            for name, passes in counts["arm_passes"].items()
        },
        "shortfalls": counts["shortfalls"],
        "funnel": funnel(metrics),
        "leaks": counts["leaks"] | {"all": sum(metrics.leaks.values())},
        "latencyMicros": {
            stage: {
                "count": histogram.count,
                "sum": histogram.total,
                "buckets": [[bound, number] for bound, number in zip((*BUCKETS, None), histogram.buckets, strict=True)],
            }
            for stage, histogram in sorted(metrics.latency.items())
        },
    }


def prometheus(metrics: Metrics, prefix: str) -> str:
    """The numbers in Prometheus text format; every name starts with `prefix` and an underscore."""
    lines: list[str] = []
    for name, labels, counts in (
        ("passes_total", ("outcome", "reason"), metrics.passes),
        ("triggers_total", ("trigger",), metrics.triggers),
        ("packets_total", ("state",), metrics.packets),
        ("context_packets_total", ("state",), metrics.context),
        ("drops_total", ("reason",), metrics.drops),
        ("empty_claims_total", ("reason",), metrics.claims),
        ("removed_candidates_total", ("rule",), metrics.removed),
        ("feedback_total", ("verb",), metrics.feedback),
        ("arm_hits_total", ("arm",), metrics.arm_hits),
        ("arm_passes_total", ("arm",), metrics.arm_passes),
        ("arm_shortfalls_total", ("arm", "shortfall"), metrics.shortfalls),
        ("funnel_total", ("stage",), funnel(metrics)),
        ("leaks_total", ("why",), dict.fromkeys(LEAKS, 0) | metrics.leaks),
    ):
        lines += [f"# TYPE {prefix}_{name} counter"]
        lines += [f"{prefix}_{name}{_labels(labels, label)} {number}" for label, number in sorted(counts.items())]
    for name, number in (
        ("audit_entries_total", metrics.entries),
        ("injected_bytes_total", metrics.injected_bytes),
        ("injected_items_total", metrics.injected_items),
        ("injected_tokens_estimated_total", -(-metrics.injected_bytes // BYTES_A_TOKEN)),
    ):
        lines += [f"# TYPE {prefix}_{name} counter", f"{prefix}_{name} {number}"]
    lines += [f"# TYPE {prefix}_stage_seconds histogram"]
    for stage, histogram in sorted(metrics.latency.items()):
        lines += _histogram(f"{prefix}_stage_seconds", stage, histogram)
    return "\n".join(lines) + "\n"


def gauges(readings: Mapping[str, Mapping[str, float]], prefix: str) -> str:
    """Readings of the moment in Prometheus text format: name -> label (empty: none) -> value."""
    lines: list[str] = []
    for name, values in sorted(readings.items()):
        lines += [f"# TYPE {prefix}_{name} gauge"]
        for label, value in sorted(values.items()):
            of = _labels(GAUGE_LABELS.get(name, ("of",)), label) if label else ""
            lines += [f"{prefix}_{name}{of} {value:.10g}"]
    return "\n".join(lines) + "\n"


def _owner(entry: AuditEntry) -> str:
    return f"{entry.session_ref} {entry.agent_ref}"


def _evidence(tally: _Tally, entry: AuditEntry) -> None:
    for trace in entry.evidence:
        tally.count("evidence", trace.kind.value)
        if trace.coverage is not None:
            tally.count("covered", "whole" if trace.coverage >= WHOLE else "part")


def _bars(tally: _Tally, entry: AuditEntry) -> None:
    """What a person forgot or corrected must not be handed over from here on, unless it is taken up again."""
    if entry.memory_id is None or entry.outcome not in BARS | LIFTS:
        return
    barred = {memory_id: what for memory_id, what in tally.barred.items() if memory_id != entry.memory_id}
    tally.barred = barred | {entry.memory_id: entry.outcome} if entry.outcome in BARS else barred


def _leaks(tally: _Tally, entry: AuditEntry) -> None:
    """A claim hands over: what of its packet must not have been."""
    packet = entry.packet
    if packet is None or entry.outcome != "claimed":
        return
    offer = next((one for one in reversed(tally.offers) if one.packet_id == packet.packet_id), None)
    if offer is not None and not offer.open:
        tally.count("leaks", "held-back", len(packet.named))
    elif offer is not None and offer.owner != _owner(entry):
        tally.count("leaks", "other-session", len(packet.named))
    for memory_id in packet.named:
        if memory_id in tally.barred:
            tally.count("leaks", tally.barred[memory_id])


def _context(tally: _Tally, entry: AuditEntry, packet: PacketTrace) -> None:
    """What became of a packet that brings the runtime context alone."""
    tally.count("context", "offered" if entry.outcome == "packet" else entry.outcome)
    match entry.kind:
        case AuditKind.PASS:
            _offered(tally, entry, packet)
        case AuditKind.CLAIM:
            _leaks(tally, entry)
        case AuditKind.DELIVERY:
            tally.numbers["injected_bytes"] += packet.bytes
        case _:
            pass  # a drop is counted by its outcome


def _pass(tally: _Tally, entry: AuditEntry) -> None:
    tally.count("passes", f"{entry.outcome} {entry.reason}")
    if entry.trigger:
        tally.count("triggers", entry.trigger)
    if entry.packet is not None:
        tally.count("packets", "built")
        offered = _offered(tally, entry, entry.packet)
        removed = {one.candidate_id for one in entry.verdict.removed} if entry.verdict is not None else set()
        for _ in removed.intersection(entry.packet.items if offered else ()):
            tally.count("leaks", "removed")
    if entry.outcome == "held-out":
        tally.count("packets", "held-out")
    for removal in entry.verdict.removed if entry.verdict is not None else ():
        tally.count("removed", removal.reason)
    for arm in entry.arms:
        tally.count("arm_passes", arm.name)
        tally.count("arm_hits", arm.name, arm.hits)
        if arm.shortfall is not None:
            tally.count("shortfalls", f"{arm.name} {arm.shortfall}")
    for stage, micros in entry.latency.items():
        tally.latency[stage] = _observed(tally.latency.get(stage, Histogram()), micros)


def _offered(tally: _Tally, entry: AuditEntry, packet: PacketTrace) -> bool:
    """Note for whom the packet was made; whether it was to be handed over."""
    offer = Offer(packet_id=packet.packet_id, owner=_owner(entry), open=entry.outcome == "packet")
    tally.offers = (*tally.offers[1 - OFFERS :], offer)
    return offer.open


def _delivery(tally: _Tally, entry: AuditEntry) -> None:
    tally.count("packets", "delivered")
    if entry.packet is not None:
        tally.numbers["injected_bytes"] += entry.packet.bytes
        tally.numbers["injected_items"] += len(entry.packet.items)


def _observed(histogram: Histogram, micros: int) -> Histogram:
    place = next((place for place, bound in enumerate(BUCKETS) if micros <= bound), len(BUCKETS))
    buckets = (*histogram.buckets[:place], histogram.buckets[place] + 1, *histogram.buckets[place + 1 :])
    return Histogram(buckets=buckets, count=histogram.count + 1, total=histogram.total + micros)


def _histogram(name: str, stage: str, histogram: Histogram) -> Iterable[str]:
    """Cumulative buckets in seconds, as Prometheus has them."""
    below = 0
    for bound, number in zip((*BUCKETS, None), histogram.buckets, strict=True):
        below += number
        limit = "+Inf" if bound is None else f"{bound / 1e6:g}"
        yield f'{name}_bucket{{stage="{_quoted(stage)}",le="{limit}"}} {below}'
    yield f'{name}_sum{{stage="{_quoted(stage)}"}} {histogram.total / 1e6:g}'
    yield f'{name}_count{{stage="{_quoted(stage)}"}} {histogram.count}'


def _labels(names: tuple[str, ...], label: str) -> str:
    values: Mapping[str, str] = dict(zip(names, label.split(" ", len(names) - 1), strict=False))
    return "{" + ",".join(f'{name}="{_quoted(value)}"' for name, value in values.items()) + "}"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
