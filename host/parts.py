"""The parts of a running remora, as the composition root made them: what the surfaces are built over."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from governance.audit import Audit
from governance.evidence_store import EvidenceStore
from governance.formation.contracts import Fault, no_fault
from governance.formation.queue import Queue
from governance.lives import Lives
from governance.standing import Standings
from host.asks import Asks
from host.attention import Attentions
from host.claims import Claims
from host.clock import Clock
from host.eventlog import EventLog
from host.formation.boundaries import Boundaries
from host.formation.documents import FormedDocuments
from host.formation.facade import Formation
from host.formation.projector import Projector
from host.inbox import Inbox
from host.kept import KeptDatabase
from host.lag import Lag
from host.ledger import AuditLedger
from host.marks import Marks
from host.places import Places
from host.proactive import ProactiveMemoryHost
from host.products import Providers
from host.retention import Retention
from host.rollouts import Rollouts
from host.roots import Roots
from host.sessions import Sessions
from host.tally import Tally
from host.tasks import Tasks
from host.trusted import Trust
from host.workers import Workers
from recall.contracts import Database
from recall.engine import Engine
from recall.library import Library


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """Everything with a lifetime, opened and closed by `host/compose.py`."""

    host: ProactiveMemoryHost
    eventlog: EventLog
    sessions: Sessions
    workers: Workers
    claims: Claims
    inbox: Inbox
    audit: Audit
    ledger: AuditLedger
    evidence: EvidenceStore
    standings: Standings
    asks: Asks
    library: Library
    roots: Roots
    places: Places
    providers: Providers
    rollouts: Rollouts
    marks: Marks
    attentions: Attentions
    main: Database  # events, packets, audit, evidence, marks
    kept: KeptDatabase  # governance.db
    queue: Queue
    lives: Lives
    trust: Trust
    formation: Formation
    boundaries: Boundaries
    documents: FormedDocuments
    tally: Tally
    retention: Retention
    databases: Mapping[str, Path]  # the files that we keep, by what they hold
    tasks: Tasks
    clock: Clock
    new_id: Callable[[str], str]
    own: tuple[str, ...] = ()  # folders below which sessions are our own: nobody listens to them
    engine: Engine | None = None  # None: the extra is not installed, or not wanted
    lag: Lag = field(default_factory=Lag)
    drawn: Callable[[], bytes] = bytes  # a secret by chance
    unattended: bool = False  # `team run` may be asked for
    fault: Fault = no_fault
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)  # one that compares and then writes, at a time

    @property
    def projector(self) -> Projector:
        """What writes committed changes into their files."""
        return self.formation.projector
