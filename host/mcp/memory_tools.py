"""The tools on memories. Each asks the daemon as an agent does: it reads what may be shown to one, what it keeps is
marked as noted automatically, and what it would change or have forgotten waits for a person.
"""

from typing import Annotated, Literal

from msgspec import Meta

from host.errors import RemoraError
from host.mcp.tool import Answer, Arguments, Caller, Document, T, Tool
from host.mcp.wording import NONE_FOUND, TEXT_BYTES, Memory, because, memory, told
from host.namespace import SCRIPT, tool
from host.render import BRIEF
from recall.contracts import Frozen, MemoryKind, MemoryRecord, Origin, Scope, ScopeRef

AGENT = {"principal": "agent"}
MOST_FOUND = 20
KINDS = Literal["semantic", "episodic", "procedural"]
MemoryId = Annotated[str, Meta(description="Id of the memory, as mem_….", min_length=1, max_length=128)]
Words = Annotated[str, Meta(min_length=1, max_length=32_768)]
Reason = Annotated[str, Meta(description="Why, for the person who decides.", max_length=1_000)]


# ---------------------------------------------------------------------------------------------- arguments and documents


class SearchArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="Words of what is looked for.", min_length=1, max_length=2_000)]
    limit: Annotated[int, Meta(description="How many at most.", ge=1, le=MOST_FOUND)] = 5


class Found(Document, frozen=True, kw_only=True):
    """`incomplete`: a source did not answer, so there may be more."""

    note: str
    memories: tuple[Memory, ...]
    incomplete: bool = False


class OneArguments(Arguments, frozen=True, kw_only=True):
    memory_id: MemoryId


class Read(Document, frozen=True, kw_only=True):
    note: str
    memory: Memory


class RememberArguments(Arguments, frozen=True, kw_only=True):
    text: Annotated[Words, Meta(description="The fact, or the steps, in full sentences and without secrets.")]
    title: Annotated[str, Meta(description="A short title.", max_length=200)] = ""
    kind: Annotated[KINDS, Meta(description="A fact is semantic, steps are procedural.")] = "semantic"
    tags: Annotated[tuple[str, ...], Meta(description="Words to file it under.", max_length=32)] = ()
    quote: Annotated[
        str,
        Meta(
            description="Where the user asked for it: their own words of this session, exactly as they wrote them.",
            max_length=1_000,
        ),
    ] = ""


class Kept(Document, frozen=True, kw_only=True):
    """`alreadyKept`: another memory said it already, and nothing was written. `quarantined`: it reads like an order,
    and waits for a person. `saysOtherwise`: memories that say otherwise about the same matter. `quoted`: the quote is
    the user's, and the memory counts as said by them."""

    note: str
    memory_id: str
    already_kept: bool = False
    quarantined: bool = False
    redacted: tuple[str, ...] = ()
    says_otherwise: tuple[str, ...] = ()
    quoted: bool = False


class EditArguments(Arguments, frozen=True, kw_only=True):
    memory_id: MemoryId
    text: Annotated[str, Meta(description="Its new text. Left out: it stays.", max_length=32_768)] = ""
    title: Annotated[str, Meta(description="Its new title. Left out: it stays.", max_length=200)] = ""
    reason: Reason = ""


class ForgetArguments(Arguments, frozen=True, kw_only=True):
    memory_id: MemoryId
    reason: Reason = ""


class Waits(Document, frozen=True, kw_only=True):
    """A proposal in the review queue. `waits`: false when the same was said no to once, or waits already."""

    note: str
    memory_id: str
    item_id: str
    waits: bool


class FeedbackArguments(Arguments, frozen=True, kw_only=True):
    memory_id: MemoryId
    opinion: Annotated[
        Literal["useful", "noise", "late", "wrong", "harmful", "missed"],
        Meta(
            description="useful, noise or late: of its having been shown. wrong or harmful: of what it says. "
            "missed: it should have been shown."
        ),
    ]


