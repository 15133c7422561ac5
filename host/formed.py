"""How a memory came to be: who said what, which prompt and model made it, who decided, and what it took the place of
(formation.md 6, provenance). Ids, quotes and digests; no prompt's text, and no message but what is quoted.
"""

import sqlite3
from collections.abc import Iterable

from governance.formation.contracts import Generation, Life, MemorySource, Provenance
from governance.formation.keeping import sources_of
from governance.formation.store import generations, items, memories, notes
from governance.review import Principal, QueueItem, quotes_of
from host.parts import Parts
from recall.contracts import Frozen, Millis


class FormedBy(Frozen, frozen=True, kw_only=True):
    """One run. `prompt_source`: built-in, or whose addition was appended. `calls`: of the model, 0 where an agent or a
    person did it."""

    pipeline: str
    model_id: str
    prompt_id: str = ""
    prompt_version: int = 0
    prompt_sha256: str = ""
    prompt_source: str = ""
    calls: int = 0
    at: Millis = 0


class DecidedBy(Frozen, frozen=True, kw_only=True):
    """One decision. `actor`: human, agent, engine; `policy` is what was committed by itself."""

    actor: Principal
    kind: str
    at: Millis
    reason: str = ""


class Earlier(Frozen, frozen=True, kw_only=True):
    """A record that it took the place of."""

    memory_id: str
    version: int
    state: Life


class Formed(Frozen, frozen=True, kw_only=True):
    """`sources`: messages, and quotes where there are any. `version`: of the record's life."""

    version: int
    sources: tuple[MemorySource, ...] = ()
    formed: tuple[FormedBy, ...] = ()
    decided: tuple[DecidedBy, ...] = ()
    earlier: tuple[Earlier, ...] = ()


async def formed_of(parts: Parts, memory_id: str) -> Formed | None:
    """How it came to be; None: a person wrote it, and nobody decided anything about it."""

    def work(connection: sqlite3.Connection) -> Formed | None:
        life = memories.of(connection, memory_id)
        about = [items.get(connection, one.item_id) for one in parts.queue.about(connection, memory_id)]
        found = [one for one in reversed(about) if one is not None]
        if life is None and not found:
            return None
        return Formed(
            version=0 if life is None else life.version,
            sources=_sources(memories.sources(connection, memory_id), found),
            formed=_formed(connection, memory_id, found),
            decided=_decided(found),
            earlier=tuple(
                Earlier(memory_id=one.memory_id, version=one.version, state=one.state)
                for one in memories.earlier(connection, memory_id)
            ),
        )

    return await parts.kept.read(work)


def _sources(held: Iterable[MemorySource], found: Iterable[QueueItem]) -> tuple[MemorySource, ...]:
    """Those of the record, and the quotes of its items that are not among them."""
    every = list(held)
    known = {(one.session_id, one.message_id, one.quote) for one in every}
    cited = [one for item in found for one in sources_of(quotes_of(item))]
    every += [one for one in cited if (one.session_id, one.message_id, one.quote) not in known]
    return tuple(sorted(every, key=lambda one: (one.at, one.session_id, one.event_seq)))


def _formed(connection: sqlite3.Connection, memory_id: str, found: Iterable[QueueItem]) -> tuple[FormedBy, ...]:
    """The runs that made it: those that are written down by memory, and the windows of its notes."""
    pipelines = {item.item_id: item.pipeline for item in found}
    ids = dict.fromkeys((memory_id, *pipelines))
    runs = [
        _of_generation(one, pipelines.get(memory_id, ""))
        for each in ids
        for one in generations.of_memory(connection, each)
    ]
    windows = [row for each in ids if (row := notes.window_of_note(connection, each)) is not None]
    return (*dict.fromkeys(runs), *(_of_window(row.provenance) for row in windows))


def _of_generation(one: Generation, pipeline: str) -> FormedBy:
    return FormedBy(
        pipeline=pipeline or str(one.layer),
        model_id=one.model_id,
        prompt_id=one.prompt.id,
        prompt_version=one.prompt.version,
        prompt_sha256=one.prompt.sha256,
        prompt_source=one.prompt.source,
        calls=one.calls,
        at=one.finished_at,
    )


def _of_window(one: Provenance) -> FormedBy:
    return FormedBy(
        pipeline="notes",
        model_id=one.model_id,
        prompt_id=one.prompt_id if one.prompt is None else one.prompt.id,
        prompt_version=0 if one.prompt is None else one.prompt.version,
        prompt_sha256=one.prompt_hash if one.prompt is None else one.prompt.sha256,
        prompt_source="" if one.prompt is None else one.prompt.source,
        calls=one.calls,
        at=one.finished_at,
    )


def _decided(found: Iterable[QueueItem]) -> tuple[DecidedBy, ...]:
    made = [
        DecidedBy(actor=one.actor, kind=one.kind, at=one.at, reason=one.reason)
        for item in found
        for one in item.decisions
    ]
    return tuple(sorted(made, key=lambda one: one.at))
