"""Replay labelled sessions through observer, runtime, gate, rank and confidence, without sockets and stores.

A record that the confidence gate chooses is handed over where a host like Claude Code asks next, once a context, if
that is soon enough. Poisoned records are taken out by the screen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from governance.screen import screen
from host.broker import BrokerPolicy
from host.contracts import Decision, Reason, Silence
from host.gate import GatePolicy, decide, settle
from host.replay import Surfaces
from host.runtime import RuntimePolicy, SessionRuntime
from recall.background import Background
from recall.confidence import Bar, ConfidencePolicy, confident
from recall.contracts import Candidate, EventType, RuntimeScope, Segment, SegmentKind
from recall.rank import RankPolicy, rank
from tests.calibration.corpus import Labelled
from tests.calibration.lexicon import Lexicon, candidate

BOUNDARIES = (EventType.TOOL_RESULT, EventType.USER_MESSAGE)
NOTHING = Silence(reason=Reason.NO_CONFIDENT_HIT)


@dataclass(frozen=True)
class Row:
    """One record handed over, where, and by which door. `decided`: the event whose pass chose it."""

    session: str
    decided: int
    seq: int
    memory_id: str
    door: str
    score: float
    text: str

    def prediction(self) -> dict[str, object]:
        """As the scorer of the set reads it."""
        return {"session": self.session, "seq": self.seq, "memories": [self.memory_id]}


@dataclass(frozen=True)
class Setting:
    """What a replay is run with."""

    policy: ConfidencePolicy = field(default_factory=ConfidencePolicy)
    answers: bool = True
    replies: bool = True  # False: as with a host whose transcript cannot be read
    calls: bool = True  # False: no pass about an act before it is made
    pauses: bool = False  # True: a packet expires while the user pauses, too; the host lets it wait


def replayed(session: Labelled, background: Background, setting: Setting) -> list[Row]:
    """What would have been handed over in one session."""
    store = Lexicon(eligible(session))
    scope = RuntimeScope(session_id=session.name, agent_id="main", workspace=session.project, user="user")
    runtime = SessionRuntime(scope, "main", RuntimePolicy())
    bar = Bar(setting.policy, background)
    rows: list[Row] = []
    places = asked(session, None if not setting.pauses else BrokerPolicy().ttl)
    for envelope in session.envelopes:
        if not setting.replies and envelope.event_type == "assistant/message":
            continue
        segment = runtime.take(envelope)
        if segment is not None:
            skipped = segment.kind is SegmentKind.CALL and not setting.calls
            chosen = None if skipped else _consider(segment, runtime, store, bar)
            place = places.get(envelope.event_seq)
            if chosen is not None and place is not None and (setting.answers or chosen.door == "evidence"):
                runtime.shown[chosen.memory_id] = chosen.text
                rows.append(replace(chosen, session=session.name, seq=place))
            runtime.note(segment)
    return rows


def asked(session: Labelled, patience: int | None) -> dict[int, int]:
    """Where the host asks next after each event, if that is within `patience` milliseconds (None: however late)."""
    surfaces = Surfaces()
    asks = [surfaces.after(one) is not None and one.event_type in BOUNDARIES for one in session.envelopes]
    found: dict[int, int] = {}
    place = None
    for one, is_asked in reversed(list(zip(session.envelopes, asks, strict=True))):
        place = one if is_asked else place
        if place is not None and (patience is None or place.timestamp - one.timestamp <= patience):
            found[one.event_seq] = place.event_seq
    return found


def eligible(session: Labelled) -> list[Candidate]:
    """Active, visible and unpoisoned records of a session's store."""
    ours = [one for one in session.memories if one["scope"] == "User" or one["workspace"] == session.project]
    active = [candidate(one, session.project) for one in ours if one["status"] == "active"]
    return [one for one in active if not any(finding.severity == "high" for finding in screen(one.payload))]


def poison_left(session: Labelled) -> list[str]:
    """Texts labelled as instruction-like which the screen lets through."""
    reasons = session.labels["neverReason"]
    assert isinstance(reasons, Mapping)
    return [one.payload for one in eligible(session) if reasons.get(one.memory_id) == "instruction-like"]


def _consider(segment: Segment, runtime: SessionRuntime, store: Lexicon, bar: Bar) -> Row | None:
    gated = decide(runtime.gate, runtime.window(segment.ts, True, segment), segment, GatePolicy())
    runtime.gate = gated.state
    if not isinstance(gated.answer, Decision):
        return None
    cue = gated.answer.cue
    ranked = rank(store.match(cue.terms, cue.limit), runtime.visible(), RankPolicy(), segment.ts)
    sure = confident(ranked, cue, runtime.noise(), store.statistics(cue.terms), bar)
    runtime.voted(sure.votes)
    runtime.gate = settle(runtime.gate, NOTHING, cue.retrieval_key, segment.context_version, GatePolicy())
    if gated.answer.intent != "retrieve" or not sure.ranked:
        return None
    best = sure.ranked[0]
    one = best.candidate
    return Row("", segment.event_seq, segment.event_seq, one.memory_id, best.reasons[-1], best.score, one.payload)
