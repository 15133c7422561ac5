"""What an event costs at the beginning of a log, and what it costs after a hundred thousand.

`python -m tests.bench.bench_log_growth [--json] [--events N]`
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.drain import drained
from tests.bench.load import turn
from tests.bench.measure import Figure, run, timed
from tests.support.daemon import RunningDaemon, Wire

SESSIONS = 20
PER_CALL = 64
PROBES = 400


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with tempfile.TemporaryDirectory(prefix="b") as name, RunningDaemon(Path(name)) as daemon, daemon.connect() as wire:
        counts = dict.fromkeys((f"grow-{number}" for number in range(SESSIONS)), 0)
        _probe(wire, counts, str(daemon.folder))  # warm
        first = _probe(wire, counts, str(daemon.folder))
        while sum(counts.values()) < options.events:
            for session in counts:
                _append(wire, session, counts, str(daemon.folder), PER_CALL)
            drained(wire)
        last = _probe(wire, counts, str(daemon.folder))
    ratio = last / first
    return [
        Figure(
            f"cost of an event after {options.events} events, of its cost at the start",
            "×",
            round(ratio, 3),
            count=PROBES,
            bound="0.8 … 1.2",
            holds=ratio <= 1.2,
            notes={"start, median ms": round(first, 4), "end, median ms": round(last, 4)},
        )
    ]


def _append(wire: Wire, session: str, counts: dict[str, int], folder: str, count: int) -> None:
    events = [turn(session, counts[session] + number, folder) for number in range(count)]
    counts[session] += count
    wire.call("event.append", events=events)


def _probe(wire: Wire, counts: dict[str, int], folder: str) -> float:
    """The median wait for one event, over all sessions in turn, with no pass under way at the beginning."""
    drained(wire)
    names = list(counts)
    waits = []
    for number in range(PROBES):
        session = names[number % SESSIONS]
        events = [turn(session, counts[session], folder)]
        counts[session] += 1
        waits.append(timed(lambda events=events: wire.call("event.append", events=events)))
    return statistics.median(waits)


if __name__ == "__main__":
    run("log growth", measure, events=100_000)
