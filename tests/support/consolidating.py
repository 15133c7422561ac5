"""A repository with entries and scenes in its files, and the consolidation of them over a database in memory."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from governance.migrations import queue_steps
from governance.team.contracts.base import Bound, Call, Directory, Owner, RepositoryBinding
from governance.team.contracts.consolidating import (
    ConsolidationPatch,
    ConsolidationTask,
    PatchOperation,
    Synthesis,
)
from governance.team.contracts.rows import ConsolidationPayload
from governance.team.contracts.staging import Staged
from governance.team.files import Doctrine, Scene, render_doctrine, render_scene, scene_path
from governance.team.formats import Formats
from governance.team.leases import Issue
from governance.team.store import bindings, candidates, trust
from governance.team.store.bindings import Installation
from governance.team.store.trust import Receipt, Trusted
from governance.team.syncing import Syncing
from governance.team.synthesis import Consolidating
from governance.team.tree import Tree, read_tree
from host.namespace import MARK, REPOSITORY_FOLDER, SCRIPT
from recall.canonical import bytes_digest
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.team_entries import an_entry, write_entry

FORMATS = Formats(prefix=SCRIPT, mark=MARK, folder=REPOSITORY_FOLDER)
MEMORY = FORMATS.memory_root
OWNER = Owner(repository_key="a" * 64, worktree_key="b" * 64)
WRITTEN = "2026-11-12T09:30:00.000Z"


def bound_at(root: Path) -> Bound:
    """A worktree with that top."""
    binding = RepositoryBinding(
        format=FORMATS.document("repository-binding"),
        repository_key=OWNER.repository_key,
        worktree_key=OWNER.worktree_key,
        public_repository_identity=None,
        root_realpath_digest="c" * 64,
        common_directory_identity=Directory(device="1", inode="2"),
        memory_root=MEMORY,
    )
    return Bound(owner=OWNER, binding=binding, root=str(root.resolve()), workspace_key="ws_1")


def a_call(at: int = START, holder: str = "s-one", principal: str = "agent") -> Call:
    return Call(principal=principal, holder=holder, now=at)


def a_scene(name: str, heat: int = 1, **fields: str) -> Scene:
    given = {"created": WRITTEN, "updated": WRITTEN, "summary": f"About {name}"[:40], "body": f"What {name} is."}
    return Scene(name=name, heat=heat, **(given | fields))


def put_scene(root: Path, scene: Scene) -> None:
    """A scene in its file below a repository's top."""
    _put(root, scene_path(scene.name), render_scene(scene))


def put_doctrine(root: Path, body: str) -> None:
    """The doctrine in its file below a repository's top."""
    _put(root, "doctrine.md", render_doctrine(Doctrine(body=body)))


def _put(root: Path, path: str, data: bytes) -> None:
    file = root / MEMORY / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def operation(op: str = "create", name: str = "Releases", **fields: Any) -> PatchOperation:
    """One operation on a scene."""
    given: dict[str, Any] = {
        "operation_id": f"o-{op}-{name}",
        "op": op,
        "target": "scene",
        "name": name,
        "new_content": None if op == "delete" else f"How {name} goes.",
        "summary": "" if op == "delete" else "In short",
        "rationale": "It came up.",
    }
    return PatchOperation(**(given | fields))


@dataclass
class Repository:
    """`root`: the worktree's top. What is asked and answered goes through one database."""

    root: Path
    database: FakeDatabase = field(default_factory=lambda: FakeDatabase(queue_steps()))

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.bound = bound_at(self.root)
        tokens = count(1)
        fresh = Installation(secret=b"s" * 32, uuid="db-1")
        bindings.installation(self.database.connection, fresh)
        self.trust(True)
        self.syncing = Syncing(database=self.database, read=self.read)
        issue = Issue(token=lambda: f"lease-{next(tokens)}")
        self.consolidating = Consolidating(database=self.database, syncing=self.syncing, formats=FORMATS, issue=issue)

    @staticmethod
    def read(bound: Bound) -> Tree:
        return read_tree(bound.root, bound.binding.memory_root)

    def trust(self, trusted: bool) -> None:
        """What a person said of the repository."""
        self.trust_in(self.database.connection, trusted)

    def trust_in(self, connection: sqlite3.Connection, trusted: bool = True) -> None:
        """The same in another database."""
        said = Trusted(trusted=trusted, via="terminal", at=START)
        trust.set_trust(connection, OWNER.repository_key, said)

    def receive(self, path: Path) -> None:
        """A receipt for a file, as it is."""
        name, digest = str(path.relative_to(self.root)), bytes_digest(path.read_bytes())
        made = Receipt(repository_key=OWNER.repository_key, memory_id=name, digest=digest, plan_id="plan-1")
        trust.receipt(self.database.connection, made, START)

    @property
    def tree(self) -> Tree:
        return self.read(self.bound)

    def entries(self, *contents: str, start: int = 1) -> tuple[str, ...]:
        """Entries in their files, numbered from `start`; their ids."""
        made = [an_entry(content, number) for number, content in enumerate(contents, start)]
        for entry in made:
            write_entry(self.root, entry)
        return tuple(entry.id for entry in made)

    async def synthesize(self, mode: str = "incremental", at: int = START) -> Synthesis:
        return await self.consolidating.synthesize(self.bound, a_call(at), mode)

    async def task(self, mode: str = "incremental") -> ConsolidationTask:
        asked = await self.synthesize(mode)
        assert asked.task is not None, asked.note
        return asked.task

    async def answer(self, task: ConsolidationTask, *operations: PatchOperation, at: int = START + 60_000) -> Staged:
        return await self.consolidating.patch(self.bound, a_call(at), patch_of(task, operations))

    def payload(self, candidate_id: str) -> ConsolidationPayload:
        """What a candidate would write."""
        found = candidates.get(self.database.connection, candidate_id)
        assert found is not None
        return msgspec.json.decode(found.payload, type=ConsolidationPayload)


def patch_of(task: ConsolidationTask, operations: Sequence[PatchOperation]) -> ConsolidationPatch:
    return ConsolidationPatch(
        format=FORMATS.document("consolidation-patch"),
        task_id=task.task_id,
        binding=task.binding,
        operations=tuple(operations),
    )
