import pytest

from host.capability import CAPABILITIES, capability
from host.contracts import Surface


def test_claude_code_takes_text_at_three_surfaces_and_does_not_acknowledge() -> None:
    claude = capability("claude-code")

    assert claude.surfaces == {Surface.SESSION_START, Surface.USER_PROMPT, Surface.POST_TOOL}
    assert claude.max_chars == 9_500
    assert not claude.acknowledges


def test_a_program_on_the_socket_takes_text_anywhere_and_acknowledges() -> None:
    assert capability("socket").surfaces == set(Surface)
    assert capability("socket").acknowledges


@pytest.mark.parametrize("host", ["", "an-agent-of-tomorrow", "Claude-Code"])
def test_an_unknown_host_takes_nothing(host: str) -> None:
    assert capability(host).surfaces == frozenset()
    assert not capability(host).acknowledges


def test_nothing_is_injected_into_subagents_by_default() -> None:
    assert not any(known.subagents for known in CAPABILITIES.values())
    assert all(name == known.host for name, known in CAPABILITIES.items())
