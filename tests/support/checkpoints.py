"""A desk for the checkpoint engine: texts of sessions, a gate, what is known, and a model that answers as told."""

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from governance.formation.checkpoint import Checkpoint
from governance.formation.checkpoint_ports import CheckpointPolicy, CheckpointPorts
from governance.formation.contracts import (
    Admission,
    Barrier,
    Door,
    EvidenceRecord,
    Fault,
    FinishReason,
    KnownRecord,
    ModelRequest,
    ModelResponse,
    RangeResult,
    Snapshot,
    ToolCall,
    Trigger,
    no_fault,
)
from governance.formation.errors import StateFault
from governance.formation.queue import Queue
from governance.migrations import queue_steps
from host.database import open_database
from recall.contracts import Database
from tests.support.builders import WORKSPACE
from tests.support.clock import CountedIds, FakeClock
from tests.support.fakes import FakeDatabase

KEY = b"k" * 32
USER = "user-key"
DAY = 86_400_000
AT = 1_780_000_000_000
Answer = str | dict[str, Any] | ModelResponse | Exception | Callable[[ModelRequest], Any]


def said(text: str, seq: int, session: str = "s-one", **fields: Any) -> EvidenceRecord:
    """What somebody said as event `seq` of a session: the user, unless `role` says otherwise."""
    given = {
        "ref": f"{session}#{seq}",
        "session_id": session,
        "message_id": f"{session}-m{seq}",
        "event_seq": seq,
        "role": "user",
        "text": text,
        "at": AT + seq * 1000,
        "workspace_key": WORKSPACE,
        "turn": seq,
    } | fields
    return EvidenceRecord(**given)


class FakeMaterial:
    """`Material` over a list. `reads`: what was asked for."""

    def __init__(self, records: Sequence[EvidenceRecord] = ()) -> None:
        self.records = list(records)
        self.reads: list[tuple[str, int, int]] = []

    async def read(self, session_id: str, after: int, through: int) -> Sequence[EvidenceRecord]:
        self.reads.append((session_id, after, through))
        found = [one for one in self.records if one.session_id == session_id and after < one.event_seq <= through]
        return sorted(found, key=lambda one: one.event_seq)


class FakeGate:
    """`FormationGate`. `says`: what it answers, an admission or a function of the snapshot; `asked`: each snapshot."""

    def __init__(self) -> None:
        self.says: Admission | Callable[[Snapshot], Admission] = Admission(door=Door.OPEN)
        self.asked: list[Snapshot] = []

    async def of(self, snapshot: Snapshot) -> Admission:
        self.asked.append(snapshot)
        return self.says if isinstance(self.says, Admission) else self.says(snapshot)

    def denies(self, session: str, *spans: tuple[int, int]) -> None:
        """These spans are denied, and the session is, when its boundary lies in one of them."""
        denied = tuple(Barrier(session_id=session, from_seq=first, through_seq=last) for first, last in spans)

        def says(snapshot: Snapshot) -> Admission:
            inside = any(first <= snapshot.boundary_seq <= last for first, last in spans)
            return Admission(door=Door.DENIED if inside else Door.OPEN, reason="incognito", denied=denied)

        self.says = says


class FakeKnown:
    """`Known`: every record that it was given, whatever is asked. `broken`: it cannot be asked."""

    def __init__(self) -> None:
        self.records: list[KnownRecord] = []
        self.broken = False
        self.asked: list[str] = []

    async def like(self, workspace_key: str, text: str, limit: int) -> Sequence[KnownRecord]:
        self.asked.append(text)
        if self.broken:
            raise StateFault("state-failed", "The index cannot be asked.")
        return self.records[:limit]


class ScriptedModel:
    """`ModelDriver` that gives its answers one after the other. `requests`: what it was asked."""

    id = "scripted:demo"

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        answer: Any = self.answers.pop(0)
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelResponse):
            return answer
        if isinstance(answer, str):
            return ModelResponse(text=answer, finish_reason=FinishReason.STOP)
        call = ToolCall(id="c1", name=request.tool_choice, arguments=answer)
        return ModelResponse(text="", finish_reason=FinishReason.TOOL_CALLS, tool_calls=(call,))


def item(content: str, *quotes: tuple[str, str], gap: str | None = None) -> dict[str, Any]:
    """An item of a proposal. `quotes`: (source ref, quote)."""
    return {
        "content": content,
        "evidence": [{"sourceRef": ref, "quote": quote} for ref, quote in quotes],
        "gapId": gap,
    }


