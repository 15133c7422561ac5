"""The tool `hook`: one hook call of an agent product, as a call of a tool (`mcp_tool` hooks).

The answer is exactly the host's schema, or empty. Whatever goes wrong it is empty: the agent goes on as without us.
"""

from typing import Any

from host.mcp.hosts import HOST, PAYLOAD, payload
from host.mcp.tool import Answer, Caller, Tool


async def hook(asked: dict[str, Any], caller: Caller) -> Answer:
    host, raw = asked.get(HOST), payload(asked)
    if not isinstance(host, str) or not raw:
        return Answer(text="")
    return Answer(text=(await caller.pass_on(host, raw)).decode("utf-8", "replace"))


HOOK = Tool(
    part="hook",
    title="Hook",
    description="For hooks of the host, not for calls by a model: takes a hook's fields, answers with its output or "
    "nothing.",
    arguments=dict[str, Any],
    document=None,
    run=hook,
    hidden=True,
    taken={
        "type": "object",
        "properties": {
            HOST: {"type": "string", "description": "The host's name, as claude-code or codex."},
            PAYLOAD: {"description": "The hook's whole payload; else its fields stand beside `host`."},
        },
        "required": [HOST],
        "additionalProperties": True,
    },
)
