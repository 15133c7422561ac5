"""Drives the real Gemini CLI, offline: a scripted model on loopback, a scratch home, the requests as they were sent.

with Asked(script) as model:
    gemini = Gemini(folder, model)
    run = gemini.say("Check app.py")
    assert model.requests[1].mentions("…") == 1
"""

import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e import clients
from tests.e2e.asked import Asked

Json = dict[str, Any]
PATIENCE = 120  # seconds until a client that hangs is given up
MODEL = "gemini-3-pro-preview"
QUIET = {
    "GEMINI_API_KEY": "dummy",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "GEMINI_CLI_NO_RELAUNCH": "1",
    "GEMINI_TELEMETRY_ENABLED": "false",
}
SETTINGS: Json = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
}


@dataclass(frozen=True)
class Run:
    """How one `gemini -p` ended. `seconds`: from start to exit."""

    code: int
    session_id: str
    result: str
    stdout: str
    stderr: str
    seconds: float


@dataclass
class Gemini:
    """A scratch home and a project folder, in which the client is started as often as the test likes."""

    folder: Path
    model: Asked
    env: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True, exist_ok=True)
        settings = self.home / ".gemini" / "settings.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        if not settings.exists():
            settings.write_text(json.dumps(SETTINGS), encoding="utf-8")

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def environment(self) -> dict[str, str]:
        """What the client and its hooks see: nothing of the caller's but the search path and the language."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        return kept | QUIET | {"HOME": str(self.home), "GOOGLE_GEMINI_BASE_URL": self.model.url} | self.env

    def settings(self, settings: Json) -> Path:
        """Write the project's own settings file."""
        path = self.project / ".gemini" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")
        return path

    def say(self, prompt: str, *, resume: str | None = None) -> Run:
        """One turn in a process of its own, to its end; `resume` goes on with an earlier session."""
        command = [*clients.gemini(), "-m", MODEL, "--yolo", "--output-format", "json", "-p", prompt]
        if resume is not None:
            command += ["--resume", resume]
        begun = time.monotonic()
        done = subprocess.run(
            [*command, *self.arguments],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        seconds = time.monotonic() - begun
        start = done.stdout.find("{")
        said: Json = json.loads(done.stdout[start:]) if start >= 0 else {}
        return Run(
            done.returncode, said.get("session_id", ""), said.get("response", ""), done.stdout, done.stderr, seconds
        )

    def transcripts(self) -> list[Path]:
        """The session files that the client wrote."""
        return sorted((self.home / ".gemini" / "tmp").glob("*/chats/session-*.jsonl"))


def shell(command: str) -> Json:
    return {"name": "run_shell_command", "input": {"command": command, "description": "run"}}


def read_file(path: Path, **window: int) -> Json:
    return {"name": "read_file", "input": {"file_path": str(path), **window}}


def delegate(task: str) -> Json:
    """A call that starts a subagent."""
    return {"name": "invoke_agent", "input": {"agent_name": "generalist", "prompt": task}}
