"""The parts of a running remora, as the composition root made them: what the surfaces are built over."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from governance.audit import Audit
from governance.contracts import AuditEntry
from governance.evidence_store import EvidenceStore
from governance.metrics import EMPTY, Metrics, fold
from host.attention import Attentions
from host.claims import Claims
from host.clock import Clock
from host.eventlog import EventLog
from host.inbox import Inbox
from host.ledger import AuditLedger
from host.marks import Marks
from host.proactive import ProactiveMemoryHost
from host.rollouts import Rollouts
from host.roots import Roots
from host.sessions import Sessions
from host.tasks import Tasks
from host.workers import Workers
from recall.engine import Engine
from recall.library import Library


@dataclass(slots=True)
class Tally:
    """G-04 since the start: a fold over every committed audit entry."""

    metrics: Metrics = field(default_factory=lambda: EMPTY)

    def heard(self, entries: Sequence[AuditEntry]) -> None:
        self.metrics = fold(self.metrics, entries)


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
    library: Library
    roots: Roots
    rollouts: Rollouts
    marks: Marks
    attentions: Attentions
    tally: Tally
    tasks: Tasks
    clock: Clock
    new_id: Callable[[str], str]
    engine: Engine | None = None  # None: the extra is not installed, or not wanted
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)  # one that compares and then writes, at a time
