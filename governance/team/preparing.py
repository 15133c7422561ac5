"""`prepare` (team.md 8): one confirmation, one plan. What would be written is rebuilt and compared with what was shown;
then everything is one transaction, and until then nothing has been confirmed.
"""

import sqlite3
from collections.abc import Sequence

import msgspec

from governance.team import confirming
from governance.team.approving import (
    Approvals,
    Judged,
    approval,
    approval_digest,
    approved_file,
    assessment_digest,
    confirmed,
    differing,
    differing_from,
    listed,
)
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.promoting import PlanState, PrepareRequest, PromotionPlan
from governance.team.contracts.rows import Candidate, CandidateState, FileChange, Plan, PlanFile
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.previewing import Preview, Previewing, judged_now
from governance.team.reviewing import MOST_APPROVED
from governance.team.store import candidates, plans
from recall.canonical import canonical, digest
from recall.contracts import Database, Millis

_PERSON = "user"
_GENERATED: tuple[PlanState, ...] = ("generated",)


class Preparing:
    """`approvals`: what review showed lately."""

    def __init__(self, database: Database, previewing: Previewing, approvals: Approvals, formats: Formats) -> None:
        self._database = database
        self._previewing = previewing
        self._approvals = approvals
        self._formats = formats

    async def prepare(self, bound: Bound, call: Call, request: PrepareRequest) -> PromotionPlan:
        """The plan of what was confirmed: approved when the request says what was shown, else generated.

        Raises TeamFault: `reviewer-kind`; `request-invalid`; `capacity-exceeded`; `candidate-not-found`,
        `candidate-kind-mismatch`, `candidate-stale`; `approval-mismatch` with the field that differs;
        `sanitization-blocked`; `approval-expired`; `plan-state-invalid`; `sync-partial`; `target-path-invalid`. Without
        an approval digest also `binding-drift`, `target-drift`.
        """
        _admitted(call, request)
        if (done := await self._database.read(lambda connection: _done(connection, bound, request))) is not None:
            return done
        asked = await self._database.read(lambda connection: _asked(connection, bound, request))
        tree = await self._previewing.tree(bound)
        preview = await self._previewing.of(bound, asked, tree, MOST_APPROVED)
        self._compare(bound, request, preview)
        fault = await self._database.write(lambda connection: _too_old(connection, request, call.now))
        if fault is not None:
            raise fault
        return await self._database.write(lambda connection: self._planned(connection, bound, call, request, preview))

    def _compare(self, bound: Bound, request: PrepareRequest, preview: Preview) -> None:
        """Raises TeamFault unless what would be written is what was confirmed."""
        said = request.approval_digest
        if preview.broken or preview.rest:
            raise _unfit(preview, said)
        now = approval(self._formats, request.kind, bound.owner, preview.judged, preview.files)
        if said is not None and approval_digest(now) != said:
            was = self._approvals.get(said)
            field = differing(request.candidates, now.candidates) if was is None else differing_from(was, now)
            raise _mismatch(field or "candidates, files or policyVersion")
        if field := differing(request.candidates, now.candidates):
            raise _mismatch(field)

    def _planned(
        self, connection: sqlite3.Connection, bound: Bound, call: Call, request: PrepareRequest, preview: Preview
    ) -> PromotionPlan:
        """The one transaction: the statements confirmed and the plan stored, or nothing."""
        plans.seen(connection, call.now)
        ids = tuple(sorted(one.candidate_id for one in request.candidates))
        judged = judged_now(connection, ids)
        if field := differing(request.candidates, tuple(map(listed, judged))):
            raise _mismatch(field)  # somebody was faster
        state: PlanState = "generated" if request.approval_digest is None else "approved"
        document = self._document(connection, bound, request, judged, preview.files)
        if (same := _same(connection, document)) is not None:
            return same
        plans.free(connection, ids)
        if state == "approved":
            confirming.confirm(connection, ids, call.now)
            _replaced(connection, bound, ids, call.now)
        document = msgspec.structs.replace(document, state=state)
        plan = Plan(
            plan_id=document.plan_id,
            owner=bound.owner,
            kind=request.kind,
            state=state,
            plan_digest=document.plan_digest,
            approval_digest=document.approval_digest,
            assessment_digest=document.assessment_digest,
            policy_version=document.policy_version,
            candidate_ids=ids,
            document=canonical(document).decode(),
            number=plans.number(connection),
            created_at=call.now,
            changed_at=call.now,
            approved_at=call.now if state == "approved" else None,
            confirmed_via=_via(call, request),
        )
        revisions = {one.candidate.candidate_id: one.candidate.revision for one in judged}
        plans.put(connection, plan, tuple(map(_plan_file, preview.files)), revisions)
        return document

    def _document(
        self,
        connection: sqlite3.Connection,
        bound: Bound,
        request: PrepareRequest,
        judged: Sequence[Judged],
        files: Sequence[FileChange],
    ) -> PromotionPlan:
        ids = [one.candidate.candidate_id for one in judged]
        revisions = [one.candidate.revision for one in judged]
        named = digest({"candidates": ids, "revisions": revisions, "number": plans.number(connection)})
        plan = PromotionPlan(
            format=self._formats.document("promotion-plan"),
            plan_id=f"plan-{named[:32]}",
            owner=bound.owner,
            kind=request.kind,
            state="generated",
            candidate_ids=tuple(ids),
            approval_digest=request.approval_digest,
            assessment_digest=assessment_digest(map(confirmed, judged)),
            policy_version=self._formats.policy,
            per_file=tuple(map(approved_file, files)),
            plan_digest="",
        )
        return msgspec.structs.replace(plan, plan_digest=plan_digest(plan))


