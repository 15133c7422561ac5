"""Drives the real Codex CLI, offline: a scripted model on loopback, a scratch home, the requests as they were sent.

    with Model(script) as model:
        codex = Codex(folder, model)
        run = codex.say("Check app.py")
        assert model.requests[1].mentions("…") == 1

The client comes from `tests/e2e/clients.py`. Its system prompt is the first developer message of a request; what a hook
says is a developer message of its own.
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from host import namespace, transport
from tests.e2e import clients
from tests.e2e.driver import strings
from tests.fake_model.fake_model import FakeModelServer, Log, Script
from tests.support.daemon import RunningDaemon

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
HOOK = ROOT / "host" / "hook.py"
PATIENCE = 120  # seconds until a client that hangs is given up
SUMMARY = "CONTEXT CHECKPOINT COMPACTION"  # stands in the client's own request for a summary
STARTS = "SessionStart"
EVENTS = {  # with their time-outs in seconds
    STARTS: 5,
    "UserPromptSubmit": 2,
    "PostToolUse": 2,
    "Stop": 2,
    "SubagentStart": 2,
    "SubagentStop": 2,
    "PreCompact": 2,
    "PostCompact": 2,
    "SessionEnd": 1,
    "Interrupt": 1,
}


@dataclass(frozen=True)
class Request:
    """One request as the model got it. `reply`: the label of the script's answer; `thread`: whose it is."""

    reply: str
    at: float  # epoch seconds on arrival
    body: Json
    thread: str = ""

    @property
    def items(self) -> list[Json]:
        found: list[Json] = self.body.get("input", [])
        return found

    def mentions(self, text: str) -> int:
        """How often the conversation holds `text`, wherever."""
        return sum(part.count(text) for part in strings(self.items))

    def shown(self, text: str) -> list[int]:
        """The places of the developer messages that hold `text` and are no part of the system prompt."""
        return [
            place
            for place, item in enumerate(self.items)
            if item.get("role") == "developer" and place > 0 and self._holds(item, text) and len(item["content"]) == 1
        ]

    def in_instructions(self, text: str) -> bool:
        """Whether the instructions, the first developer message or the tool list hold `text`."""
        parts = [self.body.get("instructions"), self.body.get("tools"), self.items[:1]]
        return any(text in part for part in strings(parts))

    def whole(self) -> str:
        return "\n".join(strings(self.body))

    @staticmethod
    def _holds(item: Json, text: str) -> bool:
        return any(text in part for part in strings(item.get("content")))


class _Watched(Log):
    """A request log in memory that calls back *before* the model answers: the place to force an interleaving."""

    def __init__(self, heard: Callable[[Request], None]) -> None:
        super().__init__(None)
        self._heard = heard

    def write(self, entry: Json) -> None:
        if entry["method"] == "POST" and entry["path"].split("?")[0].endswith("/responses"):
            thread = entry["headers"].get("thread-id", "") or entry["headers"].get("session-id", "")
            self._heard(Request(entry["reply"], entry["time"], entry["body"] or {}, thread))


class Model:
    """The scripted model, listening while its block runs.

    `requests` holds the conversation's requests in order, those for a summary left out (`summaries` counts them).
    `at` maps the number of a request (from 0) to an act that is carried out before its answer is sent.
    """

    def __init__(self, replies: list[Json] | Script, at: Mapping[int, Callable[[], None]] | None = None) -> None:
        self.requests: list[Request] = []
        self.summaries = 0
        self._at = dict(at or {})
        script = replies if isinstance(replies, Script) else Script({"replies": replies}, {})
        self._server = FakeModelServer(script, _Watched(self._hear))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def _hear(self, request: Request) -> None:
        if SUMMARY in request.whole() and not request.body.get("tools"):
            self.summaries += 1
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

    def shown(self, text: str) -> list[int]:
        """In how many developer messages of each request `text` stands."""
        return [len(request.shown(text)) for request in self.requests]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@dataclass(frozen=True)
class Run:
    """How one `codex exec` ended. `seconds`: from start to end."""

    code: int
    session_id: str
    result: str
    stdout: str
    stderr: str
    seconds: float

    def failures(self) -> list[Json]:
        """Items of the run's own report that are errors: a hook that failed is told here."""
        events = [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]
        return [event for event in events if event.get("type") in ("error", "turn.failed")]


