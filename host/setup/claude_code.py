"""Claude Code's settings: our hooks and our MCP server (pure text to text).

A command hook at SessionStart, which takes no http hook, starts the daemon; http hooks on loopback do the rest, but for
SessionEnd, whose failing http hook would be shown to the user. An http hook that finds nobody is shown at every step:
so a second hook at each prompt, for which nobody waits, has a daemon that died back. The settings are strict JSON: with
a comment in them Claude Code reads nothing of them.
"""

from pathlib import Path

from host.setup.hook_groups import BACKGROUND, HEADER, Hook, Hooks, shell
from host.setup.json_entries import JsonFile
from host.setup.registrar import STRICT, Level, Places, SettingsFile, Wanted, Which, evidence
from host.setup.server_entry import Server, ServerEntry, stdio

HOST = "claude-code"
TITLE = "Claude Code"
START_EVENT, END_EVENT = "SessionStart", "SessionEnd"
REVIVES = "UserPromptSubmit" + BACKGROUND
TOLD = (
    START_EVENT,
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PostModelSwitch",
    END_EVENT,
)
EVENTS = (*TOLD, REVIVES)
HTTP_SECONDS = 0.5  # after which the agent goes on without us
COMMAND_SECONDS = {START_EVENT: 5, END_EVENT: 1, REVIVES: 5}  # the first starts the daemon when there is none


def detect(places: Places, which: Which) -> tuple[str, ...]:
    """See Registrar."""
    return evidence(which, "claude", _folder(places))


def files(level: Level, places: Places) -> tuple[SettingsFile, ...]:
    """See Registrar. At project level the settings that are private to this user, and are not for git."""
    project = level == "project"
    moved = bool(places.environ.get("CLAUDE_CONFIG_DIR"))
    state = _folder(places) / ".claude.json" if moved else places.home / ".claude.json"
    return (
        SERVERS.at(places.repository / ".mcp.json" if project else state, "mcp", refuses=STRICT),
        HOOKS.at(settings_path(level, places), "hooks", private=True, refuses=STRICT),
    )


def notes(level: Level, places: Places) -> tuple[str, ...]:
    """See Registrar."""
    if level == "user":
        return ()
    return ("Claude Code asks at its next start whether it may use the MCP server of this project's .mcp.json.",)


def settings_path(level: Level, places: Places) -> Path:
    """The file of the hooks."""
    if level == "user":
        return _folder(places) / "settings.json"
    return places.repository / ".claude" / "settings.local.json"


def _folder(places: Places) -> Path:
    return places.folder("CLAUDE_CONFIG_DIR", ".claude")


def _hook(event: str, wanted: Wanted, mark: str) -> Hook:
    if event in COMMAND_SECONDS:
        line = shell(HOST, wanted, mark, starts=event == START_EVENT, revives=event == REVIVES)
        hook: Hook = {"type": "command", "command": line, "timeout": COMMAND_SECONDS[event]}
        return {**hook, "async": True} if event == REVIVES else hook
    return {
        "type": "http",
        "url": f"http://127.0.0.1:{wanted.port}/hook/{HOST}",
        "headers": {"Authorization": f"Bearer {wanted.token}", HEADER: mark},
        "timeout": HTTP_SECONDS,
    }


def _server(wanted: Wanted, mark: str) -> Server:
    return {"type": "stdio", **stdio(wanted, mark)}


HOOKS = JsonFile(kinds=(Hooks(events=EVENTS, hook=_hook),))
SERVERS = JsonFile(kinds=(ServerEntry(under="mcpServers", server=_server),))
