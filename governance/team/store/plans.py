"""Plans of promotion (team.md 8, 12), and the highest time that was seen. The journal of a promotion: `journals`.

Plain functions over a connection: whoever composes a transaction calls several. A move that the state machine does not
have, or that another one made first, is refused.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_args

import msgspec

from governance.team.contracts.base import Owner
from governance.team.contracts.promoting import PlanState
from governance.team.contracts.rows import Intent, Plan, PlanFile
from governance.team.errors import Kind, TeamFault
from recall.contracts import Millis

LIFETIME = 24 * 60 * 60 * 1000  # ms that an approval lives
HOLDING: tuple[PlanState, ...] = ("approved", "applying")  # their candidates are not to be touched
_MOVES: Mapping[PlanState, frozenset[PlanState]] = {
    "generated": frozenset({"approved", "voided"}),
    "approved": frozenset({"applying", "voided"}),
    "applying": frozenset({"applied", "voided", "approved"}),  # approved: our own fault, all rolled back
    "applied": frozenset(),
    "voided": frozenset(),
}
_HIGHEST = "highest"

_COLUMNS = (
    "plan_id, repository_key, worktree_key, kind, state, plan_digest, approval_digest, assessment_digest,"
    " policy_version, document, confirmed_via, phase, cleanup, reason, number, approved_at, created_at, changed_at"
)
_PUT = f"INSERT INTO team_plan ({_COLUMNS}, approved_clock) VALUES ({', '.join('?' * 19)})"
_OF = f"SELECT {_COLUMNS} FROM team_plan WHERE plan_id = ?"
_LISTED = (
    f"SELECT {_COLUMNS} FROM team_plan WHERE state IN (SELECT value FROM json_each(?))"
    " AND (? IS NULL OR worktree_key = ?) AND (? IS NULL OR repository_key = ?) ORDER BY number"
)
_BY_APPROVAL = f"SELECT {_COLUMNS} FROM team_plan WHERE worktree_key = ? AND approval_digest = ? ORDER BY number"
_NUMBER = "SELECT COALESCE(MAX(number), 0) + 1 FROM team_plan"
_COUNTS = "SELECT state, COUNT(*) FROM team_plan WHERE worktree_key = ? GROUP BY state"
_MOVE = "UPDATE team_plan SET state = ?, reason = ?, changed_at = ? WHERE plan_id = ? AND state = ?"
_FORGET = "UPDATE team_plan_file SET new = NULL WHERE plan_id = ?"
_APPROVED = "UPDATE team_plan SET approved_at = ?, approved_clock = ? WHERE plan_id = ?"

_PUT_CANDIDATE = "INSERT INTO team_plan_candidate (plan_id, candidate_id, revision) VALUES (?, ?, ?)"
_CANDIDATES = "SELECT candidate_id, revision FROM team_plan_candidate WHERE plan_id = ? ORDER BY candidate_id"
_HELD = (
    "SELECT c.candidate_id, c.plan_id FROM team_plan_candidate c JOIN team_plan p ON p.plan_id = c.plan_id"
    " WHERE c.candidate_id IN (SELECT value FROM json_each(?)) AND p.state IN (SELECT value FROM json_each(?))"
)

_FILE_COLUMNS = "target_path, operation, target_blob, sanitized_digest, new, old, originally_present, mode, intent"
_PUT_FILE = f"INSERT INTO team_plan_file (plan_id, place, {_FILE_COLUMNS}) VALUES ({', '.join('?' * 11)})"
_FILES = f"SELECT {_FILE_COLUMNS} FROM team_plan_file WHERE plan_id = ? ORDER BY place"

_SEEN = "INSERT INTO team_clock (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = MAX(at, excluded.at)"
_CLOCK = "SELECT at FROM team_clock WHERE name = ?"
_APPROVED_WHEN = "SELECT approved_at, approved_clock FROM team_plan WHERE plan_id = ?"


def in_order(files: Sequence[PlanFile]) -> tuple[PlanFile, ...]:
    """As they are written: writes by path, then deletes by path."""
    return tuple(sorted(files, key=lambda file: (file.operation == "delete", file.target_path)))


def number(connection: sqlite3.Connection) -> int:
    """The number of the next plan: their order, for clocks are none."""
    return int(connection.execute(_NUMBER).fetchone()[0])


def put(connection: sqlite3.Connection, plan: Plan, files: Sequence[PlanFile], revisions: Mapping[str, int]) -> None:
    """Write a plan down, its files in the order in which they will be written. `revisions`: of each candidate.

    An approved plan is stamped with the highest time that was seen. Raises TeamFault `plan-state-invalid`: there is one
    of that id.
    """
    clock = None if plan.approved_at is None else seen(connection, plan.approved_at)
    row = (
        plan.plan_id,
        plan.owner.repository_key,
        plan.owner.worktree_key,
        plan.kind,
        plan.state,
        plan.plan_digest,
        plan.approval_digest,
        plan.assessment_digest,
        plan.policy_version,
        plan.document,
        plan.confirmed_via,
        plan.phase,
        plan.cleanup,
        plan.reason,
        plan.number,
        plan.approved_at,
        plan.created_at,
        plan.changed_at,
        clock,
    )
    if of(connection, plan.plan_id) is not None:
        raise TeamFault(Kind.PLAN_STATE_INVALID, f"There is a plan {plan.plan_id} already.", "Prepare again.")
    connection.execute(_PUT, row)
    connection.executemany(_PUT_CANDIDATE, [(plan.plan_id, one, revisions[one]) for one in plan.candidate_ids])
    rows = [(plan.plan_id, place, *_file_row(file)) for place, file in enumerate(in_order(files))]
    connection.executemany(_PUT_FILE, rows)


def of(connection: sqlite3.Connection, plan_id: str) -> Plan | None:
    """The plan. Raises TeamFault `state-corrupt`."""
    row = connection.execute(_OF, (plan_id,)).fetchone()
    return None if row is None else _plan(connection, row)


def needed(connection: sqlite3.Connection, plan_id: str) -> Plan:
    """The plan. Raises TeamFault `plan-not-found`, `state-corrupt`."""
    found = of(connection, plan_id)
    if found is None:
        raise TeamFault(
            Kind.PLAN_NOT_FOUND,
            f"There is no plan {plan_id}.",
            "Prepare one, or see `team status` for those there are.",
        )
    return found


def listed(
    connection: sqlite3.Connection,
    states: Collection[PlanState],
    worktree_key: str | None = None,
    repository_key: str | None = None,
) -> tuple[Plan, ...]:
    """Plans in one of the states, in their order; of one worktree or repository, or of all."""
    values = (_json(states), worktree_key, worktree_key, repository_key, repository_key)
    return tuple(_plan(connection, row) for row in connection.execute(_LISTED, values).fetchall())


def by_approval(connection: sqlite3.Connection, worktree_key: str, approval_digest: str | None) -> tuple[Plan, ...]:
    """Plans of a worktree that rest on this approval, in their order; none on none."""
    rows = connection.execute(_BY_APPROVAL, (worktree_key, approval_digest)).fetchall()
    return tuple(_plan(connection, row) for row in rows)


def counts(connection: sqlite3.Connection, worktree_key: str) -> dict[str, int]:
    """How many plans of a worktree are in each state."""
    return dict(connection.execute(_COUNTS, (worktree_key,)).fetchall())


def files(connection: sqlite3.Connection, plan_id: str) -> tuple[PlanFile, ...]:
    """The files of a plan in the order in which they are written: the place of each is its index here."""
    return tuple(_file(row) for row in connection.execute(_FILES, (plan_id,)))


def revisions(connection: sqlite3.Connection, plan_id: str) -> dict[str, int]:
    """Each candidate of a plan, and its revision as it was prepared."""
    return dict(connection.execute(_CANDIDATES, (plan_id,)).fetchall())


def held(connection: sqlite3.Connection, candidate_ids: Collection[str]) -> dict[str, str]:
    """Those of the candidates that are in an approved or applying plan, with the plan's id."""
    return dict(connection.execute(_HELD, (_json(candidate_ids), _json(HOLDING))).fetchall())


