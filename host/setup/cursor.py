"""Cursor's settings: our hooks and our MCP server (pure text to text). Best effort: made from its documentation."""

from host.setup.hook_groups import Hook, Hooks, shell
from host.setup.json_entries import JsonFile
from host.setup.registrar import STRICT, Level, Places, SettingsFile, Wanted, Which, evidence
from host.setup.server_entry import ServerEntry, stdio

HOST = "cursor"
TITLE = "Cursor"
START_EVENT = "sessionStart"
EVENTS = (
    START_EVENT,
    "beforeSubmitPrompt",
    "postToolUse",
    "postToolUseFailure",
    "afterAgentResponse",
    "stop",
    "sessionEnd",
)
SECONDS = 2
START_SECONDS = 5


def detect(places: Places, which: Which) -> tuple[str, ...]:
    """See Registrar."""
    folder = places.home / ".cursor"
    return evidence(which, "cursor", folder) or evidence(which, "cursor-agent")


def files(level: Level, places: Places) -> tuple[SettingsFile, ...]:
    """See Registrar."""
    folder = (places.home if level == "user" else places.repository) / ".cursor"
    return (
        SERVERS.at(folder / "mcp.json", "mcp", refuses=STRICT),
        HOOKS.at(folder / "hooks.json", "hooks", refuses=STRICT),
    )


def notes(level: Level, places: Places) -> tuple[str, ...]:
    """See Registrar."""
    return ("Cursor is connected as its documentation describes it; no version of it was tried.",)


def _hook(event: str, wanted: Wanted, mark: str) -> Hook:
    starts = event == START_EVENT
    return {"command": shell(HOST, wanted, mark, starts=starts), "timeout": START_SECONDS if starts else SECONDS}


HOOKS = JsonFile(kinds=(Hooks(events=EVENTS, hook=_hook, grouped=False),), opening='{\n  "version": 1\n}\n')
SERVERS = JsonFile(kinds=(ServerEntry(under="mcpServers", server=stdio),))
