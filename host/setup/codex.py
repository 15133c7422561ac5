"""Codex CLI's settings: our hooks in hooks.json, our MCP server in config.toml (text to text).

Codex runs a hook once its user has trusted it, and keeps that under `hooks.state` of the user's config.toml; what we
asked it to keep there goes with the hooks. The settings are strict JSON.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from host.errors import ConfigFault
from host.mcp.hosts import FORWARDED
from host.setup import settings_file
from host.setup.hook_groups import Hook, Hooks, absolute, shell
from host.setup.json_entries import FILE, JsonFile, root
from host.setup.registrar import (
    ENTRY_MARK,
    SERVER,
    STRICT,
    Entry,
    Level,
    Places,
    SettingsFile,
    Wanted,
    Which,
    evidence,
)
from host.setup.toml_text import Keys, append, loads, without

HOST = "codex"
TITLE = "Codex CLI"
START_EVENT = "SessionStart"
SECONDS = {START_EVENT: 5, "SessionEnd": 1, "Interrupt": 1}  # else 2
EVENTS = (
    START_EVENT,
    "UserPromptSubmit",
    "PostToolUse",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
    "Interrupt",
)
TABLE = ("mcp_servers", SERVER)
STATE = ("hooks", "state")
JOINED = "joined"  # the mark of a table before which a last line had to be ended


def detect(places: Places, which: Which) -> tuple[str, ...]:
    """See Registrar."""
    return evidence(which, "codex", _home(places))


def files(level: Level, places: Places) -> tuple[SettingsFile, ...]:
    """See Registrar. What Codex was told to trust stands in the user's file at both levels."""
    folder = _home(places) if level == "user" else places.repository / ".codex"
    config, hooks, users = folder / "config.toml", folder / "hooks.json", _home(places) / "config.toml"
    alone = config != users
    return (
        SettingsFile(
            path=config,
            holds="mcp",
            plan=plan if alone else partial(_plan_with_trust, hooks),
            remove=partial(remove, trusted=_nothing if alone else partial(_trusted_of, hooks)),
            installed=installed,
        ),
        *((_trust_alone(users, hooks),) if alone else ()),
        HOOKS.at(hooks, "hooks", refuses=STRICT),
    )


LIMIT = "tool_output_token_limit"
CUTS = (
    "Codex shows its model at most 48 000 bytes of an answer, and does not say what it cut out. Past turns may be "
    f"longer: for the team workflow put {LIMIT} = 150000 at the top of its config.toml."
)


def notes(level: Level, places: Places) -> tuple[str, ...]:
    """See Registrar."""
    project = "Codex reads a project's settings only in a project that you trust in Codex."
    return (*(() if level == "user" else (project,)), *(() if _is_lifted(places) else (CUTS,)))


def _is_lifted(places: Places) -> bool:
    """Whether the user has set how much of an answer Codex shows."""
    try:
        text = settings_file.read(_home(places) / "config.toml")
        return text is not None and LIMIT in loads(text)
    except ConfigFault:
        return False


def plan(text: str | None, wanted: Wanted) -> str:
    """See SettingsFile.plan."""
    new = text is None or not text.strip("\ufeff \t\r\n")
    if new:
        return append("", TABLE, _server(wanted, FILE))
    assert text is not None
    found = _ours(text)
    if found is not None and _is_current(found, wanted):
        return text
    cleared = remove(text, _nothing) if found is not None else text
    if cleared is None:
        return plan(None, wanted)
    return append(cleared, TABLE, _server(wanted, "entry" if cleared.endswith("\n") else JOINED))


def remove(text: str, trusted: Callable[[], frozenset[str]]) -> str | None:
    """See SettingsFile.remove. `trusted`: gives the keys under which Codex keeps its trust in our hooks."""
    found, keys = _ours(text), trusted()
    if found is None and not keys:
        return text
    mark = _mark(found)
    left = without(without_trust(text, keys), lambda at: at[:2] == TABLE, joined=mark == JOINED)
    return None if mark == FILE and not left.strip("\ufeff \t\r\n") else left


