"""Turns: what a user said, and all that came of it until they spoke again (team.md 4)."""

from enum import StrEnum
from typing import Literal

from recall.contracts import Frozen, Millis


class Seal(StrEnum):
    HARD_SEALED = "hard-sealed"  # a user message follows, or the host recorded the turn's end or abort
    QUIESCENT = "quiescent"  # the last one of a source that has been still for long
    OPEN = "open"


class ResultEvidence(StrEnum):
    PROVIDER_COMPLETED = "provider-completed"
    ABANDONED = "abandoned"
    UNKNOWN = "unknown"


class TerminalState(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Strength(StrEnum):
    """How firmly evidence is tied to a turn, strongest first. Ours alone: never shown to the agent."""

    DIRECT = "direct"
    OBSERVED = "observed"
    CANDIDATE = "candidate"
    CONTEXTUAL = "contextual"
    UNKNOWN = "unknown"


STRENGTHS = tuple(Strength)


class Support(StrEnum):
    UNVERIFIED = "unverified"
    TYPED_FACT = "typed-fact"
    HUMAN_CONFIRMED = "human-confirmed"
    MIXED = "mixed"  # of an entry whose statements differ


class Ineligible(StrEnum):
    """Why no turn of a session can be recalled."""

    TOO_FEW_TURNS = "too-few-turns"
    SUBAGENT = "subagent"
    OWN_RUNNER = "own-runner"
    OTHER_WORKTREE = "other-worktree"
    DENIED = "denied"  # incognito, or formation is off there


class TurnEvent(Frozen, frozen=True, kw_only=True):
    """One part of a turn, its text as stored (secrets are placeholders). `name`, `state`: of a tool's call. `whole`:
    False when the log itself cut the text."""

    kind: Literal["user", "assistant", "tool-call", "tool-result"]
    text: str
    event_seq: int
    event_id: str
    digest: str
    at: Millis
    name: str = ""
    call_id: str = ""
    state: TerminalState | None = None
    whole: bool = True


class Turn(Frozen, frozen=True, kw_only=True):
    """`turn_key`: made of the session and the first event's id; private. `revision`: 1, and one more for each time that
    its payload was found changed. `payload_digest`: over the digests of its events, in order."""

    turn_key: str
    session_key: str
    provider: str  # the host's adapter
    place: int  # in its session, from 0
    first_seq: int
    last_seq: int
    at: Millis  # of the user's message
    seal: Seal
    active: bool  # not rewound
    revision: int
    payload_digest: str
    result_evidence: ResultEvidence = ResultEvidence.UNKNOWN
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    states: tuple[TerminalState, ...] = ()  # of its calls
    complete: bool = True  # every event from start to seal is stored and its digest is right

    @property
    def recallable(self) -> bool:
        return self.seal is Seal.HARD_SEALED and self.active


class TurnContent(Frozen, frozen=True, kw_only=True):
    """A turn whole. `session_id`: the product's own name of its session; `folder`: where it ran, as the product spells
    it. Both are told to nobody, and taken out of texts."""

    turn: Turn
    events: tuple[TurnEvent, ...]
    session_id: str = ""
    folder: str = ""


class Commit(Frozen, frozen=True, kw_only=True):
    """A commit that a turn made or named. `paths`: what it changed, relative to the repository."""

    commit: str  # the full hash
    at: Millis
    paths: tuple[str, ...] = ()


class Edge(Frozen, frozen=True, kw_only=True):
    """What a turn is tied to: a commit, or a path of the repository that it changed."""

    kind: Literal["commit", "path"]
    target: str
    strength: Strength


class SessionTurns(Frozen, frozen=True, kw_only=True):
    """A session of this worktree with its matched turns, in order. `score`: by team.md 4; sessions come best first."""

    session_key: str
    provider: str
    turns: tuple[Turn, ...]
    score: int = 0


class RejectedSessions(Frozen, frozen=True, kw_only=True):
    reason: Ineligible
    count: int


class Selection(Frozen, frozen=True, kw_only=True):
    """What a request found. `sessions`: best first."""

    sessions: tuple[SessionTurns, ...]
    rejected: tuple[RejectedSessions, ...]
    matched: int  # turns
