"""What a Codex rollout tells at hook time beside the hooks (pure).

The hooks tell prompts, results and the last words of a turn. The rollout tells what they do not: the agent's words,
all calls of one reply before the first of them is answered, whether a command went well, tools that could not be run,
hook texts that the model was shown, compactions, and which version and model speak. What both tell is one event: the
ids are the same, and so are the bytes. A command that goes on in the background has its result when it ends.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from host.contracts import Heard
from host.transcripts import codex_words as words
from host.transcripts.codex_thread import Thread
from host.transcripts.records import (
    MAIN,
    Ids,
    Place,
    Record,
    Spoken,
    aborted,
    event,
    millis,
    parse,
    record_of,
    rolled_back,
    text_of,
)
from host.transcripts.tail import Overheard, reply
from recall.canonical import text_digest
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind

KEPT = 512  # calls, outcomes and turns that are remembered
CALLS = frozenset(["function_call", "custom_tool_call", "local_shell_call"])
OUTPUTS = frozenset(["function_call_output", "custom_tool_call_output"])
PREAMBLE = ("<environment_context", "<user_instructions", "# AGENTS.md instructions", "<INSTRUCTIONS")
Events = list[EventEnvelope]
T = TypeVar("T")


class CodexOverhearing:
    """What the rollout of one session, or of one subagent in it, tells beside the hooks. Of records written before
    `since` (epoch ms) only the shown texts and who speaks are taken."""

    def __init__(self, session_id: str, workspace: str, since: Millis = 0, agent_id: str = MAIN) -> None:
        self._place = Place(session_id=session_id, agent_id=agent_id, workspace=workspace)
        self._since = since
        self._thread = Thread(session_id)  # knows where a copied history ends
        self._turn = self._version = self._parent = ""  # parent: the thread that this one was forked from
        self._spoken = Spoken()
        self._shown: list[str] = []
        self._said: OrderedDict[str, int] = OrderedDict()  # reply -> times in its turn
        self._prompts: OrderedDict[str, int] = OrderedDict()  # turn -> prompts that hooks told and the rollout did not
        self._asked: OrderedDict[str, bool] = OrderedDict()  # prompts that hooks told
        self._open: OrderedDict[str, tuple[str, object]] = OrderedDict()  # call id -> tool and arguments
        self._ended: OrderedDict[str, words.Finished] = OrderedDict()
        self._told: OrderedDict[str, bool] = OrderedDict()  # calls whose result was told

    def hear(self, lines: Iterable[bytes]) -> Overheard:
        """The events and shown texts of further lines. What a compaction among them has wiped is not shown."""
        envelopes: Events = []
        self._shown = []
        mark = ""
        for line in lines:
            record = parse(line)
            if record is None:
                continue
            self._thread.place(record)
            at = millis(record.get("timestamp"))
            self._place = msgspec.structs.replace(self._place, at=self._place.at if at is None else at)
            mark = text_of(record, "timestamp") or mark
            kind, payload = text_of(record, "type"), record_of(record, "payload")
            self._who(kind, payload)
            if not self._thread.copying:
                envelopes += self._events(kind, payload) if self._place.at >= self._since else self._past(kind, payload)
        shown, self._shown = tuple(self._shown), []
        news = self._spoken.news(self._place, text_digest(mark)[:16]) if self._place.agent_id == MAIN else ()
        return Overheard(envelopes=(*news, *envelopes), shown=shown, parent=self._parent)

    def placed(self, heard: Heard) -> Heard:
        """The hook call with what the rollout knows better: calls that it told are not told again, and a result says
        whether its command went well."""
        kept: Events = []
        for envelope in heard.envelopes:
            call_id = envelope.call_id or ""
            match envelope.event_type:
                case EventType.TOOL_CALL if call_id in self._open or call_id in self._told:
                    continue
                case EventType.TOOL_RESULT if call_id:
                    if call_id in self._told:
                        continue
                    _remember(self._told, call_id, True)
                    self._open.pop(call_id, None)
                    kept.append(_amended(envelope, self._ended.pop(call_id, None)))
                case EventType.SESSION_CLIENT if self._version:
                    continue
                case EventType.USER_MESSAGE if envelope.event_id:
                    if envelope.event_id not in self._asked:  # two registrations tell it twice
                        turn = envelope.event_id.split(":")[1]
                        _remember(self._prompts, turn, self._prompts.get(turn, 0) + 1)
                    _remember(self._asked, envelope.event_id, True)
                    kept.append(envelope)
                case _:
                    kept.append(envelope)
        return msgspec.structs.replace(heard, envelopes=tuple(kept))

    def _who(self, kind: str, payload: Record) -> None:
        """Which version and model speak, and in which turn."""
        match kind:
            case "session_meta" if not self._thread.copying:
                self._version = text_of(payload, "cli_version") or self._version
                self._parent = self._parent or text_of(payload, "forked_from_id")
                self._spoken.note(self._version, "")
            case "turn_context":
                self._spoken.note("", text_of(payload, "model"))
                self._turn = text_of(payload, "turn_id") or self._turn
            case "event_msg" if text_of(payload, "type") == "task_started":
                self._turn = text_of(payload, "turn_id") or self._turn

    def _past(self, kind: str, payload: Record) -> Events:
        """Of what was before our time: what the model was shown and still sees, and how a tool's run ended."""
        if kind == "compacted":
            self._shown.clear()
        elif words.from_hook(payload):
            self._shown += words.texts_of(payload.get("content"))
        elif kind == "event_msg" and (run := words.finished(record_of(payload, "item") or payload)) is not None:
            _remember(self._ended, run.call_id, run)
        return []

    def _events(self, kind: str, payload: Record) -> Events:
        match kind:
            case "response_item":
                return self._item(payload)
            case "event_msg" if text_of(payload, "type") == "item_completed":
                return self._completed(record_of(payload, "item"), text_of(payload, "turn_id") or self._turn)
            case "event_msg":
                return self._completed(payload, text_of(payload, "turn_id") or self._turn)
            case "compacted":
                self._shown.clear()
                summary = text_of(payload, "message")
                mark = text_digest(f"{self._place.at}\n{summary}")[:32]
                ids = Ids(event=f"compact:{mark}")
                return [event(self._place, EventType.SESSION_COMPACT, {"text": summary}, ids)]
        return []

    def _item(self, item: Record) -> Events:
        match text_of(item, "type"):
            case "message" if words.from_hook(item):
                self._shown += words.texts_of(item.get("content"))
            case "message" if text_of(item, "role") == "user":
                return self._noted(item)
            case kind if kind in CALLS:
                return self._called(item)
            case kind if kind in OUTPUTS:
                return self._answered(item)
        return []

    def _completed(self, told: Record, turn: str) -> Events:
        """A message or a tool's run as an event tells it."""
        match text_of(told, "type"):
            case "AgentMessage" | "agent_message":
                texts = words.texts_of(told.get("content")) or [text_of(told, "message")]
                return self._replied("\n".join(texts).strip(), turn, text_of(told, "id"))
            case "UserMessage" | "user_message":
                texts = words.texts_of(told.get("content")) or [text_of(told, "message")]
                return self._prompted("\n".join(text for text in texts if text), turn)
            case "task_complete" if turn and self._place.agent_id == MAIN:
                return [event(self._place, EventType.TURN_END, {}, Ids(event=f"turn:{turn}:end"))]
            case "turn_aborted" if turn and self._place.agent_id == MAIN:
                return [aborted(self._place, turn)]
            case "thread_rolled_back" if self._place.agent_id == MAIN and (turns := words.rolled_back(told)):
                return [rolled_back(self._place, turns, f"{self._place.at}:{self._turn}")]
            case _:
                run = words.finished(told)
                if run is not None and run.call_id not in self._told:
                    _remember(self._ended, run.call_id, run)
        return []

    def _replied(self, text: str, turn: str, message_id: str) -> Events:
        if not text:
            return []
        earlier = self._said.get(f"{turn}\n{text_digest(text)}", 0)
        _remember(self._said, f"{turn}\n{text_digest(text)}", earlier + 1)
        return [reply(self._place, turn, text, message_id, earlier)]

    def _prompted(self, text: str, turn: str) -> Events:
        """A message of the user: told here only if no hook told it."""
        if self._prompts.get(turn, 0):
            self._prompts[turn] -= 1
            return []
        source = words.whose({}, text)
        if source is SourceKind.USER and self._place.agent_id != MAIN:
            source = SourceKind.AGENT  # a subagent's task
        return [words.prompt(self._place, turn, text, source)] if text.strip() else []

    def _noted(self, item: Record) -> Events:
        """What the harness says in the user's role in mid-session, as a subagent's report: no hook tells it."""
        text = "\n".join(words.texts_of(item.get("content")))
        if words.whose(item, text) is SourceKind.USER or not text.strip() or text.lstrip().startswith(PREAMBLE):
            return []
        return [words.prompt(self._place, self._turn, text, SourceKind.LIFECYCLE)]

    def _called(self, item: Record) -> Events:
        call_id = text_of(item, "call_id") or text_of(item, "id")
        name = words.called(item)
        given = item.get("arguments") or item.get("input") or item.get("action")
        if not call_id or call_id in self._told or words.is_look(name, given):
            return []
        payload = words.hooked_call(name, given)
        _remember(self._open, call_id, (name, given))
        return [event(self._place, EventType.TOOL_CALL, payload, Ids(event=f"call:{call_id}", call=call_id))]

    def _answered(self, item: Record) -> Events:
        """An output that the model saw. Its hook came before it, unless the tool has none or could not be run."""
        call_id, output = text_of(item, "call_id"), item.get("output")
        if call_id not in self._open or (self._open[call_id][0] in words.SHELLS and words.is_running(output)):
            return []
        name, given = self._open.pop(call_id)
        _remember(self._told, call_id, True)
        run = self._ended.pop(call_id, None)
        text, ok = words.outcome(output)
        ok = ok and (not words.could_not_run(output) if run is None else run.ok)
        payload = words.hooked_call(name, given)
        told = {key: payload[key] for key in ("tool", "path", "nativeTool")} | {"ok": ok, "text": text}
        ids = Ids(event=f"result:{call_id}", call=call_id)
        return [event(self._place, EventType.TOOL_RESULT, told, ids)]


def _amended(result: EventEnvelope, run: words.Finished | None) -> EventEnvelope:
    """A hook's result with what the rollout says of how it ended."""
    if run is None:
        return result
    payload: dict[str, object] = msgspec.json.decode(bytes(result.payload))
    if payload.get("ok") is False:
        return result
    payload["ok"] = run.ok
    if not run.ok:
        payload.pop("printed", None)
        if run.code:
            payload["text"] = f"Exit code {run.code}\n{payload.get('text', '')}".strip()
    return msgspec.structs.replace(result, payload=msgspec.Raw(msgspec.json.encode(payload)))


def _remember(kept: OrderedDict[str, T], key: str, value: T) -> None:
    """Put a value last; the oldest goes when there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > KEPT:
        kept.popitem(last=False)