def free(connection: sqlite3.Connection, candidate_ids: Collection[str]) -> None:
    """Raises TeamFault `plan-state-invalid` when one of them is held: it can neither be confirmed nor discarded nor
    consumed."""
    for candidate_id, plan_id in sorted(held(connection, candidate_ids).items()):
        raise TeamFault(
            Kind.PLAN_STATE_INVALID,
            f"The candidate {candidate_id} is in the plan {plan_id}, which is approved.",
            "Promote that plan, or discard it.",
        )


def move(connection: sqlite3.Connection, plan_id: str, state: PlanState, at: Millis, reason: str = "") -> PlanState:
    """Take a plan to another state, and tell the one that it was in. `at`: also when it is approved. The new texts of
    a plan that comes to nothing are not kept.

    Raises TeamFault `plan-not-found`; `plan-state-invalid`: there is no such move from where it is.
    """
    plan = needed(connection, plan_id)
    if state not in _MOVES[plan.state]:
        raise TeamFault(
            Kind.PLAN_STATE_INVALID,
            f"The plan {plan_id} is {plan.state}: it cannot become {state}.",
            "See `team status`; review and prepare again if its files are still wanted.",
        )
    connection.execute(_MOVE, (state, reason, at, plan_id, plan.state))
    if state == "voided" and plan.state != "applying":  # what was begun may still have to be compared
        connection.execute(_FORGET, (plan_id,))
    if plan.state == "generated" and state == "approved":
        connection.execute(_APPROVED, (at, seen(connection, at), plan_id))
    return plan.state


