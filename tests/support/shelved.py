"""Documents of a workspace on disk, with their queue and their rows, and a person who decides."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from governance.formation.contracts import DocumentKind, DocumentsResult, Fault, Layer, Mode, ModelDriver, no_fault
from governance.formation.docitems import Run
from governance.formation.documents import extract_l2, extract_l3
from governance.formation.errors import StateFault
from governance.formation.queue import Put, Queue, QueueFilter
from governance.formation.skills import extract_skills
from governance.migrations import queue_steps
from governance.review import Act, Decision, Principal, QueueItem, Refusal
from host.formation.document_files import DocumentFiles
from host.formation.documents import FormedDocuments
from host.formation.held_skills import HeldSkills
from recall.contracts import Database
from recall.documents import Documents
from tests.support.clock import FakeClock
from tests.support.drafting import Json, an_atom, of_skills, setting_of
from tests.support.fakes import FakeDatabase
from tests.support.noting import SCOPE, a_message, a_model

KEY = b"k" * 32


@dataclass
class Shelved:
    """`FormedDocuments` over a folder, and a person who decides."""

    data: Path
    database: Database = field(default_factory=lambda: FakeDatabase(queue_steps()))
    fault: Fault = no_fault
    clock: FakeClock = field(default_factory=FakeClock)
    documents: FormedDocuments = field(init=False)
    queue: Queue = field(init=False)
    runs: int = 0

    def __post_init__(self) -> None:
        self.queue = Queue(self.database, KEY)
        files = DocumentFiles(self.data, Documents())
        self.documents = FormedDocuments(
            database=self.database, queue=self.queue, files=files, clock=self.clock, fault=self.fault
        )

    @property
    def folder(self) -> Path:
        return self.data / "memory" / SCOPE

    def files(self) -> dict[str, str]:
        """Everything that lies in the memory folder, by its path there."""
        every = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_text("utf-8") for path in every}

    async def proposed(self, layer: Layer, *answers: Json, **fields: Any) -> tuple[DocumentsResult, tuple[Put, ...]]:
        """A run of that layer, whose model gives these answers; and what became of its changes."""
        self.runs += 1
        run = Run(workspace_key=SCOPE, run_id=f"run-{self.runs}", layer=layer, at=self.clock.now())
        mode = fields.get("mode", Mode.CODE)
        result = await self._ran(layer, a_model(*answers), fields)
        return result, await self.documents.propose(run, result, mode)

    async def scenes(self, *answers: Json, **fields: Any) -> list[QueueItem]:
        """The items that a run of L2 left in the queue."""
        _, puts = await self.proposed(Layer.L2, *answers, **fields)
        return [await self.item(put.item_id) for put in puts]

    async def item(self, item_id: str) -> QueueItem:
        found = await self.queue.get(item_id)
        assert found is not None
        return found

    async def items(self) -> list[QueueItem]:
        return list((await self.queue.list(QueueFilter())).items)

    async def decide(self, item: QueueItem, act: Act = Act.KEEP, text: str | None = None) -> QueueItem | Refusal:
        self.clock.advance(seconds=1)
        now = await self.item(item.item_id)
        decision = Decision(
            actor=Principal.HUMAN, kind=act, at=self.clock.now(), expected_revision=now.revision, reason="because"
        )
        return await self.documents.decide(now, decision, text)

    async def kept(self, item: QueueItem, text: str | None = None) -> QueueItem:
        done = await self.decide(item, Act.KEEP if text is None else Act.EDIT_AND_KEEP, text)
        assert isinstance(done, QueueItem)
        return done

    async def scene(self, name: str) -> Any:
        """A scene as it stands."""
        standing = await self.documents.standing(SCOPE)
        return next(one for one in standing.of(DocumentKind.SCENE) if one.name == name)

    def rows(self, statement: str) -> list[Any]:
        """What the database says."""
        assert isinstance(self.database, FakeDatabase)
        return self.database.connection.execute(statement).fetchall()

    async def _ran(self, layer: Layer, model: ModelDriver, fields: dict[str, Any]) -> DocumentsResult:
        mode = fields.get("mode", Mode.CODE)
        run_id = f"run-{self.runs}"
        if layer is Layer.L2:
            atoms: Sequence[Any] = fields.get("atoms", (an_atom(version=1 + self.runs),))  # a new one each run
            return await extract_l2(model, await self.documents.l2(SCOPE, run_id, atoms, mode), setting_of("l2"))
        if layer is Layer.L3:
            request = await self.documents.l3(SCOPE, run_id, mode)
            return await extract_l3(model, request, setting_of("persona" if mode is Mode.CHAT else "doctrine"))
        skills = HeldSkills(await self.documents.standing(SCOPE))
        messages = fields.get("messages", (a_message(1),))
        return await extract_skills(model, of_skills(*messages), skills, setting_of("skill"))


def fails_at(point: str, times: int = 1) -> Fault:
    """A fault that breaks the first `times` commits at a named point."""
    left = [times]

    def fault(at: str) -> None:
        if at == point and left[0]:
            left[0] -= 1
            raise StateFault("state-failed", f"Broken at {point}.")

    return fault
