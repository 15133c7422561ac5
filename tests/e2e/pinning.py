"""Pins that change while a real client works, and a daemon that is killed and started again."""

from pathlib import Path

from tests.support.daemon import RunningDaemon

BRITISH = "Answer in British English."
SMALL = "Commits in this repository are small, one thought each."


def remembered(daemon: RunningDaemon, folder: Path, text: str, *, pinned: bool) -> str:
    """A memory of the project in `folder`; its id."""
    with daemon.connect() as wire:
        memory_id: str = wire.call("memory.remember", text=text, workspace=str(folder / "project"))["memoryId"]
    if pinned:
        pin(daemon, folder, memory_id)
    return memory_id


def pin(daemon: RunningDaemon, folder: Path, *memory_ids: str, pinned: bool = True) -> None:
    with daemon.connect() as wire:
        for memory_id in memory_ids:
            wire.call("memory.pin", memoryId=memory_id, workspace=str(folder / "project"), pinned=pinned)


def restart(daemon: RunningDaemon) -> None:
    daemon.kill()
    daemon.start()
