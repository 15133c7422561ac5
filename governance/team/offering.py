"""What of a repository's memory a consolidation is shown (team.md 1, 10).

An entry that nobody here trusts is not consolidated: a scene made of it would have our user's name on it. Scenes and
the doctrine are counted and can be changed whoever wrote them; but what is not trusted, or what the screen flags, is
not told.
"""

import sqlite3
from dataclasses import dataclass

from governance.screen import is_instruction_like
from governance.team import consolidation
from governance.team.consolidation import Material
from governance.team.contracts.base import Bound
from governance.team.contracts.consolidating import EntryRevision, RunMode
from governance.team.store import projections, runs, trust
from governance.team.store.projections import EntryRow
from governance.team.trees import Tree


@dataclass(frozen=True, kw_only=True, slots=True)
class Sight:
    """The files as they were read. `flagged`: digests of those that the screen holds back."""

    tree: Tree
    flagged: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entries:
    """Approved entries that may be consolidated; how many more nobody trusts."""

    rows: tuple[EntryRow, ...]
    untrusted: int


def sight(tree: Tree) -> Sight:
    """Look at the words of scenes and doctrine. Takes a while: for a thread."""
    said = [(one.digest, f"{one.scene.name}\n{one.scene.summary}\n{one.scene.body}") for one in tree.scenes]
    if tree.doctrine is not None:
        said.append((tree.doctrine.digest, tree.doctrine.doctrine.body))
    return Sight(tree=tree, flagged=frozenset(digest for digest, text in said if is_instruction_like(text)))


def entries(connection: sqlite3.Connection, bound: Bound) -> Entries:
    """The entries of a worktree, as its projection has them."""
    rows = consolidation.offered(projections.entries(connection, bound.owner.worktree_key))
    if _is_trusted(connection, bound):
        return Entries(rows=rows, untrusted=0)
    key = bound.owner.repository_key
    kept = tuple(row for row in rows if trust.has_receipt(connection, key, row.digest))
    return Entries(rows=kept, untrusted=len(rows) - len(kept))


def due(connection: sqlite3.Connection, bound: Bound) -> int:
    """How many entries are new, or changed since a successful run saw them."""
    rows = entries(connection, bound).rows
    return runs.due(connection, bound.owner.worktree_key, map(consolidation.revision, rows))


def material(connection: sqlite3.Connection, bound: Bound, mode: RunMode, seen: Sight) -> Material:
    """What is to be consolidated now."""
    before = runs.seen(connection, bound.owner.worktree_key) if mode == "incremental" else frozenset[EntryRevision]()
    held = seen.flagged
    if not _is_trusted(connection, bound):
        doctrine = () if seen.tree.doctrine is None else (seen.tree.doctrine,)
        key = bound.owner.repository_key
        held |= {
            one.digest
            for one in (*seen.tree.scenes, *doctrine)
            if not trust.has_receipt(connection, key, one.digest, one.path)
        }
    return consolidation.material(entries(connection, bound).rows, seen.tree, before, held)


def _is_trusted(connection: sqlite3.Connection, bound: Bound) -> bool:
    said = trust.trust_of(connection, bound.owner.repository_key)
    return said is not None and said.trusted
