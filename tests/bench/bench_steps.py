"""What our hooks add to a step of the real Claude Code and the real Codex beside no hooks: pairs of runs in turn, a
daemon with records. And what one start of a hook's client costs, from spawn to exit.

The scripted model answers at once, so the time between two of its requests is the client's whole step: the tool, the
hooks, its own work. A hook also moves the client against its own timers, so that a step with hooks can even be the
shorter one; therefore the log of Claude Code is asked too how long it waited for our answers.
`python -m tests.bench.bench_steps [--json] [--pairs N] [--steps N] [--records N] [--hosts NAMES] [--starts N]`
"""

import argparse
import itertools
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from host import transport
from tests.bench.load import lesson
from tests.bench.measure import Figure, interval, of, run
from tests.e2e import codex_driver, driver
from tests.e2e.installed import client, install, repository
from tests.support.daemon import RunningDaemon

PROMISED = {"claude-code": 15.0, "codex": 35.0}  # ms a step
FALLBACK_MS = 20.0
PER_STEP = 2  # of Claude Code's http hooks: PostToolUse (or its failure) and PostToolBatch
HOOK_LINE = re.compile(r"^(?P<at>\S+) \[DEBUG\] Hooks: HTTP hook (?P<what>POST to|response status 2)", re.MULTILINE)
Steps = Callable[[Path, RunningDaemon, int, bool], float]  # (folder, daemon, steps, with hooks) -> median ms


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="b") as name, RunningDaemon(Path(name) / "daemon") as daemon:
        folder = Path(name)
        hosts: dict[str, Steps] = {"claude-code": _claude_step, "codex": _codex_step}
        for host in options.hosts.split(","):
            hooked, bare = folder / host / "hooked", folder / host / "bare"
            (install if host == "claude-code" else _made)(hooked / "project", daemon)
            repository(bare / "project")
            with daemon.connect() as wire:
                for number in range(options.records):
                    wire.call("memory.remember", text=lesson(number)[0], workspace=str(hooked / "project"))
            figures.append(_added(host, hosts[host], (bare, hooked), daemon, options))
        if "claude-code" in options.hosts:
            waits = _waits(folder / "claude-code" / "hooked", daemon, options.steps)
            notes = {"answers a step": PER_STEP}
            figures.append(of("wait for one answer of ours, as Claude Code logs it", "ms", waits, notes=notes))
        figures += _starts(folder, daemon, options.starts)
    return figures


def _made(project: Path, daemon: RunningDaemon) -> None:
    """Codex finds its hooks in the home folder."""
    repository(project)


def _added(
    host: str, step: Steps, folders: tuple[Path, Path], daemon: RunningDaemon, options: argparse.Namespace
) -> Figure:
    """The difference of the two medians of each pair. The first pair warms up and is left out."""
    times: tuple[list[float], list[float]] = ([], [])
    for pair in range(options.pairs + 1):
        for hooked in (False, True) if pair % 2 else (True, False):
            took = step(folders[hooked], daemon, options.steps, hooked)
            if pair:
                times[hooked].append(took)
    bare, ours = times
    differences = [mine - none for mine, none in zip(ours, bare, strict=True)]
    middle = statistics.median(differences)
    return Figure(
        f"added by our hooks to a step of {host}",
        "ms",
        round(middle, 2),
        count=len(differences),
        bound=f"≤ {PROMISED[host]:g}",
        holds=middle <= PROMISED[host],
        notes={
            "interval of the median (95 %)": interval(differences),
            "step without hooks, median ms": round(statistics.median(bare), 2),
            "step with our hooks, median ms": round(statistics.median(ours), 2),
            "differences ms": [round(value, 2) for value in differences],
            "steps a run": options.steps,
        },
    )


def _commands(steps: int) -> list[str]:
    """One-tool steps; every tenth fails."""
    return ["exit 2" if number % 10 == 9 else f"echo step {number}" for number in range(steps)]


def _median(times: Iterable[float]) -> float:
    """Median milliseconds between moments in seconds."""
    return statistics.median(1000 * (after - before) for before, after in itertools.pairwise(times))


