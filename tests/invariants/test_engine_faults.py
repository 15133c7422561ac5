"""Whatever becomes of the engine's process, the lexical answers come in time and the report says what is missing."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from recall.associate import Arm, AssociationPolicy, associate, resting
from recall.contracts import Cue, Found, SourceName
from recall.engine import Engine, EngineState
from recall.fallback import FAILURES, Breaker
from recall.library import Library
from recall.sources.engine import engine_source
from recall.sources.lexical import lexical
from tests.support.builders import a_cue, a_memory, a_memory_id
from tests.support.clock import START
from tests.support.library import a_library, a_root, write_records
from tests.support.running_engines import Micros, an_engine, python, settled

CASES = Path(__file__).parents[1] / "data" / "cases"
OPEN_MICROS = 30_000_000
pytestmark = pytest.mark.promise("engine-faults")


class Recall:
    """A library with both arms and their real breakers."""

    def __init__(self, library: Library, engine: Engine, micros: Micros, budget_seconds: float) -> None:
        self.library, self.engine, self.micros = library, engine, micros
        self.arms = (
            Arm(SourceName.LEXICAL, lexical, Breaker()),
            Arm(SourceName.ENGINE, engine_source(engine), Breaker(), budget_seconds=budget_seconds),
        )

    async def ask(self, cue: Cue) -> Found:
        async with asyncio.timeout(10):
            return await associate(
                cue, self.library.snapshot(START), self.arms, AssociationPolicy(budget_seconds=5), self.micros
            )

    async def shortfalls(self, times: int, cue: Cue) -> list[str | None]:
        """What the engine's arm fell short of, each time; the lexical one never does."""
        said = []
        for _ in range(times):
            found = await self.ask(cue)
            lexical_report, engine_report = found.arms
            assert lexical_report.shortfall is None and lexical_report.hits == 1 and not found.degraded
            said.append(engine_report.shortfall)
        return said


@asynccontextmanager
async def a_recall(folder: Path, budget_seconds: float = 5.0, **fields: Any) -> AsyncIterator[Recall]:
    micros = Micros()
    records = [a_memory("The staging cache needs a restart.", memory_id=a_memory_id(1))]
    write_records(folder / "memory" / "a.md", records)
    async with a_library(folder) as library, an_engine(folder, micros, **fields) as engine:
        await library.adopt(a_root(folder / "memory"))
        yield Recall(library, engine, micros, budget_seconds)


CUE = a_cue("staging cache restart")


async def test_both_arms_answer(tmp_path: Path) -> None:
    async with a_recall(tmp_path) as recall:
        assert await recall.shortfalls(1, CUE) == ["loading"]
        await settled(recall.engine)

        found = await recall.ask(CUE)

    assert [(report.name, report.hits, report.shortfall) for report in found.arms] == [
        ("lexical", 1, None),
        ("engine", 1, None),
    ]
    assert {one.source for one in found.candidates} == {SourceName.LEXICAL, SourceName.ENGINE}


async def test_a_killed_process_opens_the_breaker_and_closes_it_when_it_is_back(tmp_path: Path) -> None:
    async with a_recall(tmp_path) as recall:
        status = await settled(recall.engine)
        os.kill(status.pid, signal.SIGKILL)
        await recall.engine.wait_until(lambda status: status.state is EngineState.BROKEN)

        said = await recall.shortfalls(FAILURES + 1, CUE)
        assert said == ["broken"] * FAILURES + ["open-breaker"]
        assert resting(recall.arms, recall.micros.now) == {"source engine": "degraded, its breaker is open"}

        recall.micros.now += OPEN_MICROS
        assert await recall.shortfalls(1, CUE) == ["loading"]  # tried: it is being started
        await settled(recall.engine)
        assert await recall.shortfalls(2, CUE) == [None, None]
        assert resting(recall.arms, recall.micros.now) == {}


async def test_a_process_that_is_killed_during_a_search_is_a_broken_arm(tmp_path: Path) -> None:
    async with a_recall(tmp_path) as recall:
        status = await settled(recall.engine)
        asking = asyncio.create_task(recall.shortfalls(1, a_cue("staging cache restart hang!")))
        while not recall.engine._child or not recall.engine._child._waiting:
            await asyncio.sleep(0)
        os.kill(status.pid, signal.SIGKILL)

        assert await asking == ["broken"]


async def test_garbage_is_a_broken_arm(tmp_path: Path) -> None:
    program = "print('Segmentation fault (core dumped)', flush=True); input()"
    async with a_recall(tmp_path, command=python(program)) as recall:
        await settled(recall.engine)

        assert await recall.shortfalls(FAILURES + 1, CUE) == ["broken"] * FAILURES + ["open-breaker"]
        assert recall.engine.status().state is EngineState.BROKEN


async def test_a_process_that_hangs_costs_its_budget_and_no_more(tmp_path: Path) -> None:
    async with a_recall(tmp_path, budget_seconds=0.05, request_seconds=30) as recall:
        await settled(recall.engine)
        hanging = a_cue("staging cache restart hang!")

        said = await recall.shortfalls(FAILURES + 1, hanging)

        assert said == ["late"] * FAILURES + ["open-breaker"]


async def test_a_hanging_process_is_killed_and_another_one_answers(tmp_path: Path) -> None:
    async with a_recall(tmp_path, budget_seconds=0.05, request_seconds=0.5) as recall:
        await settled(recall.engine)
        assert await recall.shortfalls(FAILURES, a_cue("staging cache restart hang!")) == ["late"] * FAILURES
        await recall.engine.wait_until(lambda status: status.state is EngineState.BROKEN)

        recall.micros.now += OPEN_MICROS
        assert await recall.shortfalls(1, CUE) == ["loading"]
        await settled(recall.engine)
        assert (await recall.shortfalls(1, CUE))[0] in (None, "late")  # a budget of 50 ms on a busy machine


async def test_vectors_of_another_dimension_leave_the_lexical_answers_alone(tmp_path: Path) -> None:
    """Case embedding-dimension-changed."""
    case = json.loads((CASES / "embedding-dimension-changed.json").read_text(encoding="utf-8"))
    given, then = case["given"], case["then"]
    assert (given["stored_vectors_dim"], given["embedder_dim"]) == (384, 256)
    (memory,) = given["memories"]
    write_records(tmp_path / "memory" / "a.md", [a_memory(memory["text"], memory_id=a_memory_id(1))])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(tmp_path / "memory"))
        async with an_engine(tmp_path, encoder="tests.support.encoders:Larger") as engine:
            await settled(engine)
        async with an_engine(tmp_path) as engine:
            recall = Recall(library, engine, Micros(), 5.0)
            await settled(engine)

            said = await recall.shortfalls(FAILURES + 1, a_cue(case["when"]["query"]))
            found = await recall.ask(a_cue(case["when"]["query"]))
            problem = engine.status().problem

            engine.reembed()
            await engine.wait_until(lambda status: status.state is EngineState.READY)
            again = await recall.ask(a_cue(case["when"]["query"]))

    assert said == ["stale-vectors"] * (FAILURES + 1)  # no failure: the breaker stays closed
    assert [one.memory_id for one in found.candidates] == [a_memory_id(1)] and then["ids_first"] == ["m1"]
    assert all(word in problem for word in then["status_mentions"])
    assert [report.hits for report in again.arms] == [1, 1]
