"""A worktree whose staged candidates are reviewed, prepared and promoted, over a real database and real files."""

import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from governance.formation.contracts import Fault, no_fault
from governance.formation.queue import Queue
from governance.migrations import queue_steps
from governance.team.approving import assessment_digest
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.promoting import ApplyResult, PromotionPlan
from governance.team.contracts.results import Discarded
from governance.team.contracts.rows import Candidate, CandidateState, Plan, PlanFile, Target
from governance.team.errors import Kind, TeamFault
from governance.team.leases import Issue
from governance.team.promoting import Promoting, Resumed
from governance.team.store import bindings, candidates, plans
from governance.team.store.bindings import Installation
from governance.team.store.trust import Trusted, set_trust
from governance.team.syncing import Syncing
from governance.team.synthesis import Consolidating
from governance.team.tree import read_tree
from host.database import open_database
from recall.canonical import canonical
from tests.support.consolidating import a_scene, operation, patch_of, put_doctrine, put_scene
from tests.support.promoting import a_file, tree
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_review import AGENT, Desk, a_desk

FIRST = "Publish only from the release branch."
SECOND = "Run the whole suite before a release."


@dataclass
class FakeCommitted:
    """The port `Committed`: what it was told. `fails`: the index cannot follow, and says so in this way."""

    told: list[tuple[list[str], list[str]]] = field(default_factory=list)
    fails: Exception | None = None

    async def promoted(self, bound: Bound, written: Sequence[str], superseded: Sequence[str]) -> None:
        if self.fails is not None:
            raise self.fails
        self.told.append((list(written), list(superseded)))


@dataclass
class Promotions:
    """`gone`: the worktree is not the one that was bound any more."""

    desk: Desk
    folder: Path
    queue: Queue
    committed: FakeCommitted = field(default_factory=FakeCommitted)
    gone: bool = False

    @property
    def root(self) -> Path:
        return self.desk.root

    @property
    def memory(self) -> Path:
        return Path(self.desk.bound.memory)

    @property
    def tree(self) -> dict[str, bytes | str]:
        return tree(self.root)

    def promoting(self, fault: Fault = no_fault, wait_seconds: float = 0) -> Promoting:
        return Promoting(
            database=self.desk.database,
            formats=self.desk.formats,
            queue=self.queue,
            verify=self._verify,
            citations=self.desk.citations,
            syncing=Syncing(database=self.desk.database, read=lambda bound: read_tree(bound.root, _memory(bound))),
            committed=self.committed,
            data=self.folder / "data",
            fault=fault,
            wait_seconds=wait_seconds,
        )

    async def planned(self, *made: Candidate, digest: bool = True) -> PromotionPlan:
        """Reviewed and confirmed. `digest`: with the approval's; without, the plan is only generated."""
        request = await self.desk.asked(made[0].kind, [one.candidate_id for one in made])
        if not digest:
            request = msgspec.structs.replace(request, approval_digest=None)
        return await self.desk.prepare(request)

    async def entry_plan(self, content: str = FIRST, *targets: Target, **fields: Any) -> PromotionPlan:
        return await self.planned(await self.desk.stage(self.desk.an_entry(content, *targets, **fields)))

    async def promote(
        self, plan: PromotionPlan, fault: Fault = no_fault, call: Call = AGENT, digest: str | None = None
    ) -> ApplyResult:
        call = msgspec.structs.replace(call, now=self.desk.now)
        return await self.promoting(fault).promote(self.desk.bound, call, plan.plan_id, digest)

    async def refused(
        self, plan: PromotionPlan, fault: Fault = no_fault, call: Call = AGENT, digest: str | None = None
    ) -> TeamFault:
        """Why it is not promoted."""
        try:
            await self.promote(plan, fault, call, digest)
        except TeamFault as error:
            return error
        raise AssertionError("it was promoted")

    async def resume(self) -> tuple[Resumed, ...]:
        return await self.promoting().resume(self.desk.now)

    async def discard(self, plan: PromotionPlan, *, keep_files: bool = False) -> Discarded:
        call = msgspec.structs.replace(AGENT, now=self.desk.now)
        return await self.promoting().closed(self.desk.bound, call, plan.plan_id, keep_files)

    async def stored(self, plan: PromotionPlan) -> Plan:
        return await self.desk.database.read(lambda connection: plans.needed(connection, plan.plan_id))

    async def files(self, plan: PromotionPlan) -> tuple[PlanFile, ...]:
        return await self.desk.database.read(lambda connection: plans.files(connection, plan.plan_id))

    async def state(self, candidate_id: str) -> tuple[CandidateState, int]:
        held = await self.desk.database.read(lambda connection: candidates.get(connection, candidate_id))
        assert held is not None
        return held.state, held.revision

    def aside(self) -> dict[str, bytes | str]:
        """What was kept in `recovered`."""
        folder = self.folder / "data" / "recovered"
        return tree(folder) if folder.exists() else {}

    def git(self, *arguments: str) -> str:
        names = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        env |= dict.fromkeys(names, "somebody")
        command = ["git", *arguments]
        return subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, check=True).stdout

    async def _verify(self, bound: Bound) -> None:
        if self.gone:
            raise TeamFault(Kind.OWNER_MISMATCH, "Another repository stands in its place.", "Begin again.")