def _claude_step(folder: Path, daemon: RunningDaemon, steps: int, hooked: bool) -> float:
    """Our http hooks are in the project's settings, or there are none."""
    with driver.Model(_claude_script(steps)) as model:
        ended = client(folder, model, daemon).say("Run the steps.")
        assert ended.code == 0 and model.played == steps + 1, ended.stderr
        return _median(request.at for request in model.requests)


def _claude_script(steps: int) -> list[driver.Json]:
    calls = [driver.bash(command) for command in _commands(steps)]
    return [*(driver.reply(f"step {number}", call) for number, call in enumerate(calls)), driver.reply("done")]


def _codex_step(folder: Path, daemon: RunningDaemon, steps: int, hooked: bool) -> float:
    """Our command hooks by the cheapest client that is here, or none."""
    calls = [codex_driver.shell(command) for command in _commands(steps)]
    replies = [*(codex_driver.reply(f"step {n}", call) for n, call in enumerate(calls)), codex_driver.reply("done")]
    with codex_driver.Model(replies) as model:
        codex = codex_driver.client_of(folder, model, daemon)
        if not hooked:
            codex.hooks({})
        codex.settings.append(f'model_providers.fake.base_url="{model.url}/v1"')
        ended = codex.say("Run the steps.")
        assert ended.code == 0 and model.played == steps + 1, ended.stderr
        return _median(request.at for request in model.requests)


def _waits(folder: Path, daemon: RunningDaemon, steps: int) -> list[float]:
    """Milliseconds from each http hook's request to its answer, in one run with the client's log switched on."""
    log = folder / "debug.log"
    with driver.Model(_claude_script(steps)) as model:
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


# ------------------------------------------------------------------------------------------------- spawn to exit


def _starts(folder: Path, daemon: RunningDaemon, count: int) -> list[Figure]:
    """Each client of this machine in turn, on one PostToolUse of a live session; `true` is what a process costs."""
    here = codex_driver.tools(daemon)
    kept = {each: codex_driver.tools(daemon, each) for each in ("curl", "nc") if getattr(here, each)}
    lines = {f"a hook by {each}": ["/bin/sh", "-c", transport.command("codex", tools)] for each, tools in kept.items()}
    fallback = [sys.executable, "-I", "-S", str(codex_driver.HOOK), "codex"]
    every = {"a process": ["/bin/true"], "an interpreter": [sys.executable, "-I", "-S", "-c", ""], **lines}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in (*every, "fallback")}
    payload = folder / "payload.json"
    for number in range(count):
        for name, words in [*every.items(), ("fallback", fallback)]:
            payload.write_text(json.dumps(_payload(f"{name}-{number}", folder)), encoding="utf-8")
            times[name].append(_spawned(words, payload, daemon.environment()))
    figures = [_started(name, times[name]) for name in every]
    ours = _started("the fallback client", times["fallback"], bound=f"≤ {FALLBACK_MS:g}")
    return [*figures, Figure(**vars(ours) | {"holds": ours.median <= FALLBACK_MS})]


def _started(name: str, times: Sequence[tuple[float, float]], **more: str) -> Figure:
    """By the clock, and what of it was its own work: that says more while the machine does other things as well."""
    work = statistics.median(cpu for _, cpu in times)
    notes = {"processor time, median ms": round(work, 2)}
    return of(f"{name}, spawn to exit", "ms", [clock for clock, _ in times], notes=notes, **more)


def _payload(call: str, folder: Path) -> driver.Json:
    return {
        "session_id": "spawned",
        "turn_id": "t",
        "cwd": str(folder),
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": "ok\n" * 100,
        "tool_use_id": call.replace(" ", "-"),
    }


def _spawned(words: Sequence[str], payload: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Milliseconds from spawn to exit, by the clock and of processor time, children included. The output goes nowhere;
    it must end with 0."""
    into = os.open(os.devnull, os.O_WRONLY)
    source = os.open(payload, os.O_RDONLY)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, into, 1)]
        begun = time.perf_counter()
        pid = os.posix_spawn(words[0], words, environment, file_actions=actions)
        _, status, used = os.wait4(pid, 0)
        took = (time.perf_counter() - begun) * 1000, (used.ru_utime + used.ru_stime) * 1000
    finally:
        os.close(into)
        os.close(source)
    assert status == 0, words
    return took


if __name__ == "__main__":
    run("steps", measure, pairs=8, steps=40, records=100, hosts="claude-code,codex", starts=100)
