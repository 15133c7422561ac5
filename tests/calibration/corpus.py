"""The labelled sessions and other recorded ones, as envelopes and texts. A program's part, not a test.

The data stays where it is: every function takes the folder of the sets as an argument.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from host.observer import observe
from recall.analyzer import distinct
from recall.contracts import Channel, EventEnvelope, Segment, SourceKind

CHANNELS = {"user": Channel.SESSION, "tool": Channel.TOOLS, "agent": Channel.AGENT, "lifecycle": Channel.SESSION}
# Recorded transcripts that come from the repository of a labelled session.
ORIGINS = {
    "cc-2.0.76-stop-hooks-thinking.jsonl": "cctrace",
    "cc-2.1.39-long-with-compaction.jsonl": "spotter",
    "cc-2.1.38-short-interrupted.jsonl": "spotter",
    "cc-2.1.38-tool-heavy-queue.jsonl": "spotter",
    "agent-aac57f5.jsonl": "spotter",
    "agent-acompact-946d2b.jsonl": "spotter",
    "cc-1.0.98-long-multi-root.jsonl": "todo-demo",
    "cc-1.0.98-init-command.jsonl": "todo-demo",
}


@dataclass(frozen=True)
class Labelled:
    """One labelled session. `project` is the workspace name that its labels give."""

    name: str
    project: str
    envelopes: tuple[EventEnvelope, ...]
    memories: tuple[dict[str, str], ...]
    labels: dict[str, object]


def labelled(folder: Path) -> list[Labelled]:
    """Every session of a set, in order of name."""
    found = []
    for path in sorted(folder.glob("*/labels.json")):
        labels = json.loads(path.read_text(encoding="utf-8"))
        memories = tuple(_lines(path.parent / "memories.jsonl"))
        envelopes = tuple(envelope(event, path.parent.name) for event in _lines(path.parent / "events.jsonl"))
        found.append(Labelled(path.parent.name, labels["workspace"], envelopes, memories, labels))
    return found


def envelope(event: dict, session: str) -> EventEnvelope:
    """A line of events.jsonl as the envelope that a producer would send."""
    text = event["text"]
    fields = {"tool": event.get("tool"), "ok": event.get("ok"), "path": event.get("path")}
    fields |= {"args": text} if event["type"] == "tool/call" else {"text": text}
    payload = json.dumps({key: value for key, value in fields.items() if value is not None}).encode()
    return EventEnvelope(
        session_id=session,
        agent_id="main",
        workspace="/w/replayed",
        channel=CHANNELS[event["source"]],
        event_type=event["type"],
        timestamp=millis(event["ts"]),
        observed_at=millis(event["ts"]),
        source_kind=SourceKind(event["source"]),
        payload=msgspec.Raw(payload),
        event_seq=event["seq"],
        turn=event["turn"],
        step=event["step"],
        call_id=event.get("callId"),
    )


def millis(stamp: str) -> int:
    """Epoch milliseconds of an ISO time."""
    return int(datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp() * 1000)


def counted(envelopes: Iterable[EventEnvelope]) -> Counter[str]:
    """In how many events each term stands, by the texts of their segments."""
    counts: Counter[str] = Counter()
    for one in envelopes:
        segment = observe(one, 1)
        if segment is not None:
            counts.update(distinct(segment.text))
    return counts


def segments(session: Labelled) -> Iterator[tuple[EventEnvelope, Segment | None]]:
    """Each envelope with its segment, versions counted as the runtime counts them."""
    version = 0
    for one in session.envelopes:
        segment = observe(one, version + 1)
        version += segment is not None
        yield one, segment


def transcripts(folder: Path) -> Iterator[tuple[str, list[EventEnvelope]]]:
    """(project, envelopes) of recorded Claude Code and Codex files; an unknown project is the file's own name."""
    for path in sorted([*folder.glob("claude/**/*.jsonl"), *folder.glob("codex/*.jsonl")]):
        events = [event for record in _records(path) for event in _events(record)]
        yield ORIGINS.get(path.name, path.name), [envelope(_event(*one), path.name) for one in events]


def _event(kind: str, text: str, ok: bool | None) -> dict:
    sources = {"user/message": "user", "assistant/message": "agent", "tool/call": "agent", "tool/result": "tool"}
    line = {"seq": 1, "ts": "2026-01-01T00:00:00Z", "turn": 1, "step": 1, "type": kind, "source": sources[kind]}
    return {**line, "text": text[:2000] + text[-2000:] if len(text) > 4000 else text, "ok": ok}


def _events(record: dict) -> Iterator[tuple[str, str, bool | None]]:
    message = record.get("message")
    if record.get("type") in ("user", "assistant") and isinstance(message, dict):
        said = "user/message" if record["type"] == "user" else "assistant/message"
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
            if isinstance(block, dict):
                yield from _of_block(block, said)
    payload = record.get("payload")
    if record.get("type") == "response_item" and isinstance(payload, dict):
        if payload.get("type") == "message":
            said = "user/message" if payload.get("role") == "user" else "assistant/message"
            yield said, _text(payload.get("content")), None
        elif payload.get("type") in ("function_call", "custom_tool_call"):
            yield "tool/call", str(payload.get("arguments") or payload.get("input") or ""), None
        elif payload.get("type") in ("function_call_output", "custom_tool_call_output"):
            yield "tool/result", _text(payload.get("output")), True


def _of_block(block: dict, said: str) -> Iterator[tuple[str, str, bool | None]]:
    match block.get("type"):
        case "text":
            yield said, str(block.get("text") or ""), None
        case "tool_use":
            values = block.get("input")
            yield "tool/call", "\n".join(map(str, values.values())) if isinstance(values, dict) else str(values), None
        case "tool_result":
            yield "tool/result", _text(block.get("content")), not block.get("is_error", False)


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content.get("content", "")) if isinstance(content, dict) else str(content or "")


def _records(path: Path) -> Iterator[dict]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
