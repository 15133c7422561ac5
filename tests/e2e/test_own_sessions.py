"""The real Claude Code as the command driver, offline: it answers, and its own session is heard by nobody."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from host.config import FormationSettings
from host.models import make
from tests.e2e.driver import QUIET, Model, claude_binary, reply
from tests.support.daemon import RunningDaemon
from tests.support.models import a_request

pytestmark = pytest.mark.client
NOTES = '{"notes": ["We ship on Thursdays."]}'


def heard(daemon: RunningDaemon) -> list[str]:
    with closing(sqlite3.connect(f"file:{daemon.data / 'remora-pre.db'}?mode=ro", uri=True)) as connection:
        return [one for (one,) in connection.execute("SELECT session_id FROM log_session")]


async def test_claude_code_answers_as_a_command_and_is_not_listened_to(run_dir: Path) -> None:
    """Its hooks are connected for the user, over HTTP and as commands, and so is the MCP server."""
    with Model([reply(NOTES), reply("Hello.")]) as model, RunningDaemon(run_dir) as daemon:
        environ = daemon.environment() | QUIET | {"ANTHROPIC_BASE_URL": model.url}
        line = "from host.cli.main import main; main()"
        words = ["init", "--host", "claude-code", "--level", "user", "--yes"]
        subprocess.run([sys.executable, "-c", line, *words], env=environ, cwd=run_dir, check=True, capture_output=True)
        settings = FormationSettings(command=(str(claude_binary()), "-p"))
        driver = make("command", settings, environ, daemon.data / "state" / "models")

        told = await driver.complete(a_request(timeout_ms=120_000))

        assert told.text.strip() == NOTES
        assert heard(daemon) == []
        (request, *more) = model.requests
        tools: list[dict[str, Any]] = request.body.get("tools", [])
        assert more == [] and request.mentions("We ship on Thursdays.") == 1
        assert [one["name"] for one in tools] and not [one for one in tools if "remora" in one["name"]]
        transcripts = list((daemon.home / ".claude" / "projects").rglob("*.jsonl"))
        assert transcripts  # it did leave one, which is not taken in
        done = subprocess.run(
            [sys.executable, "-c", line, "import", "--history", "--everywhere"],
            env=environ,
            cwd=run_dir,
            check=True,
            capture_output=True,
            text=True,
        )
        assert "a model that was asked by us" in done.stdout and heard(daemon) == []

        # the same program in the same home, started by a person, is heard: what was silent above could have spoken
        elsewhere = run_dir / "elsewhere"
        elsewhere.mkdir()
        subprocess.run(
            [str(claude_binary()), "-p", "Hello"], env=environ, cwd=elsewhere, check=True, capture_output=True
        )
        assert len(heard(daemon)) == 1
