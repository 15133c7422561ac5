"""Adapters of agent products: a hook's payload in, what was heard out, and the answer in exactly the host's schema.

A module is the adapter: two pure functions. A new host is one module and one line in ADAPTERS.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from host.adapters import claude_code, codex, cursor, gemini_cli, opencode
from host.contracts import Heard
from recall.contracts import Millis


class Adapter(Protocol):
    """What a host's hooks say, and how they are answered."""

    def decode(self, raw: bytes, now: Millis = 0, own: Sequence[str] = ()) -> Heard:
        """What one hook call tells. Raises ProtocolFault (`bad-payload`, `no-owner`).

        `now` stamps the events of hosts that send no time; calls from below one of the folders `own` tell nothing.
        """
        ...

    def encode(self, heard: Heard, text: str | None) -> bytes:
        """The answer that puts `text` before the model. Empty: silence, and nothing was handed over."""
        ...


ADAPTERS: Mapping[str, Adapter] = {
    "claude-code": claude_code,
    "claude-agent-sdk": claude_code,  # runs Claude Code: the same calls, heard in the program itself
    "codex": codex,
    "cursor": cursor,
    "gemini-cli": gemini_cli,
    "opencode": opencode,
}
