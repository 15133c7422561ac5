"""The review queue on the wire: what waits for a person, and what their decision does.

A decision exists only from a person at a terminal (`host/principals.py`). What it does is done first and written down
then, under one lock: a write that is refused leaves the item as it was. Done twice it does the same, so that a crash in
between costs nothing but saying it again. Every question goes through the scope of the folder it is asked from.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from functools import partial, wraps

import msgspec

from governance.contracts import Stage
from governance.formation.errors import ParameterFault, StaleRead
from governance.formation.queue import QueueFilter
from governance.formation.queue import Words as ItemWords
from governance.review import (
    WAITING,
    Act,
    Citation,
    Decision,
    ItemFlag,
    ItemKind,
    Principal,
    QueueItem,
    Refusal,
    RefusalCode,
    State,
    about,
    decided,
)
from governance.screen import is_instruction_like
from host.adding import Adding
from host.beside import DOCUMENTS, Others, Surroundings
from host.connection import Peer
from host.deciding import Deciding
from host.decisions import Decisions, Done
from host.errors import ProtocolFault
from host.lifecycle import Lifecycle, of_memory, of_screened
from host.parts import Parts
from host.principals import principal
from host.protocol import CODES, Request, decode_params, refusal
from host.rechecking import said_about
from host.verbs import Handler, Words, cleaned, guarded, invalid, reach
from recall.contracts import (
    Flag,
    Frozen,
    MemoryKind,
    MemoryLocator,
    MemoryRecord,
    RuntimeScope,
)
from recall.survey import Walked, anywhere, kept_back

MAX_REASON = 1_000
MOST_REPLACED = 16
MEMORY = "mem_"
DECISIONS = (Act.KEEP, Act.EDIT_AND_KEEP, Act.ARCHIVE)
_NEXT = {
    RefusalCode.WRONG_STATE: "See what it is now with review.get.",
    RefusalCode.REVIEWER_KIND: "A person decides, at a terminal of their own: an agent's shell is not one.",
    RefusalCode.CONFLICT: "Look at it again with review.get, and decide upon what it is now.",
    RefusalCode.UNKNOWN_ITEM: "List what waits with review.list.",
    RefusalCode.EVIDENCE_STALE: "A message that it rests on is gone or changed. Put it away, or write down what holds.",
    RefusalCode.CITATION_INVALID: "Say what the quotes say, or archive it, and `remember` your own words.",
    RefusalCode.STALE_READ: "It was made of what does not stand there any more. Have it made anew.",
}


class ListParams(Frozen, frozen=True, kw_only=True):
    """`states` empty: what waits for a person. `flagged`: only what the screen or somebody flagged."""

    workspace: str = ""
    states: tuple[State, ...] = ()
    kinds: tuple[ItemKind, ...] = ()
    pipelines: tuple[str, ...] = ()
    flagged: bool = False
    limit: int = 50
    after: str | None = None


class ItemParams(Frozen, frozen=True, kw_only=True):
    """`item_id`: of an item, or of a memory; then the item about it that waits is meant, or the latest."""

    item_id: str
    workspace: str = ""


class DecideParams(ItemParams, frozen=True, kw_only=True):
    """`expected_revision`: of the item as the person saw it. `text`, `title`: what `edit-and-keep` puts in the place of
    its words; a title that is left out stays. `replaces`: memories that the kept one takes the place of. `principal`:
    who the client says it is."""

    decision: Act
    expected_revision: int
    principal: Principal = Principal.AGENT
    reason: str = ""
    text: str | None = None
    title: str | None = None
    replaces: tuple[str, ...] = ()


class Reviewed(Frozen, frozen=True, kw_only=True):
    """An item with the memory that it is about, as it stands now; null when it is gone or the item has words of its
    own. `stage`: of a procedure. `stale`: the memory was changed since. `others`: what stands beside it, and
    `said`: what was said, for it and against it (`review.get` alone)."""

    item: QueueItem
    stale: bool = False
    record: MemoryRecord | None = None
    locator: MemoryLocator | None = None
    stage: Stage | None = None
    others: Others | None = None
    said: tuple[Citation, ...] = ()


class ReviewPage(Frozen, frozen=True, kw_only=True):
    """`total`: how many fit, this page and all others."""

    items: tuple[Reviewed, ...]
    next: str | None = None
    total: int = 0


class Decided(Done, frozen=True, kw_only=True):
    """What the decision did, and the item after it."""

    item: QueueItem


class Reviewing:
    """`review.list`, `review.get`, `review.decide`, and `review.add`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lifecycle = Lifecycle(parts)
        self._decisions = Decisions(parts)
        self._deciding = Deciding(parts)
        self._surroundings = Surroundings(parts)

    def table(self) -> dict[str, Handler]:
        own = {"review.list": self._list, "review.get": self._get, "review.decide": self._decide}
        every = own | dict(Adding(self._parts).table())
        return guarded({name: _answered(handler) for name, handler in every.items()})

    async def _list(self, request: Request, peer: Peer) -> ReviewPage:
        params = decode_params(request, ListParams)
        scope = await reach(self._parts, params.workspace)
        if params.after is None:  # once for all pages
            await self._kept_back(scope)
        wanted = QueueFilter(
            states=params.states or tuple(sorted(WAITING)),
            kinds=params.kinds,
            workspaces=_workspaces(scope),
            pipelines=params.pipelines,
            flagged=params.flagged,
            limit=params.limit,
            after=params.after,
        )
        page = await self._parts.queue.list(wanted)
        items = tuple([await self._with_record(item, scope) for item in page.items])
        return ReviewPage(items=items, next=page.next, total=await self._parts.queue.count(wanted))

    async def _get(self, request: Request, peer: Peer) -> Reviewed:
        params = decode_params(request, ItemParams)
        scope = await reach(self._parts, params.workspace)
        item = await self._item(params.item_id, scope)
        found = await self._with_record(item, scope)
        others, heard = await self._surroundings.of(item, scope), await said_about(self._parts, item)
        stale = found.stale
        if item.kind in DOCUMENTS and item.state in WAITING:
            stale = bool((await self._parts.documents.outlook(item)).stale)
        return msgspec.structs.replace(found, others=others, said=heard, stale=stale)

    async def _decide(self, request: Request, peer: Peer) -> Decided:
        params = decode_params(request, DecideParams)
        _sensible(params)
        actor = await asyncio.to_thread(principal, params.principal, peer.pid)
        scope = await reach(self._parts, params.workspace)
        async with self._parts.writing:
            item = await self._item(params.item_id, scope)
            decision = Decision(
                actor=actor,
                kind=params.decision,
                at=self._parts.clock.now(),
                expected_revision=params.expected_revision,
                reason=cleaned(Words(text=params.reason)).text,
            )
            allowed = decided(item, decision)
            if isinstance(allowed, Refusal):
                raise _refused(allowed)
            after, done = await self._decided(item, decision, params, scope)
            if isinstance(after, Refusal):
                raise _refused(after)
        return Decided(item=after, memory_id=done.memory_id, stage=done.stage, redacted=done.redacted, trust=done.trust)

    async def _decided(
        self, item: QueueItem, decision: Decision, params: DecideParams, scope: RuntimeScope
    ) -> tuple[QueueItem | Refusal, Done]:
        """Do what the decision means, and write it down: the files first where there are any, else the database."""
        words = None if params.text is None else ItemWords(text=params.text, title=params.title)
        if item.kind in DOCUMENTS:
            try:
                return await self._parts.documents.decide(item, decision, params.text), Done()
            except StaleRead as stale:
                return Refusal(code=RefusalCode.STALE_READ, problem=stale.problem), Done()
            except ParameterFault as fault:  # no document may hold the new words
                raise invalid(fault.problem, fault.next_step or "Nothing was decided.") from fault
        if self._deciding.takes(item):
            return await self._deciding.decided(item, decision, words, params.replaces, scope)
        done = await self._decisions.carried_out(item, decision.kind, words, scope)
        return await self._deciding.settled(item, decision, scope), done

    async def _kept_back(self, scope: RuntimeScope) -> None:
        """What the screen keeps back here, or somebody flagged, is put into the queue when it is looked at."""
        found = await self._parts.library.survey(partial(kept_back, scope=scope))
        for one, flag in await asyncio.to_thread(_flagged, found):
            await self._parts.queue.propose(of_screened(self._parts, one.record, flag))
        marks = self._parts.marks
        for flag, ids in ((ItemFlag.CORRECTED, marks.corrected), (ItemFlag.QUARANTINED, marks.quarantined)):
            await self._marked(sorted(ids), flag)

    async def _marked(self, memory_ids: Sequence[str], flag: ItemFlag) -> None:
        """A mark that nothing in the queue tells of gets its item: after a crash, or when the words are others now."""
        marks, now = self._parts.marks, self._parts.clock.now()
        for one in await self._parts.library.survey(partial(anywhere, memory_ids=memory_ids)) if memory_ids else ():
            record, said = one.record, marks.said_of(one.record.memory_id)
            since = (said.corrected_at if flag is ItemFlag.CORRECTED else said.quarantined_at) or 0
            page = await self._parts.queue.list(QueueFilter(record_id=record.memory_id))
            if not any(
                flag in item.flags and item.created_at >= since and about(item, record.title, record.text)
                for item in page.items
            ):
                await self._parts.queue.propose(of_memory(record, flag, f"mark:{since}", now))

    async def _item(self, item_id: str, scope: RuntimeScope) -> QueueItem:
        item = await self._parts.queue.get(item_id)
        if item is None and item_id.startswith(MEMORY):
            item = await self._parts.queue.of_memory(item_id)
        if item is None or item.workspace_key not in _workspaces(scope):
            problem = f"There is no item {item_id[:64]!r} that can be seen from this workspace."
            raise _refused(Refusal(code=RefusalCode.UNKNOWN_ITEM, problem=problem))
        return item

    async def _with_record(self, item: QueueItem, scope: RuntimeScope) -> Reviewed:
        found = None if item.record_id is None else await self._parts.library.get(item.record_id, scope)
        if found is None:
            return Reviewed(item=item)
        record, locator = found
        return Reviewed(
            item=item,
            stale=not about(item, record.title, record.text),
            record=self._parts.marks.shown(record, self._parts.clock.now()),
            locator=locator,
            stage=self._lifecycle.stage(record) if record.kind is MemoryKind.PROCEDURAL else None,
        )


