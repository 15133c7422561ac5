"""The memory verbs of the wire: this table, and those that look at one memory or decide about it. Every read goes
through the same scope. The other verbs have modules of their own, `memory_*`; what they share is in `verbs`.
"""

from collections.abc import Sequence

import msgspec

from governance.review import Principal
from host.connection import Peer
from host.contracts import Reason
from host.forgetting import Forget
from host.memory_approve import Approve
from host.memory_edit import Edit
from host.memory_import import Import
from host.memory_lint import Lint
from host.memory_propose import Propose
from host.memory_remember import Remember
from host.memory_search import Search
from host.memory_upkeep import Upkeep
from host.mutes import Duration, until_of
from host.parts import Parts
from host.protocol import Request, decode_params
from host.readable import withheld
from host.verbs import Handler, Table, guarded, incomplete, noted, put, reach, still_let, visible
from recall.contracts import (
    Flag,
    Frozen,
    MemoryKind,
    MemoryLocator,
    MemoryRecord,
    Millis,
    RuntimeScope,
    Scope,
    Status,
)
from recall.library import Listed

MAX_LIST = 500
PAGES = 100  # that one filtered list looks at: it may give fewer than asked for, and go on


class RecordParams(Frozen, frozen=True, kw_only=True):
    memory_id: str
    workspace: str = ""


class GetParams(RecordParams, frozen=True, kw_only=True):
    """`principal`: who asks; an agent reads what may be shown to it, and is told why the rest is not."""

    principal: Principal = Principal.HUMAN


class PinParams(RecordParams, frozen=True, kw_only=True):
    pinned: bool = True


class MuteParams(RecordParams, frozen=True, kw_only=True):
    """`for_ms`: for how long; null: until it is unmuted."""

    muted: bool = True
    for_ms: Duration | None = None


class ListParams(Frozen, frozen=True, kw_only=True):
    """`kinds` and what follows: only such records; empty or null: all. `principal`: who asks; an agent is given what
    may be shown to it."""

    workspace: str = ""
    limit: int = 50
    after: str | None = None
    kinds: tuple[MemoryKind, ...] = ()
    scopes: tuple[Scope, ...] = ()
    statuses: tuple[Status, ...] = ()
    pinned: bool | None = None
    muted: bool | None = None
    principal: Principal = Principal.HUMAN


class Page(Listed, frozen=True, kw_only=True):
    """`degraded`: the index may lack something, so there may be more, and none does not mean no memories."""

    degraded: bool


class Got(Frozen, frozen=True, kw_only=True):
    """`sightings`: how often it was said, the first time included. `withheld`: the rule by which an agent may not read
    it; the record's words are left out then."""

    record: MemoryRecord
    locator: MemoryLocator
    muted: bool
    muted_at: Millis | None
    sightings: int
    muted_until: Millis | None = None
    withheld: str | None = None


class Pinned(Frozen, frozen=True, kw_only=True):
    memory_id: str
    pinned: bool
    changed: bool


class Muted(Frozen, frozen=True, kw_only=True):
    """`until`: when it will speak again by itself; null: never."""

    memory_id: str
    muted: bool
    changed: bool
    packets_purged: int
    until: Millis | None = None


