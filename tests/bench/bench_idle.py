"""How quickly the daemon is ready, and how much memory it holds when nothing happens.

`python -m tests.bench.bench_idle [--json] [--starts N]`
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.bench.measure import Figure, of, run
from tests.support.daemon import RunningDaemon

SETTLE_SECONDS = 2
MIB = 1024 * 1024


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    starts, sizes = [], []
    for _ in range(options.starts):
        with tempfile.TemporaryDirectory(prefix="b") as name:
            daemon = RunningDaemon(Path(name))
            starts.append(daemon.start() * 1000)
            time.sleep(SETTLE_SECONDS)
            sizes.append(daemon.rss_bytes() / MIB)
            daemon.stop()
    ready = of("spawn → first answer, empty data folder", "ms", starts, bound="≤ 1 000")
    idle = of("resident memory, idle", "MiB", sizes, bound="≤ 80")
    return [replace(ready, holds=ready.median <= 1000), replace(idle, holds=max(sizes) <= 80)]


if __name__ == "__main__":
    run("idle", measure, starts=7)
