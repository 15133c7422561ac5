"""Engines with a real process and a tiny model, for tests."""

import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from recall.engine import Engine, EngineSetup, EngineState, EngineStatus

ROOT = Path(__file__).resolve().parents[2]
SURROUNDINGS: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(ROOT)}


class Micros:
    """A monotonic clock that stands until a test moves it."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def a_setup(folder: Path, **fields: Any) -> EngineSetup:
    """A process with the tiny model over the index in `folder`; stale vectors stay stale until somebody asks."""
    given = {
        "index": folder / "index.db",
        "vectors": folder / "vectors.db",
        "environment": SURROUNDINGS,
        "encoder": "tests.support.encoders:Tiny",
        "rest_seconds": 3600.0,
    } | fields
    return EngineSetup(**given)


@asynccontextmanager
async def an_engine(folder: Path, micros: Micros | None = None, **fields: Any) -> AsyncIterator[Engine]:
    """An engine that is not started; closed at the end."""
    engine = Engine(a_setup(folder, **fields), micros or Micros())
    try:
        yield engine
    finally:
        await engine.close()


async def settled(engine: Engine) -> EngineStatus:
    """Started, and nothing waits for its vector; or broken."""
    engine.start()
    return await engine.wait_until(
        lambda status: status.state in (EngineState.READY, EngineState.STALE, EngineState.BROKEN)
    )


def python(program: str) -> Sequence[str]:
    """A command that is no engine at all."""
    return (sys.executable, "-c", program)
