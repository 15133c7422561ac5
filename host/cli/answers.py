"""The daemon's answers, as far as the command line reads them. Unknown fields are ignored."""

import msgspec

from governance.contracts import AuditEntry
from recall.contracts import ArmReport, Frozen, MemoryLocator, MemoryRecord, ScopeRef


class Hit(Frozen, frozen=True, kw_only=True):
    """One find of `memory.search`. `terms`: the query's terms that it holds, when an explanation was asked for."""

    memory_id: str
    score: float
    scope: ScopeRef
    kind: str
    text: str
    status: str = "active"
    state: str = "anchored"
    title: str | None = None
    source: str = ""
    terms: tuple[str, ...] = ()


class Hits(Frozen, frozen=True, kw_only=True):
    hits: tuple[Hit, ...]
    degraded: bool = False
    arms: tuple[ArmReport, ...] = ()


class Shown(Frozen, frozen=True, kw_only=True):
    """The answer of `memory.get`."""

    record: MemoryRecord
    locator: MemoryLocator | None = None


class Listed(Frozen, frozen=True, kw_only=True):
    """A page of `memory.list`. `next`: where the next page begins, null on the last."""

    records: tuple[MemoryRecord, ...]
    next: str | None = None


class Remembered(Frozen, frozen=True, kw_only=True):
    """The answer of `memory.remember`. `redacted`: families of secrets that were taken out."""

    memory_id: str
    file: str = ""
    redacted: tuple[str, ...] = ()
    quarantined: bool = False


class Forgotten(Frozen, frozen=True, kw_only=True):
    forgotten: bool
    packets_purged: int = 0


class Entries(Frozen, frozen=True, kw_only=True):
    """The answer of `audit.query`, newest first."""

    entries: tuple[AuditEntry, ...]


class KeptPacket(Frozen, frozen=True, kw_only=True):
    """A packet as kept beside the audit; `rendered` is empty once a memory of it was forgotten."""

    rendered: str | None = None
    state: str = ""


class Opened(Frozen, frozen=True, kw_only=True):
    """The answer of `audit.get`: the entry, its packet, and what happened to that packet later."""

    entry: AuditEntry
    packet: KeptPacket | None = None
    later: tuple[AuditEntry, ...] = ()


class Explained(Frozen, frozen=True, kw_only=True):
    lines: tuple[str, ...]
    entries: tuple[AuditEntry, ...] = ()


class Verified(Frozen, frozen=True, kw_only=True):
    ok: bool
    entries: int
    problem: str | None = None


class Problem(Frozen, frozen=True, kw_only=True):
    """A place in a memory file that is not used; `line` 0: the whole file."""

    file: str
    line: int = 0
    state: str = ""
    problem: str = ""


class MemoryHealth(Frozen, frozen=True, kw_only=True):
    """How the memory files stand. `problems`: the first of `problem_count`; `missing`: folders that are not there."""

    files: int = 0
    records: int = 0
    problem_count: int = 0
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()


class Health(Frozen, frozen=True, kw_only=True):
    """The answer of `health`. `data`: the folder that the daemon keeps, empty when it does not say."""

    ready: bool
    parts: dict[str, msgspec.Raw] = {}
    data: str = ""
    pid: int = 0
    memory: MemoryHealth = MemoryHealth()
