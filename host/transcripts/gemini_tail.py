"""What is heard of a Gemini CLI session at hook time, and where its hook calls belong (pure).

Hooks tell prompts, calls and results, but name no message, no call and no agent. The transcript knows: the message
that makes a call is written before the call runs, and the message before a prompt stands there when the prompt is
told. The tools of one reply run side by side: a step ends where the next reply begins, not after each of them. A call
that starts a subagent is told when it begins and when it returns; what comes in between is not the session's own. That
a history was compressed no hook tells.
"""

from collections.abc import Iterable

import msgspec

from host.contracts import Heard
from host.steps import STEP_END
from host.transcripts import gemini_words as words
from host.transcripts.gemini import (
    MESSAGES,
    PATCH,
    answers,
    compressed,
    kind_of,
    patched,
    reply_text,
    shown_by,
    user_text,
)
from host.transcripts.records import MAIN, Ids, Place, Record, Spoken, event, millis, parse, text_of
from host.transcripts.tail import Overheard
from recall.contracts import EventEnvelope, EventType, Millis

TOLD_KEPT = 256  # names of hook calls, so that one that is told again is the same


class GeminiOverhearing:
    """The agent's texts, hooks' texts and compressions of one session's transcript; `placed` puts its hook calls right.

    Texts and compressions from before `since` (epoch ms) are not told.
    """

    def __init__(self, session_id: str, workspace: str, since: Millis = 0) -> None:
        self._place = Place(session_id=session_id, agent_id=MAIN, workspace=workspace)
        self._since = since
        self._anchor = words.START  # the message that was written last
        self._met: set[str] = set()  # the model's messages
        self._said: set[str] = set()  # those whose text is known
        self._replied = False  # since the last prompt
        self._summaries: set[str] = set()
        self._spoken = Spoken()
        self._delegated: dict[str, EventEnvelope] = {}  # calls that have started a subagent and not returned, by key
        self._told: dict[str, str] = {}  # a hook call as it was told -> its name
        self._names: set[str] = set()

    def hear(self, lines: Iterable[bytes]) -> Overheard:
        """The events and shown texts of further lines. What a compression among them has wiped is not shown."""
        envelopes: list[EventEnvelope] = []
        shown: list[str] = []
        for line in lines:
            record = parse(line) or {}
            kind = kind_of(record)
            if kind == PATCH:
                if (told := self._patched(record)) is not None:
                    shown.clear()
                    envelopes += told
            elif kind in MESSAGES:
                self._anchor = text_of(record, "id") or self._anchor
                if kind == "gemini":
                    envelopes += self._reply(record)
                else:
                    self._replied = self._replied and answers(record)
                    shown += shown_by(record)
        return Overheard(envelopes=tuple(envelopes), shown=tuple(shown))

    def placed(self, heard: Heard) -> Heard:
        """The hook call under the names that the transcript gives, and under the agent whose it is."""
        match heard.event:
            case "SessionStart" | "BeforeAgent":
                self._delegated.clear()
            case "BeforeTool":
                return self._delegating(heard)
            case "AfterTool":
                return self._returned(heard)
            case "AfterAgent":
                self._delegated.clear()
                if self._replied:  # the transcript has told it, message by message
                    own = [each for each in heard.envelopes if each.event_type != EventType.ASSISTANT_MESSAGE]
                    heard = msgspec.structs.replace(heard, envelopes=tuple(own))
        return msgspec.structs.replace(heard, envelopes=tuple(self._named(each) for each in heard.envelopes))

    def _patched(self, record: Record) -> list[EventEnvelope] | None:
        """What a patch tells; None when it compresses nothing."""
        summary = compressed(patched(record))
        if summary is None or text_of(summary, "id") in self._summaries:
            return None
        self._summaries.add(text_of(summary, "id"))
        place = self._at(summary)
        if place.at < self._since:
            return None
        ids = Ids(event=f"compact:{text_of(summary, 'id')}")
        return [event(place, EventType.SESSION_COMPACT, {"text": user_text(summary)}, ids)]

    def _reply(self, message: Record) -> list[EventEnvelope]:
        name, text, place = text_of(message, "id"), reply_text(message), self._at(message)
        self._spoken.note("", text_of(message, "model"))
        events = self._spoken.news(place, name)
        if name not in self._met and place.at >= self._since:
            events.append(event(place, STEP_END, {}, Ids(event=f"step:{name}")))
        self._met.add(name)
        if not text or name in self._said:
            return events
        self._said.add(name)
        self._replied = True
        if place.at < self._since:
            return events
        ids = Ids(event=f"reply:{name}", message=name or None)
        return [*events, event(place, EventType.ASSISTANT_MESSAGE, {"text": text}, ids)]

    def _at(self, record: Record) -> Place:
        at = millis(record.get("timestamp"))
        self._place = msgspec.structs.replace(self._place, at=self._place.at if at is None else at)
        return self._place

    def _delegating(self, heard: Heard) -> Heard:
        """A subagent begins: from here on calls are its own, until this one returns."""
        told = [self._named(each) for each in heard.envelopes]
        for raw, call in zip(heard.envelopes, list(told), strict=True):
            self._delegated[_key(raw.call_id)] = call
            told.append(self._lifecycle(call, EventType.AGENT_SPAWN, "start"))
        return msgspec.structs.replace(heard, envelopes=tuple(told))

    def _returned(self, heard: Heard) -> Heard:
        """A call has ended: one that started a subagent, a subagent's own, or one like any other."""
        if not heard.envelopes:
            return heard
        heard = msgspec.structs.replace(heard, ends_step=self._anchor not in self._met)
        call, result = heard.envelopes
        begun = self._delegated.pop(_key(call.call_id), None)
        if begun is not None:
            self._told[call.event_id or ""], self._told[call.call_id or ""] = begun.event_id or "", begun.call_id or ""
            stop = self._lifecycle(
                msgspec.structs.replace(begun, timestamp=call.timestamp), EventType.AGENT_STOP, "stop"
            )
            return msgspec.structs.replace(heard, envelopes=(stop, self._named(call), self._named(result)))
        own = (self._named(call), self._named(result))
        if not self._delegated:
            return msgspec.structs.replace(heard, envelopes=own)
        agent = _agent(next(reversed(self._delegated.values())))
        theirs = tuple(msgspec.structs.replace(each, agent_id=agent) for each in own)
        return msgspec.structs.replace(heard, envelopes=theirs, agent_id=agent, surface=None)

    def _lifecycle(self, call: EventEnvelope, event_type: EventType, edge: str) -> EventEnvelope:
        agent = _agent(call)
        place = Place(session_id=call.session_id, agent_id=agent, workspace=call.workspace, at=call.timestamp)
        return event(place, event_type, {}, Ids(event=f"{agent}:{edge}"))

    def _named(self, told: EventEnvelope) -> EventEnvelope:
        return msgspec.structs.replace(told, event_id=self._name(told.event_id), call_id=self._name(told.call_id))

    def _name(self, told: str | None) -> str | None:
        """The name that the transcript gives to what a hook has named by its time. The same call made twice by one
        message has two names, and told twice it has one."""
        kind, _, rest = (told or "").partition(":")
        key, _, stamp = rest.partition("@")
        if told is None or not stamp:
            return told
        if told not in self._told:
            repeated = 0
            while (name := words.placed(kind, self._anchor, key, repeated)) in self._names:
                repeated += 1
            self._told[told] = name
            self._names.add(name)
            if len(self._told) > TOLD_KEPT:
                self._names.discard(self._told.pop(next(iter(self._told))))
        return self._told[told]


def _key(call_id: str | None) -> str:
    """What a call's beginning and its end have in common: its tool and arguments."""
    return (call_id or "").partition("@")[0]


def _agent(call: EventEnvelope) -> str:
    """The name of the subagent that a call has started."""
    return f"agent:{(call.call_id or 'unnamed').removeprefix('tool:')}"
