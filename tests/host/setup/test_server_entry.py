"""The entry of our MCP server: known by its name, marked in its environment."""

import json

from host.setup.claude_code import SERVERS
from host.setup.server_entry import mark_of, stdio
from tests.support.settings import WANTED


def test_the_mark_stands_in_the_environment() -> None:
    assert mark_of(stdio(WANTED, "servers")) == "servers"
    assert mark_of({"environment": {"REMORA_PRE_ENTRY": "file"}}) == "file"
    assert mark_of({"command": "x"}) == mark_of("odd") == mark_of({"env": 5}) == ""


def test_an_entry_that_somebody_wrote_under_our_name_is_brought_up_to_date() -> None:
    text = '{"mcpServers": {"remora-pre": {"command": "remora-pre", "args": ["mcp"]}}}'
    (before,) = SERVERS.installed(text, WANTED)
    (after,) = SERVERS.installed(SERVERS.plan(text, WANTED), WANTED)
    assert (before.current, after.current) == (False, True)


def test_an_entry_that_is_switched_off_is_told() -> None:
    said = json.loads(SERVERS.plan(None, WANTED))
    said["mcpServers"]["remora-pre"]["disabled"] = True
    (entry,) = SERVERS.installed(json.dumps(said), WANTED)
    assert entry.disabled and entry.line == f"{WANTED.script} mcp" and entry.paths == (WANTED.script,)
