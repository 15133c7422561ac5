"""`synthesize`, and the patch that answers it (team.md 6, 10, 12).

A run is one patch. While one waits for its review no other begins. An empty patch is an answer too: the run is a
`no_op`, and what it saw is not offered again. The patch is one candidate: whatever is wrong in it, all is refused.
"""

import asyncio
import sqlite3
from dataclasses import dataclass

import msgspec

from governance.review import ItemFlag, ItemKind
from governance.screen import is_instruction_like
from governance.team import consolidation, leases, offering, patching, payloads, queueing
from governance.team.consolidation import DUE, Material, Source
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.consolidating import (
    ConsolidationBinding,
    ConsolidationPatch,
    ConsolidationTask,
    Replay,
    RunMode,
    Synthesis,
)
from governance.team.contracts.rows import (
    Candidate,
    CandidateState,
    ConsolidationPayload,
    EvidenceRow,
    RunState,
    Task,
    TaskKind,
    TaskState,
)
from governance.team.contracts.staging import Staged, StagedCandidate
from governance.team.contracts.turns import Strength
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.leases import Issue
from governance.team.offering import Sight
from governance.team.prompts import prompt
from governance.team.queueing import Proposal
from governance.team.scenes import Begun, proposed
from governance.team.store import bindings, candidates, runs, submissions, tasks
from governance.team.store.runs import Run
from governance.team.store.submissions import Stage, StageState
from governance.team.syncing import Syncing
from governance.team.trees import Tree
from recall.canonical import bytes_digest, canonical, digest
from recall.contracts import Database

IF_DUE, FULL = "if-due", "full"
MODES = ("incremental", IF_DUE, FULL)
PROMPT = "consolidate"
SCHEMA = "consolidation-patch@v1"
TITLE = 120  # characters
_FINAL = (TaskState.SUBMITTED, TaskState.STALE)
_encoder = msgspec.json.Encoder(order="sorted")
_task = msgspec.json.Decoder(ConsolidationTask)
_staged = msgspec.json.Decoder(Staged)


