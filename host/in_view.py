"""What of the runtime context one context window shows: its state, in hand, delivered, or only watched.

A part of a session's runtime, and like it a fold over what happened to packets.
"""

from dataclasses import dataclass, field

from governance.contracts import ContextTrace
from host.contracts import Context, MemoryPacket


@dataclass(slots=True)
class InView:
    """`shown`: the state that reached the window last; None: none did. `in_hand`: packet id -> the state that a claim
    took and nobody has settled yet. `would`: the state that it would show if remora did not only watch."""

    shown: str | None = None
    would: str | None = None
    in_hand: dict[str, str] = field(default_factory=dict)

    def visible(self, *, watched: bool = False) -> str | None:
        """The state that the window shows, or will; None: none so far. `watched`: where remora only watches, what it
        would have said counts as said."""
        if watched and self.would is not None:
            return self.would
        return next(reversed(self.in_hand.values()), self.shown)

    def taken(self, packet: MemoryPacket) -> None:
        """A packet was claimed: what it says is on its way."""
        if packet.context is not None:
            self.in_hand[packet.packet_id] = packet.context.state

    def given_back(self, packet_id: str) -> None:
        """A claim is over."""
        self.in_hand.pop(packet_id, None)

    def given(self, said: Context | ContextTrace | None) -> None:
        """It reached the window."""
        if said is not None:
            self.shown, self.would = said.state, None

    def watched(self, said: Context | ContextTrace | None) -> None:
        """It would have been offered."""
        if said is not None:
            self.would = said.state
