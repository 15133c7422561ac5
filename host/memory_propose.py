"""`memory.propose`: an agent would change a memory, or have it forgotten. Nothing is changed: a person decides.

The proposal waits in the review queue, beside the memory as it is, with the reason that the agent gave. Kept, other
words take the place of the memory's own, and a memory that was to be forgotten stays; archived, other words are not
proposed again, and a memory that was to be forgotten is put away.
"""

from enum import StrEnum

import msgspec

from governance.formation.queue import QueueFilter
from governance.review import EDITED, REASON, WAITING, Citation, ItemFlag, ItemKind, Principal, QueueItem, words_of
from host.connection import Peer
from host.errors import ProtocolFault
from host.parts import Parts
from host.protocol import Request, decode_params
from host.readable import withheld
from host.verbs import Clean, Table, Words, bounded, clean, invalid, reach, visible
from recall.canonical import short_id
from recall.contracts import Frozen, MemoryLocator, MemoryRecord, RecordState, Scope

MAX_REASON = 1_000  # characters
MOST_WAITING = 50  # proposals of agents that wait in one place: a person reads them one by one
PIPELINE = "agent"


class Change(StrEnum):
    EDIT = "edit"
    FORGET = "forget"


class ProposeParams(Frozen, frozen=True, kw_only=True):
    """`text`, `title`: of an edit; what is left out stays. `reason`: why, for the person who decides."""

    memory_id: str
    change: Change
    workspace: str = ""
    text: str | None = None
    title: str | None = None
    reason: str = ""


class Proposed(Frozen, frozen=True, kw_only=True):
    """`proposed`: false when the same waits already, or a person said no to it once."""

    item_id: str
    proposed: bool
    redacted: tuple[str, ...] = ()


class Propose:
    """One proposal of each sort waits for a memory at a time: a newer one takes the place of the older."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return {"memory.propose": self._propose}

    async def _propose(self, request: Request, peer: Peer) -> Proposed:
        params = decode_params(request, ProposeParams)
        if len(params.reason) > MAX_REASON:
            raise invalid(f"A reason has at most {MAX_REASON} characters.", "Shorten it.")
        scope = await reach(self._parts, params.workspace)
        record, locator = await visible(self._parts, params.memory_id, scope)
        objection = (await withheld(self._parts, [record.memory_id], scope)).get(record.memory_id)
        if objection is not None:
            problem = f"{record.memory_id} is kept from agents ({objection})."
            raise ProtocolFault("withheld", problem, "Tell the user, who can see it.")
        reason = (await clean(Words(text=params.reason))).text
        if params.change is Change.FORGET:
            item, words = _to_forget(record), None
        else:
            words = await _new_words(record, locator, params)
            item = _to_edit(record, words)
        why = (Citation(kind=REASON, ref=reason),) if reason else ()
        now = self._parts.clock.now()
        item = msgspec.structs.replace(item, created_at=now, citations=(*item.citations, *why))
        await self._room(item.workspace_key)
        done = await self._parts.queue.propose(item)
        return Proposed(item_id=item.item_id, proposed=done, redacted=() if words is None else words.redacted)

    async def _room(self, workspace: str) -> None:
        """Raises ProtocolFault when so many proposals wait that a person cannot read one more."""
        wanted = QueueFilter(states=tuple(sorted(WAITING)), workspaces=(workspace,), limit=500)
        waiting = (await self._parts.queue.list(wanted)).items
        if sum(one.proposed_by == Principal.AGENT for one in waiting) >= MOST_WAITING:
            problem = f"{MOST_WAITING} proposals of agents wait for a person here."
            raise ProtocolFault("queue-full", problem, "Ask the user to review them first.")


async def _new_words(record: MemoryRecord, locator: MemoryLocator, params: ProposeParams) -> Clean:
    """What the memory would say. Raises ProtocolFault for words that no memory of ours can have."""
    if record.state is not RecordState.ANCHORED:
        problem = f"{record.memory_id} stands in a file without a marker of its own, and is only read."
        raise ProtocolFault("read-only", problem, f"Propose a change of the file to the user: {locator.source_file}.")
    text = record.text if params.text is None else params.text
    title = record.title if params.title is None else params.title
    bounded(Words(text=text, title=title))
    words = await clean(Words(text=text, title=title))
    if (words.text, words.title) == (record.text, record.title):
        raise invalid("The memory says this already.", "Give other words in `text` or `title`.")
    if words.poisoned:
        raise invalid("The new words read like an order to the agent, or hide text.", "Write down the fact instead.")
    return words


def _to_edit(record: MemoryRecord, words: Clean) -> QueueItem:
    cited = words_of(record.title, record.text)
    new = words_of(words.title, words.text)
    return msgspec.structs.replace(
        _item(record, short_id("rev_", ["edit", record.memory_id, cited.ref, new.ref]), cited),
        target=EDITED,
        title=words.title or "",
        text=words.text,
    )


def _to_forget(record: MemoryRecord) -> QueueItem:
    cited = words_of(record.title, record.text)
    item_id = short_id("rev_", ["memory", str(ItemFlag.UNWANTED), record.memory_id, cited.ref])
    return msgspec.structs.replace(_item(record, item_id, cited), flags=(ItemFlag.UNWANTED,))


def _item(record: MemoryRecord, item_id: str, cited: Citation) -> QueueItem:
    return QueueItem(
        item_id=item_id,
        kind=ItemKind.MEMORY,
        pipeline=PIPELINE,
        workspace_key=record.scope.key if record.scope.kind is Scope.WORKSPACE else "",
        created_at=0,
        citations=(cited,),
        proposed_by=Principal.AGENT,
        record_id=record.memory_id,
    )
