"""What the MCP server costs: until its client is greeted and knows its tools, for a call of a tool, and for a hook that
comes as one, each beside what lies below it, turn by turn.

`python -m tests.bench.bench_mcp [--json] [--starts N] [--calls N]`
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from host.client import call_sync
from host.mcp.greeting import FILE
from tests.bench.measure import Figure, interval, of, run, timed
from tests.support.daemon import RunningDaemon
from tests.support.speaking import Speaking
from tests.support.world import LESSON

SDK = "import mcp.server.lowlevel, mcp.server.stdio"  # what no server on the SDK starts without


def starts(daemon: RunningDaemon, folder: Path, count: int) -> list[Figure]:
    """Ours until it greets, for the first time and with what is known from the last; the SDK alone; Python alone."""
    first, later, imported, bare = [], [], [], []
    for _ in range(count):
        (daemon.data / "state" / FILE).unlink(missing_ok=True)
        first.append(_greeted(daemon, folder))
        later.append(_greeted(daemon, folder))
        imported.append(timed(lambda: subprocess.run([sys.executable, "-c", SDK], check=True)))
        bare.append(timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)))
    return [
        of("spawn → client greeted, the first time", "ms", first, notes=_beside(first, imported)),
        of("spawn → client greeted, later", "ms", later, notes=_beside(later, imported)),
        of("spawn → end, importing the SDK alone", "ms", imported),
        of("spawn → end, Python alone", "ms", bare),
    ]


def _greeted(daemon: RunningDaemon, folder: Path) -> float:
    begun = time.perf_counter()
    with Speaking(folder, daemon.environment()) as server:
        server.begin()
        server.ask("tools/list")
        took = (time.perf_counter() - begun) * 1000
        server.hang_up()
    return took


def _beside(ours: Sequence[float], sdk: Sequence[float]) -> dict[str, str]:
    ratio = statistics.median(a / b for a, b in zip(ours, sdk, strict=True))
    return {"beside the SDK's import": f"× {ratio:.2f}", "median's interval": interval(ours)}


def calls(daemon: RunningDaemon, folder: Path, count: int) -> list[Figure]:
    """A tool and a hook by the server; the same asked of the daemon at once."""
    asked = {"query": "pg-fixture", "workspace": str(folder), "principal": "agent", "limit": 5}
    stop = {"hook_event_name": "Stop", "session_id": "s1", "cwd": str(folder)}
    tool, wire, hook, plain = [], [], [], []
    with Speaking(folder, daemon.environment()) as server:
        server.begin()
        for number in range(count):
            tool.append(timed(lambda: server.call("memory_search_pre", query="pg-fixture")))
            wire.append(timed(lambda: call_sync(daemon.socket, "memory.search", asked)))
            mine = stop | {"prompt_id": f"a{number}"}
            hook.append(timed(partial(server.call, "hook_pre", host="claude-code", **mine)))
            other = {"host": "claude-code", "payload": stop | {"prompt_id": f"b{number}"}}
            plain.append(timed(partial(call_sync, daemon.socket, "hook", other)))
    added = [a - b for a, b in zip(hook, plain, strict=True)]
    return [
        of("memory_search by the server", "ms", tool),
        of("memory.search of the daemon", "ms", wire),
        of("a hook by the server", "ms", hook, notes={"added": f"{statistics.median(added):.2f} ms"}),
        of("the same hook by the socket", "ms", plain),
    ]


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with tempfile.TemporaryDirectory(prefix="b") as name, RunningDaemon(Path(name)) as daemon:
        folder = Path(name) / "project"
        folder.mkdir()
        call_sync(daemon.socket, "memory.remember", {"text": LESSON, "workspace": str(folder)})
        return [*starts(daemon, folder, options.starts), *calls(daemon, folder, options.calls)]


if __name__ == "__main__":
    run("mcp", measure, starts=11, calls=200)
