"""Where a promotion that was stopped goes: on, or back (team.md 9). It blocks.

On, when what was applied still is as the plan wrote it, what was not begun is as it was recorded, and what was begun
stands in one of the steps of its row; back otherwise. A rollback that was begun is always finished.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from governance.team.contracts.rows import Intent, PlanFile
from governance.team.disk import HOLD
from governance.team.errors import Kind, TeamFault
from governance.team.journal import (
    Drift,
    Promotion,
    begin,
    clean,
    digest_of,
    drop_hidden,
    finish,
    flush_new,
    go_on,
    mutate,
    stage,
    write_new,
)
from governance.team.recovering import kept
from governance.team.store import journals
from governance.team.undoing import Undone, keep_old, undo
from recall.contracts import Frozen

Work = Callable[[sqlite3.Connection], None]
Ended = Literal["applied", "approved", "voided"]


class Outcome(Frozen, frozen=True, kw_only=True):
    """How a promotion ended. `problem`: why it is not applied. `left`: hidden files that are not ours."""

    state: Ended
    problem: str = ""
    kind: Kind | None = None
    recovered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Ends:
    """What a promotion does at its ends. `begun`: what T1 asks once more; `completed`: T3, in one transaction;
    `voided(connection, reason)`: after a drift, the plan and its candidates. `recovered`: where old bytes are kept."""

    begun: Work
    completed: Work
    voided: Callable[[sqlite3.Connection, str], None]
    recovered: Path


def carry_out(promotion: Promotion, ends: Ends) -> Outcome:
    """A plan from its beginning. Raises TeamFault `rollback-required`; before T1 is committed, Drift and OSError."""
    begin(promotion, ends.begun)
    return _guarded(promotion, ends, _from_the_start)


def resume(promotion: Promotion, phase: str, ends: Ends) -> Outcome:
    """A plan that is `applying`, from where it stands. Raises TeamFault `rollback-required`."""
    promotion.fault("resume")
    if phase == journals.STAGING:
        return _back(promotion, ends, Kind.IO_ERROR, "It was stopped before any file was touched.")
    if phase == journals.RETURNING:
        return _back(promotion, ends, Kind.IO_ERROR, "It was stopped while it was taken back.")
    if phase == journals.UNDOING:
        return _back(promotion, ends, Kind.TARGET_DRIFT, "It was stopped while it was taken back.")
    changed = astray(promotion)
    if changed:
        return _back(promotion, ends, Kind.TARGET_DRIFT, f"{changed} was changed while the promotion was stopped.")
    return _guarded(promotion, ends, _from_the_middle)


def astray(promotion: Promotion) -> str:
    """The first target that does not stand where the journal has it; none: it can go on."""
    return next((file.target_path for file in promotion.files if not _stands(promotion, file)), "")


def tidy(promotion: Promotion) -> Outcome:
    """Row 6, of a plan that is applied. What fails here is tried again by the next promotion, or at the next start."""
    try:
        return Outcome(state="applied", left=clean(promotion))
    except (Drift, OSError, sqlite3.Error) as error:
        return Outcome(state="applied", problem=f"What was held is still there: {error}.")


def close(promotion: Promotion, ends: Ends) -> Outcome:
    """Give up a promotion that cannot be taken back: the files stay as they are, old bytes are kept aside, the plan is
    voided. Raises OSError: the old bytes could not be kept."""
    left: list[str] = []
    for file in promotion.files:
        if digest_of(promotion.disk.look(file.target_path)) != file.target_blob:
            keep_old(promotion, file, ends.recovered)
    for file in promotion.files:
        try:
            left += drop_hidden(promotion, file)
        except OSError:  # behind a link by now: it stays where it is
            continue
    for folder in reversed(promotion.folders):
        promotion.disk.drop_folder(folder)
    promotion.commit(lambda connection: _voided(promotion, ends, connection, "Closed, its files left as they are."))
    return Outcome(state="voided", recovered=kept(ends.recovered, promotion.plan_id), left=tuple(left))


def _from_the_start(promotion: Promotion) -> None:
    stage(promotion)
    mutate(promotion)


def _from_the_middle(promotion: Promotion) -> None:
    waiting = [
        file
        for file in promotion.files
        if file.intent in (Intent.PENDING, Intent.INTENT)
        and digest_of(promotion.disk.see(file.target_path)) != file.sanitized_digest
    ]
    for file in waiting:
        write_new(promotion, file)
    flush_new(promotion, waiting)
    go_on(promotion)


def _guarded(promotion: Promotion, ends: Ends, act: Callable[[Promotion], None]) -> Outcome:
    """Do it and complete it; what goes wrong takes all of it back."""
    try:
        act(promotion)
        finish(promotion, ends.completed)
    except Drift as error:
        return _back(promotion, ends, Kind.TARGET_DRIFT, str(error))
    except TeamFault as error:
        return _back(promotion, ends, error.kind, error.problem)
    except OSError as error:
        return _back(promotion, ends, Kind.IO_ERROR, f"{error.filename or 'A file'}: {error.strerror or error}.")
    except sqlite3.Error as error:
        return _back(promotion, ends, Kind.IO_ERROR, f"The database: {error}.")
    return tidy(promotion)


def _back(promotion: Promotion, ends: Ends, kind: Kind, problem: str) -> Outcome:
    """Roll back, and say where that leaves the plan: approved after a fault of our own, voided after any other."""
    ours = kind is Kind.IO_ERROR
    phase = journals.RETURNING if ours else journals.UNDOING
    with promotion.row("undo"):
        promotion.commit(lambda connection: journals.phase(connection, promotion.plan_id, phase, problem))
    undone = undo(promotion, ends.recovered)
    if undone.stuck:
        raise _stuck(promotion, undone, problem)
    with promotion.row("undo:end"):
        if ours:
            promotion.commit(lambda connection: journals.returned(connection, promotion.plan_id, promotion.now))
        else:
            promotion.commit(lambda connection: _voided(promotion, ends, connection, problem))
    return Outcome(
        state="approved" if ours else "voided",
        problem=problem,
        kind=kind,
        recovered=undone.recovered,
        left=undone.left,
    )


def _voided(promotion: Promotion, ends: Ends, connection: sqlite3.Connection, reason: str) -> None:
    ends.voided(connection, reason)
    journals.erase(connection, promotion.plan_id)


def _stands(promotion: Promotion, file: PlanFile) -> bool:
    """Whether a target is where its intent says, or at a step of the row that was begun."""
    target = digest_of(promotion.disk.see(file.target_path))
    held = digest_of(promotion.disk.see(promotion.hidden(file, HOLD)))
    match file.intent:
        case Intent.PENDING:
            return target == file.target_blob
        case Intent.APPLIED:
            return target == file.sanitized_digest
        case Intent.INTENT:
            untouched = target == file.target_blob and held is None
            taken = target is None and held == file.target_blob
            written = target == file.sanitized_digest and held == file.target_blob
            return untouched or taken or written
        case _:
            return False


def _stuck(promotion: Promotion, undone: Undone, problem: str) -> TeamFault:
    files = ", ".join(undone.stuck)
    return TeamFault(
        Kind.ROLLBACK_REQUIRED,
        f"{problem} The promotion could not be taken back whole: {files} cannot be reached, or hold what others wrote.",
        "Look at these files, and at the `.hold` beside each. Then promote again, which goes on taking it back, or "
        f"close it: discard --plan {promotion.plan_id} --keep-files.",
    )
