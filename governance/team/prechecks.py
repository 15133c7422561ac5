"""What must hold before a promotion begins (team.md 9, row 1): nothing is changed here.

What was approved may have been overtaken: by time, by another policy, by what became of the candidates and of what they
cite, by somebody who edited a target.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from governance.team import confirming, patching, payloads, rendering
from governance.team.approving import Judged
from governance.team.contracts.base import Bound
from governance.team.contracts.rows import FileChange, Plan, PlanFile
from governance.team.disk import Disk, Odd, Plain, is_led_astray
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.journal import digest_of
from governance.team.paths import target
from governance.team.previewing import Citations, private_names
from governance.team.trees import Tree
from recall.contracts import Database, Millis

# What a plan cannot get over; anything else may be otherwise the next time.
VOIDING = frozenset(
    {
        Kind.APPROVAL_EXPIRED,
        Kind.BINDING_DRIFT,
        Kind.CANDIDATE_NOT_FOUND,
        Kind.CANDIDATE_STALE,
        Kind.SANITIZATION_BLOCKED,
        Kind.TARGET_DRIFT,
        Kind.TARGET_PATH_INVALID,
    }
)
AGAIN = "Review and prepare again."


@dataclass(frozen=True, kw_only=True, slots=True)
class Prechecks:
    """`read`: the memory of a worktree as it stands on the disk; runs in a thread."""

    database: Database
    formats: Formats
    citations: Citations
    read: Callable[[Bound], Tree]

    async def check(self, bound: Bound, plan: Plan, files: Sequence[PlanFile], disk: Disk, now: Millis) -> None:
        """Raises TeamFault: a kind of `VOIDING`; `unsupported-filesystem`, `io-error`, `sync-partial`."""
        await self.database.read(lambda connection: confirming.in_time(connection, plan, now))
        if plan.policy_version != self.formats.policy:
            raise TeamFault(
                Kind.BINDING_DRIFT,
                f"The plan was checked by the policy {plan.policy_version}; this version has {self.formats.policy}.",
                AGAIN,
            )
        judged = await self.database.read(lambda connection: confirming.unchanged(connection, plan))
        drifted = await self.citations.check(bound, [one.candidate for one in judged])
        for candidate_id, reason in sorted(drifted.items()):
            raise TeamFault(
                Kind.BINDING_DRIFT,
                f"What {candidate_id} cites is no longer as it was: {reason}",
                "Discard it, recall again and stage anew.",
            )
        if plan.kind == "consolidation":
            await self._sources(bound, judged)
        private = await self.database.read(private_names)
        await asyncio.to_thread(_targets, bound, files, disk, private)
        await asyncio.to_thread(_names, files, disk, plan.plan_id)

    async def _sources(self, bound: Bound, judged: Sequence[Judged]) -> None:
        """What a patch was made of is as it was."""
        tree = await asyncio.to_thread(self.read, bound)
        if not tree.complete:
            problem = f"The memory of this repository could not be read as a whole: {tree.problem}"
            raise TeamFault(Kind.SYNC_PARTIAL, problem, "See `lint`, and promote again when nothing is writing there.")
        for one in judged:
            if changed := patching.drifted(payloads.consolidation(one.candidate), tree):
                raise TeamFault(Kind.BINDING_DRIFT, changed, "Discard the patch, and synthesize again.")


def _targets(bound: Bound, files: Sequence[PlanFile], disk: Disk, private: Collection[str]) -> None:
    """Every path may be written, every target stands as recorded, and no new text is blocked by now."""
    root = bound.binding.memory_root
    for file in files:
        if problem := target(file.target_path, root):
            raise TeamFault(Kind.TARGET_PATH_INVALID, f"{file.target_path!r}: {problem}", AGAIN)
    rendering.screened(list(_changes(files, disk)), root, private)


def _changes(files: Sequence[PlanFile], disk: Disk) -> Iterator[FileChange]:
    for file in files:
        try:
            disk.missing(file.target_path)
            found = disk.see(file.target_path)
        except OSError as error:
            if is_led_astray(error):
                raise _drift(file.target_path, "lies behind a link, or behind what is no folder") from error
            raise unreachable(error) from error
        if isinstance(found, Odd):
            raise _drift(file.target_path, f"is no plain file now ({found.reason})")
        now = digest_of(found)
        if now != file.target_blob:
            raise _drift(file.target_path, "is gone" if now is None else "was changed since it was reviewed")
        if now == file.sanitized_digest:
            raise _drift(file.target_path, "is so already")
        before = found.data if isinstance(found, Plain) else None
        yield FileChange(target_path=file.target_path, operation=file.operation, data=file.new, before=before)


def _names(files: Sequence[PlanFile], disk: Disk, plan_id: str) -> None:
    """In every folder that is written to, a name can be given without replacing one."""
    asked: set[str] = set()
    for file in files:
        folder = file.target_path.rpartition("/")[0]
        if folder in asked:
            continue
        asked.add(folder)
        try:
            able = disk.can_name_freely(file.target_path, plan_id)
        except OSError as error:
            raise unreachable(error) from error
        if not able:
            raise TeamFault(
                Kind.UNSUPPORTED_FILESYSTEM,
                f"The file system of {folder} has neither hard links nor a renaming that never replaces.",
                "Work in a checkout on another file system: nothing can be written here without a risk to other files.",
            )


def unreachable(error: OSError) -> TeamFault:
    """A file or folder that the system does not let us have."""
    return TeamFault(
        Kind.IO_ERROR,
        f"{error.filename or 'A file'}: {error.strerror or error}.",
        "Nothing was changed, and the plan is still approved: promote again once that is repaired.",
    )


def _drift(path: str, problem: str) -> TeamFault:
    return TeamFault(Kind.TARGET_DRIFT, f"{path} {problem}.", f"Nothing was written. {AGAIN}")
