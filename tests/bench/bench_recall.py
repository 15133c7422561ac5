"""Recall at any size: making the index, opening it, one look-up for a long event, an edit, the daemon's memory.

The stores are made up (`corpus.py`) and lie in the user's memory folder of a daemon. What is asked is 2 to 4 KB long:
needle events, and what tools and people said in recorded sessions. A look-up goes from the text to the ranked ids. The
million, which takes a quarter of an hour, is measured only when asked for: `--records 1000,100000,1000000`.

`python -m tests.bench.bench_recall [--json] [--records N,N] [--events N] [--engine N,N]`
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from recall.engine import available
from tests.bench import corpus, recall_daemon
from tests.bench.measure import Figure, run
from tests.bench.recall_index import building, engine_added, looking_up, opening, refreshing
from tests.support.daemon import RunningDaemon


def sizes(given: str) -> list[int]:
    """`1000,100000` as numbers."""
    return [int(one) for one in given.split(",") if one]


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    figures: list[Figure] = []
    for records in sizes(options.records):
        with tempfile.TemporaryDirectory(prefix="b") as name:
            daemon = RunningDaemon(Path(name))
            memory = daemon.data / "memory" / "user"
            corpus.write(memory, records)
            figures += asyncio.run(_index(daemon.data, memory, records, options))
            figures += recall_daemon.measure(daemon, memory, records, options.events)
    return figures


async def _index(data: Path, memory: Path, records: int, options: argparse.Namespace) -> list[Figure]:
    """What needs no daemon."""
    figures = [await building(data, memory, records)]
    figures.append(await opening(data, memory, records))
    figures += await looking_up(data, memory, records, options.events)
    figures.append(await refreshing(data, memory, records))
    if available() and records in sizes(options.engine):
        figures += await engine_added(data, memory, records, options.events)
    return figures


if __name__ == "__main__":
    run("recall", measure, records="1000,100000", events=100, engine="1000,100000,1000000")
