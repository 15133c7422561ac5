"""What the audit and the log together say of handing over: counts, and packets given beside packets kept back.

Everything is read when it is asked for, from what is stored: nothing is kept between two questions, so a restart in
between changes no answer.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from governance.contracts import AuditEntry, AuditFilter, AuditKind
from governance.metrics import EMPTY, fold
from governance.outcomes import FEWEST, HOLDOUT, LeftOut, Measured, Outcome, Stats, Trial, compare, trials
from host.outcomes import Scene, complete, facts, happened
from host.parts import Parts
from host.runtime import USER_KEY
from recall.contracts import Millis, RuntimeScope
from recall.errors import IndexFault

PAGE = 250  # entries read at once: others have their turn in between
BEFORE = 64  # events read before a packet: the call that its trigger answers is among them
CHUNK = 48  # events read at once after it
AFTER = 960  # events read after it at most: far more than the steps that count have
SESSIONS = 100_000


class Measuring:
    """Reads of audit, packets, log and index for `audit.stats`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def stats(self, since: Millis | None = None, workspace: str | None = None) -> Stats:
        """The numbers since a time, of all sessions or of those whose last event lay in `workspace` (a path)."""
        wanted = None if workspace is None else await self._sessions(workspace)
        metrics, sessions, told = EMPTY, set[str](), list[AuditEntry]()
        before: int | None = None
        while True:
            page = await self._parts.audit.rows(AuditFilter(since=since, after_row=before, limit=PAGE))
            entries = [entry for _, entry in page if wanted is None or entry.session_ref in wanted]
            metrics = fold(metrics, entries)
            sessions |= {entry.session_ref for entry in entries if entry.session_ref}
            told += [entry for entry in entries if entry.kind is AuditKind.DELIVERY or HOLDOUT in entry.versions]
            if len(page) < PAGE:
                break
            before = page[-1][0]
            await asyncio.sleep(0)
        return Stats(
            since=since,
            entries=metrics.entries,
            sessions=len(sessions),
            passes=_summed(metrics.passes, 0),
            silences=_summed({k: n for k, n in metrics.passes.items() if k.startswith("silence ")}, 1),
            packets=metrics.packets,
            drops=metrics.drops,
            bytes=metrics.injected_bytes,
            measured=await self._measured(trials(reversed(told))),
        )

    async def _sessions(self, workspace: str) -> frozenset[str]:
        """The refs of the sessions that were last in this workspace."""
        sessions = await self._parts.eventlog.sessions(SESSIONS)
        key = self._parts.places.key
        wanted = key(workspace)
        paths = {session.workspace for session in sessions}
        keys = await asyncio.to_thread(lambda: {path: key(path) for path in paths})  # the disk may be slow
        refs = self._parts.audit.ref
        return frozenset(refs(one.session_id) for one in sessions if keys[one.workspace] == wanted)

    async def _measured(self, drawn: Sequence[Trial]) -> Measured:
        policy = self._parts.host.policy.holdout
        looked_at = [(trial, await self._happened(trial)) for trial in drawn]
        seen = [(trial, found) for trial, found in looked_at if not isinstance(found, LeftOut)]
        left_out = Counter(found for _, found in looked_at if isinstance(found, LeftOut))
        held_out = sum(trial.held_out for trial, _ in seen)
        return Measured(
            share=policy.share,
            steps=policy.steps,
            fewest=FEWEST,
            given=len(seen) - held_out,
            delivered=sum(trial.delivered for trial, _ in seen),
            held_out=held_out,
            outcomes=compare((trial.held_out, found) for trial, found in seen),
            left_out={why: left_out[why] for why in LeftOut if left_out[why]},
        )

    async def _happened(self, trial: Trial) -> dict[Outcome, bool] | LeftOut:
        """What followed one packet, or why that is not known."""
        slot = await self._parts.inbox.find(trial.packet_id)
        if slot is None or not slot.packet.rendered:
            return LeftOut.ERASED
        packet = slot.packet
        session, agent = packet.context_cursor.session_id, packet.agent_id
        scene = await self._scene(trial, session, agent)
        if not scene.before:
            return LeftOut.NO_EVENTS
        places = await self._places([item.memory_id for item in packet.items], session, scene.before[-1].workspace)
        texts = [text for item in packet.items for text in (item.title or "", item.text)]
        found = await asyncio.to_thread(_compared, texts, places, scene, trial.failed)  # much may be named, and done
        return LeftOut.NO_STEP if found is None else found

    async def _scene(self, trial: Trial, session: str, agent: str) -> Scene:
        """The events around a packet, as many as can matter."""
        read, steps = self._parts.eventlog.replay, self._parts.host.policy.holdout.steps
        events = await read(session, agent, max(0, trial.event_seq - BEFORE), BEFORE)
        before = tuple(event for event in events if event.event_seq <= trial.event_seq)
        scene = Scene(before=before, after=(), step=trial.step, steps=steps)
        last = trial.event_seq
        while len(scene.after) < AFTER and not complete(scene):
            more = await read(session, agent, last, CHUNK)
            scene = msgspec.structs.replace(scene, after=(*scene.after, *more))
            if len(more) < CHUNK:
                break
            last = more[-1].event_seq
        return scene

    async def _places(self, ids: Iterable[str], session_id: str, workspace: str) -> list[str]:
        """The files that the records stand in and are about, as far as the index knows them still."""
        key = self._parts.places.key(workspace) if workspace else ""
        scope = RuntimeScope(session_id=session_id, agent_id="", workspace=key, user=USER_KEY)
        places: list[str] = []
        for memory_id in ids:
            try:
                found = await self._parts.library.get(memory_id, scope)
            except IndexFault:
                return []
            if found is not None:
                record, locator = found
                places += [locator.source_file, *([record.about.path] if record.about else [])]
        return places


def _compared(texts: Sequence[str], places: Sequence[str], scene: Scene, failed: bool) -> dict[Outcome, bool] | None:
    return happened(facts(texts, places), scene, failed=failed)


def _summed(counts: dict[str, int], place: int) -> dict[str, int]:
    """Counts by one word of their label, the most frequent first."""
    summed: dict[str, int] = {}
    for label, number in counts.items():
        word = label.split(" ", 1)[place]
        summed[word] = summed.get(word, 0) + number
    return dict(sorted(summed.items(), key=lambda pair: (-pair[1], pair[0])))
