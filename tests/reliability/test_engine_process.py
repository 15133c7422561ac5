"""The engine's process with the real model: it answers across languages, and it never outlives its daemon."""

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from recall.engine import EngineState
from recall.sources.engine import engine_source
from tests.support.builders import a_cue, a_memory, a_memory_id
from tests.support.clock import START
from tests.support.daemon import RunningDaemon
from tests.support.library import a_library, a_root, write_records
from tests.support.running_engines import SURROUNDINGS, an_engine, settled

pytestmark = pytest.mark.reliability
PATIENCE_SECONDS = 10.0
PARENT = """
import asyncio, sys
from pathlib import Path
from tests.support.running_engines import an_engine, settled

async def main():
    async with an_engine(Path(sys.argv[1])) as engine:
        if sys.argv[2] == "ready":
            status = await settled(engine)
        else:
            engine.start()
            status = await engine.wait_until(lambda status: status.pid > 0)
        print(status.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def alive(pid: int) -> bool:
    """Whether the process runs: one that nobody has reaped yet does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def ended(pid: int) -> bool:
    """Whether it ends in time."""
    begun = time.monotonic()
    while alive(pid) and time.monotonic() - begun < PATIENCE_SECONDS:
        time.sleep(0.02)
    return not alive(pid)


@pytest.mark.parametrize("when", ["ready", "loading"])
async def test_a_process_ends_when_its_daemon_was_killed(tmp_path: Path, when: str) -> None:
    async with a_library(tmp_path) as library:
        write_records(tmp_path / "memory" / "a.md", [a_memory("one")])
        await library.adopt(a_root(tmp_path / "memory"))
        command = [sys.executable, "-c", PARENT, str(tmp_path), when]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(SURROUNDINGS)) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            assert alive(pid)

            parent.send_signal(signal.SIGKILL)
            parent.wait()

        assert await asyncio.to_thread(ended, pid)


def test_the_daemons_own_engine_answers_and_ends_with_it(tmp_path: Path, run_dir: Path) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    with RunningDaemon(run_dir, engine=True) as daemon:
        with daemon.connect() as wire:
            text = "Before a deployment the database must be backed up."
            written = wire.call("memory.remember", text=text, workspace=str(workspace))

            def search(query: str) -> dict[str, Any]:
                return wire.call("memory.search", query=query, workspace=str(workspace))

            begun, found = time.monotonic(), search("部署之前先备份")
            while not found["hits"] and time.monotonic() - begun < 3 * PATIENCE_SECONDS:
                time.sleep(0.05)
                found = search("部署之前先备份")
            assert [(hit["memoryId"], hit["source"]) for hit in found["hits"]] == [(written["memoryId"], "engine")]
            pid = wire.call("index.progress")["engine"]["pid"]
        daemon.kill()

        assert ended(pid)


async def test_the_real_model_finds_what_is_said_in_another_language(tmp_path: Path) -> None:
    texts = (
        "Before a deployment the database must be backed up.",
        "数据库连接池最多二十个连接，超过会超时。",
        "Use pnpm in this repository, never npm.",
    )
    records = [a_memory(text, memory_id=a_memory_id(number)) for number, text in enumerate(texts, start=1)]
    write_records(tmp_path / "memory" / "a.md", records)
    async with a_library(tmp_path) as library, an_engine(tmp_path, encoder="use-m3") as engine:
        await library.adopt(a_root(tmp_path / "memory"))
        status = await settled(engine)
        assert status.state is EngineState.READY and (status.embedded, status.dimension) == (3, 512)

        source, index = engine_source(engine), library.snapshot(START)
        queries = ("部署之前要先备份数据库", "too many connections to the database: timeout", "パッケージ管理は pnpm")
        first = [(await source(a_cue(query), index))[0] for query in queries]

    assert [one.memory_id for one in first] == [a_memory_id(number) for number in (1, 2, 3)]
