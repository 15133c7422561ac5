"""Acknowledging events: one client's wait, and what fifty clients get through together.

`python -m tests.bench.bench_append [--json] [--calls N] [--clients N] [--rounds N]`
"""

import argparse
import json
import selectors
import socket
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.bench.drain import drained
from tests.bench.load import Json, event, turn, words
from tests.bench.measure import Figure, of, percentile, run, timed
from tests.support.daemon import RunningDaemon, Wire, request

PER_CALL = 64
PAUSE_SECONDS = 0.02


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    with tempfile.TemporaryDirectory(prefix="b") as name:
        folder = Path(name)
        with RunningDaemon(folder) as daemon:
            alone = _one_client(daemon, options.calls)
        with RunningDaemon(folder / "many") as daemon:
            together = _many_clients(daemon, options.clients, options.rounds)
    return [*alone, *together]


def _one_client(daemon: RunningDaemon, calls: int) -> list[Figure]:
    """Back to back, so that every call meets the passes of earlier ones; the log alone, with events that need no pass;
    and at an agent's pace, where the machine has to wake up for each call."""
    folder = str(daemon.folder)
    with daemon.connect() as wire:
        rushed = _waits(wire, [turn("rushed", number, folder) for number in range(calls)], 0)
        drained(wire)
        alone = _waits(wire, [event("alone", n, "x/noted", {"text": words(n)}, folder) for n in range(calls)], 0)
        paced = _waits(wire, [turn("paced", number, folder) for number in range(calls // 4)], PAUSE_SECONDS)
        drained(wire)
    figure = of("acknowledgement, one client, one event a call, back to back", "ms", rushed, bound="p50 ≤ 1, p99 ≤ 5")
    return [
        replace(figure, holds=figure.median <= 1 and (figure.p99 or 0) <= 5),
        of("the same, events that need no pass", "ms", alone),
        of("the same, a call every 20 ms (the machine's own wake-ups included)", "ms", paced),
    ]


def _waits(wire: Wire, events: Sequence[Json], pause: float) -> list[float]:
    """The client's waits, one event a call; the first tenth warms up."""
    waits = []
    for one in events:
        waits.append(timed(lambda one=one: wire.call("event.append", events=[one])))
        time.sleep(pause)
    return waits[len(waits) // 10 :]


def _frames(client: int, rounds: int, workspace: str) -> list[bytes]:
    session = f"client-{client}"
    return [
        request(
            call, "event.append", {"events": [turn(session, call * PER_CALL + i, workspace) for i in range(PER_CALL)]}
        )
        for call in range(rounds)
    ]


class _Client:
    """A socket that always has one call under way, its frames made beforehand."""

    def __init__(self, path: Path, frames: list[bytes]) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.socket.setblocking(False)
        self.frames = iter(frames)
        self.unsent = b""
        self.answer = b""
        self.begun = 0.0
        self.waits: list[float] = []

    def next(self) -> bool:
        self.unsent = next(self.frames, b"")
        self.begun = time.perf_counter()
        return bool(self.unsent)

    def write(self) -> None:
        self.unsent = self.unsent[self.socket.send(self.unsent) :]

    def read(self) -> bool:
        """Whether an answer is complete."""
        self.answer += self.socket.recv(65536)
        if not self.answer.endswith(b"\n"):
            return False
        said = json.loads(self.answer)
        assert said["result"]["accepted"] == PER_CALL, said
        self.waits.append((time.perf_counter() - self.begun) * 1000)
        self.answer = b""
        return True


def _many_clients(daemon: RunningDaemon, clients: int, rounds: int) -> list[Figure]:
    workspace = str(daemon.folder)
    crowd = [_Client(daemon.socket, _frames(number, rounds, workspace)) for number in range(clients)]
    selector = selectors.DefaultSelector()
    begun = time.perf_counter()
    for client in crowd:
        client.next()
        selector.register(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, client)
    busy = clients
    while busy:
        for key, ready in selector.select():
            client = key.data
            if ready & selectors.EVENT_WRITE and client.unsent:
                client.write()
                if not client.unsent:
                    selector.modify(client.socket, selectors.EVENT_READ, client)
            if ready & selectors.EVENT_READ and client.read():
                if client.next():
                    selector.modify(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, client)
                else:
                    selector.unregister(client.socket)
                    busy -= 1
    acknowledged = time.perf_counter() - begun
    with daemon.connect() as wire:
        after = drained(wire)
    whole = time.perf_counter() - begun
    waits = [wait for client in crowd for wait in client.waits]
    for client in crowd:
        client.socket.close()
    events = clients * rounds * PER_CALL
    rate = events / acknowledged
    return [
        Figure(
            f"events acknowledged a second, {clients} clients, {PER_CALL} a call, 0.8 KB each",
            "events/s",
            round(rate),
            count=events,
            bound="≥ 10 000",
            holds=rate >= 10_000,
            notes={
                "call p50 ms": round(percentile(waits, 0.5), 2),
                "call p99 ms": round(percentile(waits, 0.99), 2),
                "drain seconds after the last acknowledgement": round(whole - acknowledged, 2),
                "passes audited": after,
                "passes a second, drain included": round(after / whole),
            },
        )
    ]


if __name__ == "__main__":
    run("append", measure, calls=2000, clients=50, rounds=20)
