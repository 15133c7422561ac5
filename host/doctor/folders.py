"""Folders, their owner and their mode, the room on the disk, the clock, and whether one installation is meant."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene, to_read
from host.namespace import SCRIPT, env

LOW_BYTES = 256 * 1024 * 1024
AHEAD_MS = 5 * 60_000  # of what is kept, before the clock is said to be behind
OTHERS = 0o077


def home(scene: Scene) -> Iterator[Finding]:
    """Settings of agent products are looked for below HOME."""
    if scene.homes is None:
        yield finding(
            "home-unknown",
            "HOME is not set to an absolute path.",
            "Without it the settings and the memory of agent products cannot be found.",
            "Set HOME to your home folder.",
        )


def folders(scene: Scene) -> Iterator[Finding]:
    """The data and the state folder: there, ours, writable, and closed to others."""
    for kind, folder in (("data", scene.paths.data), ("state", scene.paths.state)):
        problem = _unusable(folder)
        if problem is not None:
            yield finding(
                "folder-unusable",
                f"The {kind} folder {folder} cannot be used: {problem}.",
                "The daemon cannot start, or cannot keep anything.",
                f"Give it to yourself (chown, chmod 700), or name another with {env('data')}.",
                folder,
            )
        elif folder.is_dir() and folder.stat().st_mode & OTHERS:
            yield finding(
                "folder-open",
                f"The {kind} folder {folder} is open to others (mode {stat.S_IMODE(folder.stat().st_mode):04o}).",
                "Memory and events in it may be read by other users of this machine.",
                f"chmod 700 {folder}",
                folder,
            )


def _unusable(folder: Path) -> str | None:
    """Why a folder cannot hold what is to be kept; one that is not there can be made where the one above can be
    written to."""
    there = folder
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return f"{there} is no folder"
    if there == folder and there.stat().st_uid != os.getuid():
        return "it belongs to another user"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"{there} cannot be written to"
    return None


def disk(scene: Scene) -> Iterator[Finding]:
    """Room for what is to be kept."""
    there = scene.paths.data
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    if free < LOW_BYTES:
        yield finding(
            "disk-nearly-full",
            f"The disk of {scene.paths.data} has {free // 2**20} MiB left.",
            "On a full disk nothing is written down, and what cannot be written down is not handed over.",
            f"Make room, or move the data folder and name it with {env('data')}.",
            scene.paths.data,
        )


def clock(scene: Scene) -> Iterator[Finding]:
    """Nothing that was kept can be of a time to come."""
    newest = _newest(scene.paths.database)
    ahead = 0 if newest is None else newest - scene.clock.now()
    if ahead > AHEAD_MS:
        yield finding(
            "clock-behind",
            f"The newest event that is kept is {ahead // 60_000} minutes ahead of this machine's clock.",
            "Ages, expiries and cooldowns are counted by the clock: what is new would pass for old.",
            "Set the clock. If it ran ahead for a while and is right now, this goes by itself.",
            scene.paths.database,
        )


def _newest(database: Path) -> int | None:
    """The time of the newest event that is kept; None when there is none, or the file cannot be read."""
    with suppress(sqlite3.Error, OSError):
        if database.is_file():
            with closing(sqlite3.connect(to_read(database), uri=True, timeout=1)) as connection:
                (newest,) = connection.execute("SELECT max(last_at) FROM log_session").fetchone()
                return newest if isinstance(newest, int) else None
    return None


def installations(scene: Scene) -> Iterator[Finding]:
    """One command on the search path: two installations would start each other's daemons."""
    found = scene.programs.all_of(SCRIPT)
    if len(found) > 1:
        yield finding(
            "two-installations",
            f"There are {len(found)} installations on the search path: {', '.join(map(str, found))}.",
            "They share the data folder and the socket: which of them runs depends on who starts first.",
            f"Uninstall all but one, then connect the hosts again with it: {found[0]} init",
            found[1],
        )
