"""Kill -9 at random points while four clients work: what was acknowledged is there, what was handed over was once, also
in a session that goes on after a kill."""

import random
import statistics
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import Refused, RunningDaemon, Wire, a_message
from tests.support.world import FAILURE, LESSON

pytestmark = pytest.mark.reliability

ROUNDS = 50
CLIENTS = 4
RESTART_SECONDS = 1.0  # the median: one start may meet a moment in which the machine does something else
LONGEST_SECONDS = 5.0
LIVES = 2  # rounds in which a session goes on
MOST_EVENTS = 40  # acknowledged in one round before the kill: a round is measured by work, however slow the machine
PATIENCE_SECONDS = 20.0


@dataclass
class Ledger:
    """What the clients were promised, over all rounds."""

    acknowledged: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # session -> events
    claimed: dict[str, set[str]] = field(default_factory=dict)  # packet id -> request ids that got it
    delivered: set[str] = field(default_factory=set)
    given: dict[str, set[str]] = field(default_factory=dict)  # session -> packets that reached its client
    lock: threading.Lock = field(default_factory=threading.Lock)


def an_event(session: str, folder: str, number: int) -> dict[str, Any]:
    if number % 3 == 0:  # no pass: what is claimed after it lies behind the last one
        return a_message(session, number, "", workspace=folder, eventType="turn/end", sourceKind="lifecycle")
    if number % 3 == 1:
        return a_message(session, number, f"Attempt {number}: run make integration-test again", workspace=folder)
    payload = {"text": f"{FAILURE}\nattempt {number}", "ok": False, "tool": "shell"}
    result = {"eventType": "tool/result", "sourceKind": "tool", "channel": "tools", "payload": payload}
    return a_message(session, number, "", workspace=folder, **result)


def work(daemon: RunningDaemon, ledger: Ledger, session: str, folder: str, *, rests: bool) -> None:
    """One agent, until the daemon dies. What was sent and not acknowledged is sent again. `rests`: it says nothing more
    once it was given something, so that nothing but the claim says so."""
    with ledger.lock:
        number = len(ledger.acknowledged.get(session, ()))
    try:
        with daemon.connect() as wire:
            while True:
                number += 1
                events = [an_event(session, folder, number)]
                wire.call("event.append", events=events)
                with ledger.lock:
                    ledger.acknowledged.setdefault(session, []).extend(events)
                if number % 3 == 0 and take(wire, ledger, session, f"{session}-r{number}") and rests:
                    return
    except (OSError, ConnectionError):
        return


def take(wire: Wire, ledger: Ledger, session: str, request: str) -> bool:
    """Claim and acknowledge. Whether there was something."""
    owner = {"sessionId": session, "agentId": "main"}
    claim = wire.call("inbox.claim", **owner, surface="post-tool", requestId=request, waitMs=500)
    packet = claim["packet"]
    if packet is None:
        return False
    with ledger.lock:
        ledger.claimed.setdefault(packet["packetId"], set()).add(request)
        ledger.given.setdefault(session, set()).add(packet["packetId"])
    settled = wire.call("inbox.delivered", **owner, packetId=packet["packetId"], claimId=claim["claimId"])
    if settled["settled"]:
        with ledger.lock:
            ledger.delivered.add(packet["packetId"])
    return True


@pytest.mark.promise("kill-nine")
@pytest.mark.promise("acknowledged-is-kept")
def test_fifty_kills_lose_and_double_nothing(tmp_path: Path, run_dir: Path) -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    folder = tmp_path / "project"
    folder.mkdir()
    daemon, ledger = RunningDaemon(run_dir), Ledger()
    daemon.start()
    with daemon.connect() as wire:
        wire.call("memory.remember", text=LESSON, workspace=str(folder))
    restarts = []
    for turn in range(ROUNDS):
        agents = [
            threading.Thread(
                target=work,
                args=(daemon, ledger, f"s{turn // LIVES}-{number}", str(folder)),
                kwargs={"rests": turn % LIVES == 0 and number % 2 == 0},
            )
            for number in range(CLIENTS)
        ]
        before = promised(ledger)
        for agent in agents:
            agent.start()
        let_work(ledger, before, chance)
        daemon.kill()
        for agent in agents:
            agent.join(10)
        restarts.append(daemon.start())
    try:
        judge(daemon, ledger, seed)
    finally:
        daemon.stop()
    assert statistics.median(restarts) < RESTART_SECONDS, f"seed {seed}: {restarts}"
    assert max(restarts) < LONGEST_SECONDS, f"seed {seed}: {restarts}"


def promised(ledger: Ledger) -> int:
    """How many events were acknowledged so far."""
    with ledger.lock:
        return sum(map(len, ledger.acknowledged.values()))


def let_work(ledger: Ledger, before: int, chance: random.Random) -> None:
    """Until the round's clients were promised some events, and a moment more: the kill falls anywhere."""
    wanted = before + chance.randrange(MOST_EVENTS)
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and promised(ledger) < wanted:
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.01))


def judge(daemon: RunningDaemon, ledger: Ledger, seed: int) -> None:
    why = f"seed {seed}"
    assert sum(map(len, ledger.acknowledged.values())) > ROUNDS, f"{why}: the clients hardly worked"
    assert ledger.delivered, f"{why}: nothing was handed over"
    with daemon.connect() as wire:
        for session, events in ledger.acknowledged.items():
            for start in range(0, len(events), 256):
                chunk = events[start : start + 256]
                again = wire.call("event.append", events=chunk)
                assert (again["accepted"], again["duplicates"]) == (0, len(chunk)), f"{why}: {session} lost events"
        assert all(len(requests) == 1 for requests in ledger.claimed.values()), f"{why}: a packet was given twice"
        again = {session: packets for session, packets in ledger.given.items() if len(packets) > 1}
        assert not again, f"{why}: a lesson was given twice in one context window: {again}"
        for packet in ledger.delivered:
            entries = audited(wire, packet)
            kinds = [entry["kind"] for entry in entries]
            assert kinds.count("delivery") == 1, f"{why}: {packet} {kinds}"
            assert kinds.count("claim") == 1, f"{why}: {packet} {kinds}"
            assert kinds[-1] == "pass", f"{why}: {packet} was not audited first: {kinds}"
        verified, numbers = wire.call("audit.verify"), wire.call("metrics")
        assert verified["ok"], why
        assert numbers["entries"] == verified["entries"], f"{why}: entries that were committed are not counted"
        assert numbers["packets"]["delivered"] >= len(ledger.delivered), why
        assert numbers["leaks"] == {"all": 0}, why


def audited(wire: Wire, packet: str) -> list[dict[str, Any]]:
    """Entries about one packet, newest first."""
    try:
        entries: list[dict[str, Any]] = wire.call("audit.query", packetId=packet, limit=50)["entries"]
    except Refused as refusal:
        raise AssertionError(f"{packet}: {refusal}") from refusal
    return entries
