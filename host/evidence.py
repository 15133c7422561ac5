"""The wire methods of evidence: what agents did with a memory, or in a session, and the graph made again."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from governance.contracts import AccessEvidence
from governance.standing import Standing, with_rows
from host.connection import Peer
from host.errors import ProtocolFault
from host.formed import Formed, formed_of
from host.parts import Parts
from host.protocol import CODES, Request, decode_params
from host.verbs import Table, guarded, invalid, reach, visible
from recall.contracts import Frozen, ScopeRef

SESSIONS = 1_000  # that are looked through for the workspaces of edges
MOST = 1_000

Freshness = Literal["fresh", "stale", "unknown"]


class EvidenceParams(Frozen, frozen=True, kw_only=True):
    """One memory, or one session; neither: the memories of the workspace that have evidence, the most used first."""

    workspace: str = ""
    memory_id: str | None = None
    session_id: str | None = None
    limit: int = 50


class Share(Frozen, frozen=True, kw_only=True):
    """The edges of one workspace: how many, and of how many of its sessions. An empty key: not known any more."""

    workspace_key: str
    edges: int
    sessions: int


class OfMemory(Frozen, frozen=True, kw_only=True):
    """What a memory's evidence comes to. `freshness`: whether what was used reads like that still. `formed`: how it
    came to be, of one memory alone."""

    memory_id: str
    scope: ScopeRef | None
    freshness: Freshness
    standing: Standing
    workspaces: tuple[Share, ...] = ()
    edges: tuple[AccessEvidence, ...] = ()
    formed: Formed | None = None


class OfSession(Frozen, frozen=True, kw_only=True):
    session_ref: str
    edges: tuple[AccessEvidence, ...]


class Used(Frozen, frozen=True, kw_only=True):
    memories: tuple[OfMemory, ...]


class Remade(Frozen, frozen=True, kw_only=True):
    """`differed`: the rows or the numbers were not what the audit says; now they are."""

    edges: int
    memories: int
    differed: bool


class Evidence:
    """Reads the graph; what it says is shown of memories that may be seen from where the person stands."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return guarded({"evidence.get": self._get, "evidence.rebuild": self._rebuild})

    async def _get(self, request: Request, peer: Peer) -> OfMemory | OfSession | Used:
        params = decode_params(request, EvidenceParams)
        limit = max(1, min(params.limit, MOST))
        match params.memory_id, params.session_id:
            case None, None:
                return await self._used(params.workspace, limit)
            case str(memory_id), None:
                return await self._of_memory(memory_id, params.workspace, limit)
            case None, str(session_id):
                ref = self._parts.audit.ref(session_id)
                return OfSession(session_ref=ref, edges=(await self._parts.evidence.of_session(ref))[-limit:])
        raise invalid("Evidence is of one memory or of one session.", "Give memoryId or sessionId.")

    async def _of_memory(self, memory_id: str, workspace: str, limit: int) -> OfMemory:
        scope = await reach(self._parts, workspace)
        record, locator = await visible(self._parts, memory_id, scope)
        rows = await self._parts.evidence.of_memory(memory_id)
        return OfMemory(
            memory_id=memory_id,
            scope=record.scope,
            freshness=_freshness(rows, locator.record_digest),
            standing=self._parts.standings.of(memory_id),
            workspaces=await self._shares(rows),
            edges=rows[-limit:],
            formed=await formed_of(self._parts, memory_id),
        )

    async def _used(self, workspace: str, limit: int) -> Used:
        """The memories that can be seen from there; of each what its evidence comes to."""
        scope, standings = await reach(self._parts, workspace), self._parts.standings
        seen = await self._parts.library.digests(standings.known(), scope)
        ranked = sorted(seen, key=lambda name: (_rank(standings.of(name)), name))[:limit]
        found = [
            OfMemory(
                memory_id=memory_id,
                scope=None,
                freshness=_freshness(await self._parts.evidence.of_memory(memory_id), seen[memory_id]),
                standing=standings.of(memory_id),
            )
            for memory_id in ranked
        ]
        return Used(memories=tuple(found))

    async def _shares(self, rows: Sequence[AccessEvidence]) -> tuple[Share, ...]:
        """The edges by workspace, as far as the log still knows where their sessions were."""
        wanted = {row.session_ref for row in rows if row.session_ref}
        places: dict[str, str] = {}
        for session in await self._parts.eventlog.sessions(SESSIONS) if wanted else ():
            ref = self._parts.audit.ref(session.session_id)
            if ref in wanted:
                places[ref] = self._parts.places.key(session.workspace) if session.workspace else ""
        edges = Counter(places.get(row.session_ref, "") for row in rows)
        sessions = Counter(places.get(ref, "") for ref in wanted)
        return tuple(
            Share(workspace_key=key, edges=count, sessions=sessions[key]) for key, count in sorted(edges.items())
        )

    async def _rebuild(self, request: Request, peer: Peer) -> Remade:
        try:
            done = await self._parts.evidence.rebuild()
        except msgspec.MsgspecError as error:
            raise ProtocolFault(
                "store-unavailable",
                "An entry of the audit, or its checkpoint, cannot be read: the evidence stays as it was.",
                "See audit.verify for the first that does not hold.",
                CODES.get("store-unavailable", -32000),
            ) from error
        standings = self._parts.standings
        other = with_rows(done.past, done.rows)
        differed = standings.become(other) or done.differed
        return Remade(edges=len(done.rows), memories=len(standings.known()), differed=differed)


def _freshness(rows: Sequence[AccessEvidence], digest: str) -> Freshness:
    """Whether the record reads as it did when the latest edge was formed. A source that has changed makes what was
    proved of it unprovable now, not wrong."""
    if not rows:
        return "unknown"
    return "fresh" if rows[-1].record_digest == digest else "stale"


def _rank(standing: Standing) -> tuple[int, ...]:
    return (-standing.success, -standing.reuse, -standing.cite, -standing.read, -standing.seen)
