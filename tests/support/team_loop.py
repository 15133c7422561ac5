"""The whole loop of the team workflow over one transport: what a caller sends, and every document that comes back.

The same steps for the command line, over a real socket, and for the MCP tools; `documents` are compared afterwards.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest
from click.testing import CliRunner

from governance.team.times import written
from host.cli.main import main
from host.client import Refused
from host.mcp.registry import BY_NAME
from host.namespace import env, tool
from host.service import Service
from host.sockets import Listener
from host.wire import Connections
from tests.support.asking import Asking
from tests.support.calling import Calling
from tests.support.clock import START, CountedIds
from tests.support.world import a_world

Json = dict[str, Any]
HOUR = 3_600_000
SECRET = b"s" * 32
REQUEST: Json = {
    "format": "remora-pre-extraction-request@v1",
    "window": {"after": written(START - 24 * HOUR), "before": written(START + HOUR)},
}
RULE = "Publish only from the release branch."


class Transport(Protocol):
    """One way to an operation. Gives its document; raises Refused."""

    async def __call__(self, operation: str, **given: Any) -> Json: ...


class OverMcp:
    """The tools, as an agent calls them."""

    def __init__(self, remora: Asking, folder: str) -> None:
        self._calling = Calling(remora, folder, agent="claude-code")

    async def __call__(self, operation: str, **given: Any) -> Json:
        one = BY_NAME[tool(f"memory_{operation.replace('.', '_')}")]
        answer = await one.run(one.decode(given), self._calling)
        assert isinstance(answer.document, dict)
        assert json.loads(answer.text) == answer.document
        return answer.document


class OverCommands:
    """The commands, each as a person types it, over a real socket."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    async def __call__(self, operation: str, **given: Any) -> Json:
        line, said = self._line(operation, given)
        command = [*operation.split("."), *line, "--workspace", self._folder, "--json"]
        done = await asyncio.to_thread(CliRunner().invoke, main, command, input=said)
        if isinstance(done.exception, Refused):
            raise done.exception
        assert done.exit_code == 0, done.output
        found: Json = json.loads(done.stdout)
        return found

    @staticmethod
    def _line(operation: str, given: Json) -> tuple[list[str], str]:
        """The options of a command, and what stands on its standard input."""
        document = given.pop("request", None) or given.pop("document", None)
        line = ["--request", "-"] if document is not None else []
        if operation == "synthesize":
            line += {"if-due": ["--if-due"], "full": ["--full"]}.get(given.pop("mode", ""), [])
        if operation == "assemble":
            line += [given.pop("provider")]
        names = {"planId": "--plan", "planDigest": "--plan-digest", "candidateId": "--candidate", "taskId": "--task"}
        for key, one in given.items():
            line += [names.get(key, f"--{key}"), str(one)]
        return line, "" if document is None else json.dumps(document)


@asynccontextmanager
async def a_remora(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asking]:
    """A remora whose ids, clock and secret are always the same, behind a real socket that the commands find."""
    async with a_world(folder, start=START) as world:
        ids = CountedIds()  # those of the team workflow alone: passes draw theirs side by side
        parts = replace(world.parts, drawn=lambda: SECRET, new_id=lambda prefix: prefix + ids())
        remora = Asking(world)
        remora.service = Service(parts, remora.shell)
        run = folder / "run"
        run.mkdir(mode=0o700)
        connections = Connections(remora.service, remora.shell, "1", 8)
        listener = Listener(run / "d.sock", connections)
        await listener.open()
        monkeypatch.setenv(env("socket"), str(run / "d.sock"))
        monkeypatch.setenv(env("data"), str(folder))
        try:
            yield remora
        finally:
            listener.close()
            await connections.drain(2)
            await remora.service.team.close()


async def talk(remora: Asking, folder: str, *said: str, session: str = "s-1") -> None:
    """A session of an agent in that folder; each sentence of the user is a turn, and the last one is open."""
    at, events = START - HOUR, list[Json]()

    def told(kind: str, source: str, payload: Json, **fields: Any) -> None:
        about = {"sessionId": session, "agentId": "main", "workspace": folder, "schemaVersion": 1}
        about |= {"channel": "session", "eventType": kind, "sourceKind": source, "payload": payload}
        events.append(about | {"timestamp": at + len(events) * 1000, "eventId": f"{session}-e{len(events)}"} | fields)

    told("session/start", "lifecycle", {"source": "startup"})
    for number, sentence in enumerate(said):
        call = {"channel": "tools", "callId": f"c{number}"}
        told("user/message", "user", {"text": sentence})
        told("tool/call", "agent", {"tool": "Bash", "args": '{"command": "make publish"}'}, **call)
        told("tool/result", "tool", {"tool": "Bash", "text": "done", "ok": True}, **call)
        told("assistant/message", "agent", {"text": f"Step {number} is done."})
    await remora.ask("event.append", events=events, host="claude-code")


def a_draft(task: Json, turn: int, content: str = RULE) -> Json:
    """A batch of one draft that cites a turn."""
    cited = next(one["evidenceId"] for one in task["chunk"]["turnEvidence"] if one["turnIndex"] == turn)
    draft = {"content": content, "type": "work_method", "priority": 70, "confidence": "high", "scene": None}
    draft |= {"statements": [{"statementId": "s1", "text": content, "evidenceIds": [cited]}]}
    return _answer("candidate-draft-batch", task) | {"candidates": [draft]}


def stored(task: Json) -> Json:
    """Every draft of an adjudication is stored."""
    keep: Json = {"action": "store", "targetIds": [], "mergedFields": None}
    decisions = [keep | {"draftRef": one["draftRef"]} for one in task["drafts"]]
    return _answer("adjudication-result", task) | {"decisions": decisions}


def a_patch(task: Json) -> Json:
    """One new scene out of all entries."""
    operation = {
        "operationId": "op1",
        "op": "create",
        "target": "scene",
        "name": "releases",
        "newContent": "---\nsummary: How releases are made\n---\nOnly the release branch publishes.\n",
        "basedOnEntryIds": [one["id"] for one in task["entries"]],
        "mergeSources": [],
        "rationale": "The first one.",
    }
    return _answer("consolidation-patch", task) | {"operations": [operation]}


async def entry_loop(call: Transport) -> dict[str, Json]:
    """recall → stage → stage → review → prepare → promote."""
    recalled = await call("recall", request=REQUEST)
    drafted = await call("stage", document=a_draft(recalled["sources"][0], 1))
    staged = await call("stage", document=stored(drafted))
    return {"recall": recalled, "draft": drafted, "stage": staged} | await _written(call, "entry")


async def consolidation_loop(call: Transport) -> dict[str, Json]:
    """synthesize → stage → review → prepare → promote."""
    found = await call("synthesize", mode="full")
    staged = await call("stage", document=a_patch(found["task"]))
    return {"synthesize": found, "stage": staged} | await _written(call, "consolidation")


async def _written(call: Transport, kind: str) -> dict[str, Json]:
    reviewed = await call("review", kind=kind)
    plan = await call("prepare", request=reviewed["approval"]["prepareRequest"])
    applied = await call("promote", planId=plan["planId"])
    return {"review": reviewed, "prepare": plan, "promote": applied, "status": await call("team.status")}


def _answer(part: str, task: Json) -> Json:
    return {"format": f"remora-pre-{part}@v1", "taskId": task["taskId"], "binding": task["binding"]}
