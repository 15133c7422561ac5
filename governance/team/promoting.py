"""`promote` (team.md 9): what was approved is written exactly so, or not at all.

The journal's steps block, so they run in a thread; its transactions come back to the loop. A promotion that was begun
is not stopped by whoever waits for it going away.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from governance.formation.contracts import Fault, no_fault
from governance.formation.queue import Queue
from governance.team import confirming
from governance.team.completing import completed, superseded
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.ports import Committed
from governance.team.contracts.promoting import AppliedFile, ApplyResult
from governance.team.contracts.results import Discarded
from governance.team.contracts.rows import Plan
from governance.team.disk import Disk
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.journal import Drift, Promotion
from governance.team.locking import WAIT_SECONDS, holding, locked
from governance.team.prechecks import AGAIN, VOIDING, Prechecks, unreachable
from governance.team.previewing import Citations
from governance.team.resuming import Ends, Outcome, carry_out, close, resume, tidy
from governance.team.store import bindings, journals, plans
from governance.team.syncing import Syncing
from recall.contracts import Database, Frozen, Millis

T = TypeVar("T")
LOCKS, RECOVERED = "locks", "recovered"
STUCK = "Repair that, then promote again: that goes on from where it stands, or takes it back."
DONE = "Nothing was staged or committed in git: look at the change, and commit it yourself."


class Resumed(Frozen, frozen=True, kw_only=True):
    """A plan that was found unfinished. `state`: its state now; `problem`: why it is not applied, or not done."""

    plan_id: str
    state: str
    problem: str = ""
    next_step: str = ""


@dataclass(kw_only=True, slots=True)
class Promoting:
    """`verify`: that a worktree is still the one that was bound; `data`: the folder of locks and of what was recovered.
    `fault`: tests stop there. `wait_seconds`: for another promotion in the repository."""

    database: Database
    formats: Formats
    queue: Queue
    verify: Callable[[Bound], Awaitable[None]]
    citations: Citations
    syncing: Syncing
    committed: Committed
    data: Path
    fault: Fault = no_fault
    wait_seconds: float = WAIT_SECONDS
    _under_way: set["asyncio.Task[Any]"] = field(default_factory=set)

    async def promote(self, bound: Bound, call: Call, plan_id: str, plan_digest: str | None = None) -> ApplyResult:
        """Write the files of an approved plan. `plan_digest`: confirms a plan that was only generated.

        Raises TeamFault: `reviewer-kind`, `lock-busy`, `owner-mismatch`, `plan-not-found`, `plan-digest-mismatch`,
        `plan-state-invalid`; the plan is voided: `approval-expired`, `binding-drift`, `candidate-stale`,
        `target-drift`, `target-path-invalid`, `sanitization-blocked`; it is still approved: `io-error`,
        `unsupported-filesystem`, `sync-partial`; `rollback-required`.
        """
        confirming.admitted(call)
        return await self._kept(self._promote(bound, call, plan_id, plan_digest))

    async def resume(self, now: Millis) -> tuple[Resumed, ...]:
        """Finish, or take back, what an earlier process was stopped in. Raises nothing of its own: see `problem`."""
        found = []
        for repository_key in await self.database.read(_repositories):
            try:
                found += await self._kept(self._resume_repository(repository_key, now))
            except TeamFault as fault:  # another process is at it
                found.append(Resumed(plan_id="", state="", problem=fault.problem, next_step=fault.next_step))
        return tuple(found)

    async def closed(self, bound: Bound, call: Call, plan_id: str, keep_files: bool) -> Discarded:
        """Give up a plan. `keep_files`: also one whose files were begun, which stay as they are.

        Raises TeamFault: `plan-not-found`, `owner-mismatch`, `lock-busy`; `plan-state-invalid`: it is applied, or was
        begun; `io-error`.
        """
        return await self._kept(self._closed(bound, call, plan_id, keep_files))

    async def _promote(self, bound: Bound, call: Call, plan_id: str, plan_digest: str | None) -> ApplyResult:
        async with locked(self.data / LOCKS, bound.owner.repository_key, self.wait_seconds) as lock:
            await self.database.write(lambda connection: plans.seen(connection, call.now))
            await self.verify(bound)
            await self._owned(bound, plan_id)
            resumed = await self._resume_all(bound.owner.repository_key, call.now, lock)
            plan = await self.database.write(
                lambda connection: confirming.approved(connection, plan_id, plan_digest, call)
            )
            if plan.state == "applied":
                return await self._result(bound, plan, call.now, idempotent=True)
            if plan.state != "approved":
                raise _not_promotable(plan, next((one for one in resumed if one.plan_id == plan_id), None))
            outcome = await self._carried_out(bound, plan, call.now, lock)
            return await self._result(bound, plan, call.now, outcome)

    async def _closed(self, bound: Bound, call: Call, plan_id: str, keep_files: bool) -> Discarded:
        outcome = Outcome(state="voided")
        async with locked(self.data / LOCKS, bound.owner.repository_key, self.wait_seconds) as lock:
            plan = await self._owned(bound, plan_id)
            if plan.state in ("generated", "approved"):
                await self.database.write(lambda c: confirming.voided(c, plan_id, call.now, "discarded"))
            elif plan.state == "applying" and keep_files:
                outcome = await self._close(bound, plan, call.now, lock)
            elif plan.state != "voided":
                raise _not_discardable(plan)
        return Discarded(
            format=self.formats.document("discarded"),
            id=plan_id,
            kind="plan",
            state="voided",
            idempotent=plan.state == "voided",
            recovered=(*outcome.recovered, *outcome.left),
        )

    async def _resume_repository(self, repository_key: str, now: Millis) -> list[Resumed]:
        async with locked(self.data / LOCKS, repository_key, self.wait_seconds) as lock:
            return await self._resume_all(repository_key, now, lock)

    async def _carried_out(self, bound: Bound, plan: Plan, now: Millis, lock: int) -> Outcome:
        """Rows 1 to 6; the outcome is `applied`."""
        promotion = await self._promotion(bound, plan, now)
        checks = Prechecks(
            database=self.database, formats=self.formats, citations=self.citations, read=self.syncing.read
        )
        try:
            await checks.check(bound, plan, promotion.files, promotion.disk, now)
            outcome = await asyncio.to_thread(holding(lock, carry_out), promotion, self._ends(plan, promotion, now))
        except Drift as error:  # between the check and T1
            raise await self._void(plan, TeamFault(Kind.TARGET_DRIFT, str(error), AGAIN), now) from error
        except OSError as error:
            raise unreachable(error) from error
        except sqlite3.Error as error:
            raise TeamFault(Kind.STATE_FAILED, f"The database cannot be written: {error}.", STUCK) from error
        except TeamFault as fault:
            if fault.kind in VOIDING and (await self._owned(bound, plan.plan_id)).state == "approved":
                raise await self._void(plan, fault, now) from fault
            raise
        if outcome.state != "applied":
            raise _taken_back(outcome)
        return outcome

    async def _void(self, plan: Plan, fault: TeamFault, now: Millis) -> TeamFault:
        await self.database.write(
            lambda connection: confirming.voided(connection, plan.plan_id, now, f"{fault.kind}: {fault.problem}")
        )
        return fault

    async def _resume_all(self, repository_key: str, now: Millis, lock: int) -> list[Resumed]:
        """Every unfinished plan of a repository, in their order. The caller holds the lock."""
        unfinished = await self.database.read(lambda connection: journals.unfinished(connection, repository_key))
        return [await self._resumed(plan_id, now, lock) for plan_id in unfinished]

    async def _resumed(self, plan_id: str, now: Millis, lock: int) -> Resumed:
        plan = await self.database.read(lambda connection: plans.needed(connection, plan_id))
        try:
            bound = await self.database.read(lambda connection: bindings.needed(connection, plan.owner.worktree_key))
            promotion = await self._promotion(bound, plan, now)
            if plan.state == "approved":
                for file in promotion.files:
                    await asyncio.to_thread(promotion.disk.drop_probe, file.target_path, plan_id)
                return Resumed(plan_id=plan_id, state=plan.state)
            await self.verify(bound)
            ends = self._ends(plan, promotion, now)
            if plan.state == "applying":
                outcome = await asyncio.to_thread(holding(lock, resume), promotion, plan.phase, ends)
            else:
                outcome = await asyncio.to_thread(holding(lock, tidy), promotion)
        except TeamFault as fault:
            return Resumed(plan_id=plan_id, state=plan.state, problem=fault.problem, next_step=fault.next_step)
        except (OSError, sqlite3.Error) as error:
            return Resumed(plan_id=plan_id, state=plan.state, problem=str(error), next_step=STUCK)
        problem = outcome.problem or (await self._synced(bound, plan, now) if outcome.state == "applied" else "")
        return Resumed(plan_id=plan_id, state=outcome.state, problem=problem)

    async def _close(self, bound: Bound, plan: Plan, now: Millis, lock: int) -> Outcome:
        promotion = await self._promotion(bound, plan, now)
        try:
            return await asyncio.to_thread(holding(lock, close), promotion, self._ends(plan, promotion, now))
        except OSError as error:
            problem = f"The old bytes could not be kept: {error.strerror or error}."
            raise TeamFault(Kind.IO_ERROR, problem, "Make room in the data folder, and discard it again.") from error

    async def _promotion(self, bound: Bound, plan: Plan, now: Millis) -> Promotion:
        """The promotion of a stored plan, as far as it is written down."""
        loop = asyncio.get_running_loop()

        def commit(work: Callable[[sqlite3.Connection], T]) -> T:
            return asyncio.run_coroutine_threadsafe(_written(self.database, work), loop).result()

        files, folders = await self.database.read(
            lambda connection: (plans.files(connection, plan.plan_id), journals.folders(connection, plan.plan_id))
        )
        return Promotion(
            plan_id=plan.plan_id,
            disk=Disk(bound.root, self.fault),
            commit=commit,
            now=now,
            files=list(files),
            folders=folders,
            fault=self.fault,
        )

    def _ends(self, plan: Plan, promotion: Promotion, now: Millis) -> Ends:
        def voided(connection: sqlite3.Connection, reason: str) -> None:
            confirming.voided(connection, plan.plan_id, now, reason)

        return Ends(
            begun=lambda connection: _still(connection, plan),
            completed=lambda connection: completed(connection, self.queue, plan, promotion.files, now),
            voided=voided,
            recovered=self.data / RECOVERED,
        )

    async def _owned(self, bound: Bound, plan_id: str) -> Plan:
        """The plan, which is this worktree's."""
        plan = await self.database.read(lambda connection: plans.needed(connection, plan_id))
        if plan.owner != bound.owner:
            problem = f"The plan {plan_id} is of another worktree."
            raise TeamFault(Kind.OWNER_MISMATCH, problem, "Call from inside of the worktree that it was prepared in.")
        return plan

    async def _result(
        self, bound: Bound, plan: Plan, now: Millis, outcome: Outcome | None = None, *, idempotent: bool = False
    ) -> ApplyResult:
        problem = await self._synced(bound, plan, now)
        done = outcome or Outcome(state="applied")
        files = await self.database.read(lambda connection: plans.files(connection, plan.plan_id))
        return ApplyResult(
            format=self.formats.document("apply-result"),
            plan_id=plan.plan_id,
            state="applied",
            applied=True,
            files=tuple(
                AppliedFile(target_path=one.target_path, operation=one.operation, digest=one.sanitized_digest)
                for one in files
            ),
            candidates=plan.candidate_ids,
            idempotent=idempotent,
            problem=" ".join(filter(None, (done.problem, problem))) or None,
            recovered=(*done.recovered, *done.left),
            note=DONE,
        )

    async def _synced(self, bound: Bound, plan: Plan, now: Millis) -> str:
        """Row 7: what compares and what recalls look at the files again. Why that failed; empty: it did not."""
        files, gone = await self.database.read(
            lambda connection: (plans.files(connection, plan.plan_id), superseded(connection, plan))
        )
        try:
            await self.syncing.synced(bound, now)
            await self.committed.promoted(bound, [file.target_path for file in files], gone)
        except TeamFault as fault:
            return f"{Kind.SYNC_PARTIAL}: {fault.problem} {fault.next_step}"
        except (OSError, sqlite3.Error) as error:
            return f"{Kind.SYNC_PARTIAL}: {error}. Promote again: that only looks at the files once more."
        return ""

    async def _kept(self, work: Coroutine[Any, Any, T]) -> T:
        """Do it to its end, also when whoever waits for it goes away."""
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)


