"""The memory verbs of the wire: search, get, remember, forget, list. Every read goes through the same scope."""

from collections.abc import Awaitable, Callable, Sequence

from governance.screen import is_instruction_like, redact
from host.connection import Peer
from host.errors import ProtocolFault
from host.parts import Parts
from host.protocol import Request, decode_params
from host.runtime import USER_KEY
from recall.analyzer import distinct
from recall.associate import associate
from recall.contracts import (
    ArmReport,
    Candidate,
    Cue,
    CuePart,
    Flag,
    Frozen,
    MemoryKind,
    MemoryLocator,
    MemoryRecord,
    Origin,
    RuntimeScope,
    Scope,
    ScopeRef,
)
from recall.files import Refused
from recall.workspace import workspace_key

Handler = Callable[[Request, Peer], Awaitable[object]]
MAX_TEXT = 32_768
MAX_LIST = 500


class SearchParams(Frozen, frozen=True, kw_only=True):
    query: str
    workspace: str = ""
    limit: int = 10
    explain: bool = False


class RecordParams(Frozen, frozen=True, kw_only=True):
    memory_id: str
    workspace: str = ""


class RememberParams(Frozen, frozen=True, kw_only=True):
    text: str
    workspace: str = ""
    scope: Scope = Scope.WORKSPACE
    kind: MemoryKind = MemoryKind.SEMANTIC
    title: str | None = None
    tags: tuple[str, ...] = ()
    pinned: bool = False


class ListParams(Frozen, frozen=True, kw_only=True):
    workspace: str = ""
    limit: int = 50
    after: str | None = None


