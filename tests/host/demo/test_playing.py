"""The demo plays a recording as its host would: append, claim where the host can, acknowledge what came."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from host.contracts import MemoryPacket, Surface
from host.demo.playing import Moment, play
from host.evaluation.sessions import Labels, Recorded, Recording
from tests.support.builders import a_cursor, a_packet

T = TypeVar("T")
LABELS = Labels(
    session="s1", workspace="shop", topic="", gold=(), acceptable=(), duplicates=(), never_reason={}, quiet=()
)


def a_recording(*types: str) -> Recording:
    values = [
        {"seq": seq, "ts": "2026-01-06T09:15:59Z", "source": "agent", "type": type_, "turn": 0, "step": seq, "text": ""}
        for seq, type_ in enumerate(types, start=1)
    ]
    return Recording(events=msgspec.convert(tuple(values), tuple[Recorded, ...]), memories=(), labels=LABELS)


class FakeDaemon:
    """Answers every method; hands out one packet at the first claim made at `surface`."""

    def __init__(self, packet: MemoryPacket | None = None, surface: Surface | None = None) -> None:
        self.packet, self.surface = packet, surface
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.entries: list[dict[str, Any]] = []

    def __call__(self, method: str, params: Mapping[str, object], answer: type[T]) -> T:
        self.calls.append((method, msgspec.json.decode(msgspec.json.encode(params))))
        return msgspec.json.decode(msgspec.json.encode(self._result(method, params)), type=answer)

    def _result(self, method: str, params: Mapping[str, Any]) -> object:
        match method:
            case "step" if self.packet and params["claim"]["surface"] == self.surface:
                return {"packet": self.packet, "claimId": "c1"}
            case "step":
                return {"packet": None, "reason": "none-pending"}
            case "inbox.delivered":
                return {"settled": True}
            case "audit.query":
                self.entries.insert(0, an_entry(f"aud_{len(self.entries)}"))
                return {"entries": self.entries}
            case _:
                return {"accepted": 1, "duplicates": 0}


def an_entry(audit_id: str) -> dict[str, Any]:
    return {
        "auditId": audit_id,
        "at": 1,
        "sessionRef": "r",
        "agentRef": "a",
        "cursor": None,
        "kind": "pass",
        "outcome": "silence",
        "reason": "below-threshold",
    }


def played(daemon: FakeDaemon, *types: str) -> list[Moment]:
    return list(play(a_recording(*types), "s1", Path("/w"), daemon))


def test_every_event_is_sent_alone_and_in_order() -> None:
    daemon = FakeDaemon()

    played(daemon, "session/start", "user/message", "assistant/message", "tool/call", "tool/result")

    sent = [params["events"] for method, params in daemon.calls if method in ("event.append", "step")]
    assert [[event["nativeSeq"] for event in events] for events in sent] == [[1], [2], [3], [4], [5]]


def test_it_claims_at_surfaces_only() -> None:
    daemon = FakeDaemon()

    played(daemon, "session/start", "user/message", "assistant/message", "tool/call", "tool/result")

    claims = [params["claim"]["surface"] for method, params in daemon.calls if method == "step"]
    assert claims == ["session-start", "user-prompt", "post-tool"]


def test_what_is_handed_over_is_acknowledged_with_its_claim() -> None:
    packet = a_packet(context_cursor=a_cursor(session_id="s1"))
    daemon = FakeDaemon(packet, Surface.POST_TOOL)

    moments = played(daemon, "user/message", "tool/result")

    given = next(params for method, params in daemon.calls if method == "inbox.delivered")
    assert given == {"sessionId": "s1", "agentId": "main", "packetId": packet.packet_id, "claimId": "c1"}
    assert [moment.packet for moment in moments] == [None, packet]


def test_each_pass_is_told_once() -> None:
    moments = played(FakeDaemon(), "user/message", "user/message")

    assert [[entry.audit_id for entry in moment.passes] for moment in moments] == [["aud_0"], ["aud_1"]]
