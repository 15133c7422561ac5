"""A project in which our own `init` has registered our hooks with Claude Code, and the client that meets them."""

import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

from host import namespace
from tests.e2e.driver import Claude, Json, Model
from tests.support.daemon import RunningDaemon

HOOKED = "claude-code"


def ours(daemon: RunningDaemon, folder: Path, *arguments: str) -> str:
    """Run our command line in `folder` against that daemon's data; its output. Fails when it fails."""
    script = Path(sys.executable).parent / namespace.SCRIPT
    done = subprocess.run(
        [str(script), *arguments],
        cwd=folder,
        env=daemon.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def repository(project: Path) -> None:
    """A git repository without commits."""
    project.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", "."], cwd=project, check=True)


def install(project: Path, daemon: RunningDaemon) -> None:
    """Make `project` a git repository and register our hooks there, as a user would."""
    repository(project)
    ours(daemon, project, "init", "--host", HOOKED, "--yes")


def client(folder: Path, model: Model, daemon: RunningDaemon, **env: str) -> Claude:
    """A client whose hooks find that daemon."""
    shared = {name: value for name, value in daemon.environment().items() if name not in ("HOME", "PATH")}
    return Claude(folder, model, env=shared | env)


def logged(daemon: RunningDaemon, session_id: str, agent_id: str | None = None) -> list[tuple[str, Json]]:
    """What the daemon's log holds of a session (of one of its agents), in order: types and payloads."""
    uri = f"file:{daemon.data / namespace.DATABASE_FILE}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
        rows = database.execute(
            "SELECT e.event_type, e.payload FROM event e JOIN log_session s ON s.id = e.session"
            " WHERE s.session_id = ? AND (? IS NULL OR e.agent_id = ?) ORDER BY e.event_seq",
            (session_id, agent_id, agent_id),
        )
        return [(kind, json.loads(payload)) for kind, payload in rows]


def hooks_of(settings: Json) -> set[str]:
    """The events for which any hook is registered."""
    return set(settings.get("hooks", {}))
