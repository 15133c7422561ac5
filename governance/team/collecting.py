"""Turns become the material of tasks: chunks, their evidence, and the digest that a task is named by (team.md 5).

The same is done again when a task is answered: what would give another digest by then has drifted.
"""

import asyncio
from collections.abc import Awaitable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from governance.team import catalogue
from governance.team.chunking import CHUNKER, Shown, chunked
from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Commits, History
from governance.team.contracts.recalling import TaskBinding, Versions
from governance.team.contracts.rows import ChunkTurn, EvidenceRow, Task
from governance.team.contracts.turns import Edge, SessionTurns, Turn, TurnContent
from governance.team.edges import edge_revision
from governance.team.formats import Formats
from governance.team.linking import linked
from governance.team.prompts import prompt
from governance.team.scrubbing import scrubber
from governance.team.store import tasks
from governance.team.transcript import transcript
from recall.analyzer import ANALYZER
from recall.canonical import digest
from recall.contracts import Database, Frozen

T = TypeVar("T")
TASK = "extract-"
EXTRACT = "extract"  # the prompt
AT_ONCE = 4  # turns that are read; more would only fill the event loop, which has hooks to answer
ATTEMPTS = 16  # tasks of one material, when all before were let go of


class Material(Frozen, frozen=True, kw_only=True):
    """What one task is about. `session`: a keyed name, as turns have it."""

    session: str
    shown: tuple[Shown, ...]
    evidence: tuple[EvidenceRow, ...]
    edge_revisions: tuple[str, ...]
    source_digest: str

    @property
    def task_id(self) -> str:
        return f"{TASK}{self.source_digest}"

    def anew(self, attempt: int) -> "Material":
        """The same for another task: what was let go of is final, and its material may come back as it was."""
        if attempt == 0:
            return self
        renamed = digest({"source": self.source_digest, "attempt": attempt})
        return msgspec.structs.replace(self, source_digest=renamed)

    @property
    def turns(self) -> tuple[ChunkTurn, ...]:
        """As they are kept with the task."""
        return tuple(
            ChunkTurn(turn_key=turn.turn_key, revision=turn.revision, payload_digest=turn.payload_digest)
            for turn in (one.turn for one in self.shown)
        )

    @property
    def transcript(self) -> str:
        return transcript(self.shown, catalogue.by_turn(self.evidence))


class Collected(Frozen, frozen=True, kw_only=True):
    """Of one session. `too_large`: turns that no chunk can hold."""

    materials: tuple[Material, ...]
    too_large: tuple[Turn, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Collector:
    """Reads turns whole, and ties them to the repository."""

    history: History
    commits: Commits
    formats: Formats
    versions: Versions = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "versions", versions(self.formats))

    async def collected(self, bound: Bound, session: SessionTurns, without: Collection[tuple[str, int]]) -> Collected:
        """The material of a session's matched turns. `without`: (turn key, revision) of those that were dealt with.

        Raises TeamFault: `coverage-incomplete`, `payload-changed`.
        """
        wanted = [turn for turn in session.turns if (turn.turn_key, turn.revision) not in without]
        contents = await _together(self.history.content(turn) for turn in wanted)
        ties = await _together(linked(bound, one, self.commits) for one in contents)
        edges = {content.turn.turn_key: tie for content, tie in zip(contents, ties, strict=True)}
        return await asyncio.to_thread(self._made, bound, session.session_key, contents, edges)

    async def again(self, bound: Bound, turn_keys: Sequence[str]) -> Material | None:
        """The material of these turns of one session, as one chunk, as it is now. None: one is gone, or may not be
        recalled any more, or they are no chunk any more. Raises TeamFault as `collected`."""
        present = {turn.turn_key: turn for turn in await self.history.current(turn_keys)}
        turns = tuple(present[key] for key in turn_keys if key in present and present[key].recallable)
        if not turns or len(turns) < len(turn_keys):
            return None
        session = SessionTurns(session_key=turns[0].session_key, provider=turns[0].provider, turns=turns)
        found = await self.collected(bound, session, ())
        return found.materials[0] if len(found.materials) == 1 and not found.too_large else None

    def _made(
        self, bound: Bound, session: str, contents: Sequence[TurnContent], edges: dict[str, tuple[Edge, ...]]
    ) -> Collected:
        found = chunked(contents, scrubber(bound.root, contents))
        made = tuple(self._material(bound, session, shown, edges) for shown in found.chunks)
        return Collected(materials=made, too_large=found.too_large)

    def _material(
        self, bound: Bound, session: str, shown: tuple[Shown, ...], edges: dict[str, tuple[Edge, ...]]
    ) -> Material:
        evidence = catalogue.rows(shown, edges)
        turns = [[one.turn.turn_key, one.turn.revision, one.turn.payload_digest] for one in shown]
        source = {
            "owner": bound.owner,
            "session": session,
            "turns": turns,
            "catalogue": catalogue.entries(evidence),
            "versions": self.versions,
        }
        return Material(
            session=session,
            shown=shown,
            evidence=evidence,
            edge_revisions=tuple(edge_revision(edges[one.turn.turn_key]) for one in shown),
            source_digest=digest(source),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Whether the material of a task is still what the task was made of: asked before an answer to it is taken."""

    database: Database
    collector: Collector

    async def drift(self, bound: Bound, task: Task) -> str:
        """Why a recall task does not hold any more; empty: it holds. Raises TeamFault `coverage-incomplete`,
        `payload-changed`."""
        turns = await self.database.read(lambda connection: tasks.chunk_turns(connection, task.task_id))
        made_with = msgspec.json.decode(task.document, type=_Document).binding.versions
        if made_with != self.collector.versions:
            return "it was made by another version of this program"
        material = await self.collector.again(bound, [one.turn_key for one in turns])
        if material is None:
            return "a turn of it is gone, or was taken back"
        if material.turns != turns:
            return "a turn of it has changed"
        named = {material.anew(attempt).source_digest for attempt in range(ATTEMPTS)}
        return "" if task.source_digest in named else "its evidence has changed"


async def _together(asked: Iterable[Awaitable[T]]) -> list[T]:
    """The answers in the order of the questions, a few asked at once. A fault is raised when all are done, the first
    one by order: nothing goes on behind the caller's back."""
    some = asyncio.Semaphore(AT_ONCE)

    async def one(question: Awaitable[T]) -> T:
        async with some:
            return await question

    answers = await asyncio.gather(*map(one, asked), return_exceptions=True)
    found: list[T] = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        found.append(answer)
    return found


class _Document(msgspec.Struct, frozen=True):
    binding: TaskBinding


def versions(formats: Formats) -> Versions:
    """What a task depends on besides its turns."""
    used = prompt(EXTRACT)
    return Versions(
        prompt=f"{used.id}:{used.sha256[:12]}",
        schema=formats.document("candidate-draft-batch"),
        chunker=CHUNKER,
        analyzer=ANALYZER,
    )
