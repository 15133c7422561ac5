"""`memory.lint`: everything that is wrong with the memories that can be seen from a folder, and what to do about it.

Records are walked in pages and read by the screen on a worker thread, so that sessions are not held up. The work is
bounded: so many records, so many neighbours, so many places in the code.
"""

import asyncio
import heapq
import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from governance.screen import HIGH, hidden_in, screen, secrets
from host.connection import Peer
from host.neighbours import only
from host.parts import Parts
from host.protocol import Request, decode_params
from host.team.checking import once, repository_flaws
from host.team.formats import FORMATS
from host.verbs import Table, incomplete, reach
from recall import survey
from recall.analyzer import distinct
from recall.code_anchors import AnchorState, Found, locate
from recall.contracts import Candidate, Frozen, MemoryLocator, MemoryRecord, RecordState, RuntimeScope, Scope
from recall.documents import Document, read
from recall.lint import (
    Flaw,
    Severity,
    Spot,
    Twins,
    flaw,
    in_order,
    of_anchor,
    of_index_file,
    of_record,
    of_report,
    of_successor,
    of_update,
    stands,
)
from recall.providers import MEMORY_INDEX
from recall.survey import Walked
from recall.workspace import repository_root

MOST_RECORDS = 50_000
PAGE = 500
MOST_FLAWS = 1_000
NEWEST = 300  # records that are compared with their neighbours
NEIGHBOURS, ASKED_TERMS = 6, 64
MOST_PLACES = 2_000  # in the code
CLAUDE_MEMORY = "claude-memory"
OUTSIDE = "The root is not used."  # what the library says of a root behind a link


class LintParams(Frozen, frozen=True, kw_only=True):
    workspace: str = ""


class Linted(Frozen, frozen=True, kw_only=True):
    """`blocked`: something is not used, or must not be there. `more`: findings beyond those that are told. `degraded`:
    the index may lack something."""

    format: str
    blocked: bool
    files: int
    records: int
    findings: tuple[Flaw, ...]
    more: int
    degraded: bool


class Lint:
    """A walk over what can be seen."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return {"memory.lint": self._lint}

    async def _lint(self, request: Request, peer: Peer) -> Linted:
        params = decode_params(request, LintParams)
        scope = await reach(self._parts, params.workspace)
        seen = await self._parts.library.survey(lambda connection: survey.overview(connection, scope))
        flaws = [
            of_report(one.state, Spot(file=one.file, line=one.line, memory_id=one.memory_id), one.problem)
            for one in seen.reported
        ]
        flaws += [flaw("missing-folder", Spot(file=path), "The folder is not there.") for path in seen.missing]
        flaws += await self._outside(params.workspace)
        walk = _Walk(self._parts.clock.now())
        await self._walk(walk, scope)
        flaws += walk.flaws
        flaws += await self._successors(walk, scope)
        flaws += await self._neighbours(walk, scope)
        flaws += await asyncio.to_thread(_indexes, sorted(walk.indexes))
        flaws += await asyncio.to_thread(_places, walk.places[:MOST_PLACES], params.workspace)
        if _is_place(params.workspace):
            flaws = once(flaws, await asyncio.to_thread(repository_flaws, _top(params.workspace), FORMATS))
        told = in_order(flaws)
        return Linted(
            format=FORMATS.document("lint"),
            blocked=any(one.severity is Severity.ERROR for one in told),
            files=seen.files,
            records=seen.records,
            findings=tuple(told[:MOST_FLAWS]),
            more=max(0, len(told) - MOST_FLAWS),
            degraded=incomplete(self._parts, scope),
        )

    async def _outside(self, workspace: str) -> list[Flaw]:
        """Memory folders of this workspace that are links to somewhere else."""
        top = str(_top(workspace)) + os.sep if _is_place(workspace) else "\0"
        status = await self._parts.library.status()
        return [
            of_report(one.state, Spot(file=one.file), one.problem)
            for one in status.findings
            if one.state == "link-outside-root"
            and one.line == 0
            and one.file.startswith(top)
            and one.problem == OUTSIDE
        ]

    async def _walk(self, walk: "_Walk", scope: RuntimeScope) -> None:
        after = count = 0
        while count < MOST_RECORDS:
            page = await self._parts.library.survey(_page(scope, after))
            if not page:
                return
            await asyncio.to_thread(walk.see, page)
            after, count = page[-1].row, count + len(page)
        problem = f"Only the first {MOST_RECORDS} records were looked at."
        walk.flaws.append(flaw("not-everything", Spot(file=""), problem))

    async def _successors(self, walk: "_Walk", scope: RuntimeScope) -> list[Flaw]:
        ids = sorted({record.superseded_by for record, _ in walk.replaced if record.superseded_by})
        known = await self._parts.library.survey(lambda connection: survey.known(connection, ids, scope))
        return [one for record, spot in walk.replaced for one in of_successor(record, spot, known)]

    async def _neighbours(self, walk: "_Walk", scope: RuntimeScope) -> list[Flaw]:
        """The newest records beside older ones that share the most telling words with them."""
        index = self._parts.library.snapshot(walk.now)
        found: list[Flaw] = []
        for _, _, record in sorted(walk.newest, key=lambda one: one[:2], reverse=True):
            terms = distinct(record.text)[:ASKED_TERMS]
            near = await index.match(terms, only(record.scope), NEIGHBOURS)
            for otherwise in await asyncio.to_thread(_updates, near, record):
                found.append(await self._placed(otherwise, scope))
        return found

    async def _placed(self, one: Flaw, scope: RuntimeScope) -> Flaw:
        """The finding with the place of its record."""
        record = await self._parts.library.get(one.memory_id or "", scope)
        if record is None:
            return one
        return msgspec.structs.replace(one, file=record[1].source_file, line=record[1].line_start)


class _Walk:
    """What a walk gathers."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.flaws: list[Flaw] = []
        self.replaced: list[tuple[MemoryRecord, Spot]] = []
        self.places: list[tuple[MemoryRecord, Spot]] = []
        self.indexes: set[str] = set()
        self.newest: list[tuple[int, int, MemoryRecord]] = []
        self._twins = Twins()

    def see(self, page: Sequence[Walked]) -> None:
        """One page, on a worker thread."""
        for one in page:
            record, at = one.record, one.locator
            spot = Spot(file=at.source_file, line=at.line_start, memory_id=record.memory_id)
            self.flaws += of_record(record, spot, _families(record, at), self.now)
            self.flaws += self._twins.see(record, spot, self.now)
            if record.superseded_by is not None:
                self.replaced.append((record, spot))
            if record.about is not None and record.scope.kind is Scope.WORKSPACE:
                self.places.append((record, spot))
            if CLAUDE_MEMORY in one.provider.split() and os.path.basename(at.source_file) == MEMORY_INDEX:
                self.indexes.add(at.source_file)
            if stands(record, self.now) and one.eligible:
                heapq.heappush(self.newest, (record.created_at, one.row, record))
                if len(self.newest) > NEWEST:
                    heapq.heappop(self.newest)


