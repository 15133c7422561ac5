"""What a task shows beside the history: topics, what is known already, and skills (team.md 5).

It is there so that nothing is proposed twice, and it is data as the history is. Of a repository that the user does not
trust only what we wrote ourselves is shown; what the screen holds back is not shown at all.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import msgspec

from governance.screen import is_instruction_like, redact
from governance.team import payloads
from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Privates
from governance.team.contracts.recalling import ContextMemory, ContextScene, ContextSkill, TaskContext
from governance.team.contracts.rows import Candidate
from governance.team.errors import Kind, TeamFault
from governance.team.homes import without_homes
from governance.team.store import candidates, projections, trust
from governance.team.syncing import Syncing
from governance.team.trees import Tree
from recall.analyzer import distinct
from recall.canonical import digest
from recall.contracts import Database, Frozen, Millis

MOST_MEMORY, MOST_SKILLS, MOST_SCENES = 40, 20, 15
MOST_OPEN, MOST_PRIVATE = 10, 10  # of the memories
LIST_BYTES = 64 * 1024  # of each list, as JSON: half of what it may have at most
LISTS_BYTES = 3 * LIST_BYTES
ASKED_CHARACTERS = 8_192  # of what the user said, to look by
ASKED_TERMS = 64
T = TypeVar("T", ContextScene, ContextMemory, ContextSkill)


class Context(Protocol):
    """Where the context of tasks comes from."""

    async def around(self, bound: Bound, texts: Sequence[str], now: Millis) -> Sequence[TaskContext]:
        """The context for each of these texts, which the user said."""
        ...


class Trusts(Frozen, frozen=True, kw_only=True):
    """Whether the user trusts the repository, and which of its files we wrote."""

    whole: bool
    receipts: frozenset[str]

    def admits(self, file_digest: str) -> bool:
        return self.whole or file_digest in self.receipts


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The `Context` of a repository's files, of what was proposed, and of the user's own records."""

    database: Database
    syncing: Syncing
    privates: Privates

    async def around(self, bound: Bound, texts: Sequence[str], now: Millis) -> tuple[TaskContext, ...]:
        """Never in the way of a recall: what cannot be read of the files is not shown."""
        if not texts:
            return ()
        tree = await self._tree(bound, now)
        trusts = await self.database.read(lambda connection: _trusts(connection, bound))
        scenes, skills = _bounded(_scenes(tree, trusts)), _bounded(_skills(tree, trusts))
        return tuple([await self._one(bound, text, trusts, scenes, skills) for text in texts])

    async def _one(
        self,
        bound: Bound,
        text: str,
        trusts: Trusts,
        scenes: tuple[ContextScene, ...],
        skills: tuple[ContextSkill, ...],
    ) -> TaskContext:
        asked = text[:ASKED_CHARACTERS]
        shared = await self.database.read(partial(_shared, bound=bound, text=asked, trusts=trusts))
        own = await self._own(bound, asked)
        memory = _bounded([*shared, *own][:MOST_MEMORY])
        return TaskContext(scenes=scenes, memory=memory, skills=skills, digest=digest([scenes, memory, skills]))

    async def _own(self, bound: Bound, text: str) -> list[ContextMemory]:
        """The user's own records; none while the index cannot be asked."""
        try:
            near = await self.privates.near(bound, text, MOST_PRIVATE)
        except TeamFault as fault:
            if fault.kind is not Kind.STATE_FAILED:
                raise
            return []
        return [ContextMemory(id=one.memory_id, source_kind="private", content=_told(one.text)) for one in near]

    async def _tree(self, bound: Bound, now: Millis) -> Tree:
        try:
            return (await self.syncing.synced(bound, now)).tree
        except TeamFault as fault:
            if fault.kind not in (Kind.SYNC_PARTIAL, Kind.IO_ERROR):
                raise
        return Tree(folder=bound.binding.memory_root)


def _trusts(connection: sqlite3.Connection, bound: Bound) -> Trusts:
    known = trust.known(connection)
    ours = frozenset(file for workspace, file in known.receipts if workspace == bound.workspace_key)
    return Trusts(whole=known.trusted.get(bound.workspace_key, False), receipts=ours)


def _shared(connection: sqlite3.Connection, bound: Bound, text: str, trusts: Trusts) -> list[ContextMemory]:
    """Approved entries and open candidates that are near, best first."""
    terms, most = distinct(text)[:ASKED_TERMS], MOST_MEMORY - MOST_OPEN - MOST_PRIVATE
    near = projections.nearest(connection, bound.owner.worktree_key, terms, most)
    approved = [
        ContextMemory(id=one.memory_id, source_kind="approved", content=_told(one.entry.content))
        for one in near
        if trusts.admits(one.digest)
    ]
    waiting = candidates.search(connection, bound.owner, terms, MOST_OPEN)
    return [*approved, *(_waiting(one) for one in waiting if one.kind == "entry" and not one.flags)]


def _waiting(candidate: Candidate) -> ContextMemory:
    content = payloads.entry(candidate).content
    return ContextMemory(id=candidate.candidate_id, source_kind="candidate", content=_told(content))


def _told(text: str) -> str:
    """A text as it is shown: without secrets, and without the name of a home folder's user."""
    return without_homes(redact(text)[0])


def _scenes(tree: Tree, trusts: Trusts) -> list[ContextScene]:
    """Warmest first, ties by name."""
    found = [file.scene for file in tree.scenes if trusts.admits(file.digest)]
    ordered = sorted(found, key=lambda scene: (-scene.heat, scene.name))
    shown = [one for one in ordered if not is_instruction_like(f"{one.name}\n{one.summary}\n{one.body}")]
    return [ContextScene(name=one.name, summary=one.summary, heat=one.heat) for one in shown[:MOST_SCENES]]


def _skills(tree: Tree, trusts: Trusts) -> list[ContextSkill]:
    found = sorted((file for file in tree.skills if trusts.admits(file.digest)), key=lambda file: file.skill.name)
    shown = [one for one in found if not is_instruction_like(f"{one.skill.description}\n{one.skill.body}")]
    return [
        ContextSkill(name=one.skill.name, description=one.skill.description, digest=one.digest)
        for one in shown[:MOST_SKILLS]
    ]


def _bounded(items: Iterable[T]) -> tuple[T, ...]:
    """The first of them that fit into a list."""
    room, kept = LIST_BYTES, []
    for item in items:
        room -= len(msgspec.json.encode(item)) + 1
        if room < 0:
            break
        kept.append(item)
    return tuple(kept)
