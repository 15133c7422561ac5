"""Events to turns: from one user-written message to the next (team.md 4). Pure.

A turn is sealed when a user-written message follows, or when its host said that it ended or was broken off. Going back
in a conversation leaves turns behind: they stay, and are not active. What a user asks of us alone, as to form memories,
ends a turn and is none.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from governance.team.contracts.turns import (
    Ineligible,
    ResultEvidence,
    Seal,
    TerminalState,
    Turn,
    TurnEvent,
)
from recall.canonical import digest, short_id
from recall.contracts import Frozen, Millis

LEAST_TURNS = 3  # hard-sealed and active, for a session to be worth reading
REST_MS: Millis = 300_000
REST_BOUNDS_MS = (60_000, 86_400_000)

Part = Literal["user", "assistant", "tool-call", "tool-result"]
Mark = Literal["ended", "aborted", "apart", "rewound", "rolled-back"]
PARTS: frozenset[str] = frozenset(["user", "assistant", "tool-call", "tool-result"])


class Heard(Frozen, frozen=True, kw_only=True):
    """An event as turns see it. A Mark is no part of a turn: `ended` and `aborted` say how the last one went, `apart`
    is a message that only asks something of us, `rewound` names the `events` that were left behind, `rolled-back` how
    many `turns`.

    `text`: clean. `digest`: SHA-256 of the payload as stored. `observed_at`: by the daemon's clock. `folder`: empty as
    long as it is the one before. `about`: what a call works on, so that two tries of one thing are seen as such.
    `whole`: the log cut nothing of it. `readable`: its payload could be read.
    """

    kind: Part | Mark
    event_seq: int
    event_id: str
    digest: str
    at: Millis
    observed_at: Millis
    text: str = ""
    name: str = ""
    native: str = ""
    call_id: str = ""
    about: str = ""
    ok: bool | None = None
    denied: bool = False
    folder: str = ""
    whole: bool = True
    readable: bool = True
    skills: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    turns: int = 0


class Use(Frozen, frozen=True, kw_only=True):
    """A tool's call in a turn. `tools`: its neutral name and its product's; `skills`: those that it loaded."""

    tools: tuple[str, ...]
    state: TerminalState
    about: str = ""
    skills: tuple[str, ...] = ()


class Recorded(Frozen, frozen=True, kw_only=True):
    """A turn as it is kept, with what a selection asks of it. Private.

    `seal_seq`: up to where every event must be there. `agent`: whose session it is. `observed`: when its messages came,
    by the daemon's clock. `left`: ids of events in between that its user went back on. `denied`: its user was
    incognito. `copied`: it repeats one of a session before. `conclusive`: it ends with words of the agent that ask
    nothing.
    """

    turn: Turn
    session_id: str
    folder: str
    seal_seq: int
    agent: str
    observed: tuple[Millis, ...]
    left: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()
    skills: tuple[str, ...] = ()
    denied: bool = False
    copied: bool = False
    conclusive: bool = False


class Session(Frozen, frozen=True, kw_only=True):
    """Whose events are cut. `agent`: its own one. `copied`: event_seqs that repeat an earlier session. `denied`: spans
    of event_seqs, both ends inside. `gaps`: event_seqs before which at least one is missing."""

    session_id: str
    session_key: str
    provider: str
    agent: str
    copied: frozenset[int] = frozenset()
    denied: tuple[tuple[int, int], ...] = ()
    gaps: tuple[int, ...] = ()


class _Open:
    """A turn that is being read."""

    def __init__(self, place: int, first: Heard, folder: str) -> None:
        self.place = place
        self.parts = [first]
        self.folder = folder
        self.active = True
        self.sealed = False
        self.seal_seq = first.event_seq
        self.outcome = ResultEvidence.UNKNOWN
        self.left: tuple[str, ...] = ()


def cut(heard: Iterable[Heard], session: Session) -> tuple[Recorded, ...]:
    """The turns of a session's own agent, in order, those that were left behind among them."""
    turns: list[_Open] = []
    current: _Open | None = None
    folder = ""
    left: set[str] = set()
    for event in heard:
        folder = event.folder or folder
        if event.kind in ("user", "apart"):
            _seal(current, event.event_seq)
            current = _Open(len(turns), event, folder) if event.kind == "user" else None
            turns += [current] if current is not None else []
        elif event.kind == "rewound":
            left.update(event.events)
        elif event.kind == "rolled-back":
            _seal(current, event.event_seq)
            _roll_back(turns, event.turns)
            current = None
        elif current is not None and event.kind in ("ended", "aborted"):
            _seal(current, event.event_seq)
            completed = event.kind == "ended"
            current.outcome = ResultEvidence.PROVIDER_COMPLETED if completed else ResultEvidence.ABANDONED
        elif current is not None:
            current.parts.append(event)
    for turn in turns:
        first, rest = turn.parts[0], turn.parts[1:]
        turn.active = turn.active and first.event_id not in left
        turn.left = tuple(part.event_id for part in rest if part.event_id in left)
        turn.parts = [first, *(part for part in rest if part.event_id not in left)]
    return tuple(_recorded(turn, session) for turn in turns)