class Memories:
    """User verbs over the library."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> dict[str, Handler]:
        own: Table = {
            "memory.get": self._get,
            "memory.list": self._list,
            "memory.pin": self._pin,
            "memory.mute": self._mute,
        }
        parts = self._parts
        others = (
            Search(parts),
            Remember(parts),
            Edit(parts),
            Propose(parts),
            Approve(parts),
            Forget(parts),
            Import(parts),
            Lint(parts),
            Upkeep(parts),
        )
        return guarded({**own, **{name: handler for verbs in others for name, handler in verbs.table().items()}})

    async def _get(self, request: Request, peer: Peer) -> Got:
        params = decode_params(request, GetParams)
        scope = await reach(self._parts, params.workspace)
        record, locator = await visible(self._parts, params.memory_id, scope)
        now, marks = self._parts.clock.now(), self._parts.marks
        shown, mute = marks.shown(record, now), marks.mute_of(record.memory_id, now)
        against = None
        if params.principal is not Principal.HUMAN:
            against = (await withheld(self._parts, [record.memory_id], scope)).get(record.memory_id)
        return Got(
            record=shown if against is None else msgspec.structs.replace(shown, text="", title=None, tags=()),
            withheld=against,
            locator=locator,
            muted=Flag.MUTED in shown.flags,
            muted_at=None if mute is None else mute.since,
            muted_until=None if mute is None else mute.until,
            sightings=await marks.sightings(record.memory_id),
        )

    async def _list(self, request: Request, peer: Peer) -> Page:
        params = decode_params(request, ListParams)
        scope = await reach(self._parts, params.workspace)
        limit = max(1, min(params.limit, MAX_LIST))
        agents = params.principal is not Principal.HUMAN
        chosen = params.kinds or params.scopes or params.statuses or (params.pinned, params.muted) != (None, None)
        found: list[MemoryRecord] = []
        after = params.after
        for _ in range(PAGES if chosen or agents else 1):
            page = await self._parts.library.listed(scope, limit - len(found), after)
            found += await self._readable(self._wanted(page.records, params), params, scope)
            after = page.next
            if after is None or len(found) == limit:
                break
        return Page(records=tuple(found), next=after, degraded=incomplete(self._parts, scope))

    async def _readable(
        self, records: list[MemoryRecord], params: ListParams, scope: RuntimeScope
    ) -> list[MemoryRecord]:
        """Those that the one who asks may read."""
        if params.principal is Principal.HUMAN or not records:
            return records
        against = await withheld(self._parts, [record.memory_id for record in records], scope)
        return [record for record in records if record.memory_id not in against]

    def _wanted(self, records: Sequence[MemoryRecord], params: ListParams) -> list[MemoryRecord]:
        now = self._parts.clock.now()
        shown = (self._parts.marks.shown(record, now) for record in records)
        return [
            record
            for record in shown
            if (not params.kinds or record.kind in params.kinds)
            and (not params.scopes or record.scope.kind in params.scopes)
            and (not params.statuses or record.status in params.statuses)
            and params.pinned in (None, record.pinned)
            and params.muted in (None, Flag.MUTED in record.flags)
        ]

    async def _pin(self, request: Request, peer: Peer) -> Pinned:
        params = decode_params(request, PinParams)
        scope = await reach(self._parts, params.workspace)
        record, locator = await visible(self._parts, params.memory_id, scope)
        changed = record.pinned != params.pinned
        if changed:
            now = await put(self._parts, msgspec.structs.replace(record, pinned=params.pinned), locator, scope)
            await still_let(self._parts, locator, now)
            await noted(self._parts, "pinned" if params.pinned else "unpinned", [record.memory_id])
        return Pinned(memory_id=record.memory_id, pinned=params.pinned, changed=changed)

    async def _mute(self, request: Request, peer: Peer) -> Muted:
        params = decode_params(request, MuteParams)
        scope = await reach(self._parts, params.workspace)
        record, locator = await visible(self._parts, params.memory_id, scope)
        memory_id, marks, now = record.memory_id, self._parts.marks, self._parts.clock.now()
        purged, until = 0, until_of(params.for_ms, now) if params.muted else None
        if params.muted:
            changed = await marks.mute(memory_id, now, until)
            purged = await self._parts.claims.purge(memory_id, self._parts.sessions.known, Reason.MUTED)
        else:
            changed = await self._unflagged(record, locator, scope)
            changed = await marks.unmute(memory_id, now) or changed
        if changed:
            await noted(self._parts, "muted" if params.muted else "unmuted", [memory_id])
        return Muted(memory_id=memory_id, muted=params.muted, changed=changed, packets_purged=purged, until=until)

    async def _unflagged(self, record: MemoryRecord, locator: MemoryLocator, scope: RuntimeScope) -> bool:
        """Take the flag `muted` out of the record's file, if it stands there."""
        if Flag.MUTED not in record.flags:
            return False
        flags = tuple(flag for flag in record.flags if flag is not Flag.MUTED)
        now = await put(self._parts, msgspec.structs.replace(record, flags=flags), locator, scope)
        await still_let(self._parts, locator, now)
        return True