@dataclass(frozen=True, kw_only=True, slots=True)
class Consolidating:
    """`syncing`: reads the files, and knows of each entry whether the screen holds it back."""

    database: Database
    syncing: Syncing
    formats: Formats
    issue: Issue

    async def synthesize(self, bound: Bound, call: Call, mode: str) -> Synthesis:
        """The task that asks for a patch; the id of the run that waits; or why there is nothing to do.

        `mode`: incremental, if-due or full. Raises TeamFault: `request-invalid`, `sync-partial`, `state-corrupt`.
        """
        if mode not in MODES:
            problem = f"There is no mode {mode[:40]!r}."
            raise TeamFault(Kind.REQUEST_INVALID, problem, f"Name one of {', '.join(MODES)}.")
        seen = await self._seen(bound, call)
        return await self.database.write(lambda connection: self._offered(connection, bound, call, mode, seen))

    async def patch(self, bound: Bound, call: Call, patch: ConsolidationPatch) -> Staged:
        """Take a patch in: one candidate, or a run that had nothing to say.

        Raises TeamFault: `task-not-found`, `submission-conflict`, `binding-drift`, `schema-invalid`,
        `capacity-exceeded`, `task-not-claimable`, `sync-partial`, `sanitization-blocked`.
        """
        made = _digest(patch)
        before = await self.database.read(lambda connection: self._met(connection, bound, patch.task_id, made))
        if isinstance(before, Staged):
            return before
        if before is not None:
            await self.database.write(
                lambda connection: submissions.conflict(connection, patch.task_id, Stage.CONSOLIDATION, made, call.now)
            )
            raise before
        seen = await self._seen(bound, call)
        done = await self.database.write(lambda connection: self._taken(connection, bound, call, patch, seen))
        if isinstance(done, TeamFault):
            raise done
        return done

    async def _seen(self, bound: Bound, call: Call) -> Sight:
        synced = await self.syncing.synced(bound, call.now)
        return await asyncio.to_thread(offering.sight, synced.tree)

    def _offered(self, connection: sqlite3.Connection, bound: Bound, call: Call, mode: str, seen: Sight) -> Synthesis:
        due = offering.due(connection, bound)
        answer = Synthesis(format=self.formats.document("synthesis"), due=due, needed=DUE)
        waiting = runs.pending(connection, bound.owner.worktree_key)
        if waiting is not None:
            note = _waits(connection, waiting, seen.tree)
            return msgspec.structs.replace(answer, pending_run_id=waiting.run_id, note=note)
        if mode != FULL and due < (DUE if mode == IF_DUE else 1):
            new = "1 entry is" if due == 1 else f"{due} entries are"
            when = f"it is due at {DUE}" if due else "there is nothing to do"
            note = f"{new} new or changed: {when}.{_untrusted(connection, bound)}"
            return msgspec.structs.replace(answer, note=note)
        replay = Replay(mode=_run_mode(mode), after_successful_run_id=_after(connection, bound, mode))
        found = offering.material(connection, bound, replay.mode, seen)
        if not found.entries:
            note = f"There is no approved entry to consolidate.{_untrusted(connection, bound)}"
            return msgspec.structs.replace(answer, note=note)
        task = self._task(connection, bound, found, replay)
        row = Task(
            task_id=task.task_id,
            kind=TaskKind.CONSOLIDATION,
            owner=bound.owner,
            state=TaskState.PENDING,
            source_digest=consolidation.source_digest(found, self._source(connection, bound), replay),
            document=_encoder.encode(task).decode(),  # texts as they are: a binding is compared with its echo
            created_at=call.now,
            changed_at=call.now,
        )
        tasks.put(connection, row)
        return msgspec.structs.replace(answer, task=task)

    def _task(self, connection: sqlite3.Connection, bound: Bound, found: Material, replay: Replay) -> ConsolidationTask:
        """The task of this material, in the number of attempts that are over, and one."""
        source = self._source(connection, bound)
        made = consolidation.source_digest(found, source, replay)
        over = tasks.listed(connection, bound.owner.worktree_key, TaskKind.CONSOLIDATION, _FINAL)
        attempt = sum(one.source_digest == made for one in over)
        return consolidation.task_of(found, source, msgspec.structs.replace(replay, attempt=attempt), self.formats)

    def _source(self, connection: sqlite3.Connection, bound: Bound) -> Source:
        asked = prompt(PROMPT)
        return Source(
            owner=bound.owner,
            database_uuid=bindings.installed(connection).uuid,
            prompt=asked.text,
            versions={"prompt": f"{asked.id}:{asked.sha256[:16]}", "schema": SCHEMA},
        )

    def _met(
        self, connection: sqlite3.Connection, bound: Bound, task_id: str, document_digest: str
    ) -> Staged | TeamFault | None:
        """What this very document gave already; the refusal of another one; None: the task was not answered."""
        tasks.needed(connection, task_id, bound.owner, TaskKind.CONSOLIDATION)
        try:
            found = submissions.met(connection, task_id, Stage.CONSOLIDATION, document_digest)
        except TeamFault as fault:
            return fault
        if found is None or found.state is not StageState.COMPLETE:
            return None
        return msgspec.structs.replace(_staged.decode(found.outcome), idempotent=True)

    def _taken(
        self, connection: sqlite3.Connection, bound: Bound, call: Call, patch: ConsolidationPatch, seen: Sight
    ) -> Staged | TeamFault:
        """In one transaction: the lease, the candidate, its run and the record. A fault that is returned leaves its
        mark, one that is raised none."""
        before = self._met(connection, bound, patch.task_id, _digest(patch))
        if before is not None:
            return before
        task = tasks.needed(connection, patch.task_id, bound.owner, TaskKind.CONSOLIDATION)
        held = leases.admitted(connection, task, None, call, self.issue)
        binding = _task.decode(task.document).binding
        if patch.binding != binding:
            problem = "The binding is not the one that the task was handed out with."
            raise TeamFault(Kind.BINDING_DRIFT, problem, "Echo taskId and binding as they are, or call synthesize.")
        drift = consolidation.drifted(binding, offering.material(connection, bound, binding.replay.mode, seen))
        if drift:
            leases.stale(connection, held, drift, call.now)
            return TeamFault(Kind.BINDING_DRIFT, drift, "Call synthesize again, and answer what it hands out.")
        staged = self._run(connection, bound, call, patch, seen.tree)
        leases.submitted(connection, held, call.now)
        submissions.begin(connection, patch.task_id, Stage.CONSOLIDATION, _digest(patch), call.now)
        begun = submissions.get(connection, patch.task_id, Stage.CONSOLIDATION)
        if begun is not None:
            outcome = _encoder.encode(staged).decode()
            submissions.move(connection, begun, StageState.COMPLETE, outcome, call.now)
        return staged

    def _run(
        self, connection: sqlite3.Connection, bound: Bound, call: Call, patch: ConsolidationPatch, tree: Tree
    ) -> Staged:
        """Write the run down, and its candidate if there is one. Raises TeamFault."""
        waiting = runs.pending(connection, bound.owner.worktree_key)
        if waiting is not None:
            problem = f"The run {waiting.run_id} waits for its review."
            raise TeamFault(Kind.TASK_NOT_CLAIMABLE, problem, _waits(connection, waiting, tree))
        run_id = f"run-{digest(patch.task_id)[:32]}"
        entries = consolidation.digests(patch.binding)
        payload = proposed(patch.operations, entries, tree, Begun(run_id=run_id, at=call.now))
        candidate = self._candidate(bound, call, patch, payload) if patch.operations else None
        if candidate is not None:
            assessments = patching.assessed(payload, patch.task_id)
            candidates.insert(connection, candidate, assessments)
            tasks.put_evidence(connection, patch.task_id, _evidence(payload, tree))
            queueing.staged(connection, candidate, _proposal(payload), bound, call)
        runs.put(connection, _begun(connection, bound, call, patch.binding, (run_id, patch.task_id, candidate)))
        made = () if candidate is None else (_shown(candidate),)
        note = "Nothing was to be said: these entries are not offered again." if candidate is None else ""
        return Staged(
            format=self.formats.document("staged"),
            task_id=patch.task_id,
            candidates=made,
            done=candidate is None,
            note=note,
        )

    def _candidate(
        self, bound: Bound, call: Call, patch: ConsolidationPatch, payload: ConsolidationPayload
    ) -> Candidate:
        flagged = any(is_instruction_like(statement.text) for statement in payload.statements)
        return Candidate(
            candidate_id=f"{patch.task_id}-c1",
            kind="consolidation",
            task_id=patch.task_id,
            owner=bound.owner,
            state=CandidateState.STAGED,
            revision=1,
            memory_id="",
            target_path="",
            payload=payloads.encoded(payload),
            flags=(ItemFlag.QUARANTINED,) if flagged else (),
            created_at=call.now,
            changed_at=call.now,
        )


