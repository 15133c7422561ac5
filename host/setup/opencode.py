"""OpenCode's settings: our plugin, by the address of its file, and our MCP server (pure text to text).

The plugin is no file in a folder of OpenCode's own: such a folder makes it install packages before it starts.
"""

from pathlib import Path

from host.setup import settings_file
from host.setup.json_entries import JsonFile
from host.setup.plugin_entry import PluginEntry
from host.setup.registrar import ENTRY_MARK, SERVER, Level, Places, SettingsFile, Wanted, Which, evidence
from host.setup.server_entry import Server, ServerEntry

HOST = "opencode"
TITLE = "OpenCode"
EVENTS: tuple[str, ...] = ()  # a plugin, no hooks
OWN_PACKAGE = "@opencode-ai/plugin"
NAMES = ("opencode.jsonc", "opencode.json")  # the one with our entries wins, then the first that is there


def detect(places: Places, which: Which) -> tuple[str, ...]:
    """See Registrar."""
    return evidence(which, "opencode", _folder(places), places.home / ".opencode")


def files(level: Level, places: Places) -> tuple[SettingsFile, ...]:
    """See Registrar."""
    folder = _folder(places) if level == "user" else places.repository
    present = [folder / name for name in NAMES if (folder / name).is_file()]
    ours = [path for path in present if SERVER in (settings_file.read(path) or "")]
    path = next(iter((*ours, *present)), folder / NAMES[-1])
    return (SETTINGS.at(path, "plugin, mcp"),)


def notes(level: Level, places: Places) -> tuple[str, ...]:
    """See Registrar."""
    told = ("OpenCode starts no daemon by itself; its MCP server, another product's session or a command does.",)
    if (_folder(places) / "node_modules" / OWN_PACKAGE).is_dir():
        return told
    return (
        *told,
        f"OpenCode installs its own package {OWN_PACKAGE} when it first runs with a plugin. Where it cannot reach the "
        "npm registry it tries for about a minute at every start: start it online once, or put `fetch-retries=0` into "
        f"{_folder(places) / '.npmrc'}.",
    )


def _folder(places: Places) -> Path:
    return places.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _server(wanted: Wanted, mark: str) -> Server:
    return {"type": "local", "command": [wanted.script, "mcp"], "environment": {ENTRY_MARK: mark}}


SETTINGS = JsonFile(kinds=(ServerEntry(under="mcp", server=_server), PluginEntry()), theirs=frozenset(["$schema"]))
