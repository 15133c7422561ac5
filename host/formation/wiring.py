"""Formation put together, for the composition root."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path

import structlog

from governance.formation.contracts import Fault, ModelDriver, Pipeline, no_fault
from governance.formation.queue import Queue
from governance.lives import Lives
from host.claims import Claims
from host.clock import Clock
from host.config import FormationSettings, environment
from host.contracts import Reason
from host.eventlog import EventLog
from host.formation.boundaries import Boundaries
from host.formation.document_files import DocumentFiles
from host.formation.documents import FormedDocuments
from host.formation.engines import Engines
from host.formation.facade import Formation, MakeDriver
from host.formation.journal import Journal
from host.formation.known import LibraryKnown
from host.formation.lineage import Lineage
from host.formation.material import SessionMaterial
from host.formation.projector import Projector
from host.formation.reconciling import Reconciling
from host.formation.recovery import Recovery
from host.formation.runner import Runner
from host.inbox import Inbox
from host.kept import Kept, KeptDatabase
from host.marks import Marks
from host.models import make, trouble
from host.places import Places
from host.rollouts import Rollouts
from host.roots import Roots
from host.sessions import Sessions
from host.tasks import Tasks
from recall.contracts import Database
from recall.documents import Documents
from recall.engine import Engine
from recall.library import Library


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What formation is built of. `kept`: governance.db; `main`: the event log's. `reload`: what is held in memory of
    governance.db is read again. `make_driver`: the driver of a spec; raises ModelError."""

    settings: FormationSettings
    kept: KeptDatabase
    main: Database
    queue: Queue
    reload: Callable[[], Awaitable[None]]
    eventlog: EventLog
    library: Library
    engine: Engine | None
    roots: Roots
    places: Places
    rollouts: Rollouts
    claims: Claims
    forgets: tuple[Inbox, Marks, Lives]  # who else holds something of a record that is forgotten
    sessions: Sessions
    tasks: Tasks
    clock: Clock
    log: structlog.typing.FilteringBoundLogger
    new_id: Callable[[str], str]
    make_driver: MakeDriver
    zone: tzinfo = UTC  # in which a user says "yesterday"
    fault: Fault = no_fault


async def formation_of(needs: Needs) -> tuple[Formation, Boundaries]:
    """Formation with its driver, and what tells it when."""
    lineage = Lineage(needs.eventlog)
    everyone = not needs.settings.exclude_subagents
    material = SessionMaterial(needs.eventlog, lineage, needs.places.key, needs.rollouts.asleep, everyone=everyone)
    known = LibraryKnown(needs.library, needs.kept, needs.clock)
    journal = Journal(needs.roots.data)
    projector = Projector(
        database=needs.kept,
        journal=journal,
        library=needs.library,
        roots=needs.roots,
        gone=_gone(needs),
        clock=needs.clock,
        log=needs.log,
        fault=needs.fault,
    )
    engines = Engines(
        settings=needs.settings,
        database=needs.kept,
        queue=needs.queue,
        material=material,
        rollouts=needs.rollouts,
        known=known,
        library=needs.library,
        vectors=needs.engine,
        key=needs.places.key,
        clock=needs.clock,
        new_id=needs.new_id,
        zone=needs.zone,
        fault=needs.fault,
    )
    formation = Formation(
        settings=needs.settings,
        database=needs.kept,
        eventlog=needs.eventlog,
        material=material,
        lineage=lineage,
        gate=engines.gate(None),
        known=known,
        projector=projector,
        reconciling=Reconciling(
            database=needs.kept,
            queue=needs.queue,
            library=needs.library,
            roots=needs.roots,
            projector=projector,
            clock=needs.clock,
            log=needs.log,
        ),
        recovery=Recovery(database=needs.kept, queue=needs.queue, journal=journal, reload=needs.reload),
        engines={Pipeline.CHECKPOINT: engines.checkpoint, Pipeline.BATCH: engines.batch},
        checkpoints=engines.checkpoint_of,
        batches=engines.batch_of,
        make_driver=needs.make_driver,
        driver_trouble=lambda: trouble(needs.settings, environment()),
        key=needs.places.key,
        clock=needs.clock,
        log=needs.log,
    )
    formation.runner = Runner(
        database=needs.kept,
        work=formation.work,
        clock=needs.clock,
        tasks=needs.tasks,
        log=needs.log,
        owner=needs.new_id("run_"),
        ended=formation.recount,
    )
    await formation.load_driver()
    await formation.recount()
    boundaries = Boundaries(formation=formation, sessions=needs.sessions, tasks=needs.tasks, main=needs.main)
    return formation, boundaries


def drivers(settings: FormationSettings, scratch: Path) -> MakeDriver:
    """The driver of a spec. Its client takes a moment to load: not on the loop."""

    async def made(spec: str) -> ModelDriver:
        return await asyncio.to_thread(make, spec, settings, environment(), scratch)

    return made


def documents_of(kept: Kept, data: Path, clock: Clock) -> FormedDocuments:
    """Scenes, persona, doctrine and skills of every workspace."""
    files = DocumentFiles(data, Documents())
    return FormedDocuments(database=kept.database, queue=kept.queue, files=files, clock=clock)


def _gone(needs: Needs) -> Callable[[str, Reason], Awaitable[object]]:
    async def gone(memory_id: str, reason: Reason) -> None:
        await needs.claims.purge(memory_id, needs.sessions.known, reason)
        if reason is Reason.FORGOTTEN:  # a forgetting that was stopped half way is finished here
            inbox, marks, lives = needs.forgets
            await inbox.erase(memory_id)
            await marks.forget(memory_id)
            await lives.forget(memory_id)

    return gone
