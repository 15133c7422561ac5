"""The composition root: opens the databases, builds every object, owns every lifetime. The only place that names
concrete sources and rules, and that makes ids from chance.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from pathlib import Path

import structlog

from governance.audit import Audit
from governance.contracts import Rules
from governance.evidence_store import EvidenceStore
from governance.migrations import schema as governance_schema
from governance.rules import CANDIDATE_RULES, PACKET_RULES
from governance.screen import SCREEN, is_instruction_like, redact
from host.claims import Claims, Desk
from host.clock import Clock, SystemClock
from host.config import Config, Paths, install_key
from host.connection import Methods, Shell
from host.contracts import Rollout
from host.database import open_database
from host.errors import StoreFault
from host.eventlog import SCHEMA as LOG_SCHEMA
from host.eventlog import EventLog
from host.hearing import Hearing
from host.history import Histories
from host.inbox import Inbox
from host.ledger import AuditLedger
from host.parts import Parts, Tally
from host.policy import Policy
from host.proactive import ProactiveMemoryHost
from host.rollouts import load_rollouts
from host.roots import Roots
from host.runtime import USER_KEY
from host.service import Service
from host.sessions import Sessions, Stores
from host.stage import Props, Stage
from host.tasks import Tasks
from host.trace import Owner
from host.upkeep import catch_up, let_idle_go
from host.workers import Workers
from recall.associate import Arm
from recall.background import load_background
from recall.confidence import Bar
from recall.contracts import ContextCursor, EventEnvelope, Frozen
from recall.entries import Guard
from recall.errors import IndexFault
from recall.fallback import Breaker
from recall.library import SCHEMA as INDEX_SCHEMA
from recall.library import Library, discard
from recall.sources import SOURCES


class Setup(Frozen, frozen=True, kw_only=True):
    """What differs between the daemon, replay and tests: folders, the install key and the policy."""

    data: Path
    database: Path
    index: Path
    key: bytes
    policy: Policy = Policy()


@asynccontextmanager
async def build(config: Config, paths: Paths, shell: Shell) -> AsyncIterator[Methods]:
    """The daemon's service over the user's own folders. Leaving the block closes everything."""
    setup = Setup(data=paths.data, database=paths.database, index=paths.index, key=install_key(paths))
    async with open_parts(setup, SystemClock(), random_id, shell.tasks, shell.log) as parts:
        stop = asyncio.Event()
        shell.tasks.spawn(parts.library.follow(stop), name="follow")
        shell.tasks.spawn(catch_up(parts), name="catch-up")
        shell.tasks.spawn(let_idle_go(parts), name="idle")
        try:
            yield Service(parts, shell)
        finally:
            stop.set()
            await shell.tasks.close()


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
        database = await stack.enter_async_context(open_database(setup.database, _main_schema()))
        library = await _library(stack, setup.index)
        audit = Audit(database, setup.key, new_id)
        tally = Tally()
        ledger = AuditLedger(audit, tally.heard)
        evidence = EvidenceStore(database)
        eventlog = EventLog(database, setup.key, redact)
        rollouts = await load_rollouts(database)
        roots = Roots(setup.data, library)
        histories = Histories(database, eventlog, audit, evidence)

        async def replay(session_id: str, agent_id: str, after: int, limit: int) -> Sequence[EventEnvelope]:
            return await eventlog.replay(session_id, agent_id=agent_id, after=after, limit=limit)

        def owner(session_id: str, agent_id: str, cursor: ContextCursor, step: int) -> Owner:
            return Owner(
                session_ref=audit.ref(session_id),
                agent_ref=audit.ref(agent_id),
                event_seq=cursor.event_seq,
                context_version=cursor.context_version,
                step=step,
            )

        async def adopt(path: str, workspace: str) -> None:
            if rollouts.of(workspace, "") is not Rollout.OFF:  # off: no index I/O
                await roots.adopt(path, workspace)

        stores = Stores(replay=replay, history=histories.of, adopt=adopt, wake=lambda runtime: workers.wake(runtime))
        sessions = Sessions(stores, setup.policy.runtime, USER_KEY)
        workers = Workers(sessions, tasks)
        inbox = Inbox(database, ledger, setup.policy.inbox)
        rules = Rules(candidate=CANDIDATE_RULES, packet=PACKET_RULES)
        props = Props(clock, setup.key, owner, rollouts)
        stage = Stage(library, ledger, rules, setup.policy, props)
        host = ProactiveMemoryHost(
            eventlog=eventlog,
            library=library,
            arms=tuple(Arm(name, source, Breaker()) for name, source in SOURCES),
            bar=Bar(policy=setup.policy.confidence, background=load_background()),
            rules=rules,
            policy=setup.policy,
            inbox=inbox,
            stage=stage,
            workers=workers,
            clock=clock,
            log=log,
        )
        desk = Desk(
            owner=owner,
            current=library.verify,
            carry=lambda slot, runtime: stage.carry(slot, runtime, inbox),
            seen=evidence.statement,
            new_id=new_id,
        )
        claims = Claims(inbox, desk, clock, rollouts.closed)
        workers.hear = Hearing(host=host, claims=claims, sessions=sessions, evidence=evidence, rollouts=rollouts).hear
        yield Parts(
            host=host,
            eventlog=eventlog,
            sessions=sessions,
            workers=workers,
            claims=claims,
            inbox=inbox,
            audit=audit,
            ledger=ledger,
            evidence=evidence,
            library=library,
            roots=roots,
            rollouts=rollouts,
            tally=tally,
            tasks=tasks,
            clock=clock,
            new_id=new_id,
        )


def random_id(prefix: str) -> str:
    """`prefix` and 32 random hex digits."""
    return prefix + secrets.token_hex(16)


async def _library(stack: AsyncExitStack, path: Path) -> Library:
    """The library over its index: a cache, made again when it is damaged."""
    try:
        async with AsyncExitStack() as attempt:
            library = await _opened(attempt, path)
            stack.push_async_exit(attempt.pop_all())
            return library
    except (IndexFault, StoreFault):
        discard(path)
    return await _opened(stack, path)


async def _opened(stack: AsyncExitStack, path: Path) -> Library:
    index = await stack.enter_async_context(open_database(path, INDEX_SCHEMA, durable=False))
    library = Library(index, Guard(SCREEN, is_instruction_like))
    await library.open()
    return library


def _main_schema() -> tuple[str, ...]:
    """The main database's numbered steps: the log, the audit and the evidence, the inbox."""
    inbox = files("host").joinpath("schema", "inbox_001.sql").read_text("utf-8")
    return (LOG_SCHEMA + "\n" + governance_schema() + "\n" + inbox,)
