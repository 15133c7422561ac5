"""Claude Code's session files (JSONL) to envelopes (pure, streaming).

One API reply is several records with one message id: its texts are one assistant message, held back until the reply
calls a tool or something else follows. Tool results are `user` records, and so is much that no human typed. Records of
a subagent carry its agentId, in older files only `isSidechain`. Thinking is never read.
"""

from collections.abc import Callable, Mapping, Sequence

from host.reads import claude_code_shown
from host.transcripts import claude_words as words
from host.transcripts.claude_rewinds import Rewinds
from host.transcripts.claude_scene import Scene
from host.transcripts.records import (
    MAIN,
    Ids,
    Notes,
    Place,
    Record,
    Report,
    as_record,
    blocks_of,
    event,
    record_of,
    rewound,
    text_of,
)
from recall.canonical import bytes_digest, text_digest
from recall.contracts import EventEnvelope, EventType, SourceKind

FORMAT = "claude-code"
BOOKKEEPING = frozenset(
    [
        "summary",
        "progress",
        "file-history-snapshot",
        "mode",
        "permission-mode",
        "ai-title",
        "custom-title",
        "last-prompt",
        "agent-name",
        "pr-link",
        "worktree-state",
        "relocated",
        "frame-link",
        "bridge-session",
        "atis-latch",
        "started",
        "result",
        "cost-state",
        "tools-used",
        "api-request",
        "api-request-blob",
        "api-request-shape",
    ]
)
RECORDS = BOOKKEEPING | {"user", "assistant", "system", "attachment", "queue-operation"}
Events = list[EventEnvelope]