@dataclass
class Codex:
    """A scratch home and a project folder, in which the client is started as often as the test likes."""

    folder: Path
    model: Model
    env: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)  # `-c` settings
    trusted: bool = True  # hooks run without being trusted one by one

    def __post_init__(self) -> None:
        self.codex_home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)
        config = self.codex_home / "config.toml"
        if not config.exists():
            config.write_text(CONFIG.replace("URL", self.model.url), encoding="utf-8")

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def codex_home(self) -> Path:
        return self.home / ".codex"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def environment(self) -> dict[str, str]:
        """What the client and its hooks see: nothing of the caller's but the search path and the language."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        return kept | {"HOME": str(self.home), "FAKE_API_KEY": "dummy"} | self.env

    def hooks(self, hooks: Json) -> Path:
        """Write the user's hooks file."""
        path = self.codex_home / "hooks.json"
        path.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
        return path

    def register(self, tools: transport.Tools) -> None:
        """Our hooks, as `init` writes them, by the client that `tools` allows."""
        entries: Json = {}
        for event, seconds in EVENTS.items():
            line = transport.command("codex", tools, starts=event == STARTS)
            entries[event] = [{"hooks": [{"type": "command", "command": line, "timeout": seconds}]}]
        self.hooks(entries)

    def rollouts(self) -> list[Path]:
        """The session files, oldest first."""
        return sorted((self.codex_home / "sessions").rglob("rollout-*.jsonl"))

    def say(self, prompt: str, *, resume: str | None = None) -> Run:
        """One turn in a process of its own, to its end; `resume` goes on with an earlier session."""
        settings = [word for setting in self.settings for word in ("-c", setting)]
        trust = ["--dangerously-bypass-hook-trust"] if self.trusted else []
        command = [str(clients.codex()), *settings, "exec", "--skip-git-repo-check", *trust, "--json", *self.arguments]
        begun = time.monotonic()
        done = subprocess.run(
            [*command, *(["resume", resume] if resume else []), prompt],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        seconds = time.monotonic() - begun
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        session = next((event["thread_id"] for event in events if event.get("type") == "thread.started"), "")
        texts = [e["item"]["text"] for e in events if (e.get("item") or {}).get("type") == "agent_message"]
        return Run(done.returncode, session, texts[-1] if texts else "", done.stdout, done.stderr, seconds)


class AppServer:
    """`codex app-server`: what has no command line of its own, as a fork. JSON-RPC, a line each way."""

    def __init__(self, codex: Codex) -> None:
        self._codex = codex
        self._number = 0
        self._process = subprocess.Popen(
            [str(clients.codex()), "app-server"],
            cwd=codex.project,
            env=codex.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.call("initialize", clientInfo={"name": "tests", "version": "1"}, capabilities={"experimentalApi": True})
        self._send({"jsonrpc": "2.0", "method": "initialized"})

    def call(self, method: str, **params: Any) -> Json:
        """The result. Fails with the error that the server tells."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        answer = self.until(lambda message: message.get("id") == self._number and "method" not in message)
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    def until(self, is_it: Callable[[Json], bool]) -> Json:
        """The next message of that kind."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: Json = json.loads(line)
            if is_it(message):
                return message
        raise AssertionError("the app-server ended")

    def trust(self) -> None:
        """Trust all hooks, as a user does by /hooks."""
        found = self.call("hooks/list", cwds=[str(self._codex.project)])["data"]
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for each in found for hook in each["hooks"]}
        edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
        self.call("config/batchWrite", edits=[edit])

    def fork(self, session: str) -> str:
        """A new session that goes on where that one stands; its id."""
        thread: str = self.call("thread/fork", threadId=session)["thread"]["id"]
        return thread

    def say(self, session: str, prompt: str) -> None:
        """One turn, to its end."""
        self.call("turn/start", threadId=session, input=[{"type": "text", "text": prompt}])
        self.until(lambda message: message.get("method") == "turn/completed")

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self._process.stdin, self._process.stdout):
            assert end is not None
            end.close()
        self._process.kill()
        self._process.wait()


CONFIG = """\
model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "URL/v1"
env_key = "FAKE_API_KEY"
wire_api = "responses"
"""


def tools(daemon: RunningDaemon, client: str = "") -> transport.Tools:
    """The hook clients of this machine; `client`: that one alone."""
    found = transport.find(sys.executable, str(HOOK), str(daemon.socket.parent))
    if not client:
        return found
    kept = {each: getattr(found, each) if each == client else "" for each in ("curl", "nc")}
    return transport.Tools(python=found.python, hook=found.hook, folder=found.folder, uid=found.uid, **kept)


def client_of(folder: Path, model: Model, daemon: RunningDaemon, **env: str) -> Codex:
    """A client whose hooks find that daemon, registered."""
    shared = {name: value for name, value in daemon.environment().items() if name not in ("HOME", "PATH")}
    codex = Codex(folder, model, env=shared | env)
    codex.register(tools(daemon))
    return codex


def shell(command: str, **more: Any) -> Json:
    return {"name": "exec_command", "input": {"cmd": command, **more}}


def patch(text: str) -> Json:
    return {"type": "custom", "name": "apply_patch", "input": text}


def delegate(task: str) -> Json:
    """A call that starts a subagent."""
    return {"name": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": task, "agent_type": "default"}}


def reply(text: str, *calls: Json, tokens: int = 20_000) -> Json:
    """A scripted answer: `text`, tool calls if any, and the input tokens it reports."""
    return {"text": text, "tool_calls": list(calls), "usage": {"input_tokens": tokens}}


def summary(text: str) -> Json:
    """The answer to the client's own request for a summary."""
    return {"when": SUMMARY, "tools": False, "text": text, "repeat": True}


def logged(daemon: RunningDaemon, session: str) -> list[Json]:
    """The events that the daemon has stored of a session, in order: type, agent, source, call and payload."""
    query = (
        "SELECT e.event_type, e.agent_id, e.source_kind, e.call_id, e.payload FROM log_session s"
        " JOIN event e ON e.session = s.id WHERE s.session_id = ? ORDER BY e.event_seq"
    )
    database = f"file:{daemon.data / namespace.DATABASE_FILE}?mode=ro"
    with contextlib.closing(sqlite3.connect(database, uri=True)) as connection:
        rows = connection.execute(query, (session,)).fetchall()
    names = ("type", "agent", "source", "call")
    return [dict(zip(names, row[:4], strict=True)) | {"payload": json.loads(row[4])} for row in rows]