def events_of(parts: Iterable[Heard]) -> tuple[TurnEvent, ...]:
    """The parts of a turn as they are read. A result has its call's state; a call that nothing answered is pending."""
    kept = list(parts)
    states = _states(kept)
    return tuple(
        TurnEvent(
            kind=part.kind,
            text=part.text,
            event_seq=part.event_seq,
            event_id=part.event_id,
            digest=part.digest,
            at=part.at,
            name=part.name,
            call_id=part.call_id,
            state=states.get(part.call_id or str(part.event_seq)) if part.kind.startswith("tool-") else None,
            whole=part.whole,
        )
        for part in kept
        if part.kind == "user" or part.kind == "assistant" or part.kind == "tool-call" or part.kind == "tool-result"
    )


def payload_digest(parts: Iterable[Heard | TurnEvent]) -> str:
    """Of what a turn holds: the digests of its events, in order."""
    return digest([[part.kind, part.digest] for part in parts if part.kind in PARTS])


def turn_key(session_id: str, first: Heard | TurnEvent) -> str:
    """A turn's private name: the same whenever the same events are read."""
    return short_id("turn_", {"session": session_id, "event": first.event_id or f"seq:{first.event_seq}"})


def ineligible(turns: Sequence[Recorded]) -> Ineligible | None:
    """Why nothing of a main session can be recalled; None: something may. What it repeats of another one counts here:
    it is one conversation with it."""
    recallable = [one for one in turns if one.turn.recallable]
    if recallable and all(one.denied for one in recallable):
        return Ineligible.DENIED
    return Ineligible.TOO_FEW_TURNS if sum(not one.denied for one in recallable) < LEAST_TURNS else None


def rested(turns: Sequence[Recorded], last_at: Millis, now: Millis, rest_ms: Millis = REST_MS) -> tuple[Recorded, ...]:
    """The turns, the last one quiescent when nothing came for long. That alone makes nothing recallable."""
    rest_ms = min(max(rest_ms, REST_BOUNDS_MS[0]), REST_BOUNDS_MS[1])
    if not turns or turns[-1].turn.seal is not Seal.OPEN or now - last_at < rest_ms:
        return tuple(turns)
    last = turns[-1]
    still = msgspec.structs.replace(last, turn=msgspec.structs.replace(last.turn, seal=Seal.QUIESCENT))
    return (*turns[:-1], still)


def _seal(turn: _Open | None, at: int) -> None:
    """Every event up to the first seal must be there; later ones belong to the turn as well."""
    if turn is not None and not turn.sealed:
        turn.sealed, turn.seal_seq = True, at


def _roll_back(turns: Sequence[_Open], count: int) -> None:
    active = [turn for turn in turns if turn.active]
    for turn in active[len(active) - min(count, len(active)) :]:
        turn.active = False


def _recorded(one: _Open, session: Session) -> Recorded:
    first, last = one.parts[0], one.parts[-1]
    seal_seq = max(one.seal_seq, last.event_seq)
    uses = _uses(one.parts)
    skills = tuple(sorted({name for part in one.parts for name in part.skills}))
    turn = Turn(
        turn_key=turn_key(session.session_id, first),
        session_key=session.session_key,
        provider=session.provider,
        place=one.place,
        first_seq=first.event_seq,
        last_seq=last.event_seq,
        at=first.at,
        seal=Seal.HARD_SEALED if one.sealed else Seal.OPEN,
        active=one.active,
        revision=1,
        payload_digest=payload_digest(one.parts),
        result_evidence=one.outcome,
        tools=tuple(sorted({name for use in uses for name in use.tools})),
        skills=skills,
        states=tuple(sorted({use.state for use in uses})),
        complete=all(part.readable for part in one.parts)
        and not any(first.event_seq < gap <= seal_seq for gap in session.gaps),
    )
    return Recorded(
        turn=turn,
        session_id=session.session_id,
        folder=one.folder,
        seal_seq=seal_seq,
        agent=session.agent,
        left=one.left,
        observed=tuple(sorted({part.observed_at for part in one.parts if part.kind in ("user", "assistant")})),
        uses=uses,
        skills=skills,
        denied=any(begin <= last.event_seq and first.event_seq <= end for begin, end in session.denied),
        copied=first.event_seq in session.copied,
        conclusive=last.kind == "assistant" and not last.text.rstrip().endswith(("?", "？")),
    )


def _states(parts: Sequence[Heard]) -> dict[str, TerminalState]:
    """How each call ended, by its id, or by its event_seq where it has none."""
    states: dict[str, TerminalState] = {}
    for part in parts:
        key = part.call_id or str(part.event_seq)
        if part.kind == "tool-call":
            states.setdefault(key, TerminalState.PENDING)
        elif part.kind == "tool-result":
            states[key] = _state(part)
    return states


def _state(result: Heard) -> TerminalState:
    if result.denied:
        return TerminalState.CANCELLED
    if result.ok is None:
        return TerminalState.UNKNOWN
    return TerminalState.COMPLETED if result.ok else TerminalState.FAILED


def _uses(parts: Sequence[Heard]) -> tuple[Use, ...]:
    """The calls of a turn in order; a result whose call was not heard stands for it."""
    states, met = _states(parts), set[str]()
    uses: list[Use] = []
    for part in parts:
        key = part.call_id or str(part.event_seq)
        if part.kind in ("tool-call", "tool-result") and key not in met:
            met.add(key)
            tools = tuple(sorted({part.name, part.native} - {""}))
            uses.append(Use(tools=tools, state=states[key], about=part.about, skills=part.skills))
    return tuple(uses)
