"""The real Claude Code in a version that the table of hosts does not have: it is watched only, says so, and can be
allowed."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from host import namespace
from tests.e2e.driver import Json, Model, bash, reply
from tests.e2e.installed import client, install, ours
from tests.support.daemon import RunningDaemon

pytestmark = [pytest.mark.client, pytest.mark.promise("unknown-version")]

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
TURN = [reply("I will seal it.", FAILING), reply("Let me look.", bash("echo looking")), reply("It is broken.")]
# The daemon with a table that was made before this client's version came out.
OLDER_TABLE = """
import sys, msgspec
import host.capability as table
older = {"since": (1, 0), "before": (2, 1)}
table.ROWS = tuple(
    msgspec.structs.replace(row, **(older if row.host == "claude-code" else {})) for row in table.ROWS
)
table.Capabilities.__init__.__defaults__ = ((), table.ROWS)
from host import daemon
sys.exit(daemon.main([]))
"""


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    daemon = RunningDaemon(run_dir)
    daemon.command = (sys.executable, "-c", OLDER_TABLE)
    with daemon as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


def would(daemon: RunningDaemon) -> list[Json]:
    with daemon.connect() as wire:
        entries: list[Json] = wire.call("audit.query", outcome="would")["entries"]
        return entries


def test_it_is_watched_only_says_so_and_can_be_allowed(daemon: RunningDaemon, tmp_path: Path) -> None:
    project = tmp_path / "project"
    install(project, daemon)
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(project))
    with Model(TURN * 2) as model:
        claude = client(tmp_path, model, daemon)
        first = claude.say("Please run the release step")
        entries, status = would(daemon), ours(daemon, project, "status")
        daemon.stop()
        with (daemon.data / "config.toml").open("a") as config:
            config.write('[hosts]\nallow = ["claude-code 2.1"]\n')
        daemon.start()
        second = claude.say("Try it once more, please", resume=first.session_id)
    told = [request.mentions(WORDS) for request in model.requests]

    assert (first.code, second.code, model.played) == (0, 0, 2 * len(TURN))
    assert {(one["reason"], one["versions"]["host"]) for one in entries} == {("unknown-version", "claude-code/2.1.332")}
    assert "claude-code is watched only: version 2.1.332 is not in the table, which has 1.0 to before 2.1" in status
    assert told == [0, 0, 0, 0, 1, 1]
    assert not any(request.in_system(WORDS) for request in model.requests)


def test_doctor_finds_it_by_the_session_that_spoke(daemon: RunningDaemon, tmp_path: Path) -> None:
    project = tmp_path / "project"
    install(project, daemon)
    with Model([reply("Done.")]) as model:
        assert client(tmp_path, model, daemon).say("Hello, what is here?").code == 0

    command = [str(Path(sys.executable).parent / namespace.SCRIPT), "doctor", "--json"]
    asked = daemon.environment()
    done = subprocess.run(command, cwd=project, env=asked, capture_output=True, text=True, check=False)

    (spoke,) = [one for one in json.loads(done.stdout)["hosts"] if one["where"] == "a session that is over"]
    assert (spoke["host"], spoke["version"]) == ("claude-code", "2.1.332")
