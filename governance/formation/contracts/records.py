"""What is written down of formed memories: sources, generations, and the lines of the outbox (formation.md 6)."""

from enum import StrEnum

from governance.contracts import Decision
from governance.formation.contracts.documents import Layer, Mode
from governance.formation.contracts.model import PromptUse, Usage
from governance.formation.contracts.ranges import Pipeline
from recall.contracts import Frozen, MemoryRecord, Millis


class MemoryType(StrEnum):
    PERSONA = "persona"
    EPISODIC = "episodic"
    INSTRUCTION = "instruction"
    WORK_FACT = "work_fact"
    WORK_TASK = "work_task"
    WORK_METHOD = "work_method"
    WORK_ARTIFACT = "work_artifact"


class MemorySource(Frozen, frozen=True, kw_only=True):
    """A message that a record rests on. `quote`: word for word; empty where the pipeline quotes nothing."""

    session_id: str
    message_id: str
    event_seq: int
    at: Millis
    quote: str = ""
    role: str = "user"


class Life(StrEnum):
    """`waiting`: a person is to decide; there is no record of it yet."""

    WAITING = "waiting"
    LIVE = "live"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"


class FormedMemory(Frozen, frozen=True, kw_only=True):
    """The life of a record that was formed; its text stands in its file. `claim`: digest of the words as compared."""

    memory_id: str
    pipeline: Pipeline
    claim: str
    created_at: Millis
    updated_at: Millis
    team: str
    user: str
    agent: str
    version: int = 0
    type: MemoryType = MemoryType.WORK_FACT
    state: Life = Life.LIVE
    superseded_by: str | None = None
    priority: int = 50
    importance: int = 50
    scene_name: str = ""
    session_id: str = ""
    task_id: str = ""
    occurred_at: Millis | None = None
    activity_start: Millis | None = None
    activity_end: Millis | None = None
    metadata: dict[str, str] = {}


class Generation(Frozen, frozen=True, kw_only=True):
    """What one run formed of what. No prompt body and no message text."""

    generation_id: str
    layer: Layer
    status: str
    isolation: str
    prompt: PromptUse
    input_refs: tuple[str, ...]
    output_refs: tuple[str, ...]
    model_id: str
    calls: int
    started_at: Millis
    finished_at: Millis
    mode: Mode = Mode.CODE
    usage: Usage | None = None
    decisions: tuple[str, ...] = ()
    schema_version: int = 1


class RecordLine(Frozen, frozen=True, kw_only=True, tag="record", tag_field="line"):
    """A version of a record."""

    memory_id: str
    version: int
    record: MemoryRecord
    formed: FormedMemory
    sources: tuple[MemorySource, ...]
    at: Millis
    generation: Generation | None = None


class SightingLine(Frozen, frozen=True, kw_only=True, tag="sighting", tag_field="line"):
    """The same was said again: more sources of a record, which stays as it is."""

    memory_id: str
    version: int
    sources: tuple[MemorySource, ...]
    at: Millis


class DecisionLine(Frozen, frozen=True, kw_only=True, tag="decision", tag_field="line"):
    """A decision about the item of a record."""

    memory_id: str
    version: int
    item_id: str
    decision: Decision
    at: Millis


class TombstoneLine(Frozen, frozen=True, kw_only=True, tag="tombstone", tag_field="line"):
    """A record that is gone. `why`: archived, superseded or forgotten. `digest`: keyed, of its words."""

    memory_id: str
    version: int
    why: str
    digest: str
    at: Millis
    superseded_by: str | None = None


class CursorLine(Frozen, frozen=True, kw_only=True, tag="cursor", tag_field="line"):
    """Up to where a session was formed, with the receipt that moved it. `from_seq`: where its range begins."""

    pipeline: Pipeline
    session_id: str
    processed_seq: int
    operation_id: str
    request_hash: str
    status: str
    at: Millis
    memory_id: str = ""
    version: int = 0
    from_seq: int | None = None


Line = RecordLine | SightingLine | DecisionLine | TombstoneLine | CursorLine
