"""Not one secret that came in is in a file, a log, an error, a metric or a reply: everything there is, is searched.

A real daemon hears the secrets of the fixtures through every door: events (texts, keys, numbers, nested), hooks, memory
verbs, feedback, reviews, queries, names, broken lines; a person's own memory files hold them too. It is killed and
started again, its index is made anew, and then all its files and all that it ever said are searched for each value.

As an id or a key, a password is a word like any other: those places get the values that are known by their own form.
"""

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from governance.screen import secrets
from governance.screening.secrets import SHAPED
from host.namespace import name
from tests.support.daemon import Refused, RunningDaemon, Wire

DATA = Path(__file__).parents[1] / "data" / "screen"
MARKED = re.compile(r"[^\s\"'=@]*(?:FAKE|fa4e|NOTREAL)[^\s\"'@,;。，]*")
NUMBER = re.compile(r"\d[\d -]{9,22}[\dXx]")
pytestmark = pytest.mark.promise("no-secret-kept")


def fixtures() -> Iterator[tuple[str, str]]:
    """(the text, the secret in it)"""
    for line in (DATA / "secrets.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        text = "".join(record["parts"])
        shape = {"secret": MARKED, "pii": NUMBER}.get(record["label"])
        for found in shape.findall(text) if shape else ():
            yield text, found


PAIRS = list(fixtures())
TEXTS = list(dict.fromkeys(text for text, _ in PAIRS))
VALUES = sorted({value for _, value in PAIRS}, key=len)
FORMED = frozenset(value for value in VALUES if any(found.family in SHAPED for found in secrets(value)))


class Told:
    """What the daemon said, one text a message."""

    def __init__(self, daemon: RunningDaemon) -> None:
        self.daemon = daemon
        self.replies: list[str] = []
        self.wire: Wire | None = None

    def ask(self, method: str, **params: Any) -> Any:
        self.wire = self.wire or self.daemon.connect()
        try:
            answer = self.wire.call(method, **params)
        except Refused as error:
            self.replies.append(str(error))
            return None
        except ConnectionError:
            self.hang_up()
            return None
        self.replies.append(json.dumps(answer, ensure_ascii=False))
        return answer

    def hang_up(self) -> None:
        if self.wire is not None:
            self.wire.close()
        self.wire = None

    def cli(self, *arguments: str, cwd: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-c", "from host.cli.main import main; main()", *arguments],
            cwd=cwd,
            env=self.daemon.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.replies += [done.stdout, done.stderr]


def event(number: int, payload: Any, workspace: Path, **fields: Any) -> dict[str, Any]:
    return {
        "schemaVersion": 1,
        "sessionId": "s1",
        "agentId": "main",
        "workspace": str(workspace),
        "channel": "session",
        "eventType": "user/message",
        "timestamp": 1_780_000_000_000 + number,
        "sourceKind": "user",
        "eventId": f"e{number}",
        "payload": payload,
    } | fields


def payloads(text: str, value: str, number: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    call = {"channel": "tools", "sourceKind": "agent", "callId": f"c{number}"}
    result = {"channel": "tools", "sourceKind": "tool", "callId": f"c{number}"}
    yield {"text": text}, {}
    yield (
        {"tool": "Bash", "args": json.dumps({"command": f"deploy --note '{text}'"})},
        {"eventType": "tool/call", **call},
    )
    yield {"tool": "Bash", "text": f"Error: {text}\nexit 1", "ok": False}, {"eventType": "tool/result", **result}
    if value in FORMED:
        yield {"text": "a key", value: {"deep": [text]}}, {}
    if value.isdigit():
        yield {"text": "a number", "phone" if len(value) == 11 else "card": int(value)}, {}


def doors(told: Told, workspace: Path) -> None:
    """Every way in, with every secret."""
    number = 0
    for text, value in PAIRS:
        events = []
        for payload, fields in payloads(text, value, number):
            number += 1
            events.append(event(number, payload, workspace, **fields))
        told.ask("event.append", events=events)
    for index, (text, value) in enumerate([pair for pair in PAIRS if pair[1] in FORMED][::6]):
        known = told.ask("memory.remember", text=f"Rule {index}: {text}", workspace=str(workspace), tags=["deploy"])
        told.ask("memory.search", query=text, workspace=str(workspace))
        if known:
            told.ask("memory.get", memoryId=known["memoryId"], workspace=str(workspace))
            told.ask("memory.feedback", opinion="wrong", memoryId=known["memoryId"], workspace=str(workspace))
            told.ask("memory.edit", memoryId=known["memoryId"], text=text, workspace=str(workspace), expected="no")
        told.ask("memory.get", memoryId=value, workspace=str(workspace))
        told.ask("session.status", sessionId=value, agentId="main")
        told.ask("audit.explain", sessionId=value, step=1)
        told.ask("inbox.claim", sessionId=value, agentId="main", surface=value, requestId=value)
        told.ask("workspace.set", workspace=f"/{value}", attention=value)
        told.ask(value, any=value)
        told.ask("health", **{value: value})
        told.ask("event.append", events=[event(90_000 + index, {"text": "x"}, workspace, sessionId=value[:60])])
        told.ask("event.append", events=[event(91_000 + index, {"text": "x"}, workspace, callId=value[:60])])
        told.ask("event.append", events=[event(92_000 + index, {"text": "x"}, workspace, eventType=value[:60])])
        raw = {"hook_event_name": "UserPromptSubmit", "session_id": "cc-1", "prompt": text, "cwd": str(workspace)}
        told.ask("hook", host="claude-code", payload=raw)
        with contextlib.suppress(OSError, ConnectionError), told.daemon.connect() as wire:
            wire.send_bytes(f'{{"jsonrpc": "2.0", "id": 1, "method": {value}}}\n'.encode())
            told.replies.append(json.dumps(wire.receive(), ensure_ascii=False))


def decided(told: Told, workspace: Path) -> None:
    """What waits for a person is put away, for reasons that hold secrets."""
    waiting = told.ask("review.list", workspace=str(workspace))
    assert len(waiting["items"]) > 5
    for shown, text in zip(waiting["items"], TEXTS, strict=False):
        item = shown.get("item", shown)
        revision = {"itemId": item["itemId"], "expectedRevision": item["revision"], "workspace": str(workspace)}
        told.ask("review.decide", decision="archive", reason=text, principal="human", **revision)


def looked_at(told: Told, workspace: Path) -> None:
    """Everything that can be asked of it afterwards."""
    place = {"workspace": str(workspace)}
    listed = told.ask("memory.list", limit=500, **place) or {"records": []}
    for record in listed["records"]:
        told.ask("memory.get", memoryId=record["memoryId"], **place)
    for text in TEXTS[::11]:
        told.ask("memory.search", query=text, limit=50, **place)
    told.ask("memory.lint", **place)
    told.ask("audit.query", limit=500)
    told.ask("audit.export", limit=500)
    told.ask("audit.stats", **place)
    told.ask("audit.verify")
    told.ask("metrics")
    told.ask("metrics", format="prometheus")
    told.ask("health")
    told.ask("review.list")
    told.ask("session.status", sessionId="s1", agentId="main")
    told.ask("audit.explain", sessionId="s1", step=1)
    for arguments in (["list"], ["search", TEXTS[0]], ["lint"], ["audit", "list"], ["status"], ["show", VALUES[-1]]):
        told.cli(*arguments, cwd=workspace)


def test_no_secret_is_in_any_file_log_error_metric_or_reply(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / ".git").mkdir()
    (workspace / "CLAUDE.md").write_text("# Deploy\n\n" + "\n\n".join(TEXTS[::2]), encoding="utf-8")
    own = workspace / f".{name()}" / "memory"
    own.mkdir(parents=True)
    (own / "notes.md").write_text(
        "\n\n".join(f"# Note {number}\n\n{text}" for number, text in enumerate(TEXTS[1::2])), encoding="utf-8"
    )
    daemon = RunningDaemon(tmp_path / "d")
    told = Told(daemon)
    with daemon:
        doors(told, workspace)
        decided(told, workspace)
        looked_at(told, workspace)
        told.hang_up()
        daemon.kill()
        daemon.start()
        told.ask("index.rebuild")
        looked_at(told, workspace)
        told.hang_up()
        daemon.kill()  # what the write-ahead logs hold stays to be searched

    files = [path for path in (tmp_path / "d").rglob("*") if path.is_file()]
    assert len(files) >= 4
    assert found_in({str(path): path.read_bytes() for path in files}) == []
    assert found_in({f"reply {n}: {said[:200]}": said.encode() for n, said in enumerate(told.replies)}) == []
    assert sum("[secret:" in said for said in told.replies) > 20


def found_in(texts: dict[str, bytes]) -> list[tuple[str, str]]:
    needles = [(value, value.encode()) for value in VALUES]
    return [(name, value) for name, text in texts.items() for value, needle in needles if needle in text]
