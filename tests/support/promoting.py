"""A plan over a folder and a database, promoted step by step, with somebody in between where a test wants it."""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from governance.formation.contracts import Fault, no_fault
from governance.migrations import queue_steps
from governance.team.contracts.base import Owner
from governance.team.contracts.promoting import Operation
from governance.team.contracts.rows import Plan, PlanFile
from governance.team.disk import Disk
from governance.team.errors import TeamFault
from governance.team.journal import Promotion
from governance.team.resuming import Ends, Outcome, carry_out, close, resume, tidy
from governance.team.store import journals, plans
from recall.canonical import bytes_digest

T = TypeVar("T")
NOW = 1_796_000_000_000
PLAN = "plan-" + "5" * 32
ENTRIES = ".remora-pre/memory/entries"
CHANGED, DELETED, KEPT = (
    f"{ENTRIES}/changed.md",
    ".remora-pre/memory/scenes/gone.md",
    ".remora-pre/memory/scenes/kept.md",
)
# Two writes, the first in a folder that has to be made, and one delete.
FRESH = ".remora-pre/memory/skills/releases/SKILL.md"
BEFORE: Mapping[str, bytes] = {
    CHANGED: b"the old words\n",
    DELETED: b"a scene\n",
    KEPT: b"another scene\n",
    f"{ENTRIES}/kept.md": b"an entry\n",
    "README.md": b"# Read me\n",
}
CHANGES: Mapping[str, bytes | None] = {FRESH: b"a skill\n", CHANGED: b"the new words\n", DELETED: None}
OWNER = Owner(repository_key="r" * 64, worktree_key="w" * 64)


class Stopped(Exception):
    """The process ended here: nothing after it was done."""


def stopped_at(point: str, number: int = 1) -> Fault:
    """Ends at the nth time that a point is met."""
    return at(point, _stop, number)


def _stop() -> None:
    raise Stopped


def at(point: str, act: Callable[[], object], number: int = 1) -> Fault:
    """Does something at the nth time that a point is met."""
    met: Counter[str] = Counter()

    def fault(name: str) -> None:
        met[name] += 1
        if name == point and met[name] == number:
            act()

    return fault


def written(root: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def tree(root: Path) -> dict[str, bytes | str]:
    """Every file by its path, a link as what it leads to, an empty folder with a slash; git's own left out."""
    found: dict[str, bytes | str] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        here = Path(folder)
        for name in [*names, *(one for one in folders if (here / one).is_symlink())]:
            path = here / name
            found[path.relative_to(root).as_posix()] = os.readlink(path) if path.is_symlink() else path.read_bytes()
        if not folders and not names:
            found[here.relative_to(root).as_posix() + "/"] = b""
    return found


def after(before: Mapping[str, bytes | str], changes: Mapping[str, bytes | None]) -> dict[str, bytes | str]:
    """The tree once the changes are made."""
    merged = {**before, **changes}
    return {path: data for path, data in merged.items() if data is not None}


@dataclass
class Desk:
    """The folder `root` of a repository, the data folder, and one plan."""

    folder: Path
    before: Mapping[str, bytes] = field(default_factory=lambda: dict(BEFORE))
    changes: Mapping[str, bytes | None] = field(default_factory=lambda: dict(CHANGES))
    connection: sqlite3.Connection = field(init=False)
    completed: int = 0

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True)
        written(self.root, self.before)
        self.connection = sqlite3.connect(self.folder / "governance.db", isolation_level=None)
        for script in queue_steps():
            self.connection.executescript(script)
        self.commit(lambda connection: plans.put(connection, a_plan(), self._files(), {}))

    @property
    def root(self) -> Path:
        return Path(os.path.realpath(self.folder)) / "repository"

    @property
    def recovered(self) -> Path:
        return self.folder / "recovered"

    def commit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(self.connection)
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        return result

    def promotion(self, fault: Fault = no_fault) -> Promotion:
        return Promotion(
            plan_id=PLAN,
            disk=Disk(str(self.root), fault),
            commit=self.commit,
            now=NOW,
            files=list(plans.files(self.connection, PLAN)),
            folders=journals.folders(self.connection, PLAN),
            fault=fault,
        )

    def promote(self, fault: Fault = no_fault) -> Outcome:
        return carry_out(self.promotion(fault), self.ends)

    def stop(self, point: str, number: int = 1, act: Callable[[Fault], object] | None = None) -> None:
        """Promote, and be stopped there."""
        try:
            (act or self.promote)(stopped_at(point, number))
        except Stopped:
            return
        raise AssertionError(f"{point} was not met {number} times")

    def resume(self, fault: Fault = no_fault) -> Outcome | None:
        """What a start does; None: there was nothing to do."""
        plan = self.plan
        if plan.state == "applying":
            return resume(self.promotion(fault), plan.phase, self.ends)
        return tidy(self.promotion(fault)) if plan.cleanup == "pending" else None

    def close(self) -> Outcome:
        return close(self.promotion(), self.ends)

    @property
    def ends(self) -> Ends:
        return Ends(
            begun=lambda connection: None, completed=self._completed, voided=self._voided, recovered=self.recovered
        )

    @property
    def plan(self) -> Plan:
        return plans.needed(self.connection, PLAN)

    @property
    def stored(self) -> tuple[PlanFile, ...]:
        return plans.files(self.connection, PLAN)

    @property
    def tree(self) -> dict[str, bytes | str]:
        return tree(self.root)

    @property
    def wanted(self) -> dict[str, bytes | str]:
        return after(dict(self.before), self.changes)

    @property
    def aside(self) -> dict[str, bytes | str]:
        """What is kept in `recovered`, by the target's path."""
        return tree(self.recovered / PLAN) if self.recovered.exists() else {}

    def hidden(self) -> list[str]:
        return sorted(path for path in self.tree if "/.rpx-" in f"/{path}")

    def _files(self) -> list[PlanFile]:
        return [
            a_file(path, data, self.before.get(path), "write" if data is not None else "delete")
            for path, data in self.changes.items()
        ]

    def _completed(self, connection: sqlite3.Connection) -> None:
        journals.applied(connection, PLAN, NOW)
        self.completed += 1

    def _voided(self, connection: sqlite3.Connection, reason: str) -> None:
        plans.move(connection, PLAN, "voided", NOW, reason)


def fails(act: Callable[[], object]) -> TeamFault:
    """The fault that it ends with."""
    try:
        act()
    except TeamFault as fault:
        return fault
    raise AssertionError("nothing was refused")


def a_file(path: str, data: bytes | None, before: bytes | None, operation: Operation) -> PlanFile:
    return PlanFile(
        target_path=path,
        operation=operation,
        target_blob=None if before is None else bytes_digest(before),
        sanitized_digest=None if data is None else bytes_digest(data),
        new=data,
    )


def a_plan() -> Plan:
    return Plan(
        plan_id=PLAN,
        owner=OWNER,
        kind="entry",
        state="approved",
        plan_digest="d" * 64,
        approval_digest=None,
        assessment_digest="a" * 64,
        policy_version="sanitize-pre@1",
        candidate_ids=(),
        document="{}",
        number=1,
        created_at=NOW,
        changed_at=NOW,
        approved_at=NOW,
    )