def complete(*items: dict[str, Any]) -> dict[str, Any]:
    """A proposal."""
    return {"status": "complete", "items": list(items), "incidents": []}


def searching(ref: str, *terms: str) -> dict[str, Any]:
    """A proposal that asks for a search."""
    return {"status": "search_required", "items": [], "incidents": [{"sourceRef": ref, "terms": list(terms)}]}


def ids_in(request: ModelRequest) -> list[str]:
    """The ids that a request asks to be worded."""
    rows = re.findall(r"^\{.*\}$", request.messages[0].content, re.MULTILINE)
    return [found["id"] for found in map(json.loads, rows) if "id" in found]


def worded(*sentences: str) -> Callable[[ModelRequest], dict[str, Any]]:
    """An answer that words the facts asked for with these sentences, in their order; an empty one is rejected."""

    def answer(request: ModelRequest) -> dict[str, Any]:
        ids = ids_in(request)
        assert len(ids) == len(sentences), (ids, sentences)
        verdicts = [
            {"id": id_, "verdict": "accept" if sentence else "reject", "sentence": sentence}
            for id_, sentence in zip(ids, sentences, strict=True)
        ]
        return {"results": verdicts}

    return answer


def cut(text: str) -> ModelResponse:
    """An answer that was stopped at its length."""
    return ModelResponse(text=text, finish_reason=FinishReason.LENGTH)


def asked_text(request: ModelRequest) -> str:
    """All that a request sends."""
    return request.system + "\n" + "\n".join(message.content for message in request.messages)


@dataclass
class Desk:
    """Everything an engine is given, and the engine on it."""

    database: Database = field(default_factory=lambda: FakeDatabase(queue_steps()))
    material: FakeMaterial = field(default_factory=FakeMaterial)
    gate: FakeGate = field(default_factory=FakeGate)
    known: FakeKnown = field(default_factory=FakeKnown)
    model: ScriptedModel | None = field(default_factory=ScriptedModel)
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountedIds = field(default_factory=CountedIds)
    fault: Fault = no_fault
    policy: CheckpointPolicy = field(default_factory=CheckpointPolicy)

    def __post_init__(self) -> None:
        self.queue = Queue(self.database, KEY)

    def ports(self) -> CheckpointPorts:
        return CheckpointPorts(
            database=self.database,
            queue=self.queue,
            material=self.material,
            gate=self.gate,
            known=self.known,
            driver=self.model,
            now=self.clock.now,
            new_id=self.ids,
            user=USER,
            fault=self.fault,
        )

    def engine(self) -> Checkpoint:
        return Checkpoint(self.ports(), self.policy)

    def tells(self, *records: EvidenceRecord) -> None:
        """The session goes on with these."""
        self.material.records += records

    def answers(self, *answers: Answer) -> None:
        """What the model will say next."""
        assert self.model is not None
        self.model.answers += answers

    @property
    def calls(self) -> int:
        """How often the model was asked so far."""
        return 0 if self.model is None else len(self.model.requests)

    async def run(self, boundary: int, session: str = "s-one", **fields: Any) -> tuple[RangeResult, ...]:
        """A checkpoint of a session up to an event."""
        return await self.engine().run(a_snapshot(boundary, session, **fields))

    async def one(self, boundary: int, session: str = "s-one", **fields: Any) -> RangeResult:
        """The same, of which one result is expected."""
        (result,) = await self.run(boundary, session, **fields)
        return result

    async def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        """What a statement finds."""
        return await self.database.read(lambda connection: connection.execute(statement, given).fetchall())

    async def count(self, table: str) -> int:
        """How many rows a table has."""
        return int((await self.rows(f"SELECT count(*) FROM {table}"))[0][0])


def a_snapshot(boundary: int, session: str = "s-one", **fields: Any) -> Snapshot:
    """A boundary of a session that nobody resumed."""
    given = {
        "trigger": Trigger.COMPACT,
        "session_id": session,
        "conversation_key": session,
        "boundary_seq": boundary,
        "workspace_key": WORKSPACE,
    } | fields
    return Snapshot(**given)


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Desk]:
    """A desk on a real file with its writer."""
    async with open_database(folder / "governance.db", queue_steps()) as database:
        yield Desk(database=database)
