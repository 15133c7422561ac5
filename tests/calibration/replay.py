"""Replay labelled sessions through observer, runtime, gate, rank and confidence, without sockets and stores.

A record that the confidence gate chooses counts as handed over at that event, once a context. Poisoned records are
taken out by the screen when it is there, else by their label.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from governance.screen import screen
from host.contracts import Decision, Reason, Silence
from host.gate import GatePolicy, decide, settle
from host.runtime import RuntimePolicy, SessionRuntime
from recall.background import Background
from recall.confidence import Bar, ConfidencePolicy, confident
from recall.contracts import Candidate, RuntimeScope, Segment
from recall.rank import RankPolicy, rank
from tests.calibration.corpus import Labelled
from tests.calibration.lexicon import Lexicon, candidate

NOTHING = Silence(reason=Reason.NO_CONFIDENT_HIT)


@dataclass(frozen=True)
class Row:
    """One record handed over after an event, and by which door."""

    session: str
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


def replayed(session: Labelled, background: Background, setting: Setting) -> list[Row]:
    """What would have been handed over in one session."""
    store = Lexicon(eligible(session))
    scope = RuntimeScope(session_id=session.name, agent_id="main", workspace=session.project, user="user")
    runtime = SessionRuntime(scope, "main", RuntimePolicy())
    bar = Bar(setting.policy, background)
    rows: list[Row] = []
    for envelope in session.envelopes:
        if not setting.replies and envelope.event_type == "assistant/message":
            continue
        segment = runtime.take(envelope)
        if segment is not None:
            chosen = _consider(segment, runtime, store, bar)
            if chosen is not None and (setting.answers or chosen.door == "evidence"):
                runtime.shown[chosen.memory_id] = chosen.text
                rows.append(replace(chosen, session=session.name))
            runtime.note(segment)
    return rows


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
    return Row("", segment.event_seq, one.memory_id, best.reasons[-1], best.score, one.payload)
