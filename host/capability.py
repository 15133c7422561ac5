"""What a host can take (C-07): its surfaces, its limit, whether it acknowledges. A new host is one line."""

from host.contracts import Capability, Surface

CAPABILITIES: dict[str, Capability] = {
    # Claude Code cuts hook text above 10 000 characters and puts the rest into a file. Hooks get no acknowledgement:
    # a packet is delivered when the hook's answer was written.
    "claude-code": Capability(
        host="claude-code",
        surfaces=frozenset({Surface.SESSION_START, Surface.USER_PROMPT, Surface.POST_TOOL}),
        max_chars=9_500,
        acknowledges=False,
    ),
    # A program that speaks the wire protocol: it claims where it likes and says what became of the packet.
    "socket": Capability(host="socket", surfaces=frozenset(Surface), max_chars=4_096, acknowledges=True),
}


def capability(host: str) -> Capability:
    """What this host can take. One that is not known takes nothing: its passes are silent (`no-surface`)."""
    known = CAPABILITIES.get(host)
    return known or Capability(host=host, surfaces=frozenset(), max_chars=4_096, acknowledges=False)