def _memory(bound: Bound) -> str:
    return bound.binding.memory_root


@asynccontextmanager
async def promotions(folder: Path) -> AsyncIterator[Promotions]:
    """A worktree below a folder with nothing in it, bound."""
    async with a_desk(folder) as desk:
        await desk.database.write(lambda connection: bindings.put(connection, desk.bound, desk.now))
        yield Promotions(desk=desk, folder=folder, queue=Queue(desk.database, b"k" * 32))


async def raw_plan(shop: Promotions, number: int, changes: Mapping[str, bytes | None]) -> PromotionPlan:
    """An approved plan of these files as the worktree has them now, without candidates."""
    document = PromotionPlan(
        format=shop.desk.formats.document("promotion-plan"),
        plan_id=f"plan-{number:032x}",
        owner=shop.desk.bound.owner,
        kind="entry",
        state="approved",
        candidate_ids=(),
        approval_digest=None,
        assessment_digest=assessment_digest(()),
        policy_version=shop.desk.formats.policy,
        per_file=(),
        plan_digest="",
    )
    files = [
        a_file(path, data, _bytes(shop.root / path), "write" if data is not None else "delete")
        for path, data in changes.items()
    ]
    now = shop.desk.now
    plan = Plan(
        plan_id=document.plan_id,
        owner=document.owner,
        kind=document.kind,
        state=document.state,
        plan_digest=document.plan_digest,
        approval_digest=None,
        assessment_digest=document.assessment_digest,
        policy_version=document.policy_version,
        candidate_ids=(),
        document=canonical(document).decode(),
        number=number,
        created_at=now,
        changed_at=now,
        approved_at=now,
    )
    await shop.desk.database.write(lambda connection: plans.put(connection, plan, files, {}))
    return document


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


@asynccontextmanager
async def reopened(folder: Path) -> AsyncIterator[Promotions]:
    """The worktree that `promotions` left below a folder, as another process finds it."""
    async with open_database(folder / "governance.db", queue_steps()) as database:
        (bound,) = await database.read(bindings.all_bound)
        yield Promotions(desk=Desk(database=database, bound=bound), folder=folder, queue=Queue(database, b"k" * 32))


async def consolidated(shop: Promotions) -> PromotionPlan:
    """An approved plan of two writes and one delete: two scenes become one, and the doctrine is put anew."""
    for number, content in enumerate((FIRST, SECOND), 1):
        write_entry(shop.root, an_entry(content, number))
    for name in ("Releases", "Tests"):
        put_scene(shop.root, a_scene(name, heat=number))
    put_doctrine(shop.root, "We release on Mondays.")
    fresh = Installation(secret=b"s" * 32, uuid="db-1")
    key, trusted = shop.desk.bound.owner.repository_key, Trusted(trusted=True, via="terminal", at=shop.desk.now)
    await shop.desk.database.write(lambda connection: bindings.installation(connection, fresh))
    await shop.desk.database.write(lambda connection: set_trust(connection, key, trusted))
    consolidating = Consolidating(
        database=shop.desk.database,
        syncing=shop.promoting().syncing,
        formats=shop.desk.formats,
        issue=Issue(token=lambda: "lease-1"),
    )
    asked = await consolidating.synthesize(shop.desk.bound, AGENT, "full")
    task = asked.task
    assert task is not None, asked
    merge = operation("merge", "Releases", merge_sources=("Releases", "Tests"))
    doctrine = operation(
        "update", "doctrine", target="doctrine", new_content="We release when it is green.", summary=""
    )
    staged = await consolidating.patch(shop.desk.bound, AGENT, patch_of(task, [merge, doctrine]))
    request = await shop.desk.asked("consolidation", [one.candidate_id for one in staged.candidates])
    return await shop.desk.prepare(request)
