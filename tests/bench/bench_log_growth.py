"""What an event costs in a new log, and what it costs in one of a hundred thousand events.

Both are asked in turn at the end, so that the machine's moods meet them alike.
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
CHUNKS = 10
PROBES = 60  # a chunk

Counts = dict[str, int]  # session -> events so far


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with tempfile.TemporaryDirectory(prefix="b") as name:
        folder = Path(name)
        with (
            RunningDaemon(folder / "grown") as daemon,
            RunningDaemon(folder / "new") as other,
            daemon.connect() as old_wire,
            other.connect() as new_wire,
        ):
            grown, new = _counts(), _counts()
            while sum(grown.values()) < options.events:
                for session in grown:
                    _append(old_wire, session, grown, name, PER_CALL)
                drained(old_wire)
            for wire, counts in ((old_wire, grown), (new_wire, new)):  # warm
                _probe(wire, counts, name)
            pairs = [(_probe(new_wire, new, name), _probe(old_wire, grown, name)) for _ in range(CHUNKS)]
    fresh, late = (statistics.median(values) for values in zip(*pairs, strict=True))
    ratio = statistics.median(mine / first for first, mine in pairs)
    return [
        Figure(
            f"cost of an event in a log of {options.events} events, of its cost in a new log",
            "×",
            round(ratio, 3),
            count=CHUNKS,
            bound="≤ 1.2",
            holds=ratio <= 1.2,
            notes={"new log, median ms": round(fresh, 4), "grown log, median ms": round(late, 4)},
        )
    ]


def _counts() -> Counts:
    return dict.fromkeys((f"grow-{number}" for number in range(SESSIONS)), 0)


def _append(wire: Wire, session: str, counts: Counts, folder: str, count: int) -> None:
    events = [turn(session, counts[session] + number, folder) for number in range(count)]
    counts[session] += count
    wire.call("event.append", events=events)


def _probe(wire: Wire, counts: Counts, folder: str) -> float:
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
