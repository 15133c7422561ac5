"""Every capture of Claude Code's hooks, in both directions: what was told, and what was answered."""

import json
from pathlib import Path

import pytest

from host.adapters.claude_code import OUTPUT_LIMIT, SPEAKING, encode
from host.contracts import Heard
from tests.host.adapters import goldens

CAPTURES = [*goldens.captures("claude-code"), *goldens.captures("claude-agent-sdk")]


@pytest.mark.parametrize("path", CAPTURES, ids=[path.name for path in CAPTURES])
def test_every_captured_payload_tells_what_is_expected(path: Path) -> None:
    assert goldens.told("claude-code", path) == goldens.expected(path)


@pytest.mark.parametrize("path", CAPTURES, ids=[path.name for path in CAPTURES])
def test_every_captured_answer_is_the_one_we_give_where_we_speak(path: Path) -> None:
    """In the other direction: the texts that captured hooks answered, answered by us."""
    for event, text, document in goldens.outputs(path):
        what = Heard(envelopes=(), session_id="s", agent_id="main", event=event)
        answer = encode(what, text)
        if event not in SPEAKING or len(text) > OUTPUT_LIMIT:
            assert answer == b""
        else:
            assert json.loads(answer) == document


def test_captures_show_both_sides_of_the_hosts_limit() -> None:
    lengths = {len(text) for path in CAPTURES for _, text, _ in goldens.outputs(path)}
    assert {OUTPUT_LIMIT, OUTPUT_LIMIT + 1} <= lengths
