"""A session's events as the steps of its episodes, one list a workspace.

What the user said is his own words alone; of a call its line; of a result whether it went well, and of a failing one
the errors that it names. What was done incognito, or while a workspace was off, is told nowhere.
"""

from collections.abc import Callable, Sequence

import msgspec

from governance.episodes import Mood, Step, StepKind
from governance.evidence_words import confirms
from host.gate_words import corrects, error_names, is_acknowledgement
from host.hearsay import Hearsay
from host.observer import observe
from host.runtime import SESSION_SET, Wish
from recall.acts import SHELL, act_of, file_of, only_looks, sorts_of_error
from recall.contracts import EventEnvelope, EventPayload, EventType, Millis, Segment, SegmentKind, SourceKind

CHANGING = frozenset({"edit", "write"})
MOST_STEPS = 4_096  # of a workspace that are kept: the last ones
_wish = msgspec.json.Decoder(Wish)
_payload = msgspec.json.Decoder(EventPayload)
Asleep = Callable[[str, Millis], bool]  # (workspace key, time): nothing is noted there then


class Recount:
    """The steps of one session, as far as its events were taken. `key`: a folder's workspace."""

    def __init__(self, key: Callable[[str], str], asleep: Asleep) -> None:
        self._key = key
        self._asleep = asleep
        self._folders: dict[str, str] = {}
        self._at: dict[str, str] = {}  # agent -> the folder that it named last
        self._calls: dict[tuple[str, str], Segment] = {}
        self._hearsay: dict[str, Hearsay] = {}  # by agent
        self._told: set[tuple[str, str]] = set()  # calls of what an output had named
        self._incognito = False
        self.steps: dict[str, list[Step]] = {}

    def take(self, envelopes: Sequence[EventEnvelope]) -> None:
        """Fold the next envelopes in."""
        for envelope in envelopes:
            if envelope.workspace:
                self._at[envelope.agent_id] = envelope.workspace
            if envelope.event_type == SESSION_SET:
                self._incognito = _incognito(envelope, self._incognito)
            workspace = self._workspace(envelope.agent_id)
            if self._incognito or not workspace or self._asleep(workspace, envelope.observed_at):
                continue
            step = self._step(envelope)
            if step is not None:
                steps = self.steps.setdefault(workspace, [])
                steps.append(step)
                if len(steps) > 2 * MOST_STEPS:
                    del steps[1 : len(steps) - MOST_STEPS]  # how it began is kept

    def _workspace(self, agent_id: str) -> str:
        folder = self._at.get(agent_id, "")
        if folder not in self._folders:
            self._folders[folder] = self._key(folder) if folder else ""
        return self._folders[folder]

    def _step(self, envelope: EventEnvelope) -> Step | None:
        segment, at = observe(envelope, 0), envelope.observed_at
        if envelope.event_type == EventType.TOOL_RESULT:  # one that says nothing says how it ended all the same
            call = self._calls.pop((envelope.agent_id, envelope.call_id or ""), None)
            text = "" if segment is None else segment.text
            ended, whole = _result(envelope)
            self._hearsay.setdefault(envelope.agent_id, Hearsay()).printed(whole or text)
            told = (envelope.agent_id, envelope.call_id or "") in self._told
            self._told.discard((envelope.agent_id, envelope.call_id or ""))
            return Step(kind=StepKind.OTHER, at=at) if call is None else _done(call, text, ended, at, told=told)
        if segment is None:
            return None
        if segment.kind is SegmentKind.CALL:
            self._calls[segment.agent_id, segment.call_id or ""] = segment
            hearsay = self._hearsay.setdefault(segment.agent_id, Hearsay())
            if segment.tool == SHELL and hearsay.told(segment.text):
                self._told.add((segment.agent_id, segment.call_id or ""))
        if segment.kind is not SegmentKind.PROMPT or segment.source_kind is not SourceKind.USER:
            return Step(kind=StepKind.OTHER, at=at)
        self._hearsay.setdefault(envelope.agent_id, Hearsay()).said(segment.text)
        said = "" if is_acknowledgement(segment.text) else segment.text
        return Step(kind=StepKind.SAID, at=at, said=said, mood=_mood(segment.text))


def _result(result: EventEnvelope) -> tuple[bool | None, str]:
    """Whether a call went well, as its result says, and all that it printed."""
    try:
        payload = _payload.decode(result.payload)
    except msgspec.DecodeError:
        return None, ""
    return payload.ok, payload.text or ""


def _done(call: Segment, text: str, ok: bool | None, at: Millis, *, told: bool) -> Step:
    act = act_of(call.tool or "", call.text, call.path)
    names = error_names(text) if ok is False else ()
    return Step(
        kind=StepKind.DONE,
        at=at,
        act=act,
        ok=ok,
        names=names,
        sorts=tuple(sort for sort in sorts_of_error(text) if sort not in names) if ok is False else (),
        looks=only_looks(act),
        told=told,
        changed=file_of(call.path) if call.path and call.tool in CHANGING else "",
    )


def _mood(text: str) -> Mood:
    if corrects(text):
        return Mood.CORRECTS
    return Mood.AGREES if confirms(text) else Mood.NONE


def _incognito(envelope: EventEnvelope, before: bool) -> bool:
    try:
        wish = _wish.decode(envelope.payload)
    except msgspec.DecodeError:
        return before
    return before if wish.incognito is None else wish.incognito
