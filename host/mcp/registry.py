"""The tools of the MCP server. To add one: an entry here."""

from typing import Any

from host.mcp.evidence_tool import EVIDENCE
from host.mcp.formation_tools import CHECKPOINT, EXTRACT, STAGE
from host.mcp.hook_tool import HOOK
from host.mcp.memory_tools import EDIT, FEEDBACK, FORGET, GET, REMEMBER, SEARCH
from host.mcp.team_tools import TEAM
from host.mcp.tool import Tool

FORMATION: tuple[Tool[Any], ...] = (CHECKPOINT, EXTRACT, STAGE)
TOOLS: tuple[Tool[Any], ...] = (SEARCH, GET, REMEMBER, EDIT, FORGET, FEEDBACK, EVIDENCE, *FORMATION, *TEAM, HOOK)
BY_NAME = {one.name: one for one in TOOLS}
