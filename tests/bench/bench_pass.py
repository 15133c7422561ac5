"""A whole pass: from an event's append to the packet in hand, with a library of many records.

Each round a new session fails in a way that exactly one of the records is about, and claims in the same call (`step`).
`python -m tests.bench.bench_pass [--json] [--records N] [--rounds N]`
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.bench.load import event, lesson
from tests.bench.measure import Figure, of, run
from tests.support.daemon import RunningDaemon, Wire


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with tempfile.TemporaryDirectory(prefix="b") as name, RunningDaemon(Path(name)) as daemon, daemon.connect() as wire:
        workspace = daemon.folder / "project"
        workspace.mkdir()
        for number in range(options.records):
            wire.call("memory.remember", text=lesson(number)[0], workspace=str(workspace))
        waits, hits = [], 0
        for number in range(options.rounds + 20):
            wait, hit = _round(wire, number, str(workspace))
            if number >= 20:
                waits.append(wait)
                hits += hit
    figure = of(
        f"append → packet claimed, {options.records} records",
        "ms",
        waits,
        bound="p50 ≤ 5, p99 ≤ 20",
        notes={"rounds that got the right packet": f"{hits} of {options.rounds}"},
    )
    return [replace(figure, holds=figure.median <= 5 and (figure.p99 or 0) <= 20)]


def _round(wire: Wire, number: int, workspace: str) -> tuple[float, bool]:
    session, call = f"pass-{number}", f"call-{number}"
    memory, output = lesson(number)
    wire.call("session.open", sessionId=session, agentId="main", workspace=workspace)
    asked = event(session, 0, "tool/call", {"tool": "shell", "args": "make test"}, workspace, callId=call)
    wire.call("event.append", events=[asked])
    failed = event(session, 1, "tool/result", {"tool": "shell", "ok": False, "text": output}, workspace, callId=call)
    claim = {"surface": "post-tool", "waitMs": 2000, "requestId": session, "sessionId": session, "agentId": "main"}
    begun = time.perf_counter()
    answer = wire.call("step", events=[failed], claim=claim)
    wait = (time.perf_counter() - begun) * 1000
    packet = answer.get("packet")
    return wait, bool(packet) and memory.split()[0] in packet["rendered"]


if __name__ == "__main__":
    run("pass", measure, records=1000, rounds=300)
