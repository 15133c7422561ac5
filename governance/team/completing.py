"""What follows from a promotion that is written (team.md 9, row 5): all of it is one transaction.

The candidates are promoted, private records and a run of consolidation end, every file has its receipt, and the plan is
applied.
"""

import sqlite3
from collections.abc import Sequence

from msgspec.structs import replace

from governance.formation.queue import Queue
from governance.team import queueing
from governance.team.contracts.base import Call
from governance.team.contracts.rows import Plan, PlanFile
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, journals, runs, trust
from governance.team.store.trust import Receipt
from recall.contracts import Millis
from recall.team_entry import Entry, parse


def completed(connection: sqlite3.Connection, queue: Queue, plan: Plan, files: Sequence[PlanFile], now: Millis) -> None:
    """Raises TeamFault: `candidate-not-found`, `candidate-stale`, `plan-state-invalid`."""
    call = Call(principal="user", holder=plan.plan_id, now=now)  # whose yes the plan rests on
    for candidate_id in plan.candidate_ids:
        held = candidates.get(connection, candidate_id)
        if held is None:
            problem = f"There is no candidate {candidate_id} any more."
            raise TeamFault(Kind.CANDIDATE_NOT_FOUND, problem, "Review and prepare again.")
        queueing.promote(connection, queue, replace(held, plan_id=plan.plan_id), call)
        runs.applied(connection, candidate_id, now)
    for file in files:
        if file.new is not None and file.sanitized_digest is not None:
            written = Receipt(
                repository_key=plan.owner.repository_key,
                memory_id=_memory_id(file),
                digest=file.sanitized_digest,
                plan_id=plan.plan_id,
            )
            trust.receipt(connection, written, now)
    journals.applied(connection, plan.plan_id, now)


def superseded(connection: sqlite3.Connection, plan: Plan) -> tuple[str, ...]:
    """The ids of memories that this plan took the place of: approved entries and private records."""
    held = [candidates.get(connection, candidate_id) for candidate_id in plan.candidate_ids]
    found = {target.id for one in held if one for target in one.supersedes if target.source_kind != "candidate"}
    return tuple(sorted(found))


def _memory_id(file: PlanFile) -> str:
    """Of an entry; any other file is known by its path."""
    entry = parse(file.new or b"") if "/entries/" in file.target_path else None
    return entry.id if isinstance(entry, Entry) else file.target_path
