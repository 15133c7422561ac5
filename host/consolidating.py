"""M-02: what a session did becomes an episode when it ends or rests, as a daemon does it by itself.

An episode is a record in the workspace's own memory file, so it can be read, searched, muted and forgotten like any
other. It has one id for a session and a workspace, so that a session that goes on has its episode written anew, not
twice; one that a person changed or forgot is left as it is. Replays and evaluations consolidate nothing.
"""

import asyncio
import sqlite3
from collections.abc import Sequence

import msgspec

from governance.episode_store import EpisodeStore, Written
from governance.episodes import Outcome, Step, episode_of, record_of
from host.contracts import Reason
from host.lifecycle import kept_back
from host.parts import Parts
from host.recount import Recount
from recall.canonical import short_id
from recall.contracts import MemoryRecord, RuntimeScope
from recall.errors import IndexFault
from recall.files import Refused

MOST = 256  # episodes of a workspace
CHUNK = 256  # events that are read at once
RESTS_MS = 30 * 60_000  # without an event, after which a session of an earlier run is over
LATEST = 50  # of them are looked at after a start
AGAIN_SECONDS = 60.0
_BROKEN = (IndexFault, sqlite3.Error)


class Consolidation:
    """One session's episodes, written or brought up to date."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store = EpisodeStore(parts.kept)

    async def session(self, session_id: str) -> tuple[str, ...]:
        """Tell what a session did so far; the ids of the episodes that were written. Raises IndexFault, sqlite3.Error:
        then it is to be told again."""
        ref = self._parts.audit.ref(session_id)
        last = await self._parts.eventlog.last(session_id)
        if last is None or await self._store.told(ref) >= last.event_seq:
            return ()
        recount = Recount(
            self._parts.places.key, lambda workspace, at: self._parts.rollouts.asleep(workspace, session_id, at)
        )
        after = 0
        while chunk := await self._parts.eventlog.replay(session_id, after=after, limit=CHUNK):
            await asyncio.to_thread(recount.take, chunk)
            after = chunk[-1].event_seq
        written = [await self._tell(steps, workspace, ref) for workspace, steps in sorted(recount.steps.items())]
        await self._store.tell(ref, after)
        return tuple(memory_id for memory_id in written if memory_id)

    async def catch_up(self) -> None:
        """Tell sessions of an earlier run that were over, or are by now."""
        before = self._parts.clock.now() - RESTS_MS
        for one in await self._parts.eventlog.sessions(LATEST):
            if one.last_at < before:
                await self.session(one.session_id)

    async def _tell(self, steps: Sequence[Step], workspace: str, ref: str) -> str:
        """Write the episode of these steps; empty: there is none to write."""
        episode = await asyncio.to_thread(episode_of, steps)
        if episode is None:
            return ""
        root = self._parts.roots.private(workspace)
        memory_id = short_id("mem_", ["episode", ref, workspace])
        record = await asyncio.to_thread(record_of, episode, memory_id, root.scope, ref)
        done = await self._put(record, workspace)
        if not done:
            return ""
        at, outcome = record.created_at, Outcome(episode.outcome)
        await self._store.put(
            Written(
                memory_id=memory_id, workspace=workspace, session_ref=ref, record_digest=done, outcome=outcome, at=at
            )
        )
        await self._keep_few(workspace)
        self._parts.host.log.info("episode.written", memory=memory_id, outcome=str(outcome))
        return memory_id

    async def _put(self, record: MemoryRecord, workspace: str) -> str:
        """The record's digest as it stands in its file now; empty: it was not written."""
        scope = _there(self._parts, workspace)
        before = await self._store.of(record.memory_id)
        if before is None and await self._parts.library.get(record.memory_id, scope) is None:
            if await self._parts.queue.buried(workspace, record.text):  # a person said no to these words
                return ""
            done = await self._parts.library.remember(record, self._parts.roots.private(workspace))
            if isinstance(done, Refused):
                return ""
            await kept_back(self._parts, [record])
            return done.record_digest
        if before is not None and before.gone:
            return ""
        await self._parts.library.adopt(self._parts.roots.private(workspace))
        found = await self._parts.library.get(record.memory_id, scope)
        if found is None:
            if not self._parts.library.snapshot(0).partial(scope):
                await self._store.gone(record.memory_id)
            return ""
        now, at = found
        ours = before is None or at.record_digest == before.record_digest
        if not ours or now.status is not record.status or now.text == record.text:
            return ""  # a person's word, or nothing new
        record = msgspec.structs.replace(record, pinned=now.pinned, importance=now.importance, priority=now.priority)
        edited = await self._parts.library.edit(record, at.record_digest, scope)
        return "" if edited is None or isinstance(edited, Refused) else edited.record_digest

    async def _keep_few(self, workspace: str) -> None:
        """Let the oldest episodes of a workspace go, but for those that a person pinned or wrote anew."""
        scope = _there(self._parts, workspace)
        for one in (await self._parts.library.snapshot(self._parts.clock.now()).aside(scope))[MOST:]:
            written = await self._store.of(one.memory_id)
            if one.pinned or (written is not None and written.record_digest != one.record_digest):
                continue
            await self._parts.library.forget(one.memory_id, scope)
            await self._parts.claims.purge(one.memory_id, self._parts.sessions.known, Reason.STALE_INDEX)
            await self._parts.inbox.erase(one.memory_id)
            await self._store.let_go(one.memory_id)


def _there(parts: Parts, workspace: str) -> RuntimeScope:
    """What is seen from a workspace in nobody's session."""
    return parts.sessions.scope("", "", workspace)


async def consolidate(parts: Parts) -> None:
    """Tell every session that ends or rests, one after the other; what could not be told is tried again."""
    consolidation = Consolidation(parts)
    try:
        await consolidation.catch_up()
    except _BROKEN as error:
        parts.host.log.warning("episode.unwritten", error=type(error).__name__)
    while True:
        session_id = await parts.sessions.endings.next()
        try:
            await consolidation.session(session_id)
        except _BROKEN as error:
            parts.host.log.warning("episode.unwritten", error=type(error).__name__)
            await asyncio.sleep(AGAIN_SECONDS)
            parts.sessions.endings.ended(session_id)
