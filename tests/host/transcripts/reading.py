"""Reads transcripts the way the tests ask: events of a file, texts by author, lines of records."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from host.transcripts import READERS, Report, read, recognise
from recall.contracts import EventEnvelope, EventType, SourceKind

DATA = Path(__file__).parents[2] / "data"
TRANSCRIPTS = DATA / "transcripts"
SESSION = "s-1"


def case(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((DATA / "cases" / f"{name}.json").read_text())
    return loaded


def a_line(record: object) -> bytes:
    return json.dumps(record).encode() + b"\n"


def a_record(kind: str, content: object, uuid: str = "u1", **fields: object) -> bytes:
    """A line of a Claude Code session: a message of the user or the assistant."""
    message: dict[str, object] = {"role": kind, "content": content}
    if kind == "assistant":
        message["id"] = fields.pop("message_id", f"m-{uuid}")
    record = {
        "type": kind,
        "uuid": uuid,
        "sessionId": SESSION,
        "cwd": "/u/dev/alpha",
        "timestamp": "2026-11-03T09:00:00Z",
        "message": message,
    }
    return a_line(record | fields)


def a_call(call_id: str, name: str = "Bash", **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments or {"command": "ls"}}


def a_result(call_id: str, content: object = "ok", **fields: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def heard(lines: Iterable[bytes], name: str = "claude-code") -> tuple[list[EventEnvelope], Report]:
    """All events of these lines, and the reader's report."""
    reader = READERS[name]("")
    return list(read(reader, lines)), reader.report()


def heard_file(path: Path) -> tuple[list[EventEnvelope], Report]:
    lines = path.read_bytes().splitlines(keepends=True)
    name = recognise(lines)
    assert name is not None, path
    return heard(lines, name)


def payload(event: EventEnvelope) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(bytes(event.payload))
    return loaded


def texts(events: Sequence[EventEnvelope], event_type: EventType, source: SourceKind | None = None) -> list[str]:
    chosen = [e for e in events if e.event_type == event_type and source in (None, e.source_kind)]
    return [payload(event)["text"] for event in chosen]


def typed(events: Sequence[EventEnvelope]) -> list[str]:
    """What a human typed, in order."""
    return texts(events, EventType.USER_MESSAGE, SourceKind.USER)


def said(events: Sequence[EventEnvelope]) -> list[str]:
    return texts(events, EventType.ASSISTANT_MESSAGE)


def types(events: Sequence[EventEnvelope]) -> list[str]:
    return [event.event_type for event in events]
