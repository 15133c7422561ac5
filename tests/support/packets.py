"""A packet as the broker builds it from ranked records, on one occasion."""

from typing import Any

import msgspec

from governance.contracts import Action, Verdict
from host.broker import BrokerPolicy, Draft, build
from host.contracts import MemoryPacket
from recall.contracts import Scored
from tests.support.builders import a_capability, a_cursor
from tests.support.clock import START

POLICY = BrokerPolicy()
TAG = "a1" * 16
DRAFT = Draft(
    cursor=a_cursor(event_seq=7, context_version=5),
    agent_id="main",
    window=1,
    step=3,
    trigger_reason="tool-failure",
    retrieval_version="gate_pre_v1",
    tag=TAG,
)
LONG = "The build cache lives in the volume. It is wiped by every release. " * 20


def verdict(*kept: Scored, action: Action = Action.ALLOW) -> Verdict:
    return Verdict(action=action, reason="clear", kept=kept)


def built(*kept: Scored, policy: BrokerPolicy = POLICY, action: Action = Action.ALLOW, **draft: Any) -> MemoryPacket:
    changed = msgspec.structs.replace(DRAFT, **draft)
    packet = build(verdict(*kept, action=action), changed, a_capability(), policy, START)
    assert isinstance(packet, MemoryPacket)
    return packet