def seen(connection: sqlite3.Connection, now: Millis) -> Millis:
    """Note a time; the highest one that was ever noted."""
    connection.execute(_SEEN, (_HIGHEST, now))
    return highest(connection)


def highest(connection: sqlite3.Connection) -> Millis:
    """The highest time that was noted, 0 without one."""
    row = connection.execute(_CLOCK, (_HIGHEST,)).fetchone()
    return 0 if row is None else int(row[0])


def expired(connection: sqlite3.Connection, plan_id: str, now: Millis) -> bool:
    """Whether a plan was approved more than 24 hours ago.

    By the clock, or by the highest times that were seen then and now, whichever is longer: a clock that is set back
    prolongs nothing, and one that was ahead at the approval does not, either.
    """
    row = connection.execute(_APPROVED_WHEN, (plan_id,)).fetchone()
    if row is None or row[0] is None:
        return False
    approved_at, clock = int(row[0]), int(row[1] or row[0])
    return max(now - approved_at, max(now, highest(connection)) - clock) > LIFETIME


def _file_row(file: PlanFile) -> tuple[object, ...]:
    return (
        file.target_path,
        file.operation,
        file.target_blob,
        file.sanitized_digest,
        file.new,
        file.old,
        file.originally_present,
        file.mode,
        file.intent,
    )


def _file(row: tuple[Any, ...]) -> PlanFile:
    try:
        return PlanFile(
            target_path=row[0],
            operation=row[1],
            target_blob=row[2],
            sanitized_digest=row[3],
            new=row[4],
            old=row[5],
            originally_present=bool(row[6]),
            mode=row[7],
            intent=Intent(row[8]),
        )
    except ValueError as error:
        raise _corrupt(str(row[0])) from error


def _plan(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Plan:
    if row[4] not in get_args(PlanState):
        raise _corrupt(str(row[0]))
    return Plan(
        plan_id=row[0],
        owner=Owner(repository_key=row[1], worktree_key=row[2]),
        kind=row[3],
        state=row[4],
        plan_digest=row[5],
        approval_digest=row[6],
        assessment_digest=row[7],
        policy_version=row[8],
        candidate_ids=tuple(revisions(connection, row[0])),
        document=row[9],
        confirmed_via=row[10],
        phase=row[11],
        cleanup=row[12],
        reason=row[13],
        number=row[14],
        approved_at=row[15],
        created_at=row[16],
        changed_at=row[17],
    )


def _corrupt(what: str) -> TeamFault:
    return TeamFault(
        Kind.STATE_CORRUPT, f"What is stored of {what} cannot be read.", "Run `doctor`; a backup can be put back."
    )


def _json(values: Collection[str]) -> str:
    return msgspec.json.encode(list(values)).decode()
