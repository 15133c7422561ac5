"""When a session is formed: what its events, its rest and a start of the daemon say (formation.md 5).

Nothing of it stands in the way of a hook or a pass: a boundary is a row, written down by a task of its own. One that
was lost on the way is found again at the next start.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from governance.formation.contracts import EvidenceRecord, Pipeline, Role, Trigger
from governance.formation.store import jobs
from governance.formation.turns import IDLE_MS as BATCH_IDLE_MS
from governance.formation.turns import due
from host.formation.facade import Formation
from host.formation.triggers import TYPES, boundary
from host.history import history_until, number, put_number
from host.runtime import SessionRuntime
from host.sessions import Sessions
from host.tasks import Tasks
from recall.contracts import Database, EventEnvelope, EventType, Millis, SourceKind

RESTS_MS = 30 * 60_000  # without an event, after which a session is over
SINCE = "formation-since"  # setting: the time at which formation was switched on
NEVER = -1  # it is off
LATEST = 200  # sessions that are looked at after a start


@dataclass(frozen=True, kw_only=True, slots=True)
class Boundaries:
    """Tells formation when. `main`: the event log's database, which knows what came in as history."""

    formation: Formation
    sessions: Sessions
    tasks: Tasks
    main: Database

    def heard(self, envelope: EventEnvelope, runtime: SessionRuntime) -> None:
        """An event of a session was heard. Returns at once."""
        formation = self.formation
        if not formation.enabled or runtime.subagent:
            return
        trigger = boundary(envelope)
        if trigger is not None:
            self.tasks.spawn(
                formation.boundary(trigger, envelope.session_id, envelope.event_seq), name="formation-boundary"
            )
        elif self._batches and envelope.event_type == EventType.USER_MESSAGE and _typed(envelope):
            self.tasks.spawn(self._turned(envelope.session_id, envelope.event_seq), name="formation-turn")

    async def rests(self, session_id: str) -> None:
        """A session has had no event for a while."""
        await self.formation.boundary(Trigger.IDLE, session_id)

    async def imported(self, session_id: str) -> None:
        """A session came in as history, and is whole. Without a model nothing is done about it."""
        if self.formation.driver is not None:
            await self.formation.boundary(Trigger.IMPORT, session_id, pipeline=Pipeline.BATCH)

    async def paused(self, now: Millis) -> None:
        """Have sessions that pause formed in batches, where that is wanted."""
        if self._batches:
            for runtime in self.sessions.idle_since(now - BATCH_IDLE_MS):
                if not runtime.subagent:
                    await self._turned(runtime.scope.session_id, runtime.event_seq, now - runtime.last_seen)

    async def begun(self, now: Millis) -> None:
        """Note since when formation is on. What was over before is left alone: it may be years of work, and nobody
        asked for that."""
        if not self.formation.enabled:
            await put_number(self.main, SINCE, NEVER)
        elif (await number(self.main, SINCE)) in (None, NEVER):
            await put_number(self.main, SINCE, now)

    async def catch_up(self, now: Millis) -> int:
        """After a start: sessions of an earlier run that were over, or are by now, boundaries that were told and not
        written down before it ended, and ranges that nobody could form. How many jobs there are of it."""
        formation, found = self.formation, set[str | None]()
        if not formation.enabled or formation.problem():
            return 0
        since = await number(self.main, SINCE) or 0
        for logged in reversed(await formation.eventlog.sessions(LATEST)):
            until = await history_until(self.main, logged.session_id)
            if logged.last_at < since or (until is not None and logged.last_at <= until):
                continue
            at = logged.event_seq if logged.last_at <= now - RESTS_MS else await self._last_boundary(logged.session_id)
            if await self._formed(logged.session_id) < at:
                found.add(await formation.boundary(Trigger.END, logged.session_id, at))
        if formation.driver is not None:
            for one in await formation.waiting():
                found.add(await formation.again(one))
        return len(found - {None})

    async def _last_boundary(self, session_id: str) -> int:
        """The last boundary that a session told of; -1: it told of none."""
        events = await self.formation.eventlog.of_types(session_id, TYPES)
        return max((one.event_seq for one in events if boundary(one) is not None), default=-1)

    @property
    def _batches(self) -> bool:
        return self.formation.settings.batch and self.formation.driver is not None

    async def _turned(self, session_id: str, seq: int, idle_ms: Millis = 0) -> None:
        formation = self.formation
        if formation.problem():
            return
        records = await formation.material.read(session_id, -1, seq)
        formed = await self._formed(session_id, Pipeline.BATCH)
        if due(_turns(records), _turns([one for one in records if one.event_seq <= formed]), idle_ms):
            trigger = Trigger.IDLE if idle_ms else Trigger.TURNS
            await formation.boundary(trigger, session_id, seq, Pipeline.BATCH)

    async def _formed(self, session_id: str, pipeline: Pipeline = Pipeline.CHECKPOINT) -> int:
        return await self.formation.database.read(lambda connection: jobs.processed(connection, pipeline, session_id))


def _turns(records: Sequence[EvidenceRecord]) -> int:
    return sum(one.role == Role.USER for one in records)


def _typed(envelope: EventEnvelope) -> bool:
    return envelope.source_kind is SourceKind.USER
