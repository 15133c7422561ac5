"""Settings files of agent products for tests of `init`: an installation's entries, places, and realistic texts."""

from pathlib import Path

from host.setup import REGISTRARS
from host.setup.registrar import Level, Places, SettingsFile, Wanted
from host.transport import Tools

DATA = Path(__file__).resolve().parents[1] / "data" / "settings"
WANTED = Wanted(
    tools=Tools(
        python="/apps/own/bin/python",
        hook="/apps/own/host/hook.py",
        folder="/run/user/1000/own",
        uid=1000,
        curl="/usr/bin/curl",
    ),
    script="/apps/own/bin/remora-pre",
    plugin="/apps/own/host/setup/data/remora-pre.js",
    port=4711,
    token="a-token-that-nobody-has",
)
# The beginning of a text's name -> the file that it stands for, as (level, the end of its path).
STANDS_FOR: dict[str, dict[str, tuple[Level, str]]] = {
    "claude-code": {
        "settings.local": ("project", ".claude/settings.local.json"),
        "settings-": ("user", ".claude/settings.json"),
        "mcp": ("project", ".mcp.json"),
        "state": ("user", ".claude.json"),
    },
    "codex": {"config": ("user", "config.toml"), "hooks": ("user", "hooks.json")},
    "gemini-cli": {"settings": ("user", ".gemini/settings.json")},
    "opencode": {"opencode": ("project", "")},
    "cursor": {"hooks": ("project", "hooks.json"), "mcp": ("project", "mcp.json")},
}
TEXTS = sorted(path for path in DATA.glob("*/*") if path.is_file())


def places(folder: Path = Path("/nowhere"), **environ: str) -> Places:
    """A home and a repository below a folder, which need not exist."""
    return Places(home=folder / "home", repository=folder / "shop", environ=environ)


def stands_for(text: Path, where: Places) -> tuple[Level, SettingsFile]:
    """The settings file that one of TEXTS stands for, and its level."""
    level, ending = next(found for start, found in STANDS_FOR[text.parent.name].items() if text.name.startswith(start))
    files = REGISTRARS[text.parent.name].files(level, where)
    return level, next(file for file in files if str(file.path).endswith(ending) and file.holds != "trust")


def read(text: Path) -> str:
    """The text, byte for byte."""
    return text.read_bytes().decode("utf-8")