def installed(text: str | None, wanted: Wanted | None) -> tuple[Entry, ...]:
    """See SettingsFile.installed."""
    found = _ours(text) if text else None
    if found is None:
        return ()
    arguments = found.get("args")
    words = [str(found.get("command", "")), *(map(str, arguments) if isinstance(arguments, list) else ())]
    current = wanted is None or _is_current(found, wanted)
    disabled = found.get("enabled") is False
    line = " ".join(words)
    return (Entry(what="mcp", kind="mcp", current=current, line=line, paths=absolute(words), disabled=disabled),)


def trust_keys(path: Path, text: str | None) -> frozenset[str]:
    """The keys under which Codex keeps its trust in our hooks of a hooks.json: its path, the event and two numbers."""
    if not text or not text.strip("\ufeff \t\r\n"):
        return frozenset()
    (kind,) = HOOKS.kinds
    return frozenset(
        f"{path}:{_snake(ours.what)}:{ours.way[2][1]}:{ours.way[3][1]}" for ours in kind.find(text, root(text))
    )


def trusted(places: Places) -> frozenset[str]:
    """The keys of all hooks that Codex was told to trust, as they were then."""
    text = settings_file.read(_home(places) / "config.toml")
    return frozenset(_states(text)) if text else frozenset()


def _trusted_of(path: Path) -> frozenset[str]:
    return trust_keys(path, settings_file.read(path))


def _nothing() -> frozenset[str]:
    return frozenset()


def _stale(hooks: Path, wanted: Wanted) -> frozenset[str]:
    """The keys of our hooks that are about to change: Codex will not trust them as they were."""
    text = settings_file.read(hooks)
    try:
        return trust_keys(hooks, text) if HOOKS.plan(text, wanted) != text else frozenset()
    except ConfigFault:  # its own file says so
        return frozenset()


def _plan_with_trust(hooks: Path, text: str | None, wanted: Wanted) -> str:
    return plan(None if text is None else without_trust(text, _stale(hooks, wanted)), wanted)


def _trust_alone(path: Path, hooks: Path) -> SettingsFile:
    """The user's config.toml, of which a project's hooks need nothing but what Codex was told to trust."""
    return SettingsFile(
        path=path,
        holds="trust",
        plan=lambda text, wanted: None if text is None else without_trust(text, _stale(hooks, wanted)),
        remove=lambda text: without_trust(text, _trusted_of(hooks)),
        installed=lambda text, wanted: (),
    )


def without_trust(text: str, keys: frozenset[str]) -> str:
    """`text` without what Codex keeps under these keys, and without the table around it when nothing else is in it."""

    def ours(at: Keys) -> bool:
        return at[:2] == STATE and len(at) > 2 and at[2] in keys

    if not any(ours((*STATE, key)) for key in _states(text)):
        return text
    left = without(text, ours)
    return left if _states(left) else without(left, lambda at: at == STATE)


def _states(text: str) -> dict[str, object]:
    hooks = loads(text).get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    return state if isinstance(state, dict) else {}


def _ours(text: str) -> dict[str, object] | None:
    servers = loads(text).get(TABLE[0])
    found = servers.get(SERVER) if isinstance(servers, dict) else None
    return found if isinstance(found, dict) else None


def _is_current(found: dict[str, object], wanted: Wanted) -> bool:
    """Whether an entry says what it must. What else its user put into it is his."""
    return all(found.get(key) == value for key, value in _server(wanted, _mark(found)).items())


def _mark(found: dict[str, object] | None) -> str:
    environment = found.get("env") if found else None
    return str(environment.get(ENTRY_MARK, "")) if isinstance(environment, dict) else ""


def _server(wanted: Wanted, mark: str) -> dict[str, object]:
    return {
        "command": wanted.script,
        "args": ["mcp"],
        "env_vars": list(FORWARDED),
        "env": {ENTRY_MARK: mark},
    }


def _home(places: Places) -> Path:
    return places.folder("CODEX_HOME", ".codex")


def _snake(event: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).lstrip("_")


def _hook(event: str, wanted: Wanted, mark: str) -> Hook:
    line = shell(HOST, wanted, mark, starts=event == START_EVENT)
    return {"type": "command", "command": line, "timeout": SECONDS.get(event, 2)}


HOOKS = JsonFile(kinds=(Hooks(events=EVENTS, hook=_hook),))