def _answered(handler: Handler) -> Handler:
    """The handler, so that a queue that cannot be read or written is an answer with a way out."""

    @wraps(handler)
    async def answered(request: Request, peer: Peer) -> object:
        try:
            return await handler(request, peer)
        except sqlite3.Error as error:
            problem = f"The review queue cannot be used just now: {error}."
            raise refusal(
                "store-unavailable", problem, "Nothing was decided. Check the disk, and try again."
            ) from error

    return answered


def _flagged(found: Sequence[Walked]) -> list[tuple[Walked, ItemFlag]]:
    """Of records that are proposed to nobody, those that a person can let go, and what holds them. Screens texts."""
    flagged: list[tuple[Walked, ItemFlag]] = []
    for one in found:
        record = one.record
        if Flag.CORRECTED in record.flags:
            flagged.append((one, ItemFlag.CORRECTED))
        elif Flag.QUARANTINED in record.flags or is_instruction_like(f"{record.title or ''}\n{record.text}"):
            flagged.append((one, ItemFlag.QUARANTINED))
    return flagged


def _workspaces(scope: RuntimeScope) -> tuple[str, ...]:
    """Whose items can be seen from there: the workspace's, and the user's own."""
    return (scope.workspace, "") if scope.workspace else ("",)


def _sensible(params: DecideParams) -> None:
    """Raises ProtocolFault for a decision that no person can mean."""
    if params.decision not in DECISIONS:
        raise invalid(f"{params.decision} is not for review to say.", f"Say one of {', '.join(DECISIONS)}.")
    if params.decision is Act.ARCHIVE and not params.reason.strip():
        raise invalid("An item is archived with a reason.", "Say why in `reason`.")
    if len(params.reason) > MAX_REASON:
        raise invalid(f"A reason has at most {MAX_REASON} characters.", "Shorten it.")
    if len(params.replaces) > MOST_REPLACED:
        raise invalid(f"One memory takes the place of at most {MOST_REPLACED}.", "Name fewer.")
    if (params.decision is Act.EDIT_AND_KEEP) is not (params.text is not None):
        raise invalid("New words and edit-and-keep belong together.", "Give both `text` and edit-and-keep, or neither.")


def _refused(refusal: Refusal) -> ProtocolFault:
    return ProtocolFault(refusal.code, refusal.problem, _NEXT[refusal.code], CODES.get(refusal.code, -32000))