async def _written(database: Database, work: Callable[[sqlite3.Connection], T]) -> T:
    return await database.write(work)


def _repositories(connection: sqlite3.Connection) -> Sequence[str]:
    keys = (plans.needed(connection, plan_id).owner.repository_key for plan_id in journals.unfinished(connection))
    return tuple(dict.fromkeys(keys))


def _still(connection: sqlite3.Connection, plan: Plan) -> None:
    """In T1 itself: the candidates are as they were checked."""
    confirming.unchanged(connection, plan)


def _taken_back(outcome: Outcome) -> TeamFault:
    """Why a promotion came to nothing: everything is as others have it."""
    if outcome.state == "approved":
        next_step = "All is as it was, and the plan is still approved: promote again once that is repaired."
    else:
        next_step = "What others wrote was left as it is. Review and prepare again."
    aside = f" Bytes that were kept aside: {', '.join((*outcome.recovered, *outcome.left))}."
    kept = aside if outcome.recovered or outcome.left else ""
    return TeamFault(outcome.kind or Kind.TARGET_DRIFT, f"{outcome.problem}{kept}", next_step)


def _not_promotable(plan: Plan, resumed: Resumed | None) -> TeamFault:
    if plan.state == "applying":
        found = resumed or Resumed(plan_id=plan.plan_id, state=plan.state)
        problem = f"The plan {plan.plan_id} was begun, and is stuck: {found.problem or 'it is being written.'}"
        return TeamFault(Kind.ROLLBACK_REQUIRED, problem, found.next_step or STUCK)
    why = resumed.problem if resumed and resumed.problem else plan.reason
    return TeamFault(
        Kind.PLAN_STATE_INVALID, f"The plan {plan.plan_id} is {plan.state}: {(why or 'discarded').rstrip('.')}.", AGAIN
    )


def _not_discardable(plan: Plan) -> TeamFault:
    if plan.state == "applied":
        return TeamFault(
            Kind.PLAN_STATE_INVALID,
            f"The plan {plan.plan_id} is applied: its files are written.",
            "Take them back with git, as any other change.",
        )
    return TeamFault(
        Kind.PLAN_STATE_INVALID,
        f"The plan {plan.plan_id} was begun, and its files may be half written.",
        f"Promote it again, which goes on or back; or leave the files as they are: discard --plan {plan.plan_id}"
        " --keep-files.",
    )
