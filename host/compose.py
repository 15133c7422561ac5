"""The composition root: opens the databases, builds every object, owns every lifetime. The only place that names
concrete sources and rules, and that makes ids from chance.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path

import msgspec
import structlog

from governance.audit import Audit, session_ref
from governance.contracts import Rules
from governance.evidence_store import EvidenceStore, load_standings
from governance.facts import stated
from governance.formation.contracts import Fault, no_fault
from governance.pruning import DAY, Limits, Pruning
from governance.rules import CANDIDATE_RULES, PACKET_RULES
from governance.screen import redact
from host.asks import load_asks
from host.attention import load_attentions
from host.claims import Claims, Desk
from host.clock import Clock, MachineZone, SystemClock
from host.config import Config, FormationSettings, Paths, environment, install_key
from host.connection import Methods, Shell
from host.consolidating import consolidate
from host.contracts import Rollout
from host.corrections import Corrections
from host.database import open_database
from host.eventlog import EventLog
from host.formation.wiring import Needs, documents_of, drivers, formation_of
from host.hearing import Hearing
from host.history import Histories
from host.holdout import HoldoutPolicy
from host.homes import Homes, homes_of
from host.inbox import Inbox
from host.indexer import COMMAND, guard
from host.kept import files_of, open_governance
from host.ledger import AuditLedger, all_of
from host.lifecycle import run_rounds
from host.main_tables import main_schema
from host.marks import load_marks
from host.models import own_folders
from host.namespace import INDEX_FILE, VECTORS_FILE
from host.parts import Parts
from host.places import load_places
from host.policy import Policy
from host.proactive import ProactiveMemoryHost
from host.products import Providers
from host.props import Props
from host.retention import SECTIONS, Retention, hanging
from host.rollouts import load_rollouts
from host.roots import Roots
from host.runtime import USER_KEY
from host.service import Service
from host.sessions import Sessions, Stores
from host.stage import Stage
from host.swapping import open_swappable
from host.tally import Tally, count_past
from host.tasks import Tasks
from host.trace import owners
from host.upkeep import catch_up, form, let_idle_go, settle
from host.withheld import current, withheld
from host.witness import Witness
from host.workers import Workers
from recall.associate import Arm, AssociationPolicy
from recall.attention import bars
from recall.background import Background, load_background
from recall.contracts import Attention, Frozen, SourceName
from recall.engine import Engine, EngineSetup, available
from recall.fallback import Breaker
from recall.library import SCHEMA as INDEX_SCHEMA
from recall.library import Library
from recall.reader import ReaderSetup
from recall.sources import SOURCES
from recall.sources.engine import engine_source
from recall.sources.episodic import episodic_source
from recall.sources.semantic import semantic_source

ENGINE_SECONDS = 0.25  # the other arms' answers do not wait longer for this one
UNHURRIED_SECONDS = 3600.0  # in place of a limit, where nobody waits


class Setup(Frozen, frozen=True, kw_only=True):
    """What differs between the daemon, replay and tests: folders, the install key and the policy."""

    data: Path
    database: Path
    index: Path
    key: bytes
    policy: Policy = Policy()
    governance: Path | None = None  # proposals, and the life of memories; None: beside the database
    homes: Homes | None = None  # where agent products keep their own memory; None: none of it is read
    evidence: bool = True  # what is done with memories leaves evidence
    engine: bool = False  # search by meaning too, if the extra is there
    attention: Attention = Attention.NORMAL  # of workspaces where nobody chose
    background: Background | None = None  # how common terms are at large; None: the table that ships
    patient: bool = False  # nothing in recall is cut short by a clock: a replay must not depend on a machine's load
    audit: Limits = Limits()
    allowed: tuple[str, ...] = ()  # versions of agent products, as in `[hosts] allow`
    formation: FormationSettings = FormationSettings(enabled=False)
    scratch: Path | None = None  # for drivers that run a command; None: in the data folder
    zone: tzinfo = UTC  # in which a user says "yesterday": a replay must not depend on where it runs
    fault: Fault = no_fault  # told of the named points of a commit: tests stop the process there
    unattended: bool = False  # `team run` may be asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class Around:
    """What recall is built with. `remembered`: how many queries' vectors are kept for the next time. `patient`: as in
    `Setup`. `ref`: the keyed name of a session. `asked`: what `host.indexer.guard` asks."""

    index: Path
    micros: Callable[[], int]
    engine: bool
    remembered: int = 256
    patient: bool = False
    ref: Callable[[str], str] = str
    asked: Sequence[Callable[[str, str], bool]] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """Recall alone: the library and its arms. `engine`: None when it was not asked for or the extra is absent."""

    library: Library
    arms: tuple[Arm, ...]
    engine: Engine | None


@asynccontextmanager
async def build(config: Config, paths: Paths, shell: Shell) -> AsyncIterator[Methods]:
    """The daemon's service over the user's own folders. Leaving the block closes everything."""
    setup = Setup(
        data=paths.data,
        database=paths.database,
        governance=paths.governance,
        index=paths.index,
        key=install_key(paths),
        homes=homes_of(environment()),
        policy=Policy(holdout=HoldoutPolicy(share=config.evaluation.holdout)),
        engine=config.recall.engine,
        evidence=config.evidence.enabled,
        attention=config.attention.default,
        allowed=config.hosts.allow,
        audit=Limits(age=config.audit.days * DAY, bytes=config.audit.mebibytes * 2**20),
        formation=config.formation,
        scratch=paths.state / "models",
        zone=MachineZone(),
        unattended=config.team.run,
    )
    async with open_parts(setup, SystemClock(), random_id, shell.tasks, shell.log) as parts:
        stop = asyncio.Event()
        shell.tasks.spawn(parts.library.follow(stop), name="follow")
        shell.tasks.spawn(catch_up(parts), name="catch-up")
        shell.tasks.spawn(let_idle_go(parts), name="idle")
        if config.evidence.enabled:  # without it nobody knows what was used
            shell.tasks.spawn(run_rounds(parts), name="rounds")
        await settle(parts)
        shell.tasks.spawn(parts.projector.run(), name="outbox")
        if config.formation.enabled:
            shell.tasks.spawn(form(parts), name="form")
            shell.tasks.spawn(parts.formation.reconciling.run(), name="by-hand")
        if config.recall.episodes:
            shell.tasks.spawn(consolidate(parts), name="episodes")
        shell.tasks.spawn(parts.retention.keep_short(parts.tally), name="retention")
        shell.tasks.spawn(parts.lag.watch(), name="lag")
        service = Service(parts, shell)
        shell.tasks.spawn(service.team.finish(), name="promotions")
        shell.tasks.spawn(service.team.learn(), name="learn")
        try:
            yield service
        finally:
            stop.set()
            await shell.tasks.close()
            await service.team.close()


@asynccontextmanager
async def open_parts(
    setup: Setup,
    clock: Clock,
    new_id: Callable[[str], str],
    tasks: Tasks,
    log: structlog.typing.FilteringBoundLogger,
) -> AsyncIterator[Parts]:
    """Open the stores and build the host over them."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(setup.database, main_schema()))
        files_kept, scratch = (
            files_of(setup.database, setup.governance, setup.index),
            setup.scratch or setup.data / "state" / "models",
        )
        kept = await stack.enter_async_context(open_governance(files_kept["governance"], setup.key, database))
        around = Around(index=setup.index, micros=clock.micros, engine=setup.engine, patient=setup.patient)
        marks = await load_marks(database)
        around = replace(around, ref=partial(session_ref, setup.key), asked=(marks.admits, kept.trust.vouches))
        recall = await _recall(stack, around)
        library = recall.library
        evidence = EvidenceStore(database)
        audit = Audit(database, setup.key, new_id, evidence.carried)
        tally, eventlog = Tally(), EventLog(database, setup.key, redact)
        standings, asks = await load_standings(audit, evidence), await load_asks(audit)
        ledger = AuditLedger(
            audit, all_of(tally.heard, standings.heard, kept.lives.heard, asks.heard), evidence=setup.evidence
        )
        await count_past(tally, audit, tasks)
        pruning = Pruning(database, audit, ledger.append, SECTIONS, hanging(setup.audit, clock))
        rollouts, places = await load_rollouts(database, setup.allowed), await load_places(database)
        attentions, providers = await load_attentions(database, setup.attention), Providers(database)
        roots = Roots(setup.data, library, setup.homes, places, kept.trust.trusts)
        histories = Histories(database, eventlog, audit, evidence)

        async def adopt(path: str, workspace: str) -> None:
            if rollouts.of(workspace, "") is not Rollout.OFF:  # off: no index I/O
                if recall.engine is not None:
                    recall.engine.start()  # its model takes a second: it will be there when it is needed
                await roots.adopt(path, workspace)

        stores = Stores(
            replay=eventlog.replay,
            history=histories.of,
            adopt=adopt,
            wake=lambda runtime: workers.wake(runtime),
            key=places.key,
        )
        sessions = Sessions(stores, setup.policy.runtime, USER_KEY)
        workers = Workers(sessions, tasks, providers.note)
        inbox = Inbox(database, ledger, setup.policy.inbox)
        rules = Rules(candidate=CANDIDATE_RULES, packet=PACKET_RULES)
        props = Props(
            clock,
            setup.key,
            owners(audit.ref),
            rollouts,
            marks,
            standings.of,
            lambda: kept.lives.stages,
            lambda key, session: formation.waits(key, session),
        )
        stage = Stage(library, ledger, rules, setup.policy, props)
        host = ProactiveMemoryHost(
            eventlog=eventlog,
            library=library,
            arms=recall.arms,
            bars=bars(setup.policy.confidence, setup.background or load_background()),
            rules=rules,
            policy=_unhurried(setup.policy) if setup.patient else setup.policy,
            inbox=inbox,
            stage=stage,
            workers=workers,
            clock=clock,
            log=log,
        )
        desk = Desk(owner=owners(audit.ref), current=current(library, marks), carrier=stage, new_id=new_id)
        claims = Claims(inbox, desk, clock, *withheld(rollouts, marks, clock))
        formation, boundaries = await formation_of(
            Needs(
                settings=setup.formation,
                kept=kept.database,
                main=database,
                queue=kept.queue,
                reload=kept.reload,
                eventlog=eventlog,
                library=library,
                engine=recall.engine,
                roots=roots,
                places=places,
                rollouts=rollouts,
                claims=claims,
                forgets=(inbox, marks, kept.lives),
                sessions=sessions,
                tasks=tasks,
                clock=clock,
                log=log,
                new_id=new_id,
                make_driver=drivers(setup.formation, scratch),
                zone=setup.zone,
                fault=setup.fault,
            )
        )
        workers.hear = Hearing(
            host=host,
            claims=claims,
            sessions=sessions,
            witness=_witness(library, stage, setup),
            correct=lambda memory_ids, cause: Corrections(parts).taken_back(memory_ids, cause),
            rollouts=rollouts,
            attentions=attentions,
            boundary=boundaries.heard,
        ).hear
        parts = Parts(
            host=host,
            eventlog=eventlog,
            sessions=sessions,
            workers=workers,
            claims=claims,
            inbox=inbox,
            audit=audit,
            ledger=ledger,
            evidence=evidence,
            standings=standings,
            asks=asks,
            library=library,
            roots=roots,
            places=places,
            providers=providers,
            rollouts=rollouts,
            marks=marks,
            attentions=attentions,
            main=database,
            kept=kept.database,
            queue=kept.queue,
            lives=kept.lives,
            trust=kept.trust,
            formation=formation,
            boundaries=boundaries,
            documents=documents_of(kept, setup.data, clock),
            tally=tally,
            retention=Retention(pruning, setup.audit, clock, log),
            databases=files_kept,
            tasks=tasks,
            clock=clock,
            new_id=new_id,
            own=own_folders(scratch),
            engine=recall.engine,
            drawn=lambda: secrets.token_bytes(32),
            unattended=setup.unattended,
            fault=setup.fault,
        )
        yield parts


