"""Gemini CLI's settings: our hooks and our MCP server in one file (pure). Time-outs are in milliseconds."""

from pathlib import Path

from host.setup.hook_groups import Hook, Hooks, shell
from host.setup.json_entries import JsonFile
from host.setup.registrar import SERVER, Level, Places, Refused, SettingsFile, Wanted, Which, evidence
from host.setup.server_entry import ServerEntry, stdio

HOST = "gemini-cli"
TITLE = "Gemini CLI"
START_EVENT = "SessionStart"
EVENTS = (START_EVENT, "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")
MATCHERS = dict.fromkeys(EVENTS, "*") | {"BeforeTool": "^invoke_agent$"}  # where a subagent begins
MILLISECONDS = 2000
START_MILLISECONDS = 5000
REFUSES: frozenset[Refused] = frozenset({"commas", "mark", "blank"})  # it does not start then; comments it reads


def detect(places: Places, which: Which) -> tuple[str, ...]:
    """See Registrar."""
    return evidence(which, "gemini", _home(places) / ".gemini")


def files(level: Level, places: Places) -> tuple[SettingsFile, ...]:
    """See Registrar."""
    folder = (_home(places) if level == "user" else places.repository) / ".gemini"
    return (SETTINGS.at(folder / "settings.json", "hooks, mcp", refuses=REFUSES),)


def notes(level: Level, places: Places) -> tuple[str, ...]:
    """See Registrar."""
    if level == "user":
        return ()
    return ("Gemini CLI reads a project's settings only in a folder that you trust in Gemini CLI.",)


def _home(places: Places) -> Path:
    return places.folder("GEMINI_CLI_HOME", ".")


def _hook(event: str, wanted: Wanted, mark: str) -> Hook:
    starts = event == START_EVENT
    return {
        "type": "command",
        "name": SERVER,
        "command": shell(HOST, wanted, mark, starts=starts),
        "timeout": START_MILLISECONDS if starts else MILLISECONDS,
    }


SETTINGS = JsonFile(
    kinds=(
        Hooks(events=EVENTS, hook=_hook, matchers=MATCHERS),
        ServerEntry(under="mcpServers", server=stdio),
    )
)
