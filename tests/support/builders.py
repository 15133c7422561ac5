"""Builders of contract values: sensible defaults, every field can be given by name."""

from typing import Any

import msgspec

from host.contracts import Capability, MemoryPacket, PacketItem, Surface, Window
from recall.analyzer import distinct
from recall.canonical import digest, text_digest
from recall.contracts import (
    ActivationLevel,
    Candidate,
    Channel,
    ContextCursor,
    Cue,
    CuePart,
    EventEnvelope,
    EventType,
    MemoryKind,
    MemoryRecord,
    Origin,
    RuntimeScope,
    Scope,
    ScopeRef,
    Scored,
    Segment,
    SegmentKind,
    SourceKind,
    SourceName,
    Status,
)
from tests.support.clock import START

WORKSPACE = "ws_" + "a" * 32
SESSION = "session-1"
AGENT = "main"
FOLDER = "/project"  # a workspace as a producer names it; need not exist


def a_workspace_scope(key: str = WORKSPACE) -> ScopeRef:
    return ScopeRef(kind=Scope.WORKSPACE, key=key)


def a_user_scope() -> ScopeRef:
    return ScopeRef(kind=Scope.USER, key="user")


def a_scope(**fields: Any) -> RuntimeScope:
    """Where a session stands."""
    given = {"session_id": SESSION, "agent_id": AGENT, "workspace": WORKSPACE, "user": "user"} | fields
    return RuntimeScope(**given)


def a_cursor(**fields: Any) -> ContextCursor:
    given = {"session_id": SESSION, "event_seq": 1, "context_version": 1} | fields
    return ContextCursor(**given)


_CHANNELS: dict[str, tuple[Channel, SourceKind]] = {
    EventType.USER_MESSAGE: (Channel.SESSION, SourceKind.USER),
    EventType.ASSISTANT_MESSAGE: (Channel.AGENT, SourceKind.AGENT),
    EventType.TOOL_CALL: (Channel.TOOLS, SourceKind.AGENT),
    EventType.TOOL_RESULT: (Channel.TOOLS, SourceKind.TOOL),
}


def an_event(event_type: str = EventType.USER_MESSAGE, payload: object = None, **fields: Any) -> EventEnvelope:
    """An envelope of `payload` (any JSON value; default {"text": "hello"}). Channel and author follow the type."""
    channel, author = _CHANNELS.get(event_type, (Channel.SESSION, SourceKind.LIFECYCLE))
    raw = msgspec.Raw(msgspec.json.encode({"text": "hello"} if payload is None else payload))
    given = {
        "session_id": SESSION,
        "agent_id": AGENT,
        "workspace": FOLDER,
        "channel": channel,
        "event_type": str(event_type),
        "timestamp": START,
        "source_kind": author,
        "payload": raw,
    } | fields
    return EventEnvelope(**given)


def a_prompt(text: str = "why does the build fail?", **fields: Any) -> EventEnvelope:
    return an_event(EventType.USER_MESSAGE, {"text": text}, **fields)


def a_reply(text: str = "I will look.", **fields: Any) -> EventEnvelope:
    return an_event(EventType.ASSISTANT_MESSAGE, {"text": text}, **fields)


def a_call(args: str = "make test", tool: str = "shell", call_id: str = "call-1", **fields: Any) -> EventEnvelope:
    payload = {"tool": tool, "args": args}
    return an_event(EventType.TOOL_CALL, payload, **({"call_id": call_id, "event_id": f"call:{call_id}"} | fields))


def a_result(
    text: str = "error: exit 2", *, ok: bool = False, tool: str = "shell", call_id: str = "call-1", **fields: Any
) -> EventEnvelope:
    payload = {"tool": tool, "ok": ok, "text": text}
    return an_event(EventType.TOOL_RESULT, payload, **({"call_id": call_id, "event_id": f"result:{call_id}"} | fields))


def a_start(source: str = "startup", **fields: Any) -> EventEnvelope:
    return an_event(EventType.SESSION_START, {"source": source}, **fields)


def a_segment(text: str = "why does the build fail?", **fields: Any) -> Segment:
    """A segment; a prompt unless `kind` says otherwise. Its id follows its text and place."""
    seq = fields.get("event_seq", 1)
    given = {
        "id": digest([fields.get("session_id", SESSION), seq, text]),
        "session_id": SESSION,
        "agent_id": AGENT,
        "kind": SegmentKind.PROMPT,
        "event_type": str(EventType.USER_MESSAGE),
        "event_seq": seq,
        "context_version": seq,
        "text": text,
        "entities": (),
        "digest": text_digest(text),
        "ts": START,
        "source_kind": SourceKind.USER,
    } | fields
    return Segment(**given)


