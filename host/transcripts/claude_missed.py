"""What a Claude Code transcript holds that no hook has told: prompts, calls and results (pure).

Two things are missing in hooks. While the daemon was down nobody heard them; it is back, and the session goes on. And
a call that was refused has none: not allowed, blocked by another hook, or wrongly made. What is told here has the ids
that the hooks would have given it: what a hook told just before, or tells just now, stays one event. Only the main
agent's part is read; subagents have files of their own.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from host.contracts import Heard
from host.transcripts.claude import ClaudeReader
from host.transcripts.records import MAIN, parse, sound, text_of
from recall.canonical import text_digest
from recall.contracts import EventEnvelope, EventPayload, EventType, Millis, SourceKind

KEPT = 512  # calls that are remembered
T = TypeVar("T")
_payload = msgspec.json.Decoder(EventPayload)


class Missed:
    """One session's transcript beside its hooks. `since` (epoch ms): what is older was told, or is not news."""

    def __init__(self, session_id: str, workspace: str, since: Millis) -> None:
        self._session = session_id
        self._workspace = workspace
        self._since = since
        self._reader = ClaudeReader(session_id)
        self._prompt_id = ""
        self._first = True
        self._calls: OrderedDict[str, EventEnvelope] = OrderedDict()
        self._told: OrderedDict[str, bool] = OrderedDict()  # calls whose result is told
        self._refused: list[EventEnvelope] = []  # results that a hook may tell yet

    def note(self, heard: Heard) -> None:
        """A hook told this."""
        for one in heard.envelopes:
            if one.event_type == EventType.TOOL_RESULT and one.call_id:
                self._remember(one.call_id)

    def hear(self, lines: Iterable[bytes]) -> list[EventEnvelope]:
        """Of the first lines all that is news. Of later ones results that went wrong and that no hook has told until
        the next reading, each with its call."""
        first, self._first = self._first, False
        waited, self._refused = self._refused, []
        found = [one for result in waited if result.call_id not in self._told for one in self._whole(result)]
        for event in self._events(lines):
            if event.timestamp <= self._since:
                continue
            if first:
                found.append(event)
                self._remember(event.call_id if event.event_type == EventType.TOOL_RESULT else None)
            elif event.event_type == EventType.TOOL_RESULT and _payload.decode(event.payload).ok is False:
                self._refused.append(event)
        return found

    def _events(self, lines: Iterable[bytes]) -> Iterator[EventEnvelope]:
        """The main agent's calls and results, and what its user typed, as of the live session."""
        for line in lines:
            if b'"promptId"' in line:
                self._prompt_id = text_of(parse(line) or {}, "promptId") or self._prompt_id
            for event in self._reader.feed(line):
                by_hand = event.event_type == EventType.USER_MESSAGE and event.source_kind is SourceKind.USER
                if event.agent_id != MAIN:
                    continue
                if event.event_type == EventType.TOOL_CALL and event.call_id:
                    _bounded(self._calls, event.call_id, self._placed(event, event.event_id))
                if event.event_type in (EventType.TOOL_CALL, EventType.TOOL_RESULT):
                    yield self._placed(event, event.event_id)
                elif by_hand and self._prompt_id:
                    digest = text_digest(sound(_payload.decode(event.payload).text))[:16]
                    yield self._placed(event, f"prompt:{self._prompt_id}:{digest}")  # as the prompt's hook names it

    def _whole(self, result: EventEnvelope) -> Iterator[EventEnvelope]:
        """A result after its call, which is told by then."""
        call = self._calls.get(result.call_id or "")
        self._remember(result.call_id)
        yield from (result,) if call is None else (call, result)

    def _placed(self, event: EventEnvelope, event_id: str | None) -> EventEnvelope:
        """The event in its session and workspace; turns and steps were counted from the middle of the file."""
        return msgspec.structs.replace(
            event, event_id=event_id, session_id=self._session, workspace=self._workspace, turn=None, step=None
        )

    def _remember(self, call_id: str | None) -> None:
        if call_id:
            _bounded(self._told, call_id, True)


def _bounded(kept: OrderedDict[str, T], key: str, value: T) -> None:
    kept[key] = value
    if len(kept) > KEPT:
        kept.popitem(last=False)
