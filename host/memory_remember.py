"""`memory.remember`: a person keeps something. What is said again is not kept twice, what says otherwise is
named, and nothing is replaced that the person did not name. When the index cannot be asked, nothing is compared and
everything is kept: a double is cheaper than a loss.

What an agent keeps is marked as extracted, so that it comes unasked as a hint at most (formation.md 7.3), unless it
quotes the user word for word. It cannot replace, pin, reach other workspaces, or bring back what a person said no to.
A person can look at it, and decide, like at everything else that was noted automatically.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from governance.procedures import written_risk
from governance.review import Citation, ItemKind, Principal, QueueItem, State
from host.connection import Peer
from host.contesting import contest
from host.contracts import Reason
from host.errors import ProtocolFault
from host.lifecycle import kept_back
from host.neighbours import Neighbours, only
from host.parts import Parts
from host.principals import speaker
from host.protocol import Request, decode_params
from host.verbs import (
    Clean,
    Table,
    Words,
    bounded,
    clean,
    in_future,
    invalid,
    not_written,
    noted,
    own_root,
    put,
    reach,
    still_let,
    visible,
)
from host.vouched import vouched
from recall.compare import Same, Update
from recall.contracts import (
    Candidate,
    Frozen,
    MemoryKind,
    MemoryLocator,
    MemoryRecord,
    Millis,
    Origin,
    Risk,
    RuntimeScope,
    Scope,
    Status,
)
from recall.files import RefusalKind, Refused
from recall.library import Root

MOST_SUPERSEDED = 16
PIPELINE = "remember"


class RememberParams(Frozen, frozen=True, kw_only=True):
    """`supersedes`: records that the new one takes the place of. `anyway`: keep it though the same is there. `check`:
    say what would happen, and write nothing. `principal`: who speaks; an agent may do less, and is believed less.
    `quote`: what the user said, word for word, in the session `session_id` or in one that is at work here."""

    text: str
    workspace: str = ""
    scope: Scope = Scope.WORKSPACE
    kind: MemoryKind = MemoryKind.SEMANTIC
    title: str | None = None
    tags: tuple[str, ...] = ()
    pinned: bool = False
    expires: Millis | None = None
    supersedes: tuple[str, ...] = ()
    anyway: bool = False
    check: bool = False
    principal: Principal = Principal.HUMAN
    quote: str = ""
    session_id: str = ""


class Otherwise(Frozen, frozen=True, kw_only=True):
    """A record that says otherwise about the same matter, and stands."""

    memory_id: str
    text: str


class Remembered(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """`redacted`: families of secrets that were cut out. `quarantined`: stored, not handed over until reviewed.
    `duplicate_of`: the record that says it already; nothing was written. `sightings`: how often it was said.
    `corrected`: that record was said to be wrong, and waits for a person. `risk_level`: high waits for approval.
    `trust`: how it is held; `quoted`: whether the quote that was given is the user's."""

    memory_id: str
    file: str
    redacted: tuple[str, ...]
    quarantined: bool
    updates: tuple[Otherwise, ...]
    superseded: tuple[str, ...]
    sightings: int
    duplicate_of: str | None = None
    muted: bool = False
    corrected: bool = False
    risk_level: Risk = Risk.LOW
    trust: Origin = Origin.USER
    quoted: bool = False


