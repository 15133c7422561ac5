"""A whole pass: from an event's append to the packet in hand, with a library of many records.

Each round a new session fails in a way that exactly one of the records is about, and claims in the same call (`step`).
A second connection follows the audit: its entry comes right after the commit that makes the packet claimable.
`python -m tests.bench.bench_pass [--json] [--records N] [--rounds N]`
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.bench.load import Json, event, lesson
from tests.bench.measure import Figure, of, run
from tests.support.daemon import RunningDaemon, Wire

WARM = 20


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="b") as name,
        RunningDaemon(Path(name)) as daemon,
        daemon.connect() as wire,
        daemon.connect() as watcher,
    ):
        workspace = daemon.folder / "project"
        workspace.mkdir()
        for number in range(options.records):
            wire.call("memory.remember", text=lesson(number)[0], workspace=str(workspace))
        watcher.call("audit.subscribe")
        rounds = [_round(wire, watcher, number, str(workspace)) for number in range(options.rounds + WARM)][WARM:]
    hits = sum(done.hit for done in rounds)
    claimable = of(
        f"append → packet claimable, {options.records} records",
        "ms",
        [done.claimable for done in rounds],
        bound="p50 ≤ 5, p99 ≤ 20",
        notes={"rounds that got the right packet": f"{hits} of {options.rounds}"},
    )
    return [
        replace(claimable, holds=claimable.median <= 5 and (claimable.p99 or 0) <= 20),
        of("append → packet claimed and in hand, one call", "ms", [done.claimed for done in rounds]),
    ]


@dataclass(frozen=True)
class Round:
    """Milliseconds from the call to the committed pass, and to the packet in hand."""

    claimable: float
    claimed: float
    hit: bool


def _round(wire: Wire, watcher: Wire, number: int, workspace: str) -> Round:
    session, call = f"pass-{number}", f"call-{number}"
    memory, output = lesson(number)
    wire.call("session.open", sessionId=session, agentId="main", workspace=workspace)
    asked = event(session, 0, "tool/call", {"tool": "shell", "args": "make test"}, workspace, callId=call)
    wire.call("step", events=[asked], claim=_claim(session, "call"))
    failed = event(session, 1, "tool/result", {"tool": "shell", "ok": False, "text": output}, workspace, callId=call)
    begun = time.perf_counter()
    wire.send("step", events=[failed], claim=_claim(session, "result"))
    while watcher.receive()["params"]["entry"]["trigger"] != "result:failed":
        pass  # earlier entries: the session's start, the call
    committed = time.perf_counter()
    packet = wire.receive()["result"].get("packet")
    claimed = time.perf_counter()
    hit = bool(packet) and memory.split()[0] in packet["rendered"]
    return Round((committed - begun) * 1000, (claimed - begun) * 1000, hit)


def _claim(session: str, name: str) -> Json:
    owner = {"sessionId": session, "agentId": "main"}
    return {"surface": "post-tool", "waitMs": 2000, "requestId": f"{session}-{name}", **owner}


if __name__ == "__main__":
    run("pass", measure, records=1000, rounds=300)