def _witness(library: Library, stage: Stage, setup: Setup) -> Witness:
    memories = None if setup.homes is None else setup.homes.codex / "memories"
    return Witness(library=library, owner=stage.owner, enabled=setup.evidence, memories=memories)


@asynccontextmanager
async def open_recall(folder: Path, *, engine: bool) -> AsyncIterator[Recall]:
    """Recall alone over an index in `folder`: no log, no audit, no host. For `eval` and benches."""
    async with AsyncExitStack() as stack:
        around = Around(index=folder / INDEX_FILE, micros=SystemClock().micros, engine=engine, remembered=0)
        yield await _recall(stack, around)


def random_id(prefix: str) -> str:
    """`prefix` and 32 random hex digits."""
    return prefix + secrets.token_hex(16)


async def _recall(stack: AsyncExitStack, around: Around) -> Recall:
    """The library, the sources over it, and the engine's process if it is wanted and its extra is installed."""
    library = await _library(stack, around)
    most = {"budget_seconds": UNHURRIED_SECONDS} if around.patient else {}
    held = (SourceName.EPISODIC, episodic_source(around.ref)), (SourceName.SEMANTIC, semantic_source(stated))
    arms = [Arm(name, source, Breaker(), **most) for name, source in (*SOURCES, *held)]
    library.when_rebuilt(lambda: _close(arms))
    found: Engine | None = None
    if around.engine and available():
        setup = EngineSetup(
            index=around.index,
            vectors=around.index.with_name(VECTORS_FILE),
            environment=environment(),
            remembered=around.remembered,
        )
        if around.patient:
            setup = replace(setup, request_seconds=UNHURRIED_SECONDS)
        found = Engine(setup, around.micros)
        stack.push_async_callback(found.close)
        most = {"budget_seconds": ENGINE_SECONDS} | most
        arms.insert(1, Arm(SourceName.ENGINE, engine_source(found), Breaker(), **most))
    return Recall(library=library, arms=tuple(arms), engine=found)


def _unhurried(policy: Policy) -> Policy:
    return msgspec.structs.replace(policy, association=AssociationPolicy(budget_seconds=UNHURRIED_SECONDS))


def _close(arms: Sequence[Arm]) -> None:
    """The index was made anew: what the breakers of its arms guarded against is gone."""
    for arm in arms:
        if arm.name != SourceName.ENGINE:
            arm.breaker.succeeded()


async def _library(stack: AsyncExitStack, around: Around) -> Library:
    """The library over its index: a cache, made anew by itself when it is damaged."""
    index = await stack.enter_async_context(open_swappable(around.index, INDEX_SCHEMA))
    reader = ReaderSetup(command=COMMAND, environment=environment())
    patience = {"patience_seconds": UNHURRIED_SECONDS} if around.patient else {}
    library = Library(index, guard(*around.asked), reader=reader, **patience)
    stack.push_async_callback(library.close)
    await library.open()
    return library
