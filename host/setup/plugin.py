"""Claude Code's plugin folder: the hooks and the MCP server that `init` writes, in a folder that it loads (pure).

There is no secret in it. Http hooks need our token in a header; a plugin could only name a variable of the client's own
environment for it, which nobody sets there. So every hook is a command, by the cheapest client of this machine, over
the daemon's Unix socket: it needs no token and no port, and lets a daemon that hangs go after one wait. The folder
names absolute paths of this installation, so it is built where it is used, and again when they change.
"""

import json
import shlex
from collections.abc import Mapping

from host.namespace import SCRIPT, name
from host.setup.claude_code import EVENTS, HOST, REVIVES, START_EVENT, TOLD
from host.setup.hook_groups import event_of
from host.setup.registrar import Wanted
from host.transport import command

MANIFEST = ".claude-plugin/plugin.json"
CATALOGUE = ".claude-plugin/marketplace.json"
HOOKS = "hooks/hooks.json"
SERVERS = ".mcp.json"
README = "README.md"
LICENSE = "MIT"
SECONDS = 2  # our client ends by itself long before
START_SECONDS = 5  # may start the daemon
ABOUT = f"""# {name()}

Memory that comes by itself: what an agent learned before, at the step where it matters. The hooks tell the daemon of
this machine what the session does, and put a matching memory into the next request; the MCP server lets the agent look
things up. The folder was built by `{SCRIPT} plugin` for one installation, whose paths it names. Build it again after
the installation has moved or was brought up to date. It sends nothing to any other machine.
"""
TITLE = "Memory that comes by itself: what an agent learned before, at the step where it matters."


def files(wanted: Wanted, version: str) -> Mapping[str, str]:
    """The folder's files: relative path to text. `version`: of this package."""
    whose = {"name": name()}
    plugin = {"name": name(), "description": TITLE, "version": version, "author": whose, "license": LICENSE}
    listed = {"name": name(), "source": "./", "description": TITLE}
    hooks = {event: [{"hooks": [_hook(what, wanted)]} for what in EVENTS if event_of(what) == event] for event in TOLD}
    return {
        MANIFEST: _text(plugin),
        CATALOGUE: _text({"name": name(), "description": TITLE, "owner": whose, "plugins": [listed]}),
        HOOKS: _text({"hooks": hooks}),
        SERVERS: _text({"mcpServers": {name(): {"command": wanted.script, "args": ["mcp"]}}}),
        README: ABOUT,
    }


def is_ours(manifest: str | None) -> bool:
    """Whether a folder with this manifest was built by us. None: it has none."""
    try:
        said = json.loads(manifest or "null")
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("name") == name()


def _hook(what: str, wanted: Wanted) -> dict[str, object]:
    """A command in the form that starts no further shell."""
    starts, revives = what == START_EVENT, what == REVIVES
    program, *arguments = shlex.split(command(HOST, wanted.tools, starts=starts, revives=revives))
    seconds = START_SECONDS if starts or revives else SECONDS
    hook = {"type": "command", "command": program, "args": arguments, "timeout": seconds}
    return {**hook, "async": True} if revives else hook


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
