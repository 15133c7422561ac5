"""The approved projection brought up to the files of a worktree (team.md 4).

Whoever compares reads the files first: nothing tells us when a checkout changes them. What has the same digest as its
row is not read twice. When the listing did not hold still, or a bound was passed, the rows stay as they are and the
projection is partial: what is compared with half of the entries would be stored twice.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from governance.screen import is_instruction_like
from governance.team import payloads
from governance.team.contracts.base import Bound
from governance.team.contracts.turns import Strength, Support
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, projections, texts
from governance.team.store.candidates import Wanted
from governance.team.store.projections import EntryFacts, EntryRow, Replacement
from governance.team.store.texts import Row
from governance.team.trees import EntryFile, Tree
from recall.analyzer import ANALYZER
from recall.contracts import Database, Millis

TRIES = 10
Known = dict[tuple[str, str], str]  # (memory id, path) -> digest


@dataclass(frozen=True, kw_only=True, slots=True)
class Synced:
    """The files as they were read, and the row that stands for them."""

    tree: Tree
    row: Row


@dataclass(frozen=True, kw_only=True, slots=True)
class Syncing:
    """`read`: the files of a worktree's memory; called on a thread."""

    database: Database
    read: Callable[[Bound], Tree]

    async def synced(self, bound: Bound, now: Millis) -> Synced:
        """Read the files, and have the projection show them.

        Raises TeamFault: `sync-partial` when they could not be read all, `target-path-invalid` from the reader.
        """
        tree = await asyncio.to_thread(self.read, bound)
        if await self.database.read(lambda connection: candidates.outdated(connection, bound.owner)):
            await self.database.write(lambda connection: _reread(connection, bound, now))
        return Synced(tree=tree, row=needed(await self.sync(bound, tree, now)))

    async def sync(self, bound: Bound, tree: Tree, now: Millis) -> Row:
        """Have the projection show a tree that was read: its row, `complete` or with the `problem`."""
        key = bound.owner.worktree_key
        if not tree.complete:
            return await self.database.write(lambda connection: projections.partial(connection, key, tree.problem, now))
        for _ in range(TRIES):
            row, known = await self.database.read(
                lambda connection: (projections.row(connection, key), projections.digests(connection, key))
            )
            if row.complete and row.tree_digest == tree.tree_digest and row.analyzer_version == ANALYZER:
                return row
            anew = row.analyzer_version != ANALYZER
            made = await asyncio.to_thread(replacement, tree, {} if anew else known, frozenset(known))
            work = partial(projections.replace, worktree_key=key, generation=row.generation, made=made, at=now)
            done = await self.database.write(work)
            if done is not None:
                return done
        raise TeamFault(
            Kind.SYNC_PARTIAL, "The entries are being read by others again and again.", "Try again in a moment."
        )


def needed(row: Row) -> Row:
    """The row, if all entries stand in it. Raises TeamFault `sync-partial`."""
    if not row.complete:
        problem = row.problem or "the files of the memory were not read yet"
        raise TeamFault(
            Kind.SYNC_PARTIAL,
            f"The approved entries of this worktree could not be read all: {problem}",
            "Look at what `lint` says, and try again once the files hold still.",
        )
    return row


def replacement(tree: Tree, known: Known, held: frozenset[tuple[str, str]]) -> Replacement:
    """What a tree changes in the rows. `known`: digests that need no look; `held`: what there are rows of. Pure."""
    there = {(file.entry.id, file.path) for file in tree.entries}
    changed = [file for file in tree.entries if known.get((file.entry.id, file.path)) != file.digest]
    ids = {memory_id for memory_id, _ in there}
    return Replacement(
        tree_digest=tree.tree_digest,
        changed=tuple(_row(file) for file in changed),
        gone=tuple(sorted({memory_id for memory_id, _ in held} - ids)),
    )


def _reread(connection: sqlite3.Connection, bound: Bound, now: Millis) -> None:
    """Another analyzer made what is searched of the candidates: it is made again."""
    open_ones = candidates.listed(connection, bound.owner, Wanted(states=candidates.OPEN, kinds=("entry",), limit=-1))
    for candidate in open_ones:
        candidates.searched(connection, candidate, payloads.entry(candidate).content)
    texts.advance(connection, bound.owner.worktree_key, now)


def _row(file: EntryFile) -> EntryRow:
    entry = file.entry
    facts = EntryFacts(
        content=entry.content,
        type=entry.type,
        scene=entry.scene,
        strength=Strength(entry.provenance_strength),
        support=Support(entry.claim_support),
        limitations=entry.limitations,
        occurred=entry.occurred,
        commits=tuple(one.hash for one in entry.evidence.commits),
        paths=entry.evidence.paths,
        priority=entry.priority,
        superseded_by=entry.superseded_by,
        flagged=is_instruction_like(entry.content),
    )
    return EntryRow(memory_id=entry.id, path=file.path, digest=file.digest, status=entry.status, entry=facts)
