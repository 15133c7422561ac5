"""What the benches share: percentiles, the machine's own noise, and how a figure is printed."""

import argparse
import json
import math
import os
import platform
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SPINS = 300


@dataclass(frozen=True)
class Figure:
    """One measured thing. `bound` is what was promised, in words; `holds` whether this run kept it."""

    name: str
    unit: str
    median: float
    p99: float | None = None
    count: int = 1
    bound: str = ""
    holds: bool | None = None
    notes: dict[str, Any] = field(default_factory=dict)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def of(name: str, unit: str, values: Sequence[float], **more: Any) -> Figure:
    """A figure of many runs: median and 99th percentile."""
    return Figure(
        name, unit, round(statistics.median(values), 4), round(percentile(values, 0.99), 4), len(values), **more
    )


def timed(act: Callable[[], object]) -> float:
    """Milliseconds that `act` takes."""
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1000


def interval(values: Sequence[float]) -> str:
    """A bootstrap 95 % interval of the median; for fewer than six values their whole range."""
    ordered = sorted(values)
    count = len(ordered)
    if count < 6:
        return f"{ordered[0]:.2f} … {ordered[-1]:.2f} (range)"
    medians = [statistics.median(ordered[i] for i in picks) for picks in _resamples(count)]
    return f"{percentile(medians, 0.025):.2f} … {percentile(medians, 0.975):.2f}"


def _resamples(count: int, rounds: int = 2000) -> list[list[int]]:
    """Bootstrap samples, the same at every run."""
    state = 1
    samples = []
    for _ in range(rounds):
        picks = []
        for _ in range(count):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            picks.append((state >> 33) % count)
        samples.append(picks)
    return samples


def noise() -> dict[str, Any]:
    """How steady this machine is right now: the same work again and again, and a durable commit of SQLite alone."""

    def spin() -> int:
        return sum(range(20_000))

    spins = [timed(spin) for _ in range(SPINS)]
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "noise.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE t (x BLOB)")
        commits = [timed(lambda: connection.execute("INSERT INTO t VALUES (?)", (b"x" * 800,))) for _ in range(SPINS)]
        connection.close()
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "cores": os.cpu_count(),
        "load": [round(value, 2) for value in os.getloadavg()],
        "spin_ms": _spread(spins),
        "commit_ms": _spread(commits),
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "p50": round(statistics.median(values), 4),
        "p99": round(percentile(values, 0.99), 4),
        "max": round(max(values), 4),
    }


def report(title: str, figures: Sequence[Figure], before: dict[str, Any], *, as_json: bool) -> None:
    """Print the figures with the noise before and after them."""
    after = noise()
    if as_json:
        record = {"bench": title, "figures": [asdict(f) for f in figures], "noise": {"before": before, "after": after}}
        print(json.dumps(record))
        return
    print(f"\n{title}")
    for figure in figures:
        tail = "" if figure.p99 is None else f" · p99 {figure.p99:g}"
        kept = {True: " · holds", False: " · DOES NOT HOLD", None: ""}[figure.holds]
        bound = f" · promised {figure.bound}" if figure.bound else ""
        print(f"  {figure.name}: {figure.median:g}{tail} {figure.unit} (n={figure.count}){bound}{kept}")
        for key, value in figure.notes.items():
            print(f"      {key}: {value}")
    for when, seen in (("before", before), ("after", after)):
        print(f"  noise {when}: spin {seen['spin_ms']} ms, durable commit {seen['commit_ms']} ms, load {seen['load']}")


def run(title: str, measure: Callable[[argparse.Namespace], Sequence[Figure]], **options: Any) -> None:
    """A bench's command line: `--json`, and its own options with their defaults, numbers or text."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    for name, default in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    given = parser.parse_args()
    before = noise()
    report(title, measure(given), before, as_json=given.json)