class Remember:
    """One write at a time (`Parts.writing`): two that say the same at once are one memory."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._neighbours = Neighbours(parts)

    def table(self) -> Table:
        return {"memory.remember": self._remember}

    async def _remember(self, request: Request, peer: Peer) -> Remembered:
        params = decode_params(request, RememberParams)
        who = await asyncio.to_thread(speaker, params.principal, peer.pid)
        params = msgspec.structs.replace(params, principal=who)
        _within_reach(params)
        said = Words(text=params.text, title=params.title, tags=params.tags)
        bounded(said)
        words = await clean(said)
        in_future(params.expires, self._parts.clock.now())
        scope = await reach(self._parts, params.workspace)
        root = own_root(self._parts, params.scope, scope)
        proof = None
        if params.principal is not Principal.HUMAN:
            proof = await self._proof(params, words, scope.workspace)
            await self._wanted(scope.workspace, words.text, 0 if proof is None else proof.at)
        async with self._parts.writing:
            replaced = await self._replaceable(params.supersedes, root, scope)
            beside = await self._neighbours.of(words, root.scope)
            known = await asyncio.to_thread(self._neighbours.compared, words, beside)  # long texts take long
            if isinstance(known, Same) and not params.anyway:
                same = next(one for one in beside if one.memory_id == known.id)
                return await self._said_again(same, params, words, replaced)
            updates = [one for one in beside if isinstance(known, Update) and one.memory_id in known.ids]
            if params.check:
                return _remembered(words, updates)
            return await self._keep(params, words, root, (replaced, updates), proof)

    async def _proof(self, params: RememberParams, words: Clean, workspace: str) -> Citation | None:
        """Where the user said what an agent would keep; None without a quote, or when it stands nowhere."""
        if not params.quote.strip() or words.poisoned:
            return None
        return await vouched(self._parts, words.text, params.quote, params.session_id, workspace)

    async def _wanted(self, workspace: str, text: str, said_at: Millis) -> None:
        """Raises ProtocolFault for words that a person put away or had forgotten, here or everywhere. `said_at`: when
        the user said them: what was forgotten before may be kept again."""
        for where in (workspace, ""):
            if await self._parts.queue.buried(where, text, said_at):
                problem = "A person said no to these words here."
                raise ProtocolFault("buried", problem, "If the user wants them again, the user can keep them.")

    async def _keep(
        self,
        params: RememberParams,
        words: Clean,
        root: Root,
        others: tuple[Sequence[tuple[MemoryRecord, MemoryLocator]], Sequence[Candidate]],
        proof: Citation | None,
    ) -> Remembered:
        replaced, updates = others
        own = params.principal is Principal.HUMAN
        memory_id = self._parts.new_id("mem_")
        record = MemoryRecord(
            memory_id=memory_id,
            anchor_id=f"memory:{memory_id}",
            kind=params.kind,
            scope=root.scope,
            text=words.text,
            created_at=self._parts.clock.now(),
            title=words.title,
            tags=words.tags,
            flags=words.flags,
            origin=Origin.USER if own or proof is not None else Origin.EXTRACTED,
            expires_at=params.expires,
            pinned=params.pinned,
            risk_level=written_risk(params.kind, words.text),
        )
        locator = await self._parts.library.remember(record, root)
        if isinstance(locator, Refused):
            raise not_written(locator)
        await kept_back(self._parts, [record])
        if not own and not words.poisoned:  # what is poisoned waits already
            await self._parts.queue.propose(_noted(record, proof))
        gone = [] if words.poisoned else await self._supersede(replaced, memory_id)  # a good one stays till it is clean
        await contest(self._parts, record)
        standing = [one for one in updates if one.memory_id not in gone]
        return msgspec.structs.replace(
            _remembered(words, standing),
            memory_id=memory_id,
            file=locator.source_file,
            superseded=tuple(gone),
            risk_level=record.risk_level,
            trust=record.origin,
            quoted=proof is not None,
        )

    async def _said_again(
        self,
        same: Candidate,
        params: RememberParams,
        words: Clean,
        replaced: Sequence[tuple[MemoryRecord, MemoryLocator]],
    ) -> Remembered:
        scope = await reach(self._parts, params.workspace)
        record, locator = await visible(self._parts, same.memory_id, scope)
        answer = msgspec.structs.replace(
            _remembered(words, ()),
            memory_id=record.memory_id,
            file=locator.source_file,
            duplicate_of=record.memory_id,
            muted=self._parts.marks.mute_of(record.memory_id, self._parts.clock.now()) is not None,
            corrected=record.memory_id in self._parts.marks.withheld([record.memory_id]),
            trust=record.origin,
        )
        if params.check or params.principal is not Principal.HUMAN:  # that an agent says it again shows nothing
            return msgspec.structs.replace(answer, sightings=await self._parts.marks.sightings(record.memory_id))
        if params.pinned and not record.pinned:
            now = await put(self._parts, msgspec.structs.replace(record, pinned=True), locator, scope)
            await still_let(self._parts, locator, now)
        others = [] if words.poisoned else [one for one in replaced if one[0].memory_id != record.memory_id]
        return msgspec.structs.replace(
            answer,
            superseded=tuple(await self._supersede(others, record.memory_id)),
            sightings=await self._parts.marks.said_again(record.memory_id, self._parts.clock.now()),
        )

    async def _replaceable(
        self, memory_ids: Sequence[str], root: Root, scope: RuntimeScope
    ) -> list[tuple[MemoryRecord, MemoryLocator]]:
        """The records that are to be replaced. Raises ProtocolFault for one that cannot be."""
        if len(memory_ids) > MOST_SUPERSEDED:
            raise invalid(f"One memory takes the place of at most {MOST_SUPERSEDED}.", "Name fewer.")
        found = [await visible(self._parts, memory_id, scope) for memory_id in dict.fromkeys(memory_ids)]
        for record, locator in found:
            if record.scope != root.scope:
                problem = f"{record.memory_id} is kept for another scope than the new memory."
                raise invalid(problem, f"Keep the new one for {record.scope.kind} too.")
            if not self._neighbours.ours(locator, root):
                problem = f"{record.memory_id} stands in {locator.source_file}, which is not ours to write."
                raise not_written(Refused(kind=RefusalKind.READ_ONLY, problem=problem))
        return found

    async def _supersede(self, replaced: Sequence[tuple[MemoryRecord, MemoryLocator]], by: str) -> list[str]:
        """Mark records as replaced; one that was changed by someone else meanwhile stays as it is."""
        done: list[str] = []
        for record, locator in replaced:
            gone = msgspec.structs.replace(record, status=Status.SUPERSEDED, superseded_by=by)
            try:
                await put(self._parts, gone, locator, only(record.scope))
            except ProtocolFault:
                continue
            await self._parts.claims.purge(record.memory_id, self._parts.sessions.known, Reason.SUPERSEDED)
            done.append(record.memory_id)
        await noted(self._parts, "superseded", done)
        return done


def _within_reach(params: RememberParams) -> None:
    """Raises ProtocolFault for what only a person may ask."""
    if params.principal is Principal.HUMAN:
        return
    for asked, what in (
        (params.supersedes, "replaces another memory"),
        (params.pinned, "pins a memory"),
        (params.anyway, "keeps the same twice"),
        (params.scope is not Scope.WORKSPACE, "keeps something for all workspaces"),
    ):
        if asked:
            raise ProtocolFault("reviewer-kind", f"Only a person {what}.", "Leave it out, or ask the user to do it.")


def _noted(record: MemoryRecord, proof: Citation | None) -> QueueItem:
    """What an agent kept, as an item: nobody has looked at it, and a person may."""
    return QueueItem(
        item_id=record.memory_id,
        kind=ItemKind.MEMORY,
        pipeline=PIPELINE,
        workspace_key=record.scope.key if record.scope.kind is Scope.WORKSPACE else "",
        created_at=record.created_at,
        state=State.COMMITTED,
        citations=() if proof is None else (proof,),
        proposed_by=Principal.AGENT,
        record_id=record.memory_id,
    )


def _remembered(words: Clean, updates: Sequence[Candidate]) -> Remembered:
    return Remembered(
        memory_id="",
        file="",
        redacted=words.redacted,
        quarantined=words.poisoned,
        updates=tuple(Otherwise(memory_id=one.memory_id, text=one.payload) for one in updates),
        superseded=(),
        sightings=1,
    )
