"""A measurement begins when everything can be found, and says so when that will never be."""

from pathlib import Path

import pytest

from host.compose import open_recall
from host.errors import RemoraError
from host.evaluation.ready import embedded, searchable
from recall.contracts import Origin
from recall.engine import Engine, EngineSetup, EngineState
from recall.library import Root
from tests.support.builders import a_workspace_scope


async def test_an_empty_library_is_ready_with_nothing(tmp_path: Path) -> None:
    async with open_recall(tmp_path, engine=False) as recall:
        assert await searchable(recall.library) == 0


async def test_what_lies_in_the_files_is_counted(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "note.md").write_text("The starter is fed on Mondays.\n")
    async with open_recall(tmp_path, engine=False) as recall:
        root = Root(path=str(tmp_path / "memory"), scope=a_workspace_scope(), origin=Origin.USER)
        await recall.library.adopt(root)

        assert await searchable(recall.library) == 1


async def test_an_engine_that_cannot_start_is_no_endless_wait(tmp_path: Path) -> None:
    setup = EngineSetup(
        index=tmp_path / "index.db", vectors=tmp_path / "vectors.db", environment={}, command=("/nowhere/engine",)
    )
    engine = Engine(setup, lambda: 0)

    with pytest.raises(RemoraError, match="The engine is broken"):
        await embedded(engine, 1, lambda *_: None)
    await engine.close()
    assert engine.status().state is EngineState.OFF