class Hit(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """One record found. `terms`: the query's terms that it holds (only when `explain` was asked)."""

    memory_id: str
    score: float
    scope: ScopeRef
    kind: str
    status: str
    state: str
    title: str | None
    text: str
    source: str
    terms: tuple[str, ...] = ()


class Hits(Frozen, frozen=True, kw_only=True):
    hits: tuple[Hit, ...]
    degraded: bool
    arms: tuple[ArmReport, ...]


class Remembered(Frozen, frozen=True, kw_only=True):
    """`redacted`: families of secrets that were cut out. `quarantined`: stored, not handed over until reviewed."""

    memory_id: str
    file: str
    redacted: tuple[str, ...]
    quarantined: bool


class Got(Frozen, frozen=True, kw_only=True):
    record: MemoryRecord
    locator: MemoryLocator


class Memories:
    """User verbs over the library. Writes go through the document transaction."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> dict[str, Handler]:
        return {
            "memory.search": self._search,
            "memory.get": self._get,
            "memory.remember": self._remember,
            "memory.forget": self._forget,
            "memory.list": self._list,
        }

    async def _scope(self, workspace: str) -> RuntimeScope:
        """What a person at this folder may see; its memory files become searchable."""
        key = workspace_key(workspace)
        await self._parts.roots.adopt(workspace, key)
        return RuntimeScope(session_id="", agent_id="", workspace=key, user=USER_KEY)

    async def _search(self, request: Request, peer: Peer) -> Hits:
        params = decode_params(request, SearchParams)
        scope = await self._scope(params.workspace)
        terms = distinct(params.query)
        if not terms:
            return Hits(hits=(), degraded=False, arms=())
        limit = max(1, min(params.limit, MAX_LIST))
        typed = CuePart(role="query", text=params.query, weight=1.0)
        cue = Cue(scope=scope, parts=(typed,), terms=terms, focus=terms, retrieval_key="search", limit=limit)
        host = self._parts.host
        index = host.library.snapshot(self._parts.clock.now())
        found = await associate(cue, index, host.arms, host.policy.association, host.clock.micros)
        asked = frozenset(terms) if params.explain else frozenset()
        hits = tuple(_hit(candidate, asked) for candidate in _best_of_each(found.candidates)[:limit])
        return Hits(hits=hits, degraded=found.degraded, arms=found.arms)

    async def _get(self, request: Request, peer: Peer) -> Got:
        params = decode_params(request, RecordParams)
        found = await self._parts.library.get(params.memory_id, await self._scope(params.workspace))
        if found is None:
            raise _unknown(params.memory_id)
        return Got(record=found[0], locator=found[1])

    async def _remember(self, request: Request, peer: Peer) -> Remembered:
        params = decode_params(request, RememberParams)
        if not params.text.strip() or len(params.text) > MAX_TEXT:
            raise ProtocolFault(
                "invalid-params", f"A memory has 1 to {MAX_TEXT} characters.", "Shorten the text or split it.", -32602
            )
        if params.scope not in (Scope.WORKSPACE, Scope.USER):
            raise ProtocolFault("invalid-params", "Only Workspace and User memories are kept.", "Use one.", -32602)
        scope = await self._scope(params.workspace)
        root = self._parts.roots.user() if params.scope is Scope.USER else self._parts.roots.private(scope.workspace)
        if params.scope is Scope.WORKSPACE and not scope.workspace:
            raise ProtocolFault("invalid-params", "No workspace was given.", "Give the folder's path.", -32602)
        text, findings = redact(params.text.strip())
        title, in_title = redact(params.title or "")
        tags = [redact(tag) for tag in params.tags]
        poisoned = is_instruction_like(f"{title}\n{text}")
        memory_id = self._parts.new_id("mem_")
        record = MemoryRecord(
            memory_id=memory_id,
            anchor_id=f"memory:{memory_id}",
            kind=params.kind,
            scope=root.scope,
            text=text,
            created_at=self._parts.clock.now(),
            title=title or None,
            tags=tuple(tag for tag, _ in tags),
            flags=(Flag.QUARANTINED,) if poisoned else (),
            origin=Origin.USER,
            pinned=params.pinned,
        )
        locator = await self._parts.library.remember(record, root)
        if isinstance(locator, Refused):
            raise ProtocolFault(locator.kind, locator.problem, "Nothing was written.")
        cut_out = (*findings, *in_title, *(finding for _, in_tag in tags for finding in in_tag))
        families = tuple(sorted({finding.family for finding in cut_out}))
        return Remembered(memory_id=memory_id, file=locator.source_file, redacted=families, quarantined=poisoned)

    async def _forget(self, request: Request, peer: Peer) -> dict[str, object]:
        params = decode_params(request, RecordParams)
        done = await self._parts.library.forget(params.memory_id, await self._scope(params.workspace))
        if isinstance(done, Refused):
            raise ProtocolFault(done.kind, done.problem, "Edit the file by hand, or ask its owner.")
        if not done:
            raise _unknown(params.memory_id)
        purged = await self._parts.claims.purge(params.memory_id, self._parts.sessions.known)
        await self._parts.inbox.erase(params.memory_id)
        return {"forgotten": True, "packetsPurged": purged}

    async def _list(self, request: Request, peer: Peer) -> object:
        params = decode_params(request, ListParams)
        scope = await self._scope(params.workspace)
        return await self._parts.library.listed(scope, max(1, min(params.limit, MAX_LIST)), params.after)


def _best_of_each(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first, each memory once: sources may propose the same one."""
    best: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=lambda one: -one.score):
        best.setdefault(candidate.memory_id, candidate)
    return list(best.values())


def _hit(candidate: Candidate, asked: frozenset[str]) -> Hit:
    return Hit(
        memory_id=candidate.memory_id,
        score=candidate.score,
        scope=candidate.scope,
        kind=candidate.kind,
        status=candidate.status,
        state=candidate.state,
        title=candidate.title,
        text=candidate.payload,
        source=candidate.source,
        terms=tuple(term for term in candidate.terms if term in asked),
    )


def _unknown(memory_id: str) -> ProtocolFault:
    return ProtocolFault(
        "unknown-memory", f"No memory {memory_id[:64]!r} is visible from this workspace.", "List them with memory.list."
    )
