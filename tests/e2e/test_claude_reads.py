"""What the real Claude Code reads by its tools counts as read, to the byte, and is not handed over again."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.driver import Model, bash, read, reply
from tests.e2e.installed import client, install
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.fixture
def notes(daemon: RunningDaemon, tmp_path: Path) -> Path:
    """The file of the one memory of a project with our hooks."""
    install(tmp_path / "project", daemon)
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
    (file,) = (path for path in daemon.data.rglob("*.md") if WORDS in path.read_text("utf-8"))
    return file


@pytest.mark.promise("coverage-exact")
@pytest.mark.parametrize("way", ["nothing", "a part", "Read", "cat", "sed", "nl", "Grep", "rg"])
def test_what_was_read_in_full_is_not_handed_over_again(
    daemon: RunningDaemon, notes: Path, tmp_path: Path, way: str
) -> None:
    call = {
        "nothing": bash(f"wc -l {notes}"),
        "a part": bash(f"head -c 60 {notes}"),
        "Read": read(notes),
        "cat": bash(f"cat {notes}"),
        "sed": bash(f"cd {notes.parent} && sed -n '1,200p' {notes.name}"),
        "nl": bash(f"nl -ba {notes} | sed -n '1,80p'"),
        "Grep": {"name": "Grep", "input": {"pattern": "Seal", "path": str(notes.parent), "output_mode": "content"}},
        "rg": bash(f"rg -n Seal {notes.parent}"),
    }[way]
    replies = [reply("Reading.", call), reply("Now.", FAILING), reply("Looking.", bash("echo on")), reply("Done.")]
    with Model(replies) as model:
        claude = client(tmp_path, model, daemon)
        claude.arguments += ["--add-dir", str(daemon.data), "--allowedTools", "Bash Read Grep"]
        assert claude.say("Please run the release step").code == 0
    shown = [request.mentions(WORDS) for request in model.requests]
    assert shown == ([0, 0, 1, 1] if way in ("nothing", "a part") else [0, 1, 1, 1])
