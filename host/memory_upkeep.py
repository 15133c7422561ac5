"""The verbs that look after the index and the vectors: `index.rebuild`, `index.progress`, `engine.reembed`."""

from host.connection import Peer
from host.errors import ProtocolFault
from host.parts import Parts
from host.protocol import Request
from host.verbs import Table
from recall.contracts import Frozen
from recall.engine import EngineStatus


class Started(Frozen, frozen=True, kw_only=True):
    """False: it is under way already."""

    started: bool


class IndexProgress(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """Work that goes on in the background: `done` of `total` files. `problem`: why the last rebuild came to nothing."""

    stage: str
    done: int
    total: int
    problem: str = ""
    engine: EngineStatus | None = None


class Upkeep:
    """Work that is begun here and goes on by itself."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return {
            "index.rebuild": self._rebuild,
            "index.progress": self._progress,
            "engine.reembed": self._reembed,
        }

    async def _rebuild(self, request: Request, peer: Peer) -> Started:
        return Started(started=self._parts.library.begin_rebuild())

    async def _progress(self, request: Request, peer: Peer) -> IndexProgress:
        return progress(self._parts)

    async def _reembed(self, request: Request, peer: Peer) -> Started:
        engine = self._parts.engine
        if engine is None:
            problem = "Nothing is found by meaning here, so there are no vectors to make anew."
            raise ProtocolFault("no-engine", problem, "Install the extra `semantic`, and start the daemon again.")
        engine.reembed()
        return Started(started=True)


def progress(parts: Parts) -> IndexProgress:
    """How the index stands, and the vectors where there are any. No I/O."""
    now = parts.library.progress()
    engine = None if parts.engine is None else parts.engine.status()
    return IndexProgress(stage=now.stage, done=now.done, total=now.total, problem=now.problem, engine=engine)
