"""Decisions about drafts, carried out within one transaction (team.md 6.3).

Whoever calls this has compared again, in the same transaction: what is read here is what was decided about. `Drifted`
is raised when that is not so after all; the caller undoes everything then.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from governance.review import Citation
from governance.team import payloads, queueing
from governance.team.adjudicating import Decided, inherited
from governance.team.assessing import Basis, assessed, basis
from governance.team.cited import public_of
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.rows import (
    Candidate,
    CandidateState,
    Cited,
    EntryPayload,
    EvidenceRow,
    Target,
)
from governance.team.contracts.staging import MergedFields, PoolItem
from governance.team.contracts.turns import Strength
from governance.team.drafting import flags_of, path_of, targets
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, plans, projections
from recall.canonical import digest

MOST_CITED = 32
FROM_PRIVATE = "private-record"  # a limitation: it rests on what the user's own record says
COVERED, REPLACED = "covered", "replaced"


class Drifted(Exception):
    """What was decided about is not as it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settling:
    """One adjudication. `pool`: as it was compared, by id; `rows`: the evidence of the drafts' task;
    `typed`: by draft, merged statements that were verified without a person."""

    bound: Bound
    call: Call
    pool: Mapping[str, PoolItem]
    rows: Sequence[EvidenceRow]
    task_id: str
    typed: Mapping[str, frozenset[str]]

    def settle(self, connection: sqlite3.Connection, decisions: Sequence[Decided]) -> tuple[Candidate, ...]:
        """Carry the decisions out; the drafts as they stand then, in the order of the decisions.

        Raises Drifted, and TeamFault (`schema-invalid` for evidence that nobody can cite, `state-corrupt`).
        """
        self._free(connection, decisions)
        drafts = {one.draft_ref: self._draft(connection, one.draft_ref) for one in decisions}
        return tuple(self._one(connection, one, drafts[one.draft_ref]) for one in decisions)

    def _draft(self, connection: sqlite3.Connection, draft_ref: str) -> Candidate:
        draft = candidates.get(connection, draft_ref)
        if draft is None or draft.state is not CandidateState.DRAFT:
            raise Drifted(f"{draft_ref} is no draft any more")
        return draft

    def _free(self, connection: sqlite3.Connection, decisions: Sequence[Decided]) -> None:
        """Nothing that an approved plan holds is replaced."""
        items = [self.pool[target] for one in decisions if one.replaces for target in one.target_ids]
        held = plans.held(connection, [item.id for item in items if item.source_kind == "candidate"])
        for candidate_id, plan_id in sorted(held.items()):
            raise Drifted(f"{candidate_id} is in the plan {plan_id}, which is approved")
        key = self.bound.owner.worktree_key
        rows = [projections.entry(connection, key, item.id) for item in items if item.source_kind == "approved"]
        paths = projections.held(connection, key, [row.path for row in rows if row is not None])
        for path in sorted(paths):
            raise Drifted(f"an approved plan is about {path}")

    def _one(self, connection: sqlite3.Connection, one: Decided, draft: Candidate) -> Candidate:
        if one.act == "skip":
            return self._skipped(connection, one, draft)
        if one.merged is None:
            return self._staged(connection, draft, payloads.entry(draft))
        return self._merged(connection, one, draft, one.merged)

    def _skipped(self, connection: sqlite3.Connection, one: Decided, draft: Candidate) -> Candidate:
        covers = tuple(self._target(connection, target) for target in one.target_ids)
        draft = msgspec.structs.replace(draft, covers=targets(covers))
        return queueing.discard(connection, draft, COVERED, self.call)

    def _target(self, connection: sqlite3.Connection, target: str) -> Target:
        item = self.pool.get(target)
        if item is not None:
            return Target(source_kind=item.source_kind, id=item.id, revision=item.revision)
        draft = candidates.get(connection, target)  # another draft of the batch
        revision = "" if draft is None else str(draft.revision)
        return Target(source_kind="candidate", id=target, revision=revision)

    def _staged(self, connection: sqlite3.Connection, draft: Candidate, payload: EntryPayload) -> Candidate:
        staged = msgspec.structs.replace(
            draft,
            state=CandidateState.STAGED,
            revision=draft.revision + 1,
            changed_at=self.call.now,
        )
        candidates.change(connection, staged, payload.content)
        cited = tuple(Citation(kind=row.kind, ref=row.evidence_id) for row in self._cited_by(payload))
        proposal = queueing.proposal_of(payload.content, cited)
        queueing.staged(connection, staged, proposal, self.bound, self.call)
        return staged

    def _cited_by(self, payload: EntryPayload) -> list[EvidenceRow]:
        ids = {evidence_id for one in payload.statements for evidence_id in one.evidence_ids}
        return [row for row in self.rows if row.evidence_id in ids]

    # ------------------------------------------------------------------------------------------------ update and merge

    def _merged(
        self, connection: sqlite3.Connection, one: Decided, draft: Candidate, merged: MergedFields
    ) -> Candidate:
        items = [self.pool[target] for target in one.target_ids]
        before = payloads.entry(draft)
        sources = {item.id: self._source(connection, item) for item in items}
        bases = {row.evidence_id: (basis(self.task_id, row),) for row in self.rows} | self._inherits(sources)
        payload = self._payload(before, merged, bases, sources)
        typed = self.typed.get(draft.candidate_id, frozenset())
        made = [assessed(statement, bases, draft.revision + 1, typed) for statement in payload.statements]
        consumed = [source.candidate for source in sources.values() if source.candidate is not None]
        for candidate in consumed:
            queueing.discard(connection, candidate, f"{REPLACED} by {draft.candidate_id}", self.call)
        told = [
            Target(source_kind=item.source_kind, id=item.id, revision=item.revision)
            for item in items
            if item.source_kind != "candidate"
        ]
        inherited_ones = [target for candidate in consumed for target in candidate.supersedes]
        rewritten = msgspec.structs.replace(
            draft,
            payload=payloads.encoded(payload),
            target_path=path_of(self.bound, payload, draft.memory_id),
            flags=flags_of(payload.content, payload.scene),
            supersedes=targets((*draft.supersedes, *inherited_ones, *told)),
        )
        candidates.assess(connection, draft.candidate_id, made)
        return self._staged(connection, rewritten, payload)

    def _source(self, connection: sqlite3.Connection, item: PoolItem) -> "_Source":
        match item.source_kind:
            case "candidate":
                candidate = candidates.get(connection, item.id)
                if candidate is None or str(candidate.revision) != item.revision:
                    raise Drifted(f"{item.id} was changed")
                return _of_candidate(connection, candidate)
            case "approved":
                row = projections.entry(connection, self.bound.owner.worktree_key, item.id)
                if row is None or row.digest != item.revision:
                    raise Drifted(f"{item.id} was changed")
                return _of_entry(item, row)
            case "private":
                return _of_private(item)

    def _inherits(self, sources: "Mapping[str, _Source]") -> dict[str, tuple[Basis, ...]]:
        return {
            f"target:{target}/{statement_id}": bases
            for target, source in sources.items()
            for statement_id, bases in source.statements.items()
        }

    def _payload(
        self,
        before: EntryPayload,
        merged: MergedFields,
        bases: Mapping[str, Sequence[Basis]],
        sources: "Mapping[str, _Source]",
    ) -> EntryPayload:
        cited = [evidence_id for one in merged.statements for evidence_id in one.evidence_ids]
        for evidence_id in cited:
            if evidence_id not in bases:
                problem = f"Nothing can be cited as {evidence_id[:200]!r}: it is neither evidence of the task nor a"
                raise TeamFault(
                    Kind.SCHEMA_INVALID,
                    f"{problem} statement of a target.",
                    "Name ids of the evidence catalogue, or `target:<id>/<statementId>` of a target.",
                )
        own = public_of(self.rows, cited)
        named = {found[0] for one in cited if (found := inherited(one)) is not None}
        parts = [sources[target] for target in sorted(named & sources.keys())]
        occurred = sorted({*own.occurred, *(day for one in parts for day in one.occurred)})
        return EntryPayload(
            content=merged.content,
            type=merged.type or before.type,
            priority=before.priority if merged.priority is None else merged.priority,
            confidence=before.confidence,
            scene=before.scene if merged.scene is None else merged.scene,
            statements=merged.statements,
            occurred=tuple(occurred if merged.occurred is None else _dates(merged.occurred, occurred)),
            commits=_few({*own.commits, *(commit for one in parts for commit in one.commits)}),
            paths=_few({*own.paths, *(path for one in parts for path in one.paths)}),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """A target as something to inherit of. `statements`: what each of its statements rests on."""

    statements: Mapping[str, tuple[Basis, ...]]
    occurred: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    candidate: Candidate | None = None  # to be discarded


def _of_candidate(connection: sqlite3.Connection, candidate: Candidate) -> _Source:
    payload = payloads.entry(candidate)
    made = candidates.assessments(connection, candidate.candidate_id)
    return _Source(
        statements={
            one.statement_id: tuple(
                Basis(cited=cited, strength=one.strength, limitations=one.limitations) for cited in one.citations
            )
            for one in made
        },
        occurred=payload.occurred,
        commits=payload.commits,
        paths=payload.paths,
        candidate=candidate,
    )


def _of_entry(item: PoolItem, row: projections.EntryRow) -> _Source:
    """An approved entry vouches for itself: what it once rested on may be gone by now."""
    entry = row.entry
    return _Source(
        statements=_whole(item, entry.strength, entry.limitations),
        occurred=entry.occurred,
        commits=entry.commits,
        paths=entry.paths,
    )


def _of_private(item: PoolItem) -> _Source:
    return _Source(statements=_whole(item, Strength.CONTEXTUAL, (FROM_PRIVATE,)))


def _whole(item: PoolItem, strength: Strength, limitations: tuple[str, ...]) -> dict[str, tuple[Basis, ...]]:
    return {
        statement_id: (
            Basis(
                cited=Cited(
                    evidence_id=f"target:{item.id}/{statement_id}",
                    pointer_digest=digest({"id": item.id, "revision": item.revision, "statementId": statement_id}),
                    task_id="",
                ),
                strength=strength,
                limitations=limitations,
            ),
        )
        for statement_id in item.statement_ids
    }


def _dates(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """The dates that the document gives, of those that the evidence has. Raises TeamFault `schema-invalid`."""
    unknown = next((day for day in given if day not in known), None)
    if unknown is not None:
        raise TeamFault(
            Kind.SCHEMA_INVALID,
            f"occurred names {unknown[:40]!r}: nothing that is cited happened then.",
            "Give dates of the cited turns, or none: they are filled.",
        )
    return sorted(set(given))


def _few(found: set[str]) -> tuple[str, ...]:
    return tuple(sorted(found)[:MOST_CITED])
