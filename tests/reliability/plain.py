"""A daemon that searches by words alone, whatever extras are installed: what it finds holds what was asked."""

from pathlib import Path

from host.namespace import env
from tests.support.daemon import RunningDaemon


def plain_daemon(folder: Path) -> RunningDaemon:
    """As `RunningDaemon(folder)`, its engine off."""
    config = folder / "config.toml"
    config.write_text("[recall]\nengine = false\n", "utf-8")
    return RunningDaemon(folder, env={env("config"): str(config)})
