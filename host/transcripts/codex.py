"""Codex rollout files (JSONL) to envelopes (pure, streaming).

Each line is {timestamp, type, payload}. A prompt and a reply stand there two or three times, as response item and as
event: each is told once, by the form that comes first. A tool's result is the output that the model saw; whether it
failed is often said only by the event beside it. A forked file or a subagent's may begin with its parent's history
under new times: that history is not told again.
"""

from collections import defaultdict
from collections.abc import Sequence

from host.reads import codex_shown
from host.transcripts import codex_words as words
from host.transcripts.codex_thread import Thread
from host.transcripts.records import (
    Ids,
    Notes,
    Place,
    Record,
    Report,
    aborted,
    event,
    record_of,
    rolled_back,
    text_of,
)
from recall.canonical import text_digest
from recall.contracts import EventEnvelope, EventType, SourceKind

FORMAT = "codex"
RECORDS = frozenset(
    [
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "token_usage_record",
        "inter_agent_communication_metadata",
    ]
)
CALLS = frozenset(["function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"])
OUTPUTS = frozenset(["function_call_output", "custom_tool_call_output"])
Events = list[EventEnvelope]


class CodexReader:
    """A `Reader` of one rollout file. `origin`: the session id when no session_meta names one."""

    def __init__(self, origin: str = "") -> None:
        self._thread = Thread(origin)
        self._notes = Notes()
        self._told: dict[tuple[str, str], int] = defaultdict(int)  # (role, text digest) -> times told
        self._met: dict[tuple[str, str, str], int] = defaultdict(int)  # the same for each form of a message
        self._calls: dict[str, dict[str, object]] = {}  # calls that wait for their output
        self._given: dict[str, Record] = {}  # of those that run a command: what, and where
        self._outcomes: dict[str, words.Finished] = {}  # what an event said about them
        self._done: set[str] = set()

    def feed(self, line: bytes) -> Sequence[EventEnvelope]:
        """The events that this line completes. What cannot be read is counted."""
        read = self._notes.read(line)
        if read is None:
            return ()
        kind, record = read
        place = self._thread.place(record)
        if self._thread.copying:
            self._notes.replayed += 1
            return ()
        events = self._events(kind, record_of(record, "payload"), place)
        return self._notes.admitted([*self._thread.opening(place), *events])

    def finish(self) -> Sequence[EventEnvelope]:
        """Results of calls whose output never came, though an event told their end."""
        return self._notes.admitted([each for run in self._outcomes.values() for each in self._ended(run)])

    def report(self) -> Report:
        return self._thread.known(self._notes.report(FORMAT))

    def _events(self, kind: str, payload: Record, place: Place) -> Events:
        match kind:
            case "response_item":
                return self._item(payload)
            case "event_msg" if text_of(payload, "type") == "item_completed":
                return self._event(record_of(payload, "item"))
            case "event_msg":
                return self._event(payload)
            case "turn_context":
                self._thread.started(text_of(payload, "turn_id"))
            case "compacted":
                summary = text_of(payload, "message")
                mark = text_digest(f"{place.at}\n{summary}")[:32]
                place = self._thread.answered()
                return [event(place, EventType.SESSION_COMPACT, {"text": summary}, Ids(event=f"compact:{mark}"))]
            case _ if kind not in RECORDS:
                self._notes.unknown(kind)
        return []

    def _item(self, item: Record) -> Events:
        content = item.get("content")
        match text_of(item, "type"):
            case "message" if text_of(item, "role") == "user":
                parts = [(text, words.whose(item, text)) for text in words.texts_of(content)]
                return self._prompt("item", parts, words.images_of(content))
            case "message" if text_of(item, "role") == "assistant":
                return self._reply("item", "\n".join(words.texts_of(content)))
            case "message" if words.from_hook(item):
                self._notes.shown += words.texts_of(content)
            case "reasoning":
                self._thread.acting()
            case kind if kind in CALLS:
                return self._call(item)
            case kind if kind in OUTPUTS:
                return self._output(item)
        return []

    def _event(self, told: Record) -> Events:
        match text_of(told, "type"):
            case "task_started":
                self._thread.started(text_of(told, "turn_id"))
                return self._turn(EventType.TURN_START, "start")
            case "task_complete":
                return self._turn(EventType.TURN_END, "end")
            case "turn_aborted":
                return [aborted(self._thread.now(), self._thread.turn_key())]
            case "thread_rolled_back":
                turns = words.rolled_back(told)
                place = self._thread.now()
                return [rolled_back(place, turns, f"{place.at}:{self._thread.turn_key()}")] if turns else []
            case "user_message":
                text = text_of(told, "message")
                images = [*_list(told.get("images")), *_list(told.get("local_images"))]
                return self._prompt("event", [(text, words.whose({}, text))], len(images))
            case "UserMessage":
                content = told.get("content")
                parts = [(text, words.whose({}, text)) for text in words.texts_of(content)]
                return self._prompt("completed", parts, words.images_of(content))
            case "agent_message":
                return self._reply("event", text_of(told, "message"))
            case "AgentMessage":
                return self._reply("completed", "\n".join(words.texts_of(told.get("content"))))
            case _:
                run = words.finished(told)
                return self._finished(run) if run is not None else []

    def _turn(self, event_type: EventType, edge: str) -> Events:
        ids = Ids(event=f"turn:{self._thread.turn_key()}:{edge}")
        return [event(self._thread.now(), event_type, {}, ids)]

    def _new(self, form: str, role: str, text: str) -> str | None:
        """An event id when this form of a message is the first to tell it, else None."""
        key = (role, text_digest(" ".join(text.split())))
        self._met[(form, *key)] += 1
        if self._met[(form, *key)] <= self._told[key]:
            return None
        self._told[key] += 1
        return f"msg:{self._thread.turn_key()}:{role}:{key[1][:16]}:{self._told[key]}"

    def _prompt(self, form: str, parts: Sequence[tuple[str, SourceKind]], images: int) -> Events:
        own = [words.asked(text) for text, source in parts if source is SourceKind.USER]
        text = "\n".join(part for part in own if part) or "\n".join(text for text, _ in parts)
        if not text and not images:
            return []
        event_id = self._new(form, "user", text)
        if event_id is None:
            return []
        by_hand = bool(own) or not parts
        place = self._thread.prompted() if by_hand else self._thread.now()
        source = self._thread.author() if by_hand else SourceKind.LIFECYCLE
        return [
            event(place, EventType.USER_MESSAGE, {"text": text, "images": images or None}, Ids(event=event_id), source)
        ]

    def _reply(self, form: str, text: str) -> Events:
        event_id = self._new(form, "agent", text.strip()) if text.strip() else None
        if event_id is None:
            return []
        return [event(self._thread.acting(), EventType.ASSISTANT_MESSAGE, {"text": text.strip()}, Ids(event=event_id))]

    def _call(self, item: Record) -> Events:
        call_id = text_of(item, "call_id") or text_of(item, "id")
        name = words.called(item)
        given = item.get("arguments") or item.get("input") or item.get("action")
        payload = words.call_payload(name, given)
        self._calls[call_id] = {key: payload[key] for key in ("tool", "path", "nativeTool")}
        self._given[call_id] = words.commanded(given)
        ids = Ids(event=f"call:{call_id}", call=call_id)
        return [event(self._thread.acting(), EventType.TOOL_CALL, payload, ids)]

    def _output(self, item: Record) -> Events:
        call_id = text_of(item, "call_id")
        output = item.get("output")
        text, ok = words.outcome(output)
        told = self._outcomes.pop(call_id, None)
        images = words.images_of(output)
        went_well = told.ok if told is not None else not words.could_not_run(output)
        return self._result(call_id, text, ok and went_well, images)

    def _finished(self, run: words.Finished) -> Events:
        """An event tells a tool's end. If the model made the call, the output that it saw comes later."""
        if run.call_id in self._done:
            return []
        if run.call_id in self._calls:
            self._outcomes[run.call_id] = run
            return []
        payload = words.call_payload(run.name, run.arguments)
        self._calls[run.call_id] = {key: payload[key] for key in ("tool", "path", "nativeTool")}
        self._given[run.call_id] = words.commanded(run.arguments)
        ids = Ids(event=f"call:{run.call_id}", call=run.call_id)
        return [event(self._thread.acting(), EventType.TOOL_CALL, payload, ids), *self._ended(run)]

    def _ended(self, run: words.Finished) -> Events:
        return self._result(run.call_id, run.text, run.ok, 0)

    def _result(self, call_id: str, text: str, ok: bool, images: int) -> Events:
        self._done.add(call_id)
        payload = {**self._calls.pop(call_id, {}), "ok": ok, "text": text, "images": images or None}
        given, place = self._given.pop(call_id, {}), self._thread.answered()
        if ok:
            payload |= codex_shown(str(payload.get("nativeTool", "")), given, text, place.workspace)
        return [event(place, EventType.TOOL_RESULT, payload, Ids(event=f"result:{call_id}", call=call_id))]


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