class Noted(Document, frozen=True, kw_only=True):
    """`keptBack`: it is shown to nobody until a person looks at it."""

    note: str
    memory_id: str
    opinion: str
    kept_back: bool = False


# ------------------------------------------------------------------------------------------------ the daemon's answers


class _Hit(Frozen, frozen=True, kw_only=True):
    memory_id: str
    text: str
    kind: MemoryKind
    scope: ScopeRef
    origin: Origin
    title: str | None = None
    pinned: bool = False

    def record(self) -> MemoryRecord:
        return MemoryRecord(
            memory_id=self.memory_id,
            anchor_id="",
            kind=self.kind,
            scope=self.scope,
            text=self.text,
            created_at=0,
            title=self.title,
            origin=self.origin,
            pinned=self.pinned,
        )


class _Hits(Frozen, frozen=True, kw_only=True):
    hits: tuple[_Hit, ...]
    degraded: bool = False


class Got(Frozen, frozen=True, kw_only=True):
    """The answer of `memory.get`: a record, and the rule by which an agent may not read it."""

    record: MemoryRecord
    withheld: str | None = None


class _Other(Frozen, frozen=True, kw_only=True):
    memory_id: str


class _Remembered(Frozen, frozen=True, kw_only=True):
    memory_id: str
    redacted: tuple[str, ...] = ()
    quarantined: bool = False
    updates: tuple[_Other, ...] = ()
    duplicate_of: str | None = None
    quoted: bool = False


class _Proposed(Frozen, frozen=True, kw_only=True):
    item_id: str
    proposed: bool


class _Noted(Frozen, frozen=True, kw_only=True):
    corrected: bool = False


# ------------------------------------------------------------------------------------------------------------ the acts


async def search(asked: SearchArguments, caller: Caller) -> Answer:
    hits = await _ask(caller, "memory.search", _Hits, query=asked.query, limit=asked.limit, **AGENT)
    found = tuple(memory(hit.record(), TEXT_BYTES) for hit in hits.hits)
    text = told(found)
    if hits.degraded:
        text += "\nA source did not answer: there may be more."
    note = BRIEF if found else NONE_FOUND
    return Answer(text=text, document=Found(note=note, memories=found, incomplete=hits.degraded))


async def get(asked: OneArguments, caller: Caller) -> Answer:
    one = await read(asked.memory_id, caller)
    return Answer(text=told([one]), document=Read(note=BRIEF, memory=one))


async def read(memory_id: str, caller: Caller) -> Memory:
    """One memory, if an agent may read it. Raises RemoraError."""
    got = await _ask(caller, "memory.get", Got, memoryId=memory_id, **AGENT)
    if got.withheld is not None:
        raise RemoraError(
            f"{got.record.memory_id} is kept from agents: {because(got.withheld)}.",
            f"The user can look at it: {SCRIPT} show {got.record.memory_id}",
        )
    return memory(got.record)


async def remember(asked: RememberArguments, caller: Caller) -> Answer:
    done = await _ask(
        caller,
        "memory.remember",
        _Remembered,
        text=asked.text,
        title=asked.title or None,
        kind=asked.kind,
        tags=asked.tags,
        scope=Scope.WORKSPACE,
        quote=asked.quote or None,
        **AGENT,
    )
    kept = Kept(
        note=_kept(done, quote=bool(asked.quote.strip())),
        memory_id=done.memory_id,
        already_kept=done.duplicate_of is not None,
        quarantined=done.quarantined,
        redacted=done.redacted,
        says_otherwise=tuple(one.memory_id for one in done.updates),
        quoted=done.quoted,
    )
    return Answer(text=kept.note, document=kept)


