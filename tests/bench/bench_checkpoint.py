"""What a checkpoint costs beside its model: a session of 5 000 events on a real file, a model that answers at once.

Half of the events are tool traffic, of which nothing is read; of the rest every second is the user's. Each of these
texts ends with a fact, so that whatever is proposed goes all the way: quotes, support, known records, floor, commit.
A job takes eight segments. Told apart are the first job, one whose first segment asks for a search of the session, a
boundary that was formed already, and a model that proposes something of every text. What the model needs is taken off.
`python -m tests.bench.bench_checkpoint [--json] [--events N] [--rounds N] [--facts N]`
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from governance.formation.checkpoint_answers import CANONICALISE, MOST_ITEMS
from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import EvidenceRecord, ModelRequest, ModelResponse, RangeResult
from governance.migrations import queue_steps
from host.database import open_database
from host.formation.lineage import Lineage
from host.formation.material import SessionMaterial
from tests.bench.bench_screen import mixed
from tests.bench.measure import Figure, of, run
from tests.support.builders import SESSION, a_call, a_prompt, a_reply, a_result
from tests.support.checkpoints import Desk, ScriptedModel, complete, item, running, said, searching
from tests.support.world import a_world

BOUND = 300  # ms
POOL = 400_000  # characters that the texts of a session are cut from


class Spent(NamedTuple):
    """Milliseconds of one job without what the model took: on the clock, and of the processor."""

    clock: float
    processor: float


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    name, few = f"{options.events} events", f"at most {options.facts} facts a segment"
    first, searched, again = asyncio.run(_rounds(options.events, options.rounds, options.facts))
    every, _, _ = asyncio.run(_rounds(options.events, options.rounds, MOST_ITEMS))
    logged = asyncio.run(_logged(options))
    return [
        _figure(f"one job, {name}, {few}", first, BOUND),
        _figure(f"one job that searches, {name}, {few}", searched, BOUND),
        _figure(f"one job over the log itself, {name}, {few}", logged, BOUND),
        _figure(f"a boundary that was formed, {name}", again),
        _figure(f"one job, {name}, a fact of every text", every),
    ]


def _figure(name: str, spent: Sequence[Spent], bound: float | None = None) -> Figure:
    notes = {"of the processor, median ms": round(statistics.median(one.processor for one in spent), 1)}
    figure = of(name, "ms", [one.clock for one in spent], notes=notes)
    return figure if bound is None else replace(figure, bound=f"median ≤ {bound}", holds=figure.median <= bound)


async def _rounds(events: int, rounds: int, facts: int) -> tuple[list[Spent], list[Spent], list[Spent]]:
    first: list[Spent] = []
    searched: list[Spent] = []
    again: list[Spent] = []
    for number in range(rounds):
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="b")))
            database = await stack.enter_async_context(open_database(folder / "governance.db", queue_steps()))
            desk = Desk(database=database, policy=CheckpointPolicy(min_sessions=0))
            desk.tells(*session(events, number))
            desk.model = model = Answering(desk.material.records, facts)
            cost, results = await _timed(desk, model, events)
            first.append(cost)
            model.searches = True
            searched.append((await _timed(desk, model, events))[0])
            again.append((await _timed(desk, model, results[-1].through_seq))[0])
    return first, searched, again


async def _logged(options: argparse.Namespace) -> list[Spent]:
    """The same job where the texts are read from the event log and cleaned, by whom they are new to."""
    costs: list[Spent] = []
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="b") as name:
            async with a_world(Path(name) / "data") as world, running(Path(name)) as desk:
                parts, folder = world.parts, world.workspace()
                for text in session(options.events, number):
                    made = a_prompt if text.role == "user" else a_reply
                    traffic = (a_call if text.role == "user" else a_result)(call_id=f"c{text.event_seq // 4}")
                    events = (made(text.text, workspace=folder), traffic)
                    await parts.eventlog.append(events, world.clock.now())
                reader = partial(
                    SessionMaterial, parts.eventlog, Lineage(parts.eventlog), parts.places.key, parts.rollouts.asleep
                )
                desk.policy = CheckpointPolicy(min_sessions=0)
                desk.model = model = Answering(await reader().read(SESSION, -1, options.events), options.facts)
                desk.material = reader()
                costs.append((await _timed(desk, model, options.events, SESSION))[0])
    return costs


async def _timed(
    desk: Desk, model: "Answering", boundary: int, session_id: str = "s-one"
) -> tuple[Spent, tuple[RangeResult, ...]]:
    model.took = 0.0
    begun, worked = time.perf_counter(), time.process_time()
    results = await desk.run(boundary, session_id)
    took, busy = time.perf_counter() - begun, time.process_time() - worked
    return Spent((took - model.took) * 1000, (busy - model.took) * 1000), results


class Answering(ScriptedModel):
    """A model that proposes the last line of the first texts that it is shown, and words it as it stands. `searches`:
    the next proposal asks for a search first. `took`: seconds that it needed itself."""

    def __init__(self, records: Sequence[EvidenceRecord], facts: int) -> None:
        super().__init__()
        self._most = facts
        self.searches = False
        self.took = 0.0
        self._facts = {one.ref: one.text.rpartition("\n")[2] for one in records if one.role == "user"}

    async def complete(self, request: ModelRequest) -> ModelResponse:
        begun = time.perf_counter()
        self.answers = [self._answer(request)]
        answer = await super().complete(request)
        self.took += time.perf_counter() - begun
        return answer

    def _answer(self, request: ModelRequest) -> dict[str, Any]:
        rows = [json.loads(line) for line in request.messages[0].content.splitlines() if line.startswith("{")]
        if request.tools[0] is CANONICALISE:
            said_ = {row["id"]: row["quotes"][0]["quote"] for row in rows}
            return {"results": [{"id": id_, "verdict": "accept", "sentence": said_[id_]} for id_ in said_]}
        refs = [row["sourceRef"] for row in rows if row.get("sourceRef") in self._facts and "written" in row]
        if self.searches:
            self.searches = False
            return searching(refs[0], "gateway", "port", "service", "release", "memory", "session", "packet", "host")
        return complete(
            *(item(self._facts[ref], (ref, self._facts[ref])) for ref in list(dict.fromkeys(refs))[: self._most])
        )


def session(events: int, seed: int) -> list[EvidenceRecord]:
    """The texts of a session: every fourth event is the user's, every fourth the agent's."""
    chance = random.Random(seed)
    pool = mixed(POOL, seed)

    def some(size: int) -> str:
        start = chance.randrange(len(pool) - size)
        return pool[start : start + size]

    records: list[EvidenceRecord] = []
    for seq in range(0, events, 4):
        fact = f"The service number {seq} of round {seed} listens on port {1024 + seq}."
        text = f"{some(chance.choice((200, 400, 1200)))}\n{fact}"
        records.append(said(text, seq, turn=seq // 4))
        records.append(said(some(600), seq + 2, role="assistant", turn=seq // 4))
    return records


if __name__ == "__main__":
    run("Checkpoint", measure, events=5_000, rounds=5, facts=3)
