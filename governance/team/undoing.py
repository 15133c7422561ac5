"""Take a promotion back (team.md 9): in reverse, with the same primitives, and nothing that somebody else wrote.

A new file of ours is moved to a hidden name, verified, and dropped later; an old one gets its name back from its hold.
What others deleted or changed stays so; where old bytes had to give way, they are kept aside. Each step looks at the
disk first, so a rollback that was stopped is simply done again. It needs no room on the disk, but to keep something
aside.
"""

from pathlib import Path

from governance.team.contracts.rows import Intent, PlanFile
from governance.team.disk import HOLD, NEW, UNDO, Plain, Seen
from governance.team.journal import Drift, Promotion, digest_of, drop_hidden, flush_folders, is_linked
from governance.team.recovering import keep, kept
from recall.contracts import Frozen


class Undone(Frozen, frozen=True, kw_only=True):
    """`recovered`: where bytes that gave way are kept. `stuck`: files that only a person can part, or that could not be
    reached. `left`: hidden files that are not ours, left where they are."""

    recovered: tuple[str, ...]
    stuck: tuple[str, ...]
    left: tuple[str, ...]


class _Stuck(Exception):
    """Somebody's bytes are under a hidden name of ours, and somebody's under the target's: neither may give way."""


def undo(promotion: Promotion, recovered: Path) -> Undone:
    """Take back every file that was begun. The plan's state is the caller's. What cannot be reached is told as stuck.

    Raises what `commit` raises.
    """
    stuck: list[str] = []
    for place in reversed(range(len(promotion.files))):
        file = promotion.files[place]
        if file.intent not in (Intent.INTENT, Intent.APPLIED):
            continue
        try:
            with promotion.row("undo:file"):
                intent = _undone(promotion, file, recovered)
        except (_Stuck, Drift, OSError):
            stuck.append(file.target_path)
            continue
        with promotion.row("undo:note"):
            promotion.note(place, intent)
    left: list[str] = []
    for file in promotion.files:
        if file.target_path not in stuck:
            try:
                with promotion.row("undo:drop"):
                    left += drop_hidden(promotion, file)
            except (Drift, OSError):
                stuck.append(file.target_path)
    if not stuck:
        with promotion.row("undo:flush"):
            flush_folders(promotion)
        for folder in reversed(promotion.folders):
            promotion.disk.drop_folder(folder)
    return Undone(recovered=kept(recovered, promotion.plan_id), stuck=tuple(stuck), left=tuple(left))


def keep_old(promotion: Promotion, file: PlanFile, recovered: Path) -> None:
    """Keep the bytes that a target had aside. Raises OSError."""
    if file.old is not None:
        keep(recovered, promotion.plan_id, file.target_path, file.old)


def _undone(promotion: Promotion, file: PlanFile, recovered: Path) -> Intent:
    """One file, back; how it ended."""
    moved = file.operation == "write" and _new_away(promotion, file)
    target, held = promotion.disk.see(file.target_path), promotion.disk.see(promotion.hidden(file, HOLD))
    if digest_of(target) == file.target_blob:  # it is back, or was never away
        return Intent.ROLLED_BACK
    if file.originally_present and held is not None and digest_of(held) != file.target_blob:
        # What was taken away was somebody else's.
        if target is not None:
            raise _Stuck
        _put_back(promotion, file, HOLD)
        return Intent.ROLLED_BACK
    if target is None and (moved or not _deleted(file, held)):
        return _old_back(promotion, file, recovered)
    if held is not None or target is None:
        keep_old(promotion, file, recovered)  # of a new file there is nothing to keep
    occupied = file.intent is Intent.INTENT and target is not None and (held is not None or not file.originally_present)
    return Intent.FOREIGN if occupied else Intent.ROLLED_BACK


def _new_away(promotion: Promotion, file: PlanFile) -> bool:
    """Move our new file off the target. Whether it was ours who took it from there, now or before a stop."""
    hidden = promotion.hidden(file, UNDO)
    if promotion.disk.see(hidden) is None:
        target = promotion.disk.see(file.target_path)
        applied = file.intent is Intent.APPLIED and digest_of(target) == file.sanitized_digest
        if not applied and not is_linked(promotion, file):
            return False
        with promotion.row("undo:away"):
            promotion.disk.capture(file.target_path, hidden)
    if digest_of(promotion.disk.see(hidden)) != file.sanitized_digest:  # changed between the look and the move
        _put_back(promotion, file, UNDO)
        return False
    return True


def _put_back(promotion: Promotion, file: PlanFile, step: str) -> None:
    """Give what is not ours its name again."""
    with promotion.row("undo:stranger"):
        try:
            promotion.disk.put_back(promotion.hidden(file, step), file.target_path)
        except FileExistsError as error:
            raise _Stuck from error


def _deleted(file: PlanFile, held: Seen) -> bool:
    """Whether somebody else took the target away: after it was applied, or before it was our turn."""
    return file.operation == "write" if file.intent is Intent.APPLIED else held is None


def _old_back(promotion: Promotion, file: PlanFile, recovered: Path) -> Intent:
    """Give the old bytes their name again."""
    if not file.originally_present:
        return Intent.ROLLED_BACK
    hold = promotion.hidden(file, HOLD)
    try:
        with promotion.row("undo:back"):
            if not isinstance(promotion.disk.see(hold), Plain):  # somebody cleared hidden files away
                hold = promotion.hidden(file, NEW)
                promotion.disk.drop(hold)
                promotion.disk.write(hold, file.old or b"", file.mode)
            promotion.disk.link(hold, file.target_path)
    except FileExistsError:  # written by somebody else, just now
        keep_old(promotion, file, recovered)
        return Intent.FOREIGN if file.intent is Intent.INTENT else Intent.ROLLED_BACK
    return Intent.ROLLED_BACK
