"""Our plugin as Claude Code has installed it: a copy of a folder that names the paths of one installation."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from host.doctor.connections import socket_folders, wanted_now
from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.doctor.switches import is_ours, plugged, settings_in
from host.errors import ConfigFault
from host.namespace import SCRIPT
from host.setup.plugin import HOOKS, files
from host.setup.settings_file import read

CLIENT = re.compile(r"(/[^\s'\"\\;]*/hook\.py)\b")


def plugins(scene: Scene) -> Iterator[Finding]:
    """Copies that are switched on, and whether they are those of this installation."""
    if scene.homes is None or plugged(scene) is None:
        return
    for folder in _copies(settings_in(scene.homes.claude / "plugins" / "installed_plugins.json")):
        try:
            text = read(folder / HOOKS)
        except ConfigFault:
            text = None
        if text not in _wanted(scene):
            yield _old(folder, text or "")


def _copies(installed: Mapping[str, Any]) -> Iterator[Path]:
    """Where Claude Code keeps what it installed under our name."""
    listed = installed.get("plugins")
    for key, entries in listed.items() if isinstance(listed, Mapping) else ():
        for entry in entries if is_ours(key) and isinstance(entries, list) else ():
            path = entry.get("installPath") if isinstance(entry, Mapping) else None
            if isinstance(path, str) and os.path.isabs(path):
                yield Path(path)


def _wanted(scene: Scene) -> set[str]:
    """The hooks as this installation builds them, in each session that its user may have built them in."""
    says = wanted_now(scene)
    tools = [says.tools, *(msgspec.structs.replace(says.tools, folder=one) for one in socket_folders(scene.environ))]
    return {files(msgspec.structs.replace(says, tools=one), scene.version)[HOOKS] for one in tools}


def _old(folder: Path, text: str) -> Finding:
    gone = sorted({path for path in CLIENT.findall(text) if not os.path.exists(path)})
    again = f"Build its folder anew with `{SCRIPT} plugin DIR`, then: claude plugin update {SCRIPT}@{SCRIPT}"
    if gone or not text:
        missing = gone[0] if gone else str(folder / HOOKS)
        return finding(
            "hooks-stale",
            f"The plugin that Claude Code has in {folder} needs {missing}, which is not there.",
            "Claude Code cannot start its hooks: nothing of them reaches the daemon.",
            again,
            folder,
        )
    return finding(
        "hooks-outdated",
        f"The plugin that Claude Code has in {folder} is not what this installation builds.",
        "It is of another installation or an older version.",
        again,
        folder,
    )
