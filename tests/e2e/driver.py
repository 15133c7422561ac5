"""Drives the real Claude Code, offline: a scripted model on loopback, a scratch home, the requests as they were sent.

    with Model(script) as model:
        claude = Claude(folder, model)
        run = claude.say("Check app.py")
        assert model.requests[1].mentions("…") == 1

The binary is the one that ships inside the Python package `claude-agent-sdk` (test extra `e2e`). When it is missing
the tests fail, they are not skipped: without a real client this suite proves nothing.
"""

import importlib.util
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.fake_model.fake_model import FakeModelServer, Log, Script

Json = dict[str, Any]
PATIENCE = 120  # seconds until a client that hangs is given up
TOOLS = "Bash Read Edit Agent"
QUIET = {
    "ANTHROPIC_API_KEY": "dummy",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}


def claude_binary() -> Path:
    """The client's binary. Raises FileNotFoundError with what to do."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is not None and spec.origin is not None:
        binary = Path(spec.origin).parent / "_bundled" / "claude"
        if binary.exists():
            return binary
    raise FileNotFoundError("The real client is missing: install the extra `e2e` (claude-agent-sdk).")


def strings(value: object) -> Iterator[str]:
    """Every string of a JSON value, keys left out."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item)
        case dict():
            for item in value.values():
                yield from strings(item)


@dataclass(frozen=True)
class Request:
    """One request as the model got it. `reply`: the label of the script's answer; `agent`: empty but in subagents."""

    reply: str
    at: float  # epoch seconds on arrival
    body: Json
    agent: str = ""

    def mentions(self, text: str) -> int:
        """How often the conversation (not the system prompt) holds `text`."""
        return sum(part.count(text) for part in strings(self.body.get("messages", [])))

    def in_system(self, text: str) -> bool:
        """Whether the system prompt or the tool list holds `text`."""
        return any(text in part for part in strings([self.body.get("system", []), self.body.get("tools", [])]))

    def whole(self) -> str:
        return "\n".join(strings(self.body))


class _Watched(Log):
    """A request log in memory that calls back *before* the model answers: the place to force an interleaving."""

    def __init__(self, heard: Callable[[Request], None]) -> None:
        super().__init__(None)
        self._heard = heard

    def write(self, entry: Json) -> None:
        if entry["method"] == "POST" and entry["path"].split("?")[0].endswith("/messages"):
            agent = entry["headers"].get("x-claude-code-agent-id", "")
            self._heard(Request(entry["reply"], entry["time"], entry["body"] or {}, agent))


class Model:
    """The scripted model, listening while its block runs.

    `requests` holds the conversation's requests in order: side requests (titles, probes) are left out.
    `at` maps the number of a request (from 0) to an act that is carried out before its answer is sent.
    """

    def __init__(self, replies: list[Json] | Script, at: Mapping[int, Callable[[], None]] | None = None) -> None:
        self.requests: list[Request] = []
        self._at = dict(at or {})
        script = replies if isinstance(replies, Script) else Script({"replies": replies}, {})
        self._server = FakeModelServer(script, _Watched(self._hear))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def _hear(self, request: Request) -> None:
        if request.reply == "side":
            return
        self.requests.append(request)
        act = self._at.pop(len(self.requests) - 1, None)
        if act is not None:
            act()

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def played(self) -> int:
        """How many scripted replies were given."""
        return len({r.reply for r in self.requests if r.reply.startswith("replies[")})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@dataclass(frozen=True)
class Run:
    """How one `claude -p` ended."""

    code: int
    session_id: str
    result: str
    stdout: str
    stderr: str


@dataclass
class Claude:
    """A scratch home and a project folder, in which the client is started as often as the test likes."""

    folder: Path
    model: Model
    env: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def environment(self) -> dict[str, str]:
        """What the client and its hooks see: nothing of the caller's but the search path and the language."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        return kept | QUIET | {"HOME": str(self.home), "ANTHROPIC_BASE_URL": self.model.url} | self.env

    def settings(self, settings: Json) -> Path:
        """Write the project's own settings file."""
        path = self.project / ".claude" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")
        return path

    def say(self, prompt: str, *, resume: str | None = None) -> Run:
        """One turn in a process of its own, to its end; `resume` goes on with an earlier session."""
        command = [
            str(claude_binary()),
            "-p",
            prompt,
            "--output-format",
            "json",
            "--allowedTools",
            "Bash Read Edit Agent",
        ]
        if resume is not None:
            command += ["--resume", resume]
        done = subprocess.run(
            [*command, *self.arguments],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        said: Json = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        return Run(done.returncode, said.get("session_id", ""), said.get("result", ""), done.stdout, done.stderr)


class Conversation:
    """One process of the client over several turns: what is said to it goes in as lines, also in mid-turn."""

    def __init__(self, claude: Claude, *arguments: str) -> None:
        streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        command = [str(claude_binary()), "-p", *streams, "--allowedTools", "Bash Read Edit Agent", *arguments]
        self._errors = claude.folder / "stderr.txt"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [*command, *claude.arguments],
                cwd=claude.project,
                env=claude.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._alarm = threading.Timer(PATIENCE, self._process.kill)
        self._alarm.start()
        self.stderr = ""

    def say(self, text: str) -> None:
        """Send a message, and do not wait for what comes of it."""
        assert self._process.stdin is not None
        message = {"type": "user", "message": {"role": "user", "content": text}}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def result(self) -> Json:
        """Wait for the end of the turn. Raises EOFError when the client ended before it."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said: Json = json.loads(line)
            if said.get("type") == "result":
                return said
        raise EOFError(f"The client ended: {self._said()}")

    def turn(self, text: str) -> Json:
        self.say(text)
        return self.result()

    def _said(self) -> str:
        return self._errors.read_text("utf-8", errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.wait()
        self._alarm.cancel()
        self._process.stdout.close()
        self.stderr = self._said()


def bash(command: str) -> Json:
    return {"name": "Bash", "input": {"command": command, "description": "run"}}


def read(path: Path, **window: int) -> Json:
    return {"name": "Read", "input": {"file_path": str(path), **window}}


def delegate(task: str) -> Json:
    """A call that starts a subagent."""
    task_input = {"description": "A small task", "prompt": task, "subagent_type": "general-purpose"}
    return {"name": "Agent", "input": task_input}


def reply(text: str, *calls: Json, tokens: int = 20_000) -> Json:
    """A scripted answer: `text`, tool calls if any, and the input tokens it reports (97 000 triggers compaction
    when CLAUDE_CODE_AUTO_COMPACT_WINDOW is 100000)."""
    return {"text": text, "tool_calls": list(calls), "usage": {"input_tokens": tokens}}


def summaries(summary: str) -> list[Json]:
    """The answers to the client's own request for a summary, with and without tools."""
    text = f"<analysis>short</analysis>\n<summary>{summary}</summary>"
    asked: Json = {"when": "Your task is to create a", "text": text, "repeat": True}
    return [asked, asked | {"tools": False}]
