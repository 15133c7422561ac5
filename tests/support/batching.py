"""Batch extraction under test: a session's texts, what is like them, and an engine over fakes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from governance.formation.batch import Batch, BatchPolicy, BatchPorts
from governance.formation.claims import shared_terms
from governance.formation.contracts import (
    ANY_AGENT,
    Admission,
    Door,
    EvidenceRecord,
    Fault,
    IsolationKey,
    KnownRecord,
    Snapshot,
    SnapshotOrigin,
    Trigger,
    no_fault,
)
from governance.formation.errors import StateFault
from governance.formation.queue import Queue
from governance.migrations import queue_steps
from host.models.scripted import Script, Scripted, Step
from recall.contracts import Database, Millis
from tests.support.checkpoints import FakeGate, FakeMaterial
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

WS = "ws_1"
USER = "u1"
KEY = IsolationKey(team=WS, user=USER, agent=ANY_AGENT)
INSTALL_KEY = b"k" * 32


def a_text(seq: int, text: str = "", **changes: Any) -> EvidenceRecord:
    """What somebody said at event `seq`: the user at odd ones."""
    fields: dict[str, Any] = {
        "ref": f"s-1#{seq}",
        "session_id": "s-1",
        "message_id": f"m-{seq}",
        "event_seq": seq,
        "role": "user" if seq % 2 else "assistant",
        "text": text or f"Sentence number {seq} says something.",
        "at": START + seq,
        "workspace_key": WS,
    }
    return EvidenceRecord(**(fields | changes))


def a_memory_said(content: str, *sources: str, **more: object) -> dict[str, object]:
    """A memory as a model submits it."""
    return {"content": content, "type": "work_fact", "priority": 70, "source_message_ids": list(sources)} | more


def a_segment(*memories: dict[str, object], scene: str = "release", messages: Sequence[str] = ()) -> dict[str, object]:
    return {"scene_name": scene, "message_ids": list(messages), "memories": list(memories)}


def said(*segments: object, **step: Any) -> Step:
    """An answer of these segments."""
    return Step(tool="submit", arguments={"segments": list(segments)}, **step)


def chose(*decisions: object, **step: Any) -> Step:
    """An answer of these decisions."""
    return Step(tool="submit", arguments={"decisions": list(decisions)}, **step)


def a_decision(memory: int, decision: str, *targets: str, content: str = "") -> dict[str, object]:
    return {"memory": memory, "decision": decision, "targets": list(targets), "content": content}


@dataclass
class FakeLikeness:
    """A `Likeness` in memory: both arms rank by terms in common. `broken`: names of arms that cannot be asked. A record
    without a key is a person's own, of that workspace."""

    records: list[tuple[IsolationKey | None, KnownRecord]] = field(default_factory=list)
    broken: set[str] = field(default_factory=lambda: {"by_meaning"})
    asked: list[str] = field(default_factory=list)

    async def by_meaning(self, key: IsolationKey, text: str, limit: int) -> Sequence[KnownRecord]:
        return self._ask("by_meaning", key, text, limit)

    async def by_words(self, key: IsolationKey, text: str, limit: int) -> Sequence[KnownRecord]:
        return self._ask("by_words", key, text, limit)

    def _ask(self, arm: str, key: IsolationKey, text: str, limit: int) -> Sequence[KnownRecord]:
        self.asked.append(arm)
        if arm in self.broken:
            raise StateFault("broken", "It cannot be asked.")
        if not key.whole:
            return ()
        own = [one for owner, one in self.records if owner in (key, None)]
        ranked = sorted(own, key=lambda one: (-shared_terms(text, one.text), one.memory_id))
        return [one for one in ranked if shared_terms(text, one.text) > 0][:limit]


@dataclass
class Bench:
    """An engine over fakes. `run` forms `session` up to `boundary`, or up to its last text. `answers`: what the gate
    says, one for each time that it is asked; it is open when none is left."""

    steps: Iterable[Step] = ()
    texts: list[EvidenceRecord] = field(default_factory=list)
    policy: BatchPolicy = field(default_factory=BatchPolicy)
    database: Database = field(default_factory=lambda: FakeDatabase(queue_steps()))
    user: str = USER
    fault: Fault = no_fault
    now: Millis = START + 10**6
    gate: FakeGate = field(default_factory=FakeGate)
    likeness: FakeLikeness = field(default_factory=FakeLikeness)

    def __post_init__(self) -> None:
        self.answers: list[Admission] = []
        self.gate.says = lambda snapshot: self.answers.pop(0) if self.answers else Admission(door=Door.OPEN)
        self.material = FakeMaterial()
        self.material.records = self.texts
        self.driver = Scripted(script=Script(answers=tuple(self.steps), id="demo"))
        self.queue = Queue(self.database, INSTALL_KEY)
        self._ids = count(1)

    def also(self, *steps: Step) -> None:
        """From now on the model answers so."""
        self.driver = Scripted(script=Script(answers=steps, id="demo"))

    @property
    def batch(self) -> Batch:
        return Batch(
            BatchPorts(
                database=self.database,
                queue=self.queue,
                material=self.material,
                gate=self.gate,
                driver=self.driver,
                likeness=self.likeness,
                now=self._tick,
                new_id=lambda prefix: f"{prefix}{next(self._ids):032x}",
                user=self.user,
                fault=self.fault,
            ),
            self.policy,
        )

    async def run(self, boundary: int | None = None, session: str = "s-1", **snapshot: Any) -> Sequence[Any]:
        last = max((one.event_seq for one in self.texts if one.session_id == session), default=0)
        return await self.batch.run(a_snapshot(last if boundary is None else boundary, session, **snapshot))

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What stands in the store; of a fake database only."""
        assert isinstance(self.database, FakeDatabase)
        return self.database.connection.execute(statement, values).fetchall()

    def shown(self, call: int) -> str:
        """What the model was shown at that call."""
        return self.driver.requests[call].messages[0].content

    def _tick(self) -> Millis:
        self.now += 1
        return self.now


def a_snapshot(boundary: int, session: str = "s-1", **changes: Any) -> Snapshot:
    fields: dict[str, Any] = {
        "trigger": Trigger.COMMAND,
        "session_id": session,
        "conversation_key": session,
        "boundary_seq": boundary,
        "workspace_key": WS,
        "origin": SnapshotOrigin.MAIN,
    }
    return Snapshot(**(fields | changes))


def ids_in(text: str) -> list[str]:
    """The message ids that a request shows, in order."""
    return re.findall(r'"id":"([^"]+)"', text)