def plan_digest(plan: PromotionPlan) -> str:
    """Of all that a plan says but its state and this digest: what is confirmed when a plan is."""
    said = msgspec.to_builtins(plan)
    return digest({name: said[name] for name in said if name not in ("state", "planDigest", "idempotent")})


def document_of(plan: Plan, idempotent: bool = False) -> PromotionPlan:
    """A stored plan as it is sent. Raises TeamFault `state-corrupt`."""
    try:
        document = msgspec.json.decode(plan.document, type=PromotionPlan)
    except msgspec.MsgspecError as error:
        problem = f"The plan {plan.plan_id} cannot be read: {error}."
        raise TeamFault(Kind.STATE_CORRUPT, problem, "Nothing was changed. See what `doctor` says.") from None
    return msgspec.structs.replace(document, state=plan.state, idempotent=idempotent)


def _admitted(call: Call, request: PrepareRequest) -> None:
    confirming.admitted(call)
    if request.confirmation.by != _PERSON:
        raise TeamFault(
            Kind.REVIEWER_KIND,
            f"The confirmation is by {request.confirmation.by[:40]!r}; only the user confirms.",
            "Show the changes to the user, and send the request once they said yes.",
        )
    ids = [one.candidate_id for one in request.candidates]
    if not ids or len(set(ids)) != len(ids):
        problem = "No candidate is asked for." if not ids else "A candidate is there twice."
        raise TeamFault(Kind.REQUEST_INVALID, problem, "Send prepareRequest of a review unchanged.")
    if len(ids) > MOST_APPROVED:
        problem = f"{len(ids)} candidates are asked for; {MOST_APPROVED} can be prepared at a time."
        raise TeamFault(Kind.CAPACITY_EXCEEDED, problem, "Review and prepare a part of them.")


def _via(call: Call, request: PrepareRequest) -> str:
    """Where the user said yes. What an agent sends was said in its conversation, whatever it says of a terminal."""
    return request.confirmation.via if call.principal == "user" else "chat"


def _done(connection: sqlite3.Connection, bound: Bound, request: PrepareRequest) -> PromotionPlan | None:
    """The plan of this very approval when its files are written, or about to be: the request was sent again."""
    ids = tuple(sorted(one.candidate_id for one in request.candidates))
    for plan in plans.by_approval(connection, bound.owner.worktree_key, request.approval_digest):
        if plan.state in ("applying", "applied") and plan.candidate_ids == ids:
            return document_of(plan, idempotent=True)
    return None


