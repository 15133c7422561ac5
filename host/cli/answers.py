"""The daemon's answers about itself and the audit, as far as the command line reads them. Unknown fields are ignored.

Those to the verbs on memories are in `memory_answers`: `status` does without them."""

import msgspec

from governance.contracts import AuditEntry
from recall.contracts import Frozen


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


class Exported(Frozen, frozen=True, kw_only=True):
    """A page of `audit.export`; `next`: where the following one begins."""

    lines: tuple[str, ...]
    next: int | None = None


class Verified(Frozen, frozen=True, kw_only=True):
    """The answer of `audit.verify`. `before`: how many older entries were let go and stand summed up."""

    ok: bool
    entries: int
    problem: str | None = None
    row: int | None = None
    before: int = 0


class Text(Frozen, frozen=True, kw_only=True):
    """The answer of `metrics` in Prometheus' format."""

    text: str


class Problem(Frozen, frozen=True, kw_only=True):
    """A place in a memory file that is not used; `line` 0: the whole file."""

    file: str
    line: int = 0
    state: str = ""
    problem: str = ""


class Unasked(Frozen, frozen=True, kw_only=True):
    """A repository with memory of which nobody was asked whether it is trusted."""

    repository: str
    records: int = 0


class MemoryHealth(Frozen, frozen=True, kw_only=True):
    """How the memory files stand. `problems`: the first of `problem_count`; `missing`: folders that are not there."""

    files: int = 0
    records: int = 0
    problem_count: int = 0
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()
    unasked: tuple[Unasked, ...] = ()


class EngineStatus(Frozen, frozen=True, kw_only=True):
    """How the engine stands: off, loading, ready, embedding, stale or broken; `embedded` of `records` have a vector."""

    state: str
    model: str = ""
    dimension: int = 0
    records: int = 0
    embedded: int = 0
    problem: str | None = None


class Progress(Frozen, frozen=True, kw_only=True):
    """How far the index is. `stage`: idle, indexing or rebuilding. `problem`: why the last rebuilding failed."""

    stage: str = "idle"
    done: int = 0
    total: int = 0
    problem: str | None = None
    engine: EngineStatus | None = None


class Waiting(Frozen, frozen=True, kw_only=True):
    """What waits for a person: procedures to approve, items to review, and ranges of conversations to note."""

    approvals: int = 0
    review: int = 0
    checkpoints: int = 0


class Formation(Frozen, frozen=True, kw_only=True):
    """How forming memories stands. `waiting`: ranges of a workspace that wait for its agent."""

    state: str
    waiting: int = 0


class Speaking(Frozen, frozen=True, kw_only=True):
    """An agent product that sessions speak from now. `watched`: why nothing is handed to them."""

    host: str
    version: str = ""
    sessions: int = 0
    watched: str = ""


class Health(Frozen, frozen=True, kw_only=True):
    """The answer of `health`. `data`: the folder that the daemon keeps, empty when it does not say. `code`:
    which code it runs."""

    ready: bool
    parts: dict[str, msgspec.Raw] = {}
    data: str = ""
    pid: int = 0
    memory: MemoryHealth = MemoryHealth()
    index: Progress = Progress()
    waiting: Waiting = Waiting()
    hosts: tuple[Speaking, ...] = ()
    code: str = ""
