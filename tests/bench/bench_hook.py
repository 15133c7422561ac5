"""What our hooks add to a step of the real Claude Code beside no hooks: pairs of runs in turn, a daemon with records.

The scripted model answers at once, so the time between two of its requests is the client's whole step: the tool, the
hooks, its own work. `python -m tests.bench.bench_hook [--json] [--pairs N] [--steps N] [--records N]`
"""

import argparse
import itertools
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.load import lesson
from tests.bench.measure import Figure, percentile, run
from tests.e2e.driver import Json, Model, bash, reply
from tests.e2e.installed import client, install
from tests.support.daemon import RunningDaemon


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with tempfile.TemporaryDirectory(prefix="b") as name:
        folder = Path(name)
        with RunningDaemon(folder / "daemon") as daemon:
            project = folder / "hooked" / "project"
            install(project, daemon)
            with daemon.connect() as wire:
                for number in range(options.records):
                    wire.call("memory.remember", text=lesson(number)[0], workspace=str(project))
            bare, ours = [], []
            for pair in range(options.pairs + 1):
                order = (False, True) if pair % 2 else (True, False)
                for with_hooks in order:
                    step = _median_step(folder / ("hooked" if with_hooks else "bare"), daemon, options.steps)
                    if pair:  # the first pair warms up
                        (ours if with_hooks else bare).append(step)
    differences = [mine - none for mine, none in zip(ours, bare, strict=True)]
    middle = statistics.median(differences)
    return [
        Figure(
            "added by our hooks to a step of Claude Code",
            "ms",
            round(middle, 2),
            count=len(differences),
            bound="≤ 15",
            holds=middle <= 15,
            notes={
                "interval of the median (95 %)": _interval(differences),
                "step without hooks, median ms": round(statistics.median(bare), 2),
                "step with our hooks, median ms": round(statistics.median(ours), 2),
                "differences ms": [round(value, 2) for value in differences],
                "steps a run": options.steps,
            },
        )
    ]


def _script(steps: int) -> list[Json]:
    """One-tool steps; every tenth fails."""
    calls = [bash("exit 2" if number % 10 == 9 else f"echo step {number}") for number in range(steps)]
    return [*(reply(f"step {number}", call) for number, call in enumerate(calls)), reply("done")]


def _median_step(folder: Path, daemon: RunningDaemon, steps: int) -> float:
    """Median milliseconds between two requests of one run."""
    with Model(_script(steps)) as model:
        ended = client(folder, model, daemon).say("Run the steps.")
        assert ended.code == 0 and model.played == steps + 1, ended.stderr
        times = [request.at for request in model.requests]
    return statistics.median(1000 * (after - before) for before, after in itertools.pairwise(times))


def _interval(values: Sequence[float]) -> str:
    """The median's distribution-free 95 % interval; for fewer than six values their whole range."""
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


if __name__ == "__main__":
    run("hook", measure, pairs=8, steps=40, records=1000)