def _kept(done: _Remembered, *, quote: bool) -> str:
    known = done.duplicate_of is not None
    said = [f"{done.memory_id} says this already: nothing was written." if known else f"Kept as {done.memory_id}."]
    if quote and not known:
        said.append(
            "It counts as said by the user."
            if done.quoted
            else "The quote stands in no message of the user here, so it counts as noted automatically."
        )
    if done.redacted:
        said.append(f"Secrets were taken out: {', '.join(done.redacted)}.")
    if done.quarantined:
        said.append("It reads like an order to the agent, so it is quarantined until a person looks at it.")
    if done.updates:
        others = ", ".join(one.memory_id for one in done.updates)
        said.append(f"These say otherwise about the same matter, and still count: {others}.")
    return " ".join(said)


async def edit(asked: EditArguments, caller: Caller) -> Answer:
    if not (asked.text.strip() or asked.title.strip()):
        raise RemoraError("Nothing would be changed.", "Give `text`, `title`, or both.")
    words = {"text": asked.text or None, "title": asked.title or None}
    return await _proposed(caller, asked.memory_id, "edit", asked.reason, words)


async def forget(asked: ForgetArguments, caller: Caller) -> Answer:
    return await _proposed(caller, asked.memory_id, "forget", asked.reason, {})


async def _proposed(caller: Caller, memory_id: str, change: str, reason: str, words: dict[str, str | None]) -> Answer:
    done = await _ask(caller, "memory.propose", _Proposed, memoryId=memory_id, change=change, reason=reason, **words)
    if done.proposed:
        note = f"Proposed as {done.item_id}; nothing is changed until a person decides: {SCRIPT} review {done.item_id}"
    else:
        note = f"Nothing was proposed: the same waits already as {done.item_id}, or a person said no to it once."
    waits = Waits(note=note, memory_id=memory_id, item_id=done.item_id, waits=done.proposed)
    return Answer(text=note, document=waits)


async def feedback(asked: FeedbackArguments, caller: Caller) -> Answer:
    done = await _ask(caller, "memory.feedback", _Noted, memoryId=asked.memory_id, opinion=asked.opinion)
    note = f"Noted: {asked.memory_id} was {asked.opinion}."
    if done.corrected:
        note += " It is kept back until a person looks at it; tell the user."
    noted = Noted(note=note, memory_id=asked.memory_id, opinion=asked.opinion, kept_back=done.corrected)
    return Answer(text=note, document=noted)


async def _ask(caller: Caller, method: str, answer: type[T], /, **params: object) -> T:
    given = {name: value for name, value in params.items() if value is not None}
    return await caller.ask(method, given | {"workspace": await caller.workspace()}, answer)


SEARCH = Tool(
    part="memory_search",
    title="Search memory",
    description="Find memories of this workspace and of the user by words: facts, decisions and procedures kept in "
    "earlier sessions.",
    arguments=SearchArguments,
    document=Found,
    run=search,
    reads=True,
)
GET = Tool(
    part="memory_get",
    title="Read a memory",
    description="Read one memory whole, by its id.",
    arguments=OneArguments,
    document=Read,
    run=get,
    reads=True,
)
REMEMBER = Tool(
    part="memory_remember",
    title="Remember",
    description="Keep a fact or a procedure for later sessions in this workspace. It counts as noted automatically "
    "until a person reviews it, or as the user's own when `quote` is what they said.",
    arguments=RememberArguments,
    document=Kept,
    run=remember,
)
EDIT = Tool(
    part="memory_edit",
    title="Propose other words",
    description="Propose another text or title for a memory. Nothing changes before a person decides.",
    arguments=EditArguments,
    document=Waits,
    run=edit,
)
FORGET = Tool(
    part="memory_forget",
    title="Propose to forget",
    description="Propose that a memory is forgotten. Nothing changes before a person decides.",
    arguments=ForgetArguments,
    document=Waits,
    run=forget,
)
FEEDBACK = Tool(
    part="memory_feedback",
    title="Say what a memory was worth",
    description="Say whether a memory was useful, noise, late or missed, or that it is wrong or harmful. One that is "
    f"wrong or harmful is kept back until a person looks at it; {tool('memory_edit')} proposes better words.",
    arguments=FeedbackArguments,
    document=Noted,
    run=feedback,
)
