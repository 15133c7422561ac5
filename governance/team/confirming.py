"""What a person's yes changes, and what takes it back (team.md 8): functions over a connection, for the transaction of
prepare, of promote and of discard.

An approval serves one plan. When its plan is voided, its candidates stand one revision higher and their statements are
unconfirmed: the same approval does not match again.
"""

import sqlite3
from collections.abc import Collection

import msgspec

from governance.team.approving import Judged, assessment_digest, confirmed
from governance.team.contracts.base import Call
from governance.team.contracts.promoting import PlanState
from governance.team.contracts.rows import Assessment, CandidateState, Plan
from governance.team.contracts.turns import Support
from governance.team.errors import Kind, TeamFault
from governance.team.previewing import judged_now
from governance.team.store import candidates, plans
from recall.contracts import Millis

WRITERS = frozenset({"user", "agent"})  # who may prepare and promote


def admitted(call: Call) -> None:
    """Raises TeamFault `reviewer-kind`: an unattended caller approves nothing."""
    if call.principal not in WRITERS:
        raise TeamFault(
            Kind.REVIEWER_KIND,
            f"The caller is a {call.principal}: it can neither prepare nor promote.",
            "A person confirms, in a conversation or at a terminal.",
        )


def confirm(connection: sqlite3.Connection, candidate_ids: Collection[str], at: Millis) -> None:
    """All statements of these are confirmed by a person. Raises TeamFault `plan-state-invalid`: one of them is in an
    approved plan."""
    plans.free(connection, candidate_ids)
    candidates.confirm(connection, sorted(candidate_ids), at)


def approved(connection: sqlite3.Connection, plan_id: str, plan_digest: str | None, call: Call) -> Plan:
    """A plan that is approved: it is so already, or is now, by its digest, when it was only generated.

    Raises TeamFault: `reviewer-kind`, `plan-not-found`; `plan-digest-mismatch`: the digest is another one, or is
    missing and needed; `candidate-stale`: it is not about the candidates as they are; `plan-state-invalid`.
    """
    admitted(call)
    plan = plans.needed(connection, plan_id)
    if plan_digest not in (None, plan.plan_digest):
        problem = f"The plan {plan_id} has another digest than the one that was confirmed."
        raise TeamFault(Kind.PLAN_DIGEST_MISMATCH, problem, "Show the plan again, and confirm what it says.")
    if plan.state != "generated":
        return plan
    if plan_digest is None:
        raise TeamFault(
            Kind.PLAN_DIGEST_MISMATCH,
            f"Nobody confirmed the plan {plan_id}: it was prepared without an approvalDigest.",
            "Show the plan to the user, and promote with its planDigest.",
        )
    unchanged(connection, plan, as_confirmed=True)
    confirm(connection, plan.candidate_ids, call.now)
    plans.move(connection, plan_id, "approved", call.now)
    return plans.needed(connection, plan_id)


def unchanged(connection: sqlite3.Connection, plan: Plan, as_confirmed: bool = False) -> tuple[Judged, ...]:
    """The candidates of a plan, which are as they were when it was prepared. `as_confirmed`: read their statements as
    if a person had said yes.

    Raises TeamFault `candidate-stale`: one is no longer staged at that revision; `binding-drift`: it is assessed
    otherwise by now.
    """
    judged = judged_now(connection, plan.candidate_ids)
    was = plans.revisions(connection, plan.plan_id)
    for one in judged:
        candidate = one.candidate
        if candidate.state is not CandidateState.STAGED or candidate.revision != was[candidate.candidate_id]:
            raise TeamFault(
                Kind.CANDIDATE_STALE,
                f"{candidate.candidate_id} is {candidate.state} at revision {candidate.revision}; the plan is about"
                f" revision {was[candidate.candidate_id]}.",
                "Review and prepare again.",
            )
    now = assessment_digest(map(confirmed, judged) if as_confirmed else judged)
    if now != plan.assessment_digest:
        raise TeamFault(
            Kind.BINDING_DRIFT,
            f"What the candidates of the plan {plan.plan_id} rest on is assessed otherwise by now.",
            "Review and prepare again.",
        )
    return judged


def in_time(connection: sqlite3.Connection, plan: Plan, now: Millis) -> None:
    """Raises TeamFault `approval-expired`. The caller voids the plan in a transaction of its own: see `voided`."""
    if plans.expired(connection, plan.plan_id, now):
        raise TeamFault(
            Kind.APPROVAL_EXPIRED,
            f"The plan {plan.plan_id} was approved more than 24 hours ago, and is void now.",
            "Review again, and ask the user once more.",
        )


def voided(connection: sqlite3.Connection, plan_id: str, at: Millis, reason: str) -> PlanState:
    """Take back a plan and the yes it rests on; the state that it was in. Raises TeamFault `plan-not-found`,
    `plan-state-invalid`."""
    was = plans.move(connection, plan_id, "voided", at, reason)
    if was == "generated":
        return was
    for candidate_id in plans.needed(connection, plan_id).candidate_ids:
        candidate = candidates.get(connection, candidate_id)
        if candidate is None or candidate.state is not CandidateState.STAGED:
            continue
        taken_back = [_unconfirmed(one) for one in candidates.assessments(connection, candidate_id)]
        candidates.assess(connection, candidate_id, taken_back)
        risen = msgspec.structs.replace(candidate, revision=candidate.revision + 1, changed_at=at)
        candidates.change(connection, risen)
    return was


def _unconfirmed(one: Assessment) -> Assessment:
    if one.support is not Support.HUMAN_CONFIRMED:
        return one
    return msgspec.structs.replace(one, support=Support.UNVERIFIED, confirmed_at=None, revision=one.revision + 1)
