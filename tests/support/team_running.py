"""The unattended run over a real database and a real folder, its history in memory and its model scripted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from governance.team.contracts.staging import Staged
from governance.team.running import Running
from governance.team.store import trust
from governance.team.store.trust import Trusted
from governance.team.synthesis import Consolidating
from tests.support.checkpoints import ScriptedModel
from tests.support.clock import START
from tests.support.team_promoting import Promotions
from tests.support.team_recall import FORMATS, a_request
from tests.support.team_review import Desk
from tests.support.team_stage import Stage, a_stage


class Runner:
    """`model`: what it asks. `running`: turned on."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.model = ScriptedModel()
        self.consolidating = Consolidating(
            database=stage.database, syncing=stage.syncing, formats=FORMATS, issue=stage.recalled.issue
        )
        self.running = self.as_set(enabled=True)

    def as_set(self, *, enabled: bool) -> Running:
        return Running(
            database=self.stage.database,
            recalling=self.stage.recalled.recalling,
            staging=self.stage.staging,
            consolidating=self.consolidating,
            formats=FORMATS,
            enabled=enabled,
        )

    async def run(self, *answers: Any, consolidate: bool = False) -> Staged:
        """One run; the model gives these answers."""
        self.model.answers += answers
        request = None if consolidate else a_request()
        call = self.stage.call("terminal", "user")
        return await self.running.run(self.stage.bound, call, request, self.model)

    async def trust(self) -> None:
        said = Trusted(trusted=True, via="terminal", at=START)
        key = self.stage.bound.owner.repository_key
        await self.stage.database.write(lambda connection: trust.set_trust(connection, key, said))


@asynccontextmanager
async def a_runner(folder: Path) -> AsyncIterator[Runner]:
    async with a_stage(folder) as stage:
        await stage.tasks(holder="nobody's")  # the installation is drawn with the first recall
        stage.now += 3_600_000
        yield Runner(stage)


def a_draft(request: Any, content: str = "Number 1 is done by hand.") -> dict[str, Any]:
    """An answer with one draft, citing the first turn that the request shows."""
    evidence = request.messages[0].content.split('"evidenceId":"', 1)[1].split('"', 1)[0]
    statement = {"statementId": "s1", "text": content, "evidenceIds": [evidence]}
    draft = {"content": content, "type": "work_fact", "priority": 60, "confidence": "high", "scene": None}
    return {"candidates": [draft | {"statements": [statement]}]}


def stores(request: Any) -> dict[str, Any]:
    """An answer that decides about nothing: what is not decided about is stored."""
    return {"decisions": []}


def promotions(stage: Stage, folder: Path) -> Promotions:
    """Review, prepare and promote over the same database and files."""
    desk = Desk(
        database=stage.database,
        bound=stage.bound,
        citations=stage.citing,  # type: ignore[arg-type]  # the real one, for the fake's port
        history=stage.recalled.history,
    )
    return Promotions(desk=desk, folder=folder, queue=stage.queue)
