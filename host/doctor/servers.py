"""Our MCP server, asked once as a client of it would: it has to answer with nothing but the protocol."""

import json
from collections.abc import Iterator

from host.doctor.connections import connected, wanted_now
from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.namespace import SCRIPT, name

SECONDS = 20.0
PROTOCOL = "2025-06-18"  # of the Model Context Protocol
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": name("doctor"), "version": "1"},
    },
}


def servers(scene: Scene) -> Iterator[Finding]:
    """The server of this installation, where any settings name it. Only beside a daemon that runs: it starts one."""
    if scene.ours and any(entry.current and not entry.disabled for one in connected(scene) for entry in one.servers):
        yield from answers(scene, wanted_now(scene).script)


def answers(scene: Scene, script: str) -> Iterator[Finding]:
    """Whether the command that settings name starts a server. `script`: its absolute path."""
    ran = scene.programs.run([script, "mcp"], json.dumps(HELLO) + "\n", SECONDS)
    if ran is not None and _is_greeting(ran.out):
        return
    if ran is None:
        what = "it cannot be started"
    elif ran.code is None:
        what = f"it did not answer within {SECONDS:.0f} s"
    else:
        what = f"it ended with code {ran.code} and no answer"
    yield finding(
        "mcp-failing",
        f"The MCP server does not work: {what}.",
        "Agents cannot look for memories, or correct one.",
        f"Run `{script} mcp` in a terminal to see why; install anew if {SCRIPT} itself does not start.",
        script,
    )


def _is_greeting(out: str) -> bool:
    """Whether the first line is the answer to our question, as the protocol has it."""
    try:
        said = json.loads(out.partition("\n")[0])
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("id") == 1 and isinstance(said.get("result"), dict)
