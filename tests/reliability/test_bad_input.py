"""Bad input over a real socket to a real daemon: a clear error or a closed connection, and nobody else notices."""

import json
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from host.namespace import MARK, PROTOCOL
from tests.support.daemon import Json, Refused, RunningDaemon, Wire, a_message

pytestmark = [pytest.mark.reliability, pytest.mark.promise("bad-input")]

DEEP = 100_000
GONE_SECONDS = 20.0
OWNER = {"sessionId": "good", "agentId": "main"}


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    with tempfile.TemporaryDirectory(prefix="r") as folder, RunningDaemon(Path(folder)) as running:
        yield running


def event(number: int = 1, session: str = "good", **fields: Any) -> Json:
    given = a_message(session, number, f"what was acknowledged, number {number}", **fields)
    return {name: value for name, value in given.items() if value is not None}


def line(method: str = "event.append", params: object = None, **fields: Any) -> bytes:
    given = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"events": []} if params is None else params}
    return json.dumps(given | fields, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def append(*events: object) -> bytes:
    return line(params={"events": list(events)})


def event_text(number: int) -> bytes:
    """An event's payload as it stands in its line."""
    return json.dumps(event(number)["payload"]).encode()


TEXT = event_text(9)


class Acknowledged:
    """What the daemon has acknowledged in one session: `still_there` asks it again, on a connection of its own."""

    def __init__(self, daemon: RunningDaemon, session: str) -> None:
        self.daemon = daemon
        self.events = [event(number, session) for number in range(1, 4)]
        with daemon.connect() as wire:
            wire.call("event.append", events=self.events)
            self.last = self._status(wire)["eventSeq"]

    def _status(self, wire: Wire) -> Json:
        return wire.call("session.status", sessionId=self.events[0]["sessionId"])

    def still_there(self) -> None:
        with self.daemon.connect() as wire:
            again = wire.call("event.append", events=self.events)
            assert (again["accepted"], again["duplicates"]) == (0, len(self.events))
            assert self._status(wire)["eventSeq"] == self.last, "something that was refused was stored"
            assert wire.call("audit.verify")["ok"]


@pytest.fixture
def kept(daemon: RunningDaemon) -> Acknowledged:
    return Acknowledged(daemon, "good")


# ------------------------------------------------------------------------------------------------ refused in words

REFUSED = {
    "not-json": (b"hello?\n", "parse-error"),
    "half-json": (b'{"jsonrpc":"2.0","id":1,"method":"hel\n', "parse-error"),
    "not-utf8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n', "parse-error"),
    "raw-nul": (b'{"jsonrpc":"2.0","id":1,"method":"health\x00"}\n', "parse-error"),
    "raw-lone-surrogate": (append(event(9, payload={"text": "\ud800"})), "parse-error"),
    "escaped-lone-surrogate": (
        line().replace(b"[]", b"[" + json.dumps(event(9, payload={"text": "\udc00"})).encode() + b"]"),
        "parse-error",
    ),
    "deep-nesting": (b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"\n", "invalid-request"),
    "deep-nesting-of-lists": (b"[" * DEEP + b"]" * DEEP + b"\n", "batch-refused"),
    "deep-nesting-without-end": (b'{"a":' * DEEP + b"\n", "invalid-request"),
    "deep-nesting-in-a-payload": (
        append(event(9)).replace(TEXT, b"[" * DEEP + b"]" * DEEP),
        "invalid-request",
    ),
    "no-request": (b"42\n", "invalid-request"),
    "batch": (b"[" + line().strip() + b"]\n", "batch-refused"),
    "another-json-rpc": (line(jsonrpc="1.0"), "invalid-request"),
    "method-of-wrong-type": (line(**{"method": 5}), "invalid-request"),
    "id-of-wrong-type": (line(id={"a": 1}), "invalid-request"),
    "unknown-method": (line("memory.explode"), "unknown-method"),
    "params-of-wrong-type": (line(params=["events"]), "invalid-params"),
    "events-of-wrong-type": (line(params={"events": "all of them"}), "invalid-params"),
    "no-events": (line(params={"events": []}), "invalid-params"),
    "too-many-events": (append(*(event(1000 + number) for number in range(257))), "invalid-params"),
    "timestamp-of-wrong-type": (append(event(9, timestamp="yesterday")), "invalid-params"),
    "timestamp-beyond-every-integer": (append(event(9, timestamp=2**63)), "invalid-params"),
    "unknown-channel": (append(event(9, channel="telepathy")), "invalid-params"),
    "payload-that-is-a-list": (append(event(9, payload=["not", "an", "object"])), "invalid-params"),
    "payload-that-is-nothing": (append(event(9)).replace(TEXT, b"null"), "invalid-params"),
    "no-session": (append(event(9, sessionId=None)), "no-owner"),
    "empty-session": (append(event(9, sessionId="")), "no-owner"),
    "no-agent": (append(event(9, agentId=None)), "no-owner"),
    "agent-of-wrong-type": (append(event(9, agentId=7)), "no-owner"),
    "nul-in-a-session": (append(event(9, sessionId="go\0od")), "invalid-params"),
    "nul-in-a-workspace": (append(event(9, workspace="/pro\0ject")), "invalid-params"),
    "path-in-a-session": (append(event(9, sessionId="../../etc")), "invalid-params"),
    "unknown-schema": (append(event(9, schemaVersion=2)), "unsupported-schema"),
    "known-key-with-other-content": (append(event(8), event(1, payload={"text": "something else"})), "conflict"),
    "digest-of-other-bytes": (append(event(9, payloadDigest="0" * 64)), "invalid-params"),
    "claim-of-nobody": (
        line("inbox.claim", {**OWNER, "sessionId": "nobody", "surface": "post-tool", "requestId": "r"}),
        "unknown-session",
    ),
    "claim-at-no-surface": (line("inbox.claim", {**OWNER, "surface": "nowhere", "requestId": "r"}), "invalid-params"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gets_a_clear_error_and_changes_nothing(name: str, daemon: RunningDaemon, kept: Acknowledged) -> None:
    sent, kind = REFUSED[name]
    with daemon.connect() as wire:
        wire.send_bytes(sent)
        answer = wire.receive()
        greeted = wire.call("hello", client="test", protocol=PROTOCOL, capabilities=[])

    error = answer["error"]
    assert error["data"]["kind"] == kind
    assert isinstance(error["code"], int)
    assert error["data"]["problem"] and error["data"]["next"]
    assert len(json.dumps(answer)) < 2_000, "the error repeats what was sent"
    assert greeted["channel"] == MARK, "the same connection goes on"
    kept.still_there()


def test_a_frame_of_two_mebibytes_is_refused_and_the_connection_closed(
    daemon: RunningDaemon, kept: Acknowledged
) -> None:
    with daemon.connect() as wire:
        wire.send_bytes(append(event(9, payload={"text": "x" * 2 * 1024 * 1024})))
        error = wire.receive()["error"]
        with pytest.raises(ConnectionError):
            wire.receive()

    assert error["data"]["kind"] == "frame-too-large"
    kept.still_there()


# ------------------------------------------------------------------------------------------------ taken, and harmless

ODD = {
    "nul-in-a-text": {"text": "one\0two"},
    "fields-of-wrong-types": {
        "text": 7,
        "tool": ["shell"],
        "ok": "perhaps",
        "images": "many",
        "source": 5,
        "muted": "no",
    },
    "numbers-that-json-allows": {"text": "x", "big": 10**400, "small": 1e-320, "float": 0.1},
    "another-shape": {"text": {"text": {"text": []}}, "read": "all of it"},
}
TYPES = (
    *("user/message", "tool/call", "tool/result"),
    *("session/start", "session/set", "session/compact", "of/no/known/type"),
)


def test_odd_payloads_are_stored_and_their_sessions_go_on_even_after_a_restart(daemon: RunningDaemon) -> None:
    sessions = {f"odd-{name}-{number}": (name, kind) for name in ODD for number, kind in enumerate(TYPES)}
    with daemon.connect() as wire:
        for session, (name, kind) in sessions.items():
            odd = append(event(1, session, eventType=kind))
            wire.send_bytes(odd.replace(event_text(1), json.dumps(ODD[name]).encode()))
            assert wire.receive()["result"]["accepted"] == 1, session
            wire.call("event.append", events=[event(2, session)])
            status = wire.call("session.status", sessionId=session)
            assert (status["eventSeq"], status["queued"], status["incognito"]) == (2, 0, False), session
        health = wire.call("health")
    assert daemon.stop() == 0
    daemon.start()

    with daemon.connect() as wire:
        for session in sessions:
            assert wire.call("event.append", events=[event(3, session)])["cursor"]["eventSeq"] == 3
            assert wire.call("session.status", sessionId=session)["eventSeq"] == 3
        again = wire.call("health")
    assert health["ready"] and again["ready"], (health, again)


# ------------------------------------------------------------------------------------------------ clients that stall


def test_clients_that_never_read_or_stop_in_mid_frame_are_let_go_and_others_served_meanwhile(
    daemon: RunningDaemon, kept: Acknowledged
) -> None:
    deaf, half = daemon.connect(), Wire(daemon.socket, timeout=GONE_SECONDS)
    with deaf, half:
        half.send_bytes(append(event(9))[:-20])
        deaf._socket.settimeout(0.2)
        with pytest.raises(OSError):  # the daemon takes no more of it
            while True:
                deaf.send("audit.query", limit=1000)
        kept.still_there()
        begun = time.monotonic()
        with daemon.connect() as wire:
            while "too-slow" not in wire.call("metrics")["daemon"]:
                assert time.monotonic() - begun < GONE_SECONDS, "a client that never reads is kept for ever"
                time.sleep(0.1)
        with pytest.raises(ConnectionError):
            half.receive()
    kept.still_there()


def test_a_client_that_hangs_up_in_mid_frame_stores_nothing(daemon: RunningDaemon, kept: Acknowledged) -> None:
    for cut in (1, 40, 200):
        with daemon.connect() as wire:
            wire.send_bytes(append(event(9))[:-cut])
            wire._socket.shutdown(socket.SHUT_RDWR)

    kept.still_there()


def test_many_bad_clients_at_once_do_not_disturb_a_good_one(daemon: RunningDaemon, kept: Acknowledged) -> None:
    stop = threading.Event()

    def shout() -> None:
        while not stop.is_set():
            for sent, _ in REFUSED.values():
                with suppress(OSError), daemon.connect() as wire:  # the daemon may be busy: that is its right
                    wire.send_bytes(sent)

    shouting = [threading.Thread(target=shout) for _ in range(4)]
    for one in shouting:
        one.start()
    try:
        with daemon.connect() as wire:
            for number in range(100, 140):
                assert wire.call("event.append", events=[event(number, "calm")])["accepted"] == 1
    finally:
        stop.set()
        for one in shouting:
            one.join()
    kept.still_there()


def test_words_that_were_sent_do_not_reach_the_daemons_log(daemon: RunningDaemon) -> None:
    with daemon.connect() as wire:
        wire.send_bytes(b"zebrafinch is no JSON\n" + append(event(9, timestamp="zebrafinch")) + line("zebrafinch"))
        for _ in range(3):
            with pytest.raises(Refused):
                raise Refused(wire.receive()["error"])

    assert "zebrafinch" not in daemon.log.read_text(errors="replace")