def a_failure(text: str = "error: exit 2", **fields: Any) -> Segment:
    """A failing tool result."""
    given = {
        "kind": SegmentKind.RESULT,
        "event_type": str(EventType.TOOL_RESULT),
        "source_kind": SourceKind.TOOL,
        "ok": False,
        "tool": "shell",
        "call_id": "call-1",
    } | fields
    return a_segment(text, **given)


def a_window(**fields: Any) -> Window:
    """What the gate sees: nothing recent, nothing suppressed."""
    given = {"now": START, "scope": a_scope(), "recent": ()} | fields
    return Window(**given)


def a_memory_id(number: int = 1) -> str:
    return f"mem_{number:032x}"


def a_memory(text: str = "Use pnpm, never npm, in this repository.", **fields: Any) -> MemoryRecord:
    memory_id = fields.get("memory_id", a_memory_id())
    given = {
        "memory_id": memory_id,
        "anchor_id": f"memory:{memory_id}",
        "kind": MemoryKind.SEMANTIC,
        "scope": a_workspace_scope(),
        "text": text,
        "created_at": START,
    } | fields
    return MemoryRecord(**given)


def a_candidate(text: str = "Use pnpm, never npm, in this repository.", **fields: Any) -> Candidate:
    """A candidate of the lexical arm. Its digest and terms follow its text."""
    memory_id = fields.get("memory_id", a_memory_id())
    given = {
        "id": f"lexical:{memory_id}",
        "memory_id": memory_id,
        "anchor_id": f"memory:{memory_id}",
        "source": SourceName.LEXICAL,
        "scope": a_workspace_scope(),
        "score": 1.0,
        "confidence": 1.0,
        "source_version": 1,
        "record_digest": text_digest(text),
        "payload": text,
        "kind": MemoryKind.SEMANTIC,
        "status": Status.ACTIVE,
        "origin": Origin.USER,
        "created_at": START,
        "terms": distinct(text),
    } | fields
    return Candidate(**given)


def a_scored(text: str = "Use pnpm, never npm, in this repository.", *, score: float = 1.0, **fields: Any) -> Scored:
    """A ranked candidate; further fields are the candidate's."""
    return Scored(candidate=a_candidate(text, **fields), score=score, mass=30.0)


def a_cue(text: str = "why does the build fail?", **fields: Any) -> Cue:
    terms = distinct(text)
    given = {
        "scope": a_scope(),
        "parts": (CuePart(role="trigger", text=text, weight=1.0),),
        "terms": terms,
        "focus": terms,
        "retrieval_key": text_digest(text),
        "segment_kind": SegmentKind.PROMPT,
    } | fields
    return Cue(**given)


def a_capability(**fields: Any) -> Capability:
    given = {"host": "test", "surfaces": frozenset(Surface), "max_chars": 10_000, "acknowledges": True} | fields
    return Capability(**given)


def an_item(text: str = "Use pnpm, never npm, in this repository.", **fields: Any) -> PacketItem:
    given = {
        "memory_id": a_memory_id(),
        "record_digest": text_digest(text),
        "source_version": 1,
        "scope": "Workspace",
        "level": ActivationLevel.EXCERPT,
        "text": text,
        "why": "the failing command",
        "when": "2026-05-28",
    } | fields
    return PacketItem(**given)


def a_packet(**fields: Any) -> MemoryPacket:
    """A packet of one item. `rendered` is not the broker's rendering unless given; `exact_digest` follows it."""
    items = fields.get("items", (an_item(),))
    rendered = fields.get("rendered", "\n".join(item.text for item in items))
    given = {
        "packet_id": "pkt_" + text_digest(rendered)[:32],
        "context_cursor": a_cursor(),
        "retrieval_version": "test",
        "trigger_reason": "tool failure",
        "activation_level": ActivationLevel.EXCERPT,
        "items": items,
        "exact_digest": text_digest(rendered),
        "semantic_digest": digest(sorted([item.memory_id, item.record_digest] for item in items)),
        "budget_bytes": 4096,
        "expiry": START + 600_000,
        "rendered": rendered,
        "tag": "0" * 32,
        "created_at": START,
    } | fields
    return MemoryPacket(**given)
