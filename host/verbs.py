"""What all memory verbs share: what can be seen from a folder, what a text must be like, what a refusal says, and that
a person's decision leaves an entry in the audit.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from governance.errors import AuditUnavailable
from governance.screen import is_instruction_like, redact
from host.connection import Peer
from host.errors import ProtocolFault
from host.parts import Parts
from host.protocol import CODES, Request
from host.runtime import USER_KEY
from host.trace import of_feedback
from recall.contracts import Flag, Frozen, MemoryLocator, MemoryRecord, Millis, RuntimeScope, Scope
from recall.errors import IndexFault
from recall.files import RefusalKind, Refused
from recall.library import Root

Handler = Callable[[Request, Peer], Awaitable[object]]
Table = Mapping[str, Handler]
LONG_WORDS = 4_096  # characters that are screened without leaving the loop
MAX_TEXT = 32_768  # characters
MAX_TITLE = 200
MAX_TAGS, MAX_TAG = 32, 192

_NEXT = {  # what to do about a write that did not happen
    RefusalKind.CONFLICT: "Nothing was lost. Read the memory again and repeat the change.",
    RefusalKind.UNUSABLE_FILE: "Mend the file first: memory.lint says what is wrong with it.",
    RefusalKind.UNSAFE_TEXT: "Take marker lines and conflict markers out of the text, or put them into a code fence.",
    RefusalKind.DUPLICATE: "Give the memory another id, or edit the one that is there.",
    RefusalKind.NOT_FOUND: "List the memories with memory.list.",
    RefusalKind.READ_ONLY: "Edit the file by hand. A memory can be muted wherever it stands: memory.mute.",
    RefusalKind.OUTSIDE_ROOT: "Keep memory files inside the memory folder, not behind a link.",
    RefusalKind.UNWRITABLE: "Check the space on the disk and who owns the data folder.",
}


class Words(Frozen, frozen=True, kw_only=True):
    """What a person may say of a memory in words."""

    text: str
    title: str | None = None
    tags: tuple[str, ...] = ()


class Clean(Frozen, frozen=True, kw_only=True):
    """Words as they are kept. `redacted`: families of what was cut out; `poisoned`: it reads like an order."""

    text: str
    title: str | None
    tags: tuple[str, ...]
    redacted: tuple[str, ...]
    poisoned: bool

    @property
    def flags(self) -> tuple[Flag, ...]:
        return (Flag.QUARANTINED,) if self.poisoned else ()


async def reach(parts: Parts, workspace: str) -> RuntimeScope:
    """What a person at this folder may see; its memory files become searchable."""
    key = parts.places.key(workspace, again=True)
    await parts.roots.adopt(workspace, key)
    return RuntimeScope(session_id="", agent_id="", workspace=key, user=USER_KEY)


async def visible(parts: Parts, memory_id: str, scope: RuntimeScope) -> tuple[MemoryRecord, MemoryLocator]:
    """The record of that id, whatever its status. Raises ProtocolFault when none can be seen from there."""
    found = await parts.library.get(memory_id, scope)
    if found is None and incomplete(parts, scope):
        problem = f"No memory {memory_id[:64]!r} is known yet: the index is still being filled."
        raise ProtocolFault("index-unavailable", problem, "Ask again in a moment; index.progress tells how far it is.")
    if found is None:
        raise unknown(memory_id)
    return found


def incomplete(parts: Parts, scope: RuntimeScope) -> bool:
    """Whether the index may lack something that can be seen from there: files are being read for the first time, or it
    is broken. What is not found then may be there all the same."""
    index = parts.library.snapshot(parts.clock.now())
    return index.partial(scope) or index.health.damaged or bool(index.health.problem)


def own_root(parts: Parts, kept: Scope, scope: RuntimeScope) -> Root:
    """The folder of ours where memories of that scope are kept."""
    if kept is Scope.USER:
        return parts.roots.user()
    if kept is not Scope.WORKSPACE:
        raise invalid(f"Memories of scope {kept} are not kept.", "Use Workspace or User.")
    if not scope.workspace:
        raise invalid("No workspace was given.", "Give the folder's path, or keep it for the User.")
    return parts.roots.private(scope.workspace)


def bounded(words: Words) -> None:
    """Raises ProtocolFault for words that are too many, or none."""
    if not words.text.strip() or len(words.text) > MAX_TEXT:
        raise invalid(
            f"A memory has 1 to {MAX_TEXT} characters, this one has {len(words.text)}.", "Shorten or split it."
        )
    if len(words.title or "") > MAX_TITLE:
        raise invalid(f"A title has at most {MAX_TITLE} characters.", "Shorten it.")
    if len(words.tags) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in words.tags):
        raise invalid(f"A memory has at most {MAX_TAGS} tags of at most {MAX_TAG} characters.", "Leave some out.")


def cleaned(words: Words) -> Clean:
    """The words as they are kept: on one line what belongs on one, and without secrets."""
    title = " ".join((words.title or "").split())
    tags = tuple(dict.fromkeys(" ".join(tag.split()) for tag in words.tags if tag.strip()))
    text, cut = redact(words.text.strip())
    title, cut_title = redact(title)
    redacted = [redact(tag) for tag in tags]
    cut_out = (*cut, *cut_title, *(finding for _, in_tag in redacted for finding in in_tag))
    return Clean(
        text=text,
        title=title or None,
        tags=tuple(tag for tag, _ in redacted),
        redacted=tuple(sorted({finding.family for finding in cut_out})),
        poisoned=is_instruction_like("\n".join((title, text, *(tag for tag, _ in redacted)))),
    )


async def clean(words: Words) -> Clean:
    """`cleaned`; long words are read on a worker thread, so that others have their turn."""
    if len(words.text) <= LONG_WORDS:
        return cleaned(words)
    return await asyncio.to_thread(cleaned, words)


def in_future(expires: Millis | None, now: Millis) -> None:
    """Raises ProtocolFault for an end that has come already."""
    if expires is not None and not now < expires <= 2**53:
        raise invalid("The memory would have expired already, or never.", "Give a time to come, in milliseconds.")


def invalid(problem: str, next_step: str) -> ProtocolFault:
    return ProtocolFault("invalid-params", problem, next_step, CODES["invalid-params"])


def unknown(memory_id: str) -> ProtocolFault:
    return ProtocolFault(
        "unknown-memory", f"No memory {memory_id[:64]!r} is visible from this workspace.", "List them with memory.list."
    )


def not_written(refused: Refused) -> ProtocolFault:
    """What a write that did not happen answers."""
    return ProtocolFault(refused.kind, refused.problem, _NEXT[refused.kind], CODES.get(refused.kind, -32000))


async def put(parts: Parts, record: MemoryRecord, seen: MemoryLocator, scope: RuntimeScope) -> MemoryLocator:
    """The record in the place of the one that was seen there. Raises ProtocolFault."""
    done = await parts.library.edit(record, seen.record_digest, scope)
    if done is None:
        raise unknown(record.memory_id)
    if isinstance(done, Refused):
        raise not_written(done)
    if parts.engine is not None and done.record_digest != seen.record_digest:
        parts.engine.forget([seen.record_digest])  # a vector tells something of its text
    return done


async def still_let(parts: Parts, before: MemoryLocator, now: MemoryLocator) -> None:
    """What a person let through in these words stays let through when a mark of it changes, a pin for one."""
    if parts.marks.admits(before.memory_id, before.record_digest) and now.record_digest != before.record_digest:
        await parts.marks.approve(before.memory_id, now.record_digest, parts.clock.now())
        await parts.library.reconsider([before.memory_id])


async def noted(parts: Parts, verb: str, memory_ids: Sequence[str]) -> None:
    """Write down what a person decided about these memories: ids, no text. What is done stays done without it."""
    now = parts.clock.now()
    try:
        await parts.ledger.append([of_feedback(verb, memory_id, now) for memory_id in memory_ids])
    except AuditUnavailable:
        return  # `health` says that the audit cannot be written


def guarded(table: Table) -> dict[str, Handler]:
    """The handlers, so that an index that cannot be read is an answer with a way out."""

    def guard(handler: Handler) -> Handler:
        async def answered(request: Request, peer: Peer) -> object:
            try:
                return await handler(request, peer)
            except IndexFault as error:
                problem = f"The memory index cannot be read just now: {error}"
                next_step = "The files are safe. It is made again by itself; index.rebuild does so at once."
                raise ProtocolFault("index-unavailable", problem, next_step) from error

        return answered

    return {name: guard(handler) for name, handler in table.items()}
