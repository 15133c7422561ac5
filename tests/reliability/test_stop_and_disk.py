"""The end of a daemon, a second one, and a full disk: what was acknowledged stays, and everybody is told politely."""

import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.daemon import Json, Refused, RunningDaemon, Wire, a_message
from tests.support.world import FAILURE, LESSON

pytestmark = pytest.mark.reliability

CLIENTS = 4
BATCH = 8
STOP_SECONDS = 5.0
ROOM = 256 * 1024  # bytes that the full disk still takes
OWNER = {"sessionId": "s", "agentId": "main"}


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running


def event(session: str, number: int, text: str = "", **fields: object) -> Json:
    return a_message(session, number, text or f"Attempt {number}: run make integration-test again", **fields)


def all_there(wire: Wire, events: list[Json]) -> None:
    """Everything that was acknowledged is known: sent again, it is a duplicate."""
    for start in range(0, len(events), 256):
        chunk = events[start : start + 256]
        again = wire.call("event.append", events=chunk)
        assert (again["accepted"], again["duplicates"]) == (0, len(chunk))


# ------------------------------------------------------------------------------------------------ the end


@dataclass
class Load:
    """Clients that append, several calls under way each, until the daemon is gone."""

    daemon: RunningDaemon
    acknowledged: dict[str, list[Json]] = field(default_factory=dict)
    refused: list[Json] = field(default_factory=list)
    begun: threading.Barrier = field(default_factory=lambda: threading.Barrier(CLIENTS + 1))

    def work(self, session: str) -> None:
        kept = self.acknowledged.setdefault(session, [])
        under_way: dict[int, list[Json]] = {}
        number = 0
        with self.daemon.connect() as wire:
            self.begun.wait()
            try:
                while True:
                    while len(under_way) < BATCH:
                        number += 1
                        events = [event(session, 10 * number + n) for n in range(5)]
                        under_way[wire.send("event.append", events=events)] = events
                    answer = wire.receive()
                    if "error" in answer:
                        self.refused.append(answer["error"])
                    else:
                        kept.extend(under_way[answer["id"]])
                    under_way.pop(answer["id"])
            except OSError:
                return