def _asked(connection: sqlite3.Connection, bound: Bound, request: PrepareRequest) -> tuple[Candidate, ...]:
    found = tuple(candidates.owned(connection, bound.owner, one.candidate_id) for one in request.candidates)
    for one in found:
        if one.kind != request.kind:
            raise TeamFault(
                Kind.CANDIDATE_KIND_MISMATCH,
                f"The candidate {one.candidate_id} is of kind {one.kind}, not {request.kind}.",
                "Review and prepare each kind by itself.",
            )
        if one.state is not CandidateState.STAGED:
            state = f"{one.candidate_id} is {one.state}, not staged"
            if request.approval_digest is not None:
                raise _mismatch(f"state: {state}")
            raise TeamFault(Kind.CANDIDATE_STALE, f"The candidate {state}.", "Review what is staged.")
    return found


def _too_old(connection: sqlite3.Connection, request: PrepareRequest, now: Millis) -> TeamFault | None:
    """Void what held these candidates for too long; the fault to raise once that is committed."""
    plans.seen(connection, now)
    fault = None
    for plan_id in sorted(set(plans.held(connection, [one.candidate_id for one in request.candidates]).values())):
        plan = plans.needed(connection, plan_id)
        if plan.state != "approved":
            continue
        try:
            confirming.in_time(connection, plan, now)
        except TeamFault as expired:
            confirming.voided(connection, plan_id, now, expired.kind)
            fault = expired
    return fault


def _same(connection: sqlite3.Connection, document: PromotionPlan) -> PromotionPlan | None:
    """The plan that says this already, by the same approval, or unconfirmed as this one."""
    key = document.owner.worktree_key
    known_ones = (
        plans.listed(connection, _GENERATED, worktree_key=key)
        if document.approval_digest is None
        else [one for one in plans.by_approval(connection, key, document.approval_digest) if one.state == "approved"]
    )
    for plan in known_ones:
        known = document_of(plan)
        named = msgspec.structs.replace(document, plan_id=known.plan_id, state=known.state, plan_digest="")
        if msgspec.structs.replace(known, plan_digest="") == named:
            return document_of(plan, idempotent=True)
    return None


def _replaced(connection: sqlite3.Connection, bound: Bound, ids: Sequence[str], now: Millis) -> None:
    """Unconfirmed plans of the same candidates come to nothing: another one was confirmed."""
    for plan in plans.listed(connection, _GENERATED, worktree_key=bound.owner.worktree_key):
        if set(plan.candidate_ids).intersection(ids):
            plans.move(connection, plan.plan_id, "voided", now, "replaced")


def _plan_file(change: FileChange) -> PlanFile:
    said = approved_file(change)
    return PlanFile(
        target_path=said.target_path,
        operation=said.operation,
        target_blob=said.target_blob,
        sanitized_digest=said.sanitized_digest,
        new=change.data,
    )


def _unfit(preview: Preview, said: str | None) -> TeamFault:
    """Why there is no plan of all that was asked for."""
    for one in preview.broken:
        kind = Kind(one.kind)
        if said is not None and kind not in (Kind.SANITIZATION_BLOCKED, Kind.CAPACITY_EXCEEDED):
            return _mismatch(f"candidates: {one.candidate_id} ({kind}: {one.problem})")
        return TeamFault(kind, one.problem, one.next)
    left = preview.rest[0].candidate.candidate_id
    return TeamFault(
        Kind.CAPACITY_EXCEEDED, f"One plan has no room for all of it: {left} is too much.", "Prepare a part of it."
    )


def _mismatch(field: str) -> TeamFault:
    return TeamFault(
        Kind.APPROVAL_MISMATCH,
        f"What would be written is not what was confirmed. It differs in {field}.",
        "Nothing was confirmed. Review again, and show the user what it says now.",
    )
