"""G-04 MetricsCollector: numbers as a fold over the audit. Pure: the same entries give the same numbers."""

from collections.abc import Iterable, Mapping

import msgspec

from governance.contracts import AuditEntry, AuditKind
from recall.contracts import Frozen

BUCKETS = (100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000)  # µs


class Histogram(Frozen, frozen=True, kw_only=True):
    """Durations in microseconds: how many fell into each bucket (the last: beyond all), how many, and their sum."""

    buckets: tuple[int, ...] = (0,) * (len(BUCKETS) + 1)
    count: int = 0
    total: int = 0


class Metrics(Frozen, frozen=True, kw_only=True):
    """Everything counted. Labels that belong together are joined by a space: `silence no-confident-hit`."""

    entries: int = 0
    passes: dict[str, int] = {}  # "outcome reason"
    triggers: dict[str, int] = {}
    packets: dict[str, int] = {}  # built, held-out, claimed, delivered
    drops: dict[str, int] = {}  # reason
    claims: dict[str, int] = {}  # reason of a claim that got nothing
    removed: dict[str, int] = {}  # safety rule
    feedback: dict[str, int] = {}  # verb
    injected_bytes: int = 0
    injected_items: int = 0
    arm_hits: dict[str, int] = {}
    arm_passes: dict[str, int] = {}
    shortfalls: dict[str, int] = {}  # "arm shortfall"
    latency: dict[str, Histogram] = {}  # stage


EMPTY = Metrics()


class _Tally:
    """The sums of one fold, while it runs."""

    def __init__(self, start: Metrics) -> None:
        self.counters = {name: dict(getattr(start, name)) for name in _COUNTERS}
        self.numbers = {name: int(getattr(start, name)) for name in _NUMBERS}
        self.latency = dict(start.latency)

    def count(self, counter: str, label: str, by: int = 1) -> None:
        counts = self.counters[counter]
        counts[label] = counts.get(label, 0) + by


_COUNTERS = (
    *("passes", "triggers", "packets", "drops", "claims", "removed", "feedback"),
    *("arm_hits", "arm_passes", "shortfalls"),
)
_NUMBERS = ("entries", "injected_bytes", "injected_items")


def fold(metrics: Metrics, entries: Iterable[AuditEntry]) -> Metrics:
    """`metrics` with `entries` added. Folding in parts gives what folding at once gives."""
    tally = _Tally(metrics)
    for entry in entries:
        tally.numbers["entries"] += 1
        match entry.kind:
            case AuditKind.PASS:
                _pass(tally, entry)
            case AuditKind.CLAIM if entry.packet is None:
                tally.count("claims", entry.reason)
            case AuditKind.CLAIM:
                tally.count("packets", "claimed")
            case AuditKind.DELIVERY:
                _delivery(tally, entry)
            case AuditKind.DROP:
                tally.count("drops", entry.reason)
            case AuditKind.FEEDBACK:
                tally.count("feedback", entry.outcome)
            case _:
                pass  # a change of settings is no act
    return msgspec.structs.replace(metrics, **tally.counters, **tally.numbers, latency=tally.latency)


def as_json(metrics: Metrics) -> dict[str, object]:
    """The numbers as the `metrics` method answers them: camelCase, buckets with their upper bounds in microseconds."""
    return {
        "entries": metrics.entries,
        "passes": metrics.passes,
        "triggers": metrics.triggers,
        "packets": metrics.packets,
        "drops": metrics.drops,
        "claims": metrics.claims,
        "removed": metrics.removed,
        "feedback": metrics.feedback,
        "injected": {"bytes": metrics.injected_bytes, "items": metrics.injected_items},
        "arms": {
            name: {"passes": passes, "hits": metrics.arm_hits.get(name, 0)}
            for name, passes in metrics.arm_passes.items()
        },
        "shortfalls": metrics.shortfalls,
        "latencyMicros": {
            stage: {
                "count": histogram.count,
                "sum": histogram.total,
                "buckets": [[bound, number] for bound, number in zip((*BUCKETS, None), histogram.buckets, strict=True)],
            }
            for stage, histogram in metrics.latency.items()
        },
    }


def prometheus(metrics: Metrics, prefix: str) -> str:
    """The numbers in Prometheus text format; every name starts with `prefix` and an underscore."""
    lines: list[str] = []
    for name, labels, counts in (
        ("passes_total", ("outcome", "reason"), metrics.passes),
        ("triggers_total", ("trigger",), metrics.triggers),
        ("packets_total", ("state",), metrics.packets),
        ("drops_total", ("reason",), metrics.drops),
        ("empty_claims_total", ("reason",), metrics.claims),
        ("removed_candidates_total", ("rule",), metrics.removed),
        ("feedback_total", ("verb",), metrics.feedback),
        ("arm_hits_total", ("arm",), metrics.arm_hits),
        ("arm_passes_total", ("arm",), metrics.arm_passes),
        ("arm_shortfalls_total", ("arm", "shortfall"), metrics.shortfalls),
    ):
        lines += [f"# TYPE {prefix}_{name} counter"]
        lines += [f"{prefix}_{name}{_labels(labels, label)} {number}" for label, number in sorted(counts.items())]
    for name, number in (
        ("audit_entries_total", metrics.entries),
        ("injected_bytes_total", metrics.injected_bytes),
        ("injected_items_total", metrics.injected_items),
    ):
        lines += [f"# TYPE {prefix}_{name} counter", f"{prefix}_{name} {number}"]
    lines += [f"# TYPE {prefix}_stage_seconds histogram"]
    for stage, histogram in sorted(metrics.latency.items()):
        lines += _histogram(f"{prefix}_stage_seconds", stage, histogram)
    return "\n".join(lines) + "\n"


def _pass(tally: _Tally, entry: AuditEntry) -> None:
    tally.count("passes", f"{entry.outcome} {entry.reason}")
    if entry.trigger:
        tally.count("triggers", entry.trigger)
    if entry.packet is not None:
        tally.count("packets", "built")
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
