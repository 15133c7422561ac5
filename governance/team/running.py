"""`team run`: recall, drafts and decisions by a configured model, with nobody there (team.md 2). Off by default.

It has no privileges: it goes through the same operations as an agent, under the principal `runner`, and ends at
staged. A person reviews what it staged. No other operation of the team workflow asks a model.
"""

import sqlite3
from dataclasses import dataclass
from typing import Protocol

import msgspec

from governance.formation.calling import Stopped, asked
from governance.formation.contracts import ModelDriver, ModelRequest, ModelResponse
from governance.team import asking, leases
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.consolidating import ConsolidationPatch, Synthesis
from governance.team.contracts.recalling import AgentRecall, ExtractionRequest
from governance.team.contracts.rows import TaskKind
from governance.team.contracts.staging import AdjudicationResult, AdjudicationTask, DraftBatch, RejectedDraft, Staged
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.store import tasks
from recall.contracts import Database

RUNNER = "runner"
_document = msgspec.json.Decoder(AdjudicationTask)


class Recalls(Protocol):
    async def recall(self, bound: Bound, call: Call, request: ExtractionRequest, limit: int) -> AgentRecall: ...


class Stages(Protocol):
    async def draft(self, bound: Bound, call: Call, batch: DraftBatch) -> AdjudicationTask | Staged: ...

    async def adjudicate(self, bound: Bound, call: Call, result: AdjudicationResult) -> Staged: ...


class Consolidates(Protocol):
    async def synthesize(self, bound: Bound, call: Call, mode: str) -> Synthesis: ...

    async def patch(self, bound: Bound, call: Call, patch: ConsolidationPatch) -> Staged: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """`enabled`: whether the user has turned it on."""

    database: Database
    recalling: Recalls
    staging: Stages
    consolidating: Consolidates
    formats: Formats
    enabled: bool = False

    def admit(self) -> None:
        """Raise TeamFault (`request-invalid`) while it is off."""
        if not self.enabled:
            problem = "The unattended run is off."
            next_step = "The agent that is running can do the same; to let a model do it, set `run = true` in [team]."
            raise TeamFault(Kind.REQUEST_INVALID, problem, next_step)

    async def run(self, bound: Bound, call: Call, request: ExtractionRequest | None, driver: ModelDriver) -> Staged:
        """One portion of what the request matches, drafted and decided about; without a request one patch of the
        scenes. At most two calls of the model.

        Raises TeamFault: `request-invalid` while it is off, `schema-invalid` for an answer that cannot be used, and
        what the operations raise; ModelError.
        """
        self.admit()
        runner = msgspec.structs.replace(call, principal=RUNNER, holder=f"{RUNNER}:{call.holder}")
        if request is None:
            return await self._consolidated(bound, runner, driver)
        left = await self.database.read(lambda connection: _undecided(connection, bound, runner))
        if left is not None:
            return await self._decided(bound, runner, left, driver)
        return await self._drafted(bound, runner, request, driver)

    async def _drafted(self, bound: Bound, call: Call, request: ExtractionRequest, driver: ModelDriver) -> Staged:
        found = await self.recalling.recall(bound, call, request, 1)
        if not found.sources:
            return self._nothing(found.note)
        task = found.sources[0]
        made = asking.drafted(await _answer(driver, asking.drafting(task)), task, self.formats)
        taken = await self.staging.draft(bound, call, made.batch)
        if isinstance(taken, AdjudicationTask):
            taken = await self._decided(bound, call, taken, driver)
        return _with(taken, made.told(taken.rejected), found.selection.pending_chunks - 1)

    async def _decided(self, bound: Bound, call: Call, task: AdjudicationTask, driver: ModelDriver) -> Staged:
        response = await _answer(driver, asking.deciding(task))
        return await self.staging.adjudicate(bound, call, asking.adjudicated(response, task, self.formats))

    async def _consolidated(self, bound: Bound, call: Call, driver: ModelDriver) -> Staged:
        found = await self.consolidating.synthesize(bound, call, "incremental")
        if found.task is None:
            return self._nothing(found.note)
        response = await _answer(driver, asking.consolidating(found.task))
        return await self.consolidating.patch(bound, call, asking.patched(response, found.task, self.formats))

    def _nothing(self, note: str) -> Staged:
        return Staged(format=self.formats.document("staged"), task_id="", note=note)


def _undecided(connection: sqlite3.Connection, bound: Bound, call: Call) -> AdjudicationTask | None:
    """Drafts of an earlier run that nobody decided about: its model did not answer then."""
    for task in tasks.listed(connection, bound.owner.worktree_key, TaskKind.ADJUDICATION, tasks.UNFINISHED):
        parent = tasks.get(connection, task.parent)
        if parent is not None and parent.holder == call.holder and leases.claimable(task, call):
            return _document.decode(task.document)
    return None


async def _answer(driver: ModelDriver, request: ModelRequest) -> ModelResponse:
    response = await asked(driver, request, None)
    assert not isinstance(response, Stopped)  # nothing calls it off but the task's own cancellation
    return response


def _with(staged: Staged, rejected: tuple[RejectedDraft, ...], left: int) -> Staged:
    """The answer, with all that fell, and how much waits."""
    notes = [staged.note, f"{left} more portions wait: run again." if left > 0 else ""]
    note = " ".join(one for one in notes if one)
    return msgspec.structs.replace(staged, rejected=rejected, note=note)
