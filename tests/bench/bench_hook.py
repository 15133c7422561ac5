"""What our hooks add to a step of the real Claude Code beside no hooks: pairs of runs in turn, a daemon with records.

The scripted model answers at once, so the time between two of its requests is the client's whole step: the tool, the
hooks, its own work. A hook also moves the client against its own timers, so that a step with hooks can even be the
shorter one; therefore the client's log is asked too how long it waited for our answers.
`python -m tests.bench.bench_hook [--json] [--pairs N] [--steps N] [--records N]`
"""

import argparse
import itertools
import re
import statistics
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tests.bench.load import lesson
from tests.bench.measure import Figure, of, percentile, run
from tests.e2e.driver import Json, Model, bash, reply
from tests.e2e.installed import client, install, repository
from tests.support.daemon import RunningDaemon

PER_STEP = 2  # PostToolUse (or its failure) and PostToolBatch
HOOK_LINE = re.compile(r"^(?P<at>\S+) \[DEBUG\] Hooks: HTTP hook (?P<what>POST to|response status 2)", re.MULTILINE)


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with tempfile.TemporaryDirectory(prefix="b") as name:
        folder = Path(name)
        with RunningDaemon(folder / "daemon") as daemon:
            project = folder / "hooked" / "project"
            install(project, daemon)
            repository(folder / "bare" / "project")
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
            waits = _waits(folder / "hooked", daemon, options.steps)
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
        ),
        of("wait for one answer of ours, as the client logs it", "ms", waits, notes={"answers a step": PER_STEP}),
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


def _waits(folder: Path, daemon: RunningDaemon, steps: int) -> list[float]:
    """Milliseconds from each HTTP hook's request to its answer, in one run with the client's log switched on."""
    log = folder / "debug.log"
    with Model(_script(steps)) as model:
        claude = client(folder, model, daemon)
        claude.arguments = ["--debug-file", str(log)]
        assert claude.say("Run the steps.").code == 0
    waits, asked = [], None
    for match in HOOK_LINE.finditer(log.read_text(encoding="utf-8", errors="replace")):
        at = datetime.fromisoformat(match["at"])
        if match["what"] == "POST to":
            asked = at
        elif asked is not None:
            waits.append((at - asked).total_seconds() * 1000)
            asked = None
    return waits


def _interval(values: Sequence[float]) -> str:
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


if __name__ == "__main__":
    run("hook", measure, pairs=8, steps=40, records=1000)
