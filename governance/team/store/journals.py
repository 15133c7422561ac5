"""How far a promotion has come (team.md 9): its phase, the intent of each file, the old bytes. Over `plans`.

Phases: staging, mutating, undoing (rolled back for a drift, ends voided), returning (rolled back for a fault of our
own, ends approved), done.
"""

import sqlite3
from collections.abc import Sequence

import msgspec

from governance.team.contracts.rows import Intent
from governance.team.errors import Kind, TeamFault
from governance.team.store import plans
from recall.contracts import Frozen, Millis

STAGING, MUTATING, UNDOING, RETURNING, DONE = "staging", "mutating", "undoing", "returning", "done"
_PHASES = {
    STAGING: frozenset({""}),
    MUTATING: frozenset({STAGING}),
    UNDOING: frozenset({STAGING, MUTATING, UNDOING}),
    RETURNING: frozenset({STAGING, MUTATING, RETURNING}),
}
_INTENTS = {
    Intent.INTENT: frozenset({Intent.PENDING}),
    Intent.APPLIED: frozenset({Intent.INTENT}),
    Intent.ROLLED_BACK: frozenset({Intent.INTENT, Intent.APPLIED}),
    Intent.FOREIGN: frozenset({Intent.INTENT}),
}

_PHASE = (
    "UPDATE team_plan SET phase = ?, reason = ? WHERE plan_id = ? AND state = 'applying'"
    " AND phase IN (SELECT value FROM json_each(?))"
)
_BEGIN = "UPDATE team_plan SET phase = ?, folders = ? WHERE plan_id = ?"
_BEFORE = (
    "UPDATE team_plan_file SET old = ?, originally_present = ?, mode = ?, intent = 'pending'"
    " WHERE plan_id = ? AND place = ?"
)
_INTENT = (
    "UPDATE team_plan_file SET intent = ? WHERE plan_id = ? AND place = ?"
    " AND intent IN (SELECT value FROM json_each(?))"
    " AND EXISTS (SELECT 1 FROM team_plan WHERE plan_id = team_plan_file.plan_id AND state = 'applying')"
)
_END = "UPDATE team_plan SET phase = ?, cleanup = ?, folders = '[]' WHERE plan_id = ?"
_ERASE = "UPDATE team_plan_file SET old = NULL WHERE plan_id = ?"
_AGAIN = "UPDATE team_plan_file SET originally_present = 0, mode = 0, intent = 'pending' WHERE plan_id = ?"
_CLEANED = "UPDATE team_plan SET cleanup = 'done' WHERE plan_id = ? AND cleanup = 'pending'"
_FOLDERS = "SELECT folders FROM team_plan WHERE plan_id = ?"
_UNFINISHED = (
    "SELECT plan_id FROM team_plan WHERE (state IN ('approved', 'applying') OR cleanup = 'pending')"
    " AND (? IS NULL OR repository_key = ?) ORDER BY number"
)


class Before(Frozen, frozen=True, kw_only=True):
    """A target as it was found: None, there was none. `mode`: that the new file gets."""

    data: bytes | None
    mode: int


def begin(
    connection: sqlite3.Connection, plan_id: str, before: Sequence[Before], folders: Sequence[str], at: Millis
) -> None:
    """T1: the old bytes, all intents pending, applying, staging. `before`: of each file, in the plan's order.
    `folders`: those that will be made. Raises TeamFault `plan-state-invalid`."""
    plans.move(connection, plan_id, "applying", at)
    connection.execute(_BEGIN, (STAGING, msgspec.json.encode(list(folders)).decode(), plan_id))
    rows = [(one.data, one.data is not None, one.mode, plan_id, place) for place, one in enumerate(before)]
    connection.executemany(_BEFORE, rows)


def phase(connection: sqlite3.Connection, plan_id: str, to: str, reason: str = "") -> None:
    """Go to a phase; to where one is already is no move. Raises TeamFault `plan-state-invalid`."""
    _one(connection.execute(_PHASE, (to, reason, plan_id, _list(_PHASES[to]))), plan_id)


def intent(connection: sqlite3.Connection, plan_id: str, place: int, to: Intent) -> None:
    """Note how far a file is. Raises TeamFault `plan-state-invalid`: that does not follow on what is noted."""
    _one(connection.execute(_INTENT, (to, plan_id, place, _list(_INTENTS[to]))), plan_id)


def applied(connection: sqlite3.Connection, plan_id: str, at: Millis) -> None:
    """The plan's part of T3: applied, what is held waits for cleanup, no old bytes. Raises as `plans.move`."""
    plans.move(connection, plan_id, "applied", at)
    connection.execute(_END, (DONE, "pending", plan_id))
    connection.execute(_ERASE, (plan_id,))


def cleaned(connection: sqlite3.Connection, plan_id: str) -> None:
    """No hidden file is left of an applied plan."""
    connection.execute(_CLEANED, (plan_id,))


def returned(connection: sqlite3.Connection, plan_id: str, at: Millis) -> None:
    """All is as it was, by no fault of the plan: approved again. Raises as `plans.move`."""
    plans.move(connection, plan_id, "approved", at)
    connection.execute(_AGAIN, (plan_id,))
    erase(connection, plan_id)


def erase(connection: sqlite3.Connection, plan_id: str) -> None:
    """Keep nothing that only a promotion under way needs."""
    connection.execute(_END, ("", "", plan_id))
    connection.execute(_ERASE, (plan_id,))


def folders(connection: sqlite3.Connection, plan_id: str) -> tuple[str, ...]:
    """The folders that this promotion made, or was about to, outermost first."""
    row = connection.execute(_FOLDERS, (plan_id,)).fetchone()
    return () if row is None else msgspec.json.decode(row[0], type=tuple[str, ...])


def unfinished(connection: sqlite3.Connection, repository_key: str | None = None) -> tuple[str, ...]:
    """Plans that may have left something in a worktree, in their order: of one repository, or of all."""
    found = connection.execute(_UNFINISHED, (repository_key, repository_key)).fetchall()
    return tuple(plan_id for (plan_id,) in found)


def _list(values: frozenset[str] | frozenset[Intent]) -> str:
    return msgspec.json.encode(sorted(values)).decode()


def _one(done: sqlite3.Cursor, plan_id: str) -> None:
    if done.rowcount != 1:
        raise TeamFault(
            Kind.PLAN_STATE_INVALID,
            f"The promotion of the plan {plan_id} is elsewhere by now: another one has gone on with it.",
            "Promote it again: that goes on from where it stands.",
        )
