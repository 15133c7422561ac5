"""Our MCP server in the settings of real clients, and hooks that come as calls of its tool."""

import json
import sys
from pathlib import Path
from typing import Any

from host.mcp.hosts import CLAUDE_CODE, CODEX, FIELDS, FORWARDED, hook_input
from host.namespace import SCRIPT, tool
from tests.e2e.codex_driver import Codex
from tests.e2e.driver import Claude

Json = dict[str, Any]
COMMAND = str(Path(sys.executable).parent / SCRIPT)


def hooks(host: str) -> Json:
    """An `mcp_tool` hook on every event that can have one."""
    return {event: [{"hooks": [_hook(host, event)]}] for event in FIELDS[host]}


def _hook(host: str, event: str) -> Json:
    return {
        "type": "mcp_tool",
        "server": SCRIPT,
        "tool": tool("hook"),
        "input": hook_input(host, event),
        "timeout": 5,
    }


def for_claude(claude: Claude, *allowed: str, hooked: bool = False) -> None:
    """The server by `--mcp-config`, these tools allowed; with `hooked` also our hooks by its tool."""
    file = claude.folder / "mcp.json"
    entry = {"type": "stdio", "command": COMMAND, "args": ["mcp"]}
    file.write_text(json.dumps({"mcpServers": {SCRIPT: entry}}), encoding="utf-8")
    claude.arguments = ["--mcp-config", str(file), "--allowedTools", *map(in_claude, allowed), "Bash"]
    if hooked:
        claude.settings({"hooks": hooks(CLAUDE_CODE)})


def for_codex(codex: Codex, *, hooked: bool = False) -> None:
    """The server in `config.toml`, and waited for: by itself the client sends its first request whether or not its
    servers are there. With `hooked` also our hooks by its tool."""
    config = codex.codex_home / "config.toml"
    entry = {"command": COMMAND, "args": ["mcp"], "env_vars": FORWARDED, "required": True}
    lines = [f"{name} = {json.dumps(value)}" for name, value in entry.items()]
    config.write_text("\n".join([config.read_text("utf-8"), f"[mcp_servers.{SCRIPT}]", *lines, ""]), encoding="utf-8")
    codex.hooks(hooks(CODEX) if hooked else {})


def in_claude(part: str) -> str:
    """The name of one of our tools as Claude Code's model calls it."""
    return f"mcp__{SCRIPT}__{tool(part)}"


def call_in_claude(part: str, **given: Any) -> Json:
    return {"name": in_claude(part), "input": given}


def call_in_codex(part: str, **given: Any) -> Json:
    return {"name": tool(part), "namespace": f"mcp__{SCRIPT.replace('-', '_')}", "input": given}