def _digest(patch: ConsolidationPatch) -> str:
    """Of a document as it came: one that differs anywhere is another one."""
    return bytes_digest(_encoder.encode(patch))


def _run_mode(mode: str) -> RunMode:
    return "full" if mode == FULL else "incremental"


def _after(connection: sqlite3.Connection, bound: Bound, mode: str) -> str | None:
    """The last run that succeeded, for a full one: so the same input gives another task."""
    last = runs.succeeded(connection, bound.owner.worktree_key) if mode == FULL else None
    return None if last is None else last.run_id


def _untrusted(connection: sqlite3.Connection, bound: Bound) -> str:
    """A word about entries that are left out."""
    number = offering.entries(connection, bound).untrusted
    if not number:
        return ""
    rest = "1 more is" if number == 1 else f"{number} more are"
    return f" {rest} left out: nobody here trusts this repository's memory yet; `init --trust-memory` changes that."


def _waits(connection: sqlite3.Connection, run: Run, tree: Tree) -> str:
    """What to do about a run that waits."""
    candidate = candidates.get(connection, run.candidate_id)
    drift = "" if candidate is None else patching.drifted(payloads.consolidation(candidate), tree)
    if drift:
        return f"{drift} Discard {run.candidate_id}, then call synthesize again."
    return f"Review and promote {run.candidate_id}, or discard it, before the next one."


def _begun(
    connection: sqlite3.Connection,
    bound: Bound,
    call: Call,
    binding: ConsolidationBinding,
    made: tuple[str, str, Candidate | None],
) -> Run:
    run_id, task_id, candidate = made
    return Run(
        run_id=run_id,
        owner=bound.owner,
        mode=binding.replay.mode,
        state=RunState.NO_OP if candidate is None else RunState.PENDING_REVIEW,
        task_id=task_id,
        candidate_id="" if candidate is None else candidate.candidate_id,
        entries=binding.entry_revisions,
        number=runs.number(connection),
        created_at=call.now,
        changed_at=call.now,
    )


def _evidence(payload: ConsolidationPayload, tree: Tree) -> tuple[EvidenceRow, ...]:
    """The entries that are cited, as evidence of the task: their files stand in the repository."""
    found = [(entry, tree.entry(entry.id)) for entry in payload.entries]
    return tuple(
        EvidenceRow(
            evidence_id=entry.id,
            kind="path",
            pointer_digest=entry.digest,
            display=file.path,
            pointer=canonical({"path": file.path}).decode(),
            strength=Strength.CONTEXTUAL,
            limitations=(),
        )
        for entry, file in found
        if file is not None
    )


def _proposal(payload: ConsolidationPayload) -> Proposal:
    """What a person reads of it in the queue."""
    rows = [f"{one.op} {one.target} {one.name}: {one.rationale}".rstrip(": ") for one in payload.operations]
    scenes = any(one.target == "scene" for one in payload.operations)
    texts = [f"{row}\n\n{said.text}".strip() for row, said in zip(rows, payload.statements, strict=True)]
    return Proposal(
        kind=ItemKind.SCENE if scenes else ItemKind.DOCTRINE,
        title="; ".join(f"{one.op} {one.name}" for one in payload.operations)[:TITLE],
        text="\n\n".join(texts),
    )


def _shown(candidate: Candidate) -> StagedCandidate:
    return StagedCandidate(candidate_id=candidate.candidate_id, state=candidate.state, revision=candidate.revision)