class ClaudeReader:
    """A `Reader` of one session or subagent file. `origin`: the session id when no record names one."""

    def __init__(self, origin: str = "") -> None:
        self._scene = Scene(origin)
        self._notes = Notes()
        self._calls: dict[str, dict[str, object]] = {}
        self._given: dict[str, Record] = {}  # of those that may show files: their arguments
        self._queued: dict[str, Place] = {}  # prompts typed ahead: text -> where
        self._taken: dict[str, Place] = {}  # taken from the queue, not met as a record yet
        self._compaction: tuple[Place, str] | None = None  # a boundary that waits for its summary
        self._rewinds = Rewinds(lambda record: f"msg:{text_of(record, 'uuid')}")
        self._handlers: Mapping[str, Callable[[Record, Place], Events]] = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "attachment": self._attachment,
            "queue-operation": self._queue,
        }

    def feed(self, line: bytes) -> Sequence[EventEnvelope]:
        """The events that this line completes. What cannot be read is counted."""
        read = self._notes.read(line)
        if read is None:
            return ()
        kind, record = read
        left = self._rewinds.feed(record)
        if kind not in self._handlers:
            if kind not in BOOKKEEPING:
                self._notes.unknown(kind)
            return ()
        if not text_of(record, "uuid"):
            record = {**record, "uuid": bytes_digest(line)[:32]}
        place = self._scene.place(record)
        events = [*rewound(place, left), *self._handlers[kind](record, place)]
        opens = bool(events) or kind in ("user", "assistant")
        return self._notes.admitted([*self._scene.opening(place), *events] if opens else events)

    def finish(self) -> Sequence[EventEnvelope]:
        """What was held back: a compaction without summary, the last replies, queued prompts that never came."""
        events = self._compacted("")
        for agent in self._scene.agents():
            events += self._scene.told(agent)
        for text, place in list(self._taken.items()):
            events += self._scene.opening(place)
            events += self._said([{"type": "text", "text": text}], place, f"queued:{text_digest(text)[:32]}")
        events += rewound(self._scene.place({}), self._rewinds.ended())
        return self._notes.admitted(events)

    def report(self) -> Report:
        return self._scene.known(self._notes.report(FORMAT))

    def _assistant(self, record: Record, place: Place) -> Events:
        message = record_of(record, "message")
        if record.get("isApiErrorMessage") is True or text_of(message, "model") == "<synthetic>":
            return []
        uuid = text_of(record, "uuid")
        message_id = text_of(message, "id") or uuid
        events = self._compacted("") + self._scene.replying(place, message_id)
        for number, block in enumerate(blocks_of(message.get("content"))):
            match text_of(block, "type"):
                case "text":
                    self._scene.add(place, text_of(block, "text"), f"msg:{uuid}")
                case "tool_use":
                    events += self._scene.told(place.agent_id)
                    call_id = text_of(block, "id") or None
                    payload = words.call_payload(text_of(block, "name"), block.get("input"))
                    if call_id is not None:
                        self._calls[call_id] = {key: payload[key] for key in ("tool", "path", "nativeTool")}
                        self._given[call_id] = words.reading_arguments(block)
                    ids = Ids(event=f"call:{call_id or f'{uuid}:{number}'}", call=call_id, message=message_id)
                    events.append(event(self._scene.now(place), EventType.TOOL_CALL, payload, ids))
        return events

    def _user(self, record: Record, place: Place) -> Events:
        uuid = text_of(record, "uuid")
        blocks = blocks_of(record_of(record, "message").get("content"))
        events = self._scene.told(place.agent_id)
        summary = words.summary_of(record, blocks)
        if summary is not None:
            self._compaction = self._compaction or (place, f"compact:{uuid}")
            return events + self._compacted(summary)
        events += self._compacted("")
        results = [block for block in blocks if text_of(block, "type") == "tool_result"]
        for number, block in enumerate(results):
            structured = record.get("toolUseResult") if len(results) == 1 else None
            call_id = text_of(block, "tool_use_id") or text_of(record, "sourceToolUseID") or None
            ids = Ids(event=f"result:{call_id or f'{uuid}:{number}'}", call=call_id)
            payload = self._result(block, structured, call_id, place.workspace)
            events.append(event(place, EventType.TOOL_RESULT, payload, ids))
        return events + self._said(blocks, place, f"msg:{uuid}", machine=words.machine_record(record))

    def _result(self, block: Record, structured: object, call_id: str | None, cwd: str) -> dict[str, object]:
        text, images = words.shown_text(block.get("content"))
        failed = block.get("is_error") is True or as_record(structured).get("is_error") is True
        call = self._calls.get(call_id or "", {})
        payload = {**call, "ok": not failed, "text": text, "images": images or None}
        if failed and words.refused(text):
            payload["denied"] = True
        given = self._given.pop(call_id or "", {})
        if not failed:
            payload |= claude_code_shown(str(call.get("nativeTool", "")), given, structured, text, cwd)
        return payload

    def _said(self, blocks: Sequence[Record], place: Place, event_id: str, machine: bool = False) -> Events:
        """One message in the user's role. Blocks that a machine put beside the user's own words are left out."""
        texts = [text_of(block, "text") for block in blocks if text_of(block, "type") == "text"]
        images = sum(text_of(block, "type") in ("image", "document") for block in blocks)
        every = [words.spoken(text) for text in texts if text.strip()]
        if not every and not images:
            return []
        own = [] if machine else [part for part in every if part.source is SourceKind.USER]
        by_hand = bool(own) or not (every or machine)
        source = self._scene.author(place) if by_hand else SourceKind.LIFECYCLE
        text = "\n".join(part.text for part in (own or every))
        self._queued.pop(text, None)
        self._taken.pop(text, None)
        command = next((part.command for part in (own or every) if part.command), None)
        images = max(images, sum(part.images for part in own))
        payload = {"text": text, "images": images or None, "command": command}
        here = self._scene.prompted(place) if by_hand else place
        return [event(here, EventType.USER_MESSAGE, payload, Ids(event=event_id), source)]

    def _compacted(self, summary: str) -> Events:
        """The one event of a compaction, once its summary came or is known not to come."""
        if self._compaction is None:
            return []
        (place, event_id), self._compaction = self._compaction, None
        return [event(place, EventType.SESSION_COMPACT, {"text": summary}, Ids(event=event_id))]

    def _system(self, record: Record, place: Place) -> Events:
        if words.ends_turn(record) and place.agent_id == MAIN:
            end = event(place, EventType.TURN_END, {}, Ids(event=f"turn:{text_of(record, 'uuid')}:end"))
            return [*self._scene.told(place.agent_id), end]
        if text_of(record, "subtype") != "compact_boundary":
            return []
        events = self._scene.told(place.agent_id) + self._compacted("")
        self._compaction = (place, f"compact:{text_of(record, 'uuid')}")
        return events

    def _attachment(self, record: Record, place: Place) -> Events:
        attachment = record_of(record, "attachment")
        match text_of(attachment, "type"):
            case "hook_additional_context":
                self._notes.shown += words.texts_of(attachment.get("content"))
            case "nested_memory":
                self._notes.shown += words.texts_of(record_of(attachment, "content").get("content"))
            case "queued_command":
                machine = words.machine_record(attachment) or text_of(attachment, "commandMode") != "prompt"
                blocks = blocks_of(attachment.get("prompt"))
                return self._said(blocks, place, f"msg:{text_of(record, 'uuid')}", machine)
        return []

    def _queue(self, record: Record, place: Place) -> Events:
        """A prompt typed ahead comes again as a record of its own, but not always: those are told at the end."""
        match text_of(record, "operation"):
            case "enqueue":
                prompt = words.spoken(text_of(record, "content"))
                if prompt.text and prompt.source is SourceKind.USER:
                    self._queued[prompt.text] = place
            case "popAll":
                self._queued.clear()
            case _ if self._queued:
                first = next(iter(self._queued))
                self._taken[first] = self._queued.pop(first)
        return []
