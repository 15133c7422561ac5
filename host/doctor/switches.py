"""Switches of agent products that turn hooks off, ours with them: in their own settings, which are only read."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.errors import ConfigFault
from host.namespace import name
from host.setup import claude_code, codex, gemini_cli
from host.setup.json_text import plain
from host.setup.registrar import Places
from host.setup.settings_file import read
from host.setup.toml_text import loads

HOSTS = (claude_code.HOST, codex.HOST, gemini_cli.HOST)
MANAGED = Path("/etc/claude-code/managed-settings.json")


def switches(scene: Scene) -> Iterator[Finding]:
    """Every switch that is turned, whether or not we are connected there."""
    yield from turned(scene, HOSTS)


def turned(scene: Scene, hosts: Collection[str]) -> Iterator[Finding]:
    """Those of some products."""
    if scene.homes is None:
        return
    places = Places(home=scene.homes.home, repository=scene.repository, environ=scene.environ)
    if claude_code.HOST in hosts:
        yield from _claude(scene, scene.homes.claude)
    if codex.HOST in hosts:
        yield from _codex(scene, scene.homes.codex)
    if gemini_cli.HOST in hosts:
        yield from _gemini(scene, places.folder("GEMINI_CLI_HOME", ".") / ".gemini")


def _claude(scene: Scene, folder: Path) -> Iterator[Finding]:
    project = scene.repository / ".claude"
    for file in (MANAGED, folder / "settings.json", project / "settings.json", project / "settings.local.json"):
        settings = settings_in(file)
        if settings.get("disableAllHooks") is True:
            yield _off("Claude Code", file, "`disableAllHooks` is true", "Take `disableAllHooks` out.")
        elif file == MANAGED and settings.get("allowManagedHooksOnly") is True:
            why = "`allowManagedHooksOnly` is true"
            yield _off("Claude Code", file, why, "Only the administrator of this machine can change that.")


def _codex(scene: Scene, folder: Path) -> Iterator[Finding]:
    for file in (folder / "config.toml", scene.repository / ".codex" / "config.toml"):
        features = _toml(file).get("features")
        if isinstance(features, Mapping) and features.get("hooks") is False:
            yield _off("Codex", file, "`features.hooks` is false", "Set it to true, or take it out.")


def _gemini(scene: Scene, folder: Path) -> Iterator[Finding]:
    for file in (folder / "settings.json", scene.repository / ".gemini" / "settings.json"):
        settings = settings_in(file).get("hooksConfig")
        if not isinstance(settings, Mapping):
            continue
        disabled = settings.get("disabled")
        if settings.get("enabled") is False:
            yield _off("Gemini CLI", file, "`hooksConfig.enabled` is false", "Set it to true, or take it out.")
        elif isinstance(disabled, list) and name() in disabled:
            yield _off("Gemini CLI", file, f"`hooksConfig.disabled` names {name()}", "Take the name out of the list.")


def _off(title: str, file: Path, why: str, todo: str) -> Finding:
    return finding(
        "hooks-off",
        f"{title} runs no hook of ours: {why} in {file}.",
        "Its sessions are not seen, and get nothing.",
        todo,
        file,
    )


def plugged(scene: Scene) -> Path | None:
    """The settings of Claude Code in which our plugin is switched on, if there are any."""
    if scene.homes is None:
        return None
    project = scene.repository / ".claude"
    for file in (scene.homes.claude / "settings.json", project / "settings.json", project / "settings.local.json"):
        plugins = settings_in(file).get("enabledPlugins")
        if isinstance(plugins, Mapping) and any(on is True and is_ours(key) for key, on in plugins.items()):
            return file
    return None


def is_ours(plugin: str) -> bool:
    """Whether a plugin's name, with the catalogue it is from, is ours."""
    return plugin.partition("@")[0] == name()


def settings_in(file: Path) -> Mapping[str, Any]:
    """An object of settings; empty where there is none that can be read: `settings-unusable` says so."""
    try:
        found = json.loads(plain((read(file) or "{}").removeprefix("\ufeff")))
    except (ConfigFault, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _toml(file: Path) -> Mapping[str, Any]:
    try:
        return loads(read(file) or "")
    except ConfigFault:
        return {}
