"""A promotion, row by row (team.md 9, rows 2 to 6): each step is on the disk and written down before the next.

It blocks, and runs in a thread. `commit` runs work on the database and returns after its COMMIT; the order is: intent
first, then the file, then that it is applied. So whatever stops us, what stands in the database and on the disk says
how far we were, and `resuming` goes on or back. Each row is a named point, before it and after it: `promote:4b`,
`promote:4b:done`.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from msgspec.structs import replace

from governance.formation.contracts import Fault, no_fault
from governance.team.contracts.rows import Intent, PlanFile
from governance.team.disk import FILE_MODE, HOLD, NEW, UNDO, Disk, Odd, Plain, Seen, beside, is_led_astray
from governance.team.store import journals
from recall.contracts import Millis

T = TypeVar("T")


class Commit(Protocol):
    def __call__(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction; its result, after the COMMIT."""
        ...


class Drift(Exception):
    """A file is not as the plan was made for: somebody else changed it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path} {problem}")
        self.path = path


@dataclass(kw_only=True, slots=True)
class Promotion:
    """One promotion under way. `files`: in the plan's order, as they are written down."""

    plan_id: str
    disk: Disk
    commit: Commit
    now: Millis
    files: list[PlanFile]
    folders: tuple[str, ...] = ()
    fault: Fault = no_fault

    @contextmanager
    def row(self, name: str) -> Iterator[None]:
        """A row of the table: tests stop before it and after it. A walk that met a link is a drift."""
        self.fault(name)
        try:
            yield
        except OSError as error:
            if is_led_astray(error):
                raise Drift(str(error.filename or name), "is reached through a link, or is no folder, now.") from error
            raise
        self.fault(f"{name}:done")

    def hidden(self, file: PlanFile, step: str) -> str:
        return beside(file.target_path, self.plan_id, step)

    def note(self, place: int, intent: Intent) -> None:
        """Write down how far a file is."""
        self.commit(lambda connection: journals.intent(connection, self.plan_id, place, intent))
        self.files[place] = replace(self.files[place], intent=intent)


def digest_of(seen: Seen) -> str | None:
    """Of the bytes that stand there; None: nothing does; what is no file is like no file of ours."""
    if isinstance(seen, Odd):
        return seen.reason
    return None if seen is None else seen.digest


def begin(promotion: Promotion, asked: Callable[[sqlite3.Connection], None]) -> None:
    """Row 2, T1: the old bytes are safe before anything is touched. `asked`: in the same transaction, before it.

    Raises Drift, OSError, and what `asked` raises: nothing has happened then.
    """
    before = [_before(promotion, file) for file in promotion.files]

    def begun(connection: sqlite3.Connection) -> None:
        asked(connection)
        journals.begin(connection, promotion.plan_id, before, promotion.folders, promotion.now)

    with promotion.row("promote:2"):
        promotion.folders = _missing(promotion)
        promotion.commit(begun)
    for place, (file, found) in enumerate(zip(promotion.files, before, strict=True)):
        promotion.files[place] = replace(
            file, old=found.data, originally_present=found.data is not None, mode=found.mode, intent=Intent.PENDING
        )


def stage(promotion: Promotion) -> None:
    """Row 3: the folders, and every new file under its hidden name. Raises OSError, Drift: no target was touched."""
    with promotion.row("promote:3"):
        for folder in promotion.folders:
            promotion.disk.make_folder(folder)
        for file in promotion.files:
            write_new(promotion, file)
            promotion.fault("promote:3:file")
        flush_new(promotion, promotion.files)


def write_new(promotion: Promotion, file: PlanFile) -> None:
    """The hidden file with a target's new bytes, unless it is there. It is not on the disk yet: see `flush_new`."""
    if file.operation != "write" or file.new is None:
        return
    hidden = promotion.hidden(file, NEW)
    if digest_of(promotion.disk.see(hidden)) != file.sanitized_digest:
        promotion.disk.unlink(hidden)
        promotion.disk.draft(hidden, file.new, file.mode)


def flush_new(promotion: Promotion, files: Sequence[PlanFile]) -> None:
    """Have the hidden files with new bytes on the disk, and their names."""
    for file in files:
        if file.operation == "write":
            promotion.disk.flush_file(promotion.hidden(file, NEW))
    flush_folders(promotion)


def mutate(promotion: Promotion) -> None:
    """Row 4: T2, then file after file. Raises Drift, OSError."""
    with promotion.row("promote:4"):
        promotion.commit(lambda connection: journals.phase(connection, promotion.plan_id, journals.MUTATING))
    go_on(promotion)


def go_on(promotion: Promotion) -> None:
    """The files of row 4 that are not applied, from where each is. Raises Drift, OSError."""
    for place in range(len(promotion.files)):
        if promotion.files[place].intent is not Intent.APPLIED:
            _apply(promotion, place)
        if promotion.files[place].operation == "write":
            # What is held stays: a rollback must not need room on the disk. Its folder is flushed in row 6.
            with promotion.row("promote:4e"):
                promotion.disk.unlink(promotion.hidden(promotion.files[place], NEW))