def _page(scope: RuntimeScope, after: int) -> Callable[[sqlite3.Connection], tuple[Walked, ...]]:
    return lambda connection: survey.walk(connection, scope, after, PAGE)


def _updates(near: Sequence[Candidate], record: MemoryRecord) -> list[Flaw]:
    """Which of its neighbours a record says otherwise than."""
    older = [one for one in near if one.state is RecordState.ANCHORED and one.created_at < record.created_at]
    return [
        otherwise
        for one in older
        for otherwise in of_update(one.payload, Spot(file="", memory_id=one.memory_id), record)
    ]


def _families(record: MemoryRecord, at: MemoryLocator) -> tuple[str, ...]:
    """What the screen finds in a record and acts on, each once. Secrets are looked for in the file: what comes here has
    placeholders for them, and so has a record that was cleaned before it was written."""
    text = "\n".join((record.title or "", record.text, *record.tags))
    found = {one.family for one in screen(text) if one.severity == HIGH}
    return tuple(sorted(found | _in_file(at) if hidden_in(text) else found))


def _in_file(at: MemoryLocator) -> set[str]:
    found = read(*os.path.split(at.source_file))
    if not isinstance(found, Document):
        return set()
    return {one.family for one in secrets(found.data[at.byte_start : at.byte_end].decode("utf-8", "replace"))}


def _indexes(files: Sequence[str]) -> list[Flaw]:
    """What Claude Code does not see of its own index files."""
    flaws: list[Flaw] = []
    for file in files:
        found = read(*os.path.split(file))
        if isinstance(found, Document):
            flaws += of_index_file(Spot(file=file), found.data)
    return flaws


def _places(records: Sequence[tuple[MemoryRecord, Spot]], workspace: str) -> list[Flaw]:
    """How the places in the code stand that these records are about; each file is read once."""
    if not _is_place(workspace):
        return []
    top = str(_top(workspace))
    texts: dict[str, str | None] = {}
    flaws: list[Flaw] = []
    for record, spot in records:
        assert record.about is not None
        path = record.about.path
        if path not in texts:
            texts[path] = _text(top, path)
        text = texts[path]
        found = Found(state=AnchorState.GONE) if text is None else locate(record.about, text)
        flaws += of_anchor(record.about, spot, found)
    return flaws


def _text(top: str, path: str) -> str | None:
    """A file of the workspace. A marker's path cannot lead out of it, and links in it are not followed."""
    if ".." in path.split("/") or path.startswith("/"):
        return None
    found = read(top, path)
    return found.data.decode("utf-8", "replace") if isinstance(found, Document) else None


def _is_place(workspace: str) -> bool:
    return os.path.isabs(workspace) and "\0" not in workspace


def _top(workspace: str) -> Path:
    return repository_root(workspace) or Path(os.path.realpath(workspace))
