"""Which packets are kept back to measure what handing over does (N-03's control group). Pure.

A draw is made of the installation's key, the session and the packet's leading memory: the same need in one session is
always kept back or never, a replay draws the same, and nobody who writes a memory can foresee it. The share decides
where the line lies, so whoever is kept back at a small share is kept back at a larger one too.
"""

from collections.abc import Set
from typing import Annotated

import msgspec

from host.contracts import MemoryPacket, Pass
from host.namespace import policy as policy_id
from recall.canonical import keyed
from recall.contracts import Frozen, Risk

HELD_OUT = "held-out"  # the audit's outcome of a pass whose packet was kept back
REQUEST = "explicit-request"  # the gate's signal that the user asks for what was said before
DIGITS = 13  # of the draw's hash
DRAWS = 1 << 4 * DIGITS  # how many numbers they make


class HoldoutPolicy(Frozen, frozen=True, kw_only=True):
    """`share`: of the packets that are drawn, 0 … 0.5, as the user set it. `steps`: how far outcomes are looked for."""

    id: str = policy_id("holdout", 1)
    share: Annotated[float, msgspec.Meta(ge=0, le=0.5)] = 0.0
    steps: Annotated[int, msgspec.Meta(ge=1)] = 10

    @property
    def label(self) -> str:
        """What a drawn pass is audited with: the policy and the share that held."""
        return f"{self.id}@{self.share:g}"


def may_draw(walk: Pass, packet: MemoryPacket, given: Set[str]) -> bool:
    """Whether this packet may be kept back: nothing pinned or risky in it, not asked for by the user, and nothing of it
    among `given`, the memories that wait in the inbox or were shown in this context window."""
    if walk.signals.get(REQUEST) or walk.verdict is None:
        return False
    items = {item.memory_id for item in packet.items}
    if not items.isdisjoint(given):
        return False
    kept = [scored.candidate for scored in walk.verdict.kept if scored.candidate.memory_id in items]
    return not any(candidate.pinned or candidate.risk_level is Risk.HIGH for candidate in kept)


def keeps_back(packet: MemoryPacket, policy: HoldoutPolicy, key: bytes) -> bool:
    """The draw. The whole packet goes the way of its leading memory."""
    seed = "\n".join((policy.id, packet.context_cursor.session_id, packet.items[0].memory_id))
    number = int(keyed(key, seed.encode("utf-8", "surrogatepass"))[:DIGITS], 16)
    return number < policy.share * DRAWS
