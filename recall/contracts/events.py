"""Events and context: envelopes, payloads, segments, cursors (N-01, C-01, C-02)."""

from enum import StrEnum

import msgspec

Millis = int  # epoch milliseconds, UTC


class Frozen(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of all data that crosses a boundary: immutable, camelCase on the wire."""


class Channel(StrEnum):
    SESSION = "session"
    TOOLS = "tools"
    AGENT = "agent"


class SourceKind(StrEnum):
    """Who authored the text. Machine-written text in the user's role is never `user`."""

    USER = "user"
    TOOL = "tool"
    AGENT = "agent"
    LIFECYCLE = "lifecycle"


class EventType(StrEnum):
    """Event types with a meaning for us. Any other text is stored and counted, never a failure."""

    USER_MESSAGE = "user/message"
    ASSISTANT_MESSAGE = "assistant/message"
    TOOL_CALL = "tool/call"
    TOOL_RESULT = "tool/result"
    SESSION_START = "session/start"
    SESSION_END = "session/end"
    SESSION_COMPACT = "session/compact"
    SESSION_CLIENT = "session/client"
    TURN_START = "turn/start"
    TURN_END = "turn/end"
    AGENT_SPAWN = "agent/spawn"
    AGENT_STOP = "agent/stop"


class EventEnvelope(Frozen, frozen=True, kw_only=True):
    """The unit of the append-only log (N-01). `payload` is JSON bytes: as received, later as stored."""

    session_id: str
    agent_id: str
    workspace: str
    channel: Channel
    event_type: str
    timestamp: Millis
    source_kind: SourceKind
    payload: msgspec.Raw
    schema_version: int = 1
    event_seq: int = 0  # assigned by the daemon; 0 = not yet
    event_id: str | None = None
    native_seq: int | None = None
    turn: int | None = None
    step: int | None = None
    message_id: str | None = None
    call_id: str | None = None
    root_call_id: str | None = None
    payload_digest: str | None = None
    observed_at: Millis = 0  # the daemon's clock; a producer's value is ignored


class ReadWindow(Frozen, frozen=True, kw_only=True):
    """N-08: what a tool's read result showed of a file, in lines of the file as read."""

    path: str
    line_start: int  # 1-based
    line_count: int
    total_lines: int | None = None
    content_digest: str | None = None  # SHA-256 hex of the shown text, UTF-8, "\n" line ends, no final newline


class FilterKind(StrEnum):
    """What a pipe does to the lines that pass it: keeps some, or puts their numbers in front."""

    LINES = "lines"
    BYTES = "bytes"
    NUMBER = "number"
    NUMBER_FILLED = "number-filled"  # empty lines get none


class Filter(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """`first` and `last` count from 1, both included; negative ones from the end; `last` None: to the end."""

    kind: FilterKind
    first: int = 1
    last: int | None = None


class PrintForm(StrEnum):
    """How a command prints what it was given."""

    PLAIN = "plain"  # all of it, in one piece
    CHOSEN = "chosen"  # some lines, in order
    FOUND = "found"  # some lines, each perhaps after its file and number


class Printing(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """N-08: files that a command was to print. What it printed stands in the result's text; only both together say
    what was shown, and only while the files still read like that.

    `paths`: as the command names them, patterns and folders among them; relative ones from one of `bases`.
    """

    paths: tuple[str, ...]
    form: PrintForm = PrintForm.PLAIN
    filters: tuple[Filter, ...] = ()
    bases: tuple[str, ...] = ()


class EventPayload(Frozen, frozen=True, kw_only=True):
    """The fields of a payload that we read. Unknown fields are kept in the log and ignored here.

    `text`: what was said, the result's output, or the compaction summary. `args`: a tool call's argument
    summary as text. `source`: startup | resume | clear | compact | fork, for session/start. `version`, `model`: of the
    agent product and of what it runs on, for session/client.
    """

    text: str = ""
    tool: str | None = None
    args: str | None = None
    ok: bool | None = None
    path: str | None = None
    source: str | None = None
    images: int = 0
    read: ReadWindow | None = None
    reads: tuple[ReadWindow, ...] = ()
    printed: tuple[Printing, ...] = ()
    native_tool: str | None = None
    version: str | None = None
    model: str | None = None


class ContextCursor(Frozen, frozen=True, kw_only=True):
    session_id: str
    event_seq: int
    context_version: int


class SegmentKind(StrEnum):
    PROMPT = "prompt"
    CALL = "call"
    RESULT = "result"
    REPLY = "reply"


class Segment(Frozen, frozen=True, kw_only=True):
    """One bounded piece of context (C-01). `text` ≤ 1 200 characters, `entities` ≤ 16."""

    id: str
    session_id: str
    agent_id: str
    kind: SegmentKind
    event_type: str
    event_seq: int
    context_version: int
    text: str
    entities: tuple[str, ...]
    digest: str
    ts: Millis
    source_kind: SourceKind
    ok: bool | None = None
    tool: str | None = None
    args_digest: str | None = None
    call_id: str | None = None
    path: str | None = None
    step: int | None = None
