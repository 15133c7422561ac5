"""An engine without a process: it says the status that it was given, and notes what it was asked to do."""

from collections.abc import Iterable
from pathlib import Path

from recall.engine import Engine, EngineSetup
from recall.frames import EngineState, EngineStatus


class StillEngine(Engine):
    """Nothing is started: `told` is the status, `forgotten` and `made_anew` what was asked."""

    def __init__(self, told: EngineStatus | None = None) -> None:
        nowhere = Path("nowhere")
        super().__init__(EngineSetup(index=nowhere, vectors=nowhere, environment={}), lambda: 0)
        self.told = told or EngineStatus(state=EngineState.READY)
        self.forgotten: list[str] = []
        self.made_anew = 0

    def status(self) -> EngineStatus:
        return self.told

    def reembed(self) -> None:
        self.made_anew += 1

    def forget(self, digests: Iterable[str]) -> None:
        self.forgotten += digests