@pytest.mark.promise("acknowledged-is-kept")
def test_sigterm_in_the_middle_of_load_loses_nothing_that_was_acknowledged(daemon: RunningDaemon) -> None:
    load = Load(daemon)
    clients = [threading.Thread(target=load.work, args=(f"s{number}",)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    load.begun.wait()
    time.sleep(0.3)

    begun = time.monotonic()
    code = daemon.stop()
    took = time.monotonic() - begun
    for client in clients:
        client.join(10)

    assert code == 0
    assert took < STOP_SECONDS
    assert load.refused == []
    said = [json.loads(line)["event"] for line in daemon.log.read_text().splitlines()]
    assert said[-1] == "daemon.stopped"
    assert [name for name in said if name.endswith((".failed", ".lost"))] == []
    daemon.start()
    assert sum(map(len, load.acknowledged.values())) > CLIENTS * BATCH, "the clients hardly worked"
    with daemon.connect() as wire:
        for events in load.acknowledged.values():
            all_there(wire, events)
        assert wire.call("audit.verify")["ok"]


def test_a_second_daemon_is_refused_politely_and_the_first_serves_on(daemon: RunningDaemon) -> None:
    with daemon.connect() as wire:
        wire.call("event.append", events=[event("s", 1)])
        second = subprocess.run(
            [sys.executable, "-m", "host.daemon"],
            cwd=daemon.folder,
            env=daemon.environment(),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        all_there(wire, [event("s", 1)])

    assert daemon.process is not None
    assert second.returncode == 0
    assert f"runs already (pid {daemon.process.pid})" in second.stderr
    assert second.stdout == ""
    with daemon.connect() as wire:
        assert wire.call("health")["ready"]


# ------------------------------------------------------------------------------------------------ a full disk


class FullDisk:
    """The running daemon's files may not grow any more, until the block ends."""

    def __init__(self, daemon: RunningDaemon, room: int) -> None:
        assert daemon.process is not None
        self._pid = daemon.process.pid
        largest = max(path.stat().st_size for path in daemon.data.rglob("*.db*"))
        _, self._hard = resource.prlimit(self._pid, resource.RLIMIT_FSIZE)
        self._limit = largest + room

    def __enter__(self) -> None:
        resource.prlimit(self._pid, resource.RLIMIT_FSIZE, (self._limit, self._hard))

    def __exit__(self, *_: object) -> None:
        resource.prlimit(self._pid, resource.RLIMIT_FSIZE, (self._hard, self._hard))


def a_need(wire: Wire, folder: str) -> list[Json]:
    """A lesson, and a failure that needs it: its packet waits."""
    wire.call("memory.remember", text=LESSON, workspace=folder)
    failing = {"channel": "tools", "eventType": "tool/result", "sourceKind": "tool", "workspace": folder}
    events = [
        event("s", 1, "Good morning, please go on where we stopped.", workspace=folder),
        event("s", 2, payload={"text": FAILURE, "ok": False, "tool": "shell"}, **failing),
    ]
    wire.call("event.append", events=events)
    assert wire.call("session.status", sessionId="s")["pending"] is not None
    return events


@pytest.mark.promise("acknowledged-is-kept")
@pytest.mark.promise("audit-first")
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of another process cannot be set here")
def test_on_a_full_disk_appends_are_refused_claims_are_silent_and_all_recovers(
    daemon: RunningDaemon, tmp_path: Path
) -> None:
    with daemon.connect() as wire:
        kept = a_need(wire, str(tmp_path))
        with FullDisk(daemon, ROOM):
            refusal, stored = filled(wire)
            kept += stored
            claim = wire.call("inbox.claim", **OWNER, surface="post-tool", requestId="r1", waitMs=1_000)
            bare = wire.call("step", events=kept[:1], claim={"surface": "post-tool"})
            health = wire.call("health")
            all_there(wire, kept)

        assert refusal.data["kind"] == "store-unavailable"
        assert refusal.data["problem"] and refusal.data["next"]
        assert (claim["packet"], claim["reason"]) == (None, "audit-unavailable")
        assert (bare["packet"], bare["reason"]) == (None, "audit-unavailable")
        assert health["parts"]["socket"] == "ok"

        again = wire.call("event.append", events=[event("after", 1)])
        assert again["accepted"] == 1
        later = wire.call("inbox.claim", **OWNER, surface="post-tool", requestId="r2", waitMs=1_000)
        settled = wire.call("inbox.delivered", **OWNER, packetId=later["packet"]["packetId"], claimId=later["claimId"])
        assert settled["settled"]
        all_there(wire, kept)
        assert wire.call("audit.verify")["ok"]
    assert daemon.stop() == 0
    daemon.start()
    with daemon.connect() as wire:
        all_there(wire, kept)
        assert wire.call("audit.verify")["ok"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of another process cannot be set here")
def test_what_is_handed_over_when_the_disk_fills_up_is_refused_with_a_code_and_settled_later(
    daemon: RunningDaemon, tmp_path: Path
) -> None:
    with daemon.connect() as wire:
        a_need(wire, str(tmp_path))
        claim = wire.call("inbox.claim", **OWNER, surface="post-tool", requestId="r1", waitMs=1_000)
        ids = {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}
        with FullDisk(daemon, ROOM):
            filled(wire)
            with pytest.raises(Refused) as refusal:
                wire.call("inbox.delivered", **OWNER, **ids)

        assert refusal.value.data["kind"] == "store-unavailable"
        assert wire.call("inbox.delivered", **OWNER, **ids) == {"settled": True, "reason": None}
        kinds = [entry["kind"] for entry in wire.call("audit.query", packetId=ids["packetId"])["entries"]]
        assert kinds == ["delivery", "claim", "pass"]


def filled(wire: Wire) -> tuple[Refused, list[Json]]:
    """Append to another session until nothing goes any more: the refusal, and what was acknowledged before it."""
    stored: list[Json] = []
    for number in range(1, 2_000):
        events = [event("filling", number, "so many words " * 60)]
        try:
            wire.call("event.append", events=events)
        except Refused as refusal:
            return refusal, stored
        stored += events
    raise AssertionError("the disk never became full")
