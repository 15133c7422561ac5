"""Promotions of two writes and a delete that are killed at random points, and mostly again in their recovery.

What is counted is how they end after the next start: all new, all old, or mixed, which may never be. The processes, the
database and the files are real ones, on the disk.
`python -m tests.bench.bench_promote_kills [--json] [--runs N] [--seed N]`
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.bench.measure import Figure, run

ROOT = Path(__file__).parents[2]


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with tempfile.TemporaryDirectory(prefix="b") as folder:
        command = [sys.executable, "-m", "tests.reliability.promoting", str(Path(folder) / "ground")]
        chosen = ["--random", str(options.runs), str(options.seed)]
        done = subprocess.run([*command, *chosen], cwd=ROOT, capture_output=True, text=True, check=True)
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    ends = Counter(one["end"] for one in runs)
    killed = sum(code == -9 for one in runs for code in one["killed"])
    asked = sum(len(one["killed"]) for one in runs)
    mixed = [f"{one['first']} {one['second']}" for one in runs if one["end"] == "mixed"]
    return [
        Figure(
            "mixed trees", "runs", ends["mixed"], bound="0", holds=not mixed, notes={"mixed": mixed} if mixed else {}
        ),
        Figure("promotions", "runs", len(runs), bound=str(options.runs), holds=len(runs) == options.runs),
        Figure("processes killed", "of those that should be", killed, bound=str(asked), holds=killed == asked),
        Figure("all new in the end", "runs", ends["new"]),
        Figure("all old in the end", "runs", ends["old"]),
        Figure("killed in the recovery, too", "runs", sum(one["second"] is not None for one in runs)),
    ]


if __name__ == "__main__":
    run("Kills in a promotion", measure, runs=1000, seed=1)
