"""The audit's wire methods: query, get, explain, export, stats, subscribe, verify."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from governance.audit import Subscription
from governance.chain import Row
from governance.contracts import AuditEntry, AuditFilter, AuditKind
from governance.explain import explain
from governance.export import csv_headings, csv_line, first_line, json_line
from governance.outcomes import Stats
from host.connection import Peer
from host.errors import ProtocolFault
from host.measuring import Measuring
from host.parts import Parts
from host.protocol import Request, decode_params
from recall.contracts import Frozen, Millis

Handler = Callable[[Request, Peer], Awaitable[object]]
EXPLAINED = 200
EXPORTED = 250  # rows looked at for one page


class QueryParams(Frozen, frozen=True, kw_only=True):
    """All given conditions must hold. Newest first."""

    session_id: str | None = None
    session_ref: str | None = None  # what entries hold in place of the session id
    kind: AuditKind | None = None
    outcome: str | None = None
    reason: str | None = None
    memory_id: str | None = None
    step: int | None = None
    packet_id: str | None = None
    limit: int = 50


class ExportParams(Frozen, frozen=True, kw_only=True):
    """All given conditions must hold. Oldest first; `after_row` continues behind the `next` of the page before."""

    format: Literal["ndjson", "csv"] = "ndjson"
    session_id: str | None = None
    session_ref: str | None = None
    kind: AuditKind | None = None
    since: Millis | None = None
    after_row: int | None = None


class Exported(Frozen, frozen=True, kw_only=True):
    """A page of lines; `next`: where the following one begins, None at the end."""

    lines: tuple[str, ...]
    next: int | None


class GetParams(Frozen, frozen=True, kw_only=True):
    audit_id: str


class StatsParams(Frozen, frozen=True, kw_only=True):
    """`since`: epoch milliseconds. `workspace`: a path; sessions that were last in it."""

    since: Millis | None = None
    workspace: str | None = None


class PacketView(Frozen, frozen=True, kw_only=True):
    """The packet's text as it was rendered (erased where a memory was forgotten) and where it stands."""

    rendered: str
    state: str


class Whole(Frozen, frozen=True, kw_only=True):
    entry: AuditEntry
    packet: PacketView | None
    later: tuple[AuditEntry, ...]


class Audits:
    """Reads of the injection audit (G-02)."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> dict[str, Handler]:
        return {
            "audit.query": self._query,
            "audit.get": self._get,
            "audit.explain": self._explain,
            "audit.export": self._export,
            "audit.stats": self._stats,
            "audit.subscribe": self._subscribe,
            "audit.verify": self._verify,
        }

    async def _query(self, request: Request, peer: Peer) -> dict[str, tuple[AuditEntry, ...]]:
        params = decode_params(request, QueryParams)
        return {"entries": await self._parts.audit.query(self._filter(params))}

    async def _get(self, request: Request, peer: Peer) -> Whole:
        params = decode_params(request, GetParams)
        entry = await self._parts.audit.get(params.audit_id)
        if entry is None:
            problem = f"No entry {params.audit_id[:64]!r} is known."
            raise ProtocolFault("unknown-audit-entry", problem, "List them with audit.query.")
        slot = None if entry.packet is None else await self._parts.inbox.find(entry.packet.packet_id)
        view = None if slot is None else PacketView(rendered=slot.packet.rendered, state=slot.state)
        return Whole(entry=entry, packet=view, later=await self._parts.audit.later(entry))

    async def _explain(self, request: Request, peer: Peer) -> dict[str, object]:
        params = decode_params(request, QueryParams)
        if params.memory_id is None and params.session_id is None and params.session_ref is None:
            raise ProtocolFault(
                "invalid-params", "Nothing to explain.", "Give sessionId and step, or memoryId.", -32602
            )
        audit = self._parts.audit
        entries = await audit.query(self._filter(params, EXPLAINED))
        if params.memory_id is None and params.step is not None:
            entries = await self._followed(entries)
        through = (await audit.readable()).through
        lines = await asyncio.to_thread(explain, entries, params.memory_id, through.at if through.row else None)
        if len(entries) >= EXPLAINED:
            lines.insert(0, f"Only the latest {EXPLAINED} entries are told.")
        return {"lines": lines, "entries": entries}

    async def _followed(self, entries: Sequence[AuditEntry]) -> tuple[AuditEntry, ...]:
        """The entries with what came of their packets at later steps, newest first."""
        whole = {entry.audit_id: entry for entry in reversed(entries)}
        for entry in tuple(whole.values()):
            if entry.kind is AuditKind.PASS and entry.packet is not None:
                whole |= {later.audit_id: later for later in await self._parts.audit.later(entry)}
        return tuple(sorted(whole.values(), key=lambda entry: entry.at))[::-1]

    async def _export(self, request: Request, peer: Peer) -> Exported:
        params = decode_params(request, ExportParams)
        audit, lines = self._parts.audit, list[str]()
        rows = await audit.chunk(params.after_row or 0, EXPORTED)
        session = params.session_ref if params.session_id is None else audit.ref(params.session_id)
        asked = [
            row
            for row in rows
            if session in (None, row.session_ref)
            and params.kind in (None, row.kind)
            and (params.since is None or row.at >= params.since)
        ]
        if params.after_row is None:
            kept = await audit.kept()
            if params.format == "csv":
                lines.append(csv_headings())
            elif kept is not None:
                lines.append(first_line(kept).decode())
        lines += await asyncio.to_thread(_exported, asked, params.format)
        return Exported(lines=tuple(lines), next=rows[-1].row if len(rows) == EXPORTED else None)

    async def _stats(self, request: Request, peer: Peer) -> Stats:
        params = decode_params(request, StatsParams)
        return await Measuring(self._parts).stats(params.since, params.workspace)

    async def _subscribe(self, request: Request, peer: Peer) -> dict[str, bool]:
        if not peer.subscribed:
            peer.subscribed = True
            self._parts.tasks.spawn(_push(self._parts.audit.subscribe(), peer), name="subscription")
        return {"subscribed": True}

    async def _verify(self, request: Request, peer: Peer) -> object:
        return await self._parts.audit.verify()

    def _filter(self, params: QueryParams, limit: int | None = None) -> AuditFilter:
        session = params.session_ref if params.session_id is None else self._parts.audit.ref(params.session_id)
        return AuditFilter(
            session_ref=session,
            kind=params.kind,
            outcome=params.outcome,
            reason=params.reason,
            memory_id=params.memory_id,
            step=params.step,
            packet_id=params.packet_id,
            limit=max(1, min(limit or params.limit, 1000)),
        )


def _exported(rows: Sequence[Row], form: str) -> list[str]:
    return [csv_line(row) if form == "csv" else json_line(row).decode() for row in rows]


async def _push(subscription: Subscription, peer: Peer) -> None:
    """Send entries until the peer is gone or falls behind."""
    gone = asyncio.ensure_future(peer.closed.wait())
    gone.add_done_callback(lambda _: subscription.close())
    try:
        async for entry in subscription:
            if not peer.notify("audit.entry", {"entry": entry}):
                return
    finally:
        subscription.close()
        gone.cancel()
        peer.subscribed = False
