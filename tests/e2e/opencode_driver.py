"""Drives the real OpenCode, offline: a scripted model on loopback, a scratch home, the requests as they were sent.

    with Asked(script) as model:
        opencode = OpenCode(folder, model)
        run = opencode.say("Check app.py")
        assert model.requests[1].mentions("…") == 1

OpenCode installs a package of its own from the npm registry when it first runs with a plugin. Offline it is told so
(`npm_config_offline`): it then starts at once, as it does where the package is there.
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
QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "npm_config_offline": "true",
}


def settings(url: str, window: int = 200_000) -> Json:
    """The user's own settings: one model, ours. `window`: its context, in tokens."""
    model = {"name": "Fake", "limit": {"context": window, "output": 8_000}}
    options = {"baseURL": f"{url}/v1", "apiKey": "dummy-key"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": options, "models": {"fake-model": model}}
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "provider": {"fake": provider},
        "permission": {"bash": "allow", "edit": "allow", "read": "allow", "task": "allow"},
    }


@dataclass(frozen=True)
class Run:
    """How one `opencode run` ended. `events`: what it printed; `seconds`: from start to exit."""

    code: int
    session_id: str
    result: str
    events: list[Json]
    stderr: str
    seconds: float


@dataclass
class OpenCode:
    """A scratch home and a project folder, in which the client is started as often as the test likes."""

    folder: Path
    model: Asked
    env: dict[str, str] = field(default_factory=dict)
    window: int = 200_000

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True, exist_ok=True)
        config = self.home / ".config" / "opencode" / "opencode.json"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(json.dumps(settings(self.model.url, self.window)), encoding="utf-8")

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def environment(self) -> dict[str, str]:
        """What the client and its plugin see: nothing of the caller's but the search path and the language."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        return kept | QUIET | {"HOME": str(self.home)} | self.env

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One command of the client, to its end, and all that it printed."""
        return subprocess.run(
            [str(clients.opencode()), *arguments],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def say(self, prompt: str, *, session: str | None = None, fork: bool = False) -> Run:
        """One turn in a process of its own, to its end; `session` goes on with an earlier one, or with a copy of it."""
        more = [] if session is None else ["--session", session, *(["--fork"] if fork else [])]
        begun = time.monotonic()
        done = self.run("run", "--format", "json", *more, prompt)
        seconds = time.monotonic() - begun
        events: list[Json] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        texts = [event["part"]["text"] for event in events if event["type"] == "text"]
        session_id = next((event["sessionID"] for event in events if "sessionID" in event), "")
        return Run(done.returncode, session_id, texts[-1] if texts else "", events, done.stderr, seconds)


def bash(command: str) -> Json:
    return {"name": "bash", "input": {"command": command, "description": "run"}}


def read(path: Path, **window: int) -> Json:
    return {"name": "read", "input": {"filePath": str(path), **window}}


def delegate(task: str) -> Json:
    """A call that starts a subagent."""
    return {"name": "task", "input": {"description": "A small task", "prompt": task, "subagent_type": "general"}}
