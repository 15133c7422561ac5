"""What would be written if a person said yes (team.md 7, 8): review shows it, prepare compares it with what was shown.

Nothing is changed here.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from governance.team import payloads, rendering
from governance.team.approving import Judged
from governance.team.contracts.base import Bound
from governance.team.contracts.promoting import BrokenItem
from governance.team.contracts.rows import Candidate, CandidateState, FileChange
from governance.team.contracts.staging import Statement
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, turns
from governance.team.trees import Tree
from recall.canonical import text_digest
from recall.contracts import Database, Frozen

SHORTEST_NAME = 16  # characters


class Citations(Protocol):
    """Whether what a candidate cites is still there, and what it says of itself."""

    async def check(self, bound: Bound, found: Sequence[Candidate]) -> Mapping[str, str]:
        """Why the citations of a candidate do not hold any more, by its id; those that hold are left out."""
        ...


class Item(Frozen, frozen=True, kw_only=True):
    """A candidate whose files can be written. `files`: of it alone."""

    judged: Judged
    files: tuple[FileChange, ...]


class Preview(Frozen, frozen=True, kw_only=True):
    """`items`: what can be approved, in the order asked for; `rest`: what could be, and is too much for one approval;
    `broken`: what cannot, and why; `blocked`: those of them that a reader should see all the same, for their words are
    why; `files`: of all items, by path."""

    items: tuple[Item, ...]
    rest: tuple[Judged, ...]
    blocked: tuple[Judged, ...]
    broken: tuple[BrokenItem, ...]
    files: tuple[FileChange, ...]

    @property
    def judged(self) -> tuple[Judged, ...]:
        return tuple(item.judged for item in self.items)


class _Case(Frozen, frozen=True, kw_only=True):
    """What candidates are judged by. `drifted`: why citations of a candidate do not hold, by its id."""

    bound: Bound
    tree: Tree
    drifted: Mapping[str, str]
    private: frozenset[str]


class Previewing:
    """`read`: the memory of a worktree as it stands on the disk; runs in a thread."""

    def __init__(self, database: Database, citations: Citations, read: Callable[[Bound], Tree]) -> None:
        self._database = database
        self._citations = citations
        self._read = read

    async def tree(self, bound: Bound) -> Tree:
        """The tree as it is now. Raises TeamFault `sync-partial`, `target-path-invalid`."""
        tree = await asyncio.to_thread(self._read, bound)
        if not tree.complete:
            raise TeamFault(
                Kind.SYNC_PARTIAL,
                f"The memory of this repository could not be read as a whole: {tree.problem}",
                "See `lint`, and try again when nothing is writing there.",
            )
        return tree

    async def of(self, bound: Bound, asked: Sequence[Candidate], tree: Tree, most: int) -> Preview:
        """The files of these candidates, at most `most` of them; each is judged by itself.

        Raises TeamFault `state-corrupt` when what is stored cannot be read at all.
        """
        judged = await self._database.read(lambda connection: _judged(connection, asked))
        private = await self._database.read(private_names)
        drifted = await self._citations.check(bound, asked)
        return await asyncio.to_thread(
            _preview, _Case(bound=bound, tree=tree, drifted=drifted, private=private), judged, most
        )

    async def drifted(self, bound: Bound, asked: Sequence[Candidate]) -> Mapping[str, str]:
        """Why the citations of a candidate do not hold any more, by its id."""
        return await self._citations.check(bound, asked)


def _preview(case: _Case, judged: Sequence[Judged], most: int) -> Preview:
    """Takes time: runs in a thread."""
    items: list[Item] = []
    rest: list[Judged] = []
    blocked: list[Judged] = []
    broken: list[BrokenItem] = []
    for one in judged:
        try:
            sound(one, case.drifted)
            files = rendering.files_of(case.bound, (one,), case.tree, case.private)
            _apart(items, one, files)
        except TeamFault as fault:
            broken.append(broken_item(one.candidate.candidate_id, fault, one.candidate.revision))
            if fault.kind is Kind.SANITIZATION_BLOCKED:
                blocked.append(one)
            continue
        if len(items) < most and fits((*_all(items), *files), case.tree):
            items.append(Item(judged=one, files=files))
        else:
            rest.append(one)
    return Preview(
        items=tuple(items),
        rest=tuple(rest),
        blocked=tuple(blocked),
        broken=tuple(broken),
        files=_all(items),
    )


def sound(one: Judged, drifted: Mapping[str, str]) -> None:
    """Raises TeamFault when a candidate cannot be shown as it is meant: `candidate-stale`, `binding-drift`,
    `assessment-not-found`."""
    candidate = one.candidate
    if candidate.state is not CandidateState.STAGED:
        raise TeamFault(
            Kind.CANDIDATE_STALE,
            f"{candidate.candidate_id} is {candidate.state}, not staged.",
            "Only what is staged can be approved; `team status` says what there is.",
        )
    if reason := drifted.get(candidate.candidate_id):
        raise TeamFault(
            Kind.BINDING_DRIFT,
            f"What {candidate.candidate_id} cites is no longer as it was: {reason}",
            "Discard it, recall again and stage anew.",
        )
    texts = {statement.statement_id: text_digest(statement.text) for statement in statements(candidate)}
    if texts != {each.statement_id: each.text_digest for each in one.assessments}:
        raise TeamFault(
            Kind.ASSESSMENT_NOT_FOUND,
            f"The statements of {candidate.candidate_id} are not those that were assessed.",
            "Discard it and stage it again.",
        )


def private_names(connection: sqlite3.Connection) -> frozenset[str]:
    """How products and we ourselves name the sessions that are known here: no such name may stand in a repository. A
    name that is short says nothing, and may be a word."""
    known = turns.known(connection)
    return frozenset(name for pair in known.items() for name in pair if len(name) >= SHORTEST_NAME)


def statements(candidate: Candidate) -> tuple[Statement, ...]:
    """What a candidate states. Raises TeamFault `state-corrupt`."""
    match candidate.kind:
        case "entry":
            return payloads.entry(candidate).statements
        case "skill":
            return payloads.skill(candidate).statements
        case "consolidation":
            return payloads.consolidation(candidate).statements


def broken_item(candidate_id: str, fault: TeamFault, revision: int = 0) -> BrokenItem:
    """A candidate that is reported by itself."""
    problem, next_step = fault.problem, fault.next_step
    return BrokenItem(candidate_id=candidate_id, kind=fault.kind, problem=problem, next=next_step, revision=revision)


def judged_now(connection: sqlite3.Connection, candidate_ids: Collection[str]) -> tuple[Judged, ...]:
    """These candidates and their assessments as they are stored. Raises TeamFault `candidate-not-found`."""
    found: list[Judged] = []
    for candidate_id in sorted(candidate_ids):
        candidate = candidates.get(connection, candidate_id)
        if candidate is None:
            problem = f"There is no candidate {candidate_id} any more."
            raise TeamFault(Kind.CANDIDATE_NOT_FOUND, problem, "`review` lists those that there are.")
        found += _judged(connection, (candidate,))
    return tuple(found)


def _judged(connection: sqlite3.Connection, asked: Sequence[Candidate]) -> tuple[Judged, ...]:
    return tuple(
        Judged(candidate=one, assessments=candidates.assessments(connection, one.candidate_id)) for one in asked
    )


def _apart(items: Sequence[Item], one: Judged, files: Sequence[FileChange]) -> None:
    """Raises TeamFault `candidate-stale` when another item writes one of the files."""
    taken = {file.target_path: item.judged.candidate.candidate_id for item in items for file in item.files}
    for file in files:
        if other := taken.get(file.target_path):
            raise TeamFault(
                Kind.CANDIDATE_STALE,
                f"{one.candidate.candidate_id} changes {file.target_path}, and so does {other}.",
                "Promote or discard the other one first, then review this one by itself.",
            )


def fits(files: Sequence[FileChange], tree: Tree) -> bool:
    """Whether one plan has room for all of these."""
    try:
        rendering.room(files, tree)
    except TeamFault:
        return False
    return True


def _all(items: Sequence[Item]) -> tuple[FileChange, ...]:
    return tuple(sorted((file for item in items for file in item.files), key=lambda file: file.target_path))