def _apply(promotion: Promotion, place: int) -> None:
    file = promotion.files[place]
    if file.intent is Intent.PENDING:
        with promotion.row("promote:4a"):
            promotion.note(place, Intent.INTENT)
    if file.originally_present and not is_held(promotion, file):
        with promotion.row("promote:4b"):
            _capture(promotion, file)
    if file.operation == "write" and not is_linked(promotion, file):
        with promotion.row("promote:4c"):
            _link(promotion, file)
    with promotion.row("promote:4d"):
        verify(promotion, file)
        promotion.note(place, Intent.APPLIED)


def is_held(promotion: Promotion, file: PlanFile) -> bool:
    """Whether the hold has the old bytes: then it was ours who took the target away."""
    return digest_of(promotion.disk.see(promotion.hidden(file, HOLD))) == file.target_blob


def is_linked(promotion: Promotion, file: PlanFile) -> bool:
    """Whether the target is our new file, and not another one with the same bytes."""
    target = promotion.disk.see(file.target_path)
    new = promotion.disk.see(promotion.hidden(file, NEW))
    if not isinstance(target, Plain) or target.digest != file.sanitized_digest:
        return False
    return new is None or (isinstance(new, Plain) and new.inode == target.inode)


def _capture(promotion: Promotion, file: PlanFile) -> None:
    """Row 4b. Whatever is there is taken away in one step; only then is it looked at."""
    hold = promotion.hidden(file, HOLD)
    try:
        promotion.disk.capture(file.target_path, hold)
    except FileNotFoundError as error:
        raise Drift(file.target_path, "is gone.") from error
    except FileExistsError as error:
        raise Drift(hold, "is there, and is not ours.") from error
    if not is_held(promotion, file):
        raise Drift(file.target_path, "was changed.")


def _link(promotion: Promotion, file: PlanFile) -> None:
    """Row 4c."""
    try:
        promotion.disk.link(promotion.hidden(file, NEW), file.target_path)
    except FileExistsError as error:
        raise Drift(file.target_path, "was written by somebody else.") from error
    except FileNotFoundError as error:
        raise Drift(file.target_path, "lost its folder, or our new file in it.") from error


def verify(promotion: Promotion, file: PlanFile) -> None:
    """Raises Drift unless a target is as the plan leaves it."""
    found = digest_of(promotion.disk.see(file.target_path))
    if found != file.sanitized_digest:
        raise Drift(file.target_path, "is gone." if found is None else "was changed by somebody else.")


def finish(promotion: Promotion, completed: Callable[[sqlite3.Connection], None]) -> None:
    """Row 5, T3: all is as planned, and everything that follows from it is one transaction. Raises Drift."""
    with promotion.row("promote:5"):
        for file in promotion.files:
            verify(promotion, file)
        promotion.commit(completed)


def clean(promotion: Promotion) -> tuple[str, ...]:
    """Row 6: what was held goes. What is not as it was recorded stays: the hidden names of such files."""
    kept: list[str] = []
    with promotion.row("promote:6"):
        for file in promotion.files:
            kept += drop_hidden(promotion, file)
            promotion.fault("promote:6:file")
        flush_folders(promotion)
    with promotion.row("promote:6c"):
        promotion.commit(lambda connection: journals.cleaned(connection, promotion.plan_id))
    return tuple(kept)


def drop_hidden(promotion: Promotion, file: PlanFile) -> Sequence[str]:
    """Take our hidden files of one target away. What we did not put there stays, and is named.

    Their folder is not flushed: see `flush_folders`.
    """
    kept: list[str] = []
    promotion.disk.unlink(promotion.hidden(file, NEW))
    for step, ours in ((HOLD, file.target_blob), (UNDO, file.sanitized_digest)):
        hidden = promotion.hidden(file, step)
        found = promotion.disk.see(hidden)
        if found is None:
            continue
        if digest_of(found) == ours:
            promotion.disk.unlink(hidden)
        else:
            kept.append(hidden)
    return kept


def flush_folders(promotion: Promotion) -> None:
    """Have the names in every folder of a target on the disk."""
    for target in {file.target_path.rpartition("/")[0]: file.target_path for file in promotion.files}.values():
        promotion.disk.flush_folder(target)


def _missing(promotion: Promotion) -> tuple[str, ...]:
    """The folders that the new files need and that are not there, outer ones first."""
    targets = [file.target_path for file in promotion.files if file.operation == "write"]
    folders = {folder for target in targets for folder in promotion.disk.missing(target)}
    return tuple(sorted(folders, key=lambda folder: (folder.count("/"), folder)))


def _before(promotion: Promotion, file: PlanFile) -> journals.Before:
    """What T1 keeps of a target. Raises Drift."""
    found = promotion.disk.see(file.target_path)
    if digest_of(found) != file.target_blob:
        raise Drift(file.target_path, "is not as it was prepared.")
    if isinstance(found, Plain):
        return journals.Before(data=found.data, mode=found.mode & 0o777)
    return journals.Before(data=None, mode=FILE_MODE)
