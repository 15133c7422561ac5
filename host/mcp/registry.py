"""The tools of the MCP server. To add one: an entry here."""

from typing import Any

from host.mcp.hook_tool import HOOK
from host.mcp.memory_tools import EDIT, FEEDBACK, FORGET, GET, REMEMBER, SEARCH
from host.mcp.tool import Tool

TOOLS: tuple[Tool[Any], ...] = (SEARCH, GET, REMEMBER, EDIT, FORGET, FEEDBACK, HOOK)
BY_NAME = {one.name: one for one in TOOLS}
