"""The review queue as one table: how a proposal lives, and who may decide what (formation.md 7.1). Pure.

Theory of operation: an item is proposed once, under an id made of what it proposes. Its state changes only along
`TABLE`, each time by one revision, and a decision names the revision that it was made to. `quarantined` and the like
are flags of an item and no states: what a screen found only a person takes back.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from recall.canonical import digest
from recall.contracts import Frozen, Millis


class State(StrEnum):
    PENDING = "pending"
    DEFERRED = "deferred"
    COMMITTED = "committed"
    STAGED = "staged"
    KEPT = "kept"
    ARCHIVED = "archived"
    EXPIRED = "expired"
    PROMOTED = "promoted"
    DISCARDED = "discarded"
    SUPERSEDED = "superseded"


class ItemKind(StrEnum):
    NOTE = "note"
    MEMORY = "memory"
    ENTRY = "entry"
    SCENE = "scene"
    DOCTRINE = "doctrine"
    SKILL = "skill"
    PROMOTION = "promotion"


class ItemFlag(StrEnum):
    """Why an item needs a person. `quarantined`: the screen kept it back; `corrected`: somebody said that it is wrong;
    `high-risk`: it tells of something that cannot be undone; `unused`: nobody used it for long; `derived`: it was made
    of what a tool or a page said; `unwanted`: an agent would have it forgotten."""

    QUARANTINED = "quarantined"
    CORRECTED = "corrected"
    HIGH_RISK = "high-risk"
    UNUSED = "unused"
    DERIVED = "derived"
    CONFLICT = "conflict"
    UNWANTED = "unwanted"


class Act(StrEnum):
    """What can happen to an item."""

    PROPOSE = "propose"
    DEFER = "defer"
    COMMIT = "commit"
    STAGE = "stage"
    MEET_FLOOR = "meet-floor"
    EXPIRE = "expire"
    KEEP = "keep"
    EDIT_AND_KEEP = "edit-and-keep"
    ARCHIVE = "archive"
    SHARE = "share"
    APPLY = "apply"
    DISCARD = "discard"
    SUPERSEDE = "supersede"


class Principal(StrEnum):
    """Who acts. `human`: a person at a terminal; `agent`: whoever speaks out of an agent's session."""

    HUMAN = "human"
    AGENT = "agent"
    ENGINE = "engine"
    POLICY = "policy"
    PIPELINE = "pipeline"


class RefusalCode(StrEnum):
    """`wrong-state`: an item in this state takes no such decision; `reviewer-kind`: it does, but not from this one;
    `conflict`: it was decided upon meanwhile; `unknown-item`: there is none of that id."""

    WRONG_STATE = "wrong-state"
    REVIEWER_KIND = "reviewer-kind"
    CONFLICT = "conflict"
    UNKNOWN_ITEM = "unknown-item"


class Refusal(Frozen, frozen=True, kw_only=True):
    """A decision that does not hold, and why."""

    code: RefusalCode
    problem: str


class Decision(Frozen, frozen=True, kw_only=True):
    """One decision that was made. `expected_revision`: of the item that it was made to."""

    actor: Principal
    kind: Act
    at: Millis
    expected_revision: int
    reason: str = ""


WORDS = "words"
REASON = "reason"
EDITED = "edited"  # a target: the item's own words are to take the place of the memory's


class Citation(Frozen, frozen=True, kw_only=True):
    """What a proposal rests on: `kind` says of what sort (`reuse`, `success`; `words`: the digest of what the memory
    said when it was proposed; `reason`: what an agent gave as its reason), `ref` names it."""

    kind: str
    ref: str


class QueueItem(Frozen, frozen=True, kw_only=True):
    """One proposal. `record_id`: the memory that it is about; then its text stands in the memory file and not here, but
    for other words that are proposed (`EDITED`). `target`: what a promotion makes of it. `evidence`: what was counted
    when it was proposed."""

    item_id: str
    kind: ItemKind
    pipeline: str
    workspace_key: str  # empty: of the user, whatever the workspace
    created_at: Millis
    state: State = State.PENDING
    revision: int = 1
    changed_at: Millis = 0
    title: str = ""
    text: str = ""
    citations: tuple[Citation, ...] = ()
    flags: tuple[ItemFlag, ...] = ()
    proposed_by: str = ""
    conversation_key: str | None = None
    updates: str | None = None
    related_to: tuple[str, ...] = ()
    record_id: str | None = None
    target: str = ""
    evidence: dict[str, int] = {}
    decisions: tuple[Decision, ...] = ()


def words_of(title: str | None, text: str) -> Citation:
    """What a memory says, by its digest: a pin or a status changes nothing of it."""
    return Citation(kind=WORDS, ref=digest([title or "", text]))


def about(item: QueueItem, title: str | None, text: str) -> bool:
    """Whether the item was proposed of a memory that says this; one of no words in particular is of any."""
    cited = [one for one in item.citations if one.kind == WORDS]
    return not cited or words_of(title, text) in cited


LIVE = frozenset({State.PENDING, State.DEFERRED, State.COMMITTED, State.STAGED, State.KEPT})
WAITING = frozenset({State.PENDING, State.DEFERRED, State.STAGED})  # for somebody
ANYBODY = frozenset(Principal)
_HUMAN = frozenset({Principal.HUMAN})
_ENGINE = frozenset({Principal.ENGINE})
_TEAM = frozenset({Principal.HUMAN, Principal.AGENT})

Row = tuple[State, frozenset[Principal]]
TABLE: Mapping[tuple[State | None, Act], Row] = {
    (None, Act.PROPOSE): (State.PENDING, frozenset({Principal.PIPELINE})),
    (None, Act.DEFER): (State.DEFERRED, _ENGINE),
    (None, Act.COMMIT): (State.COMMITTED, frozenset({Principal.POLICY})),
    (None, Act.STAGE): (State.STAGED, frozenset({Principal.AGENT})),
    (State.DEFERRED, Act.MEET_FLOOR): (State.COMMITTED, _ENGINE),
    (State.DEFERRED, Act.EXPIRE): (State.EXPIRED, _ENGINE),
    **{
        (state, act): (State.KEPT, _HUMAN)
        for state in (State.PENDING, State.COMMITTED, State.ARCHIVED)
        for act in (Act.KEEP, Act.EDIT_AND_KEEP)
    },
    **{
        (state, Act.ARCHIVE): (State.ARCHIVED, _HUMAN)
        for state in (State.PENDING, State.DEFERRED, State.COMMITTED, State.KEPT)
    },
    **{(state, Act.SHARE): (state, _TEAM) for state in (State.KEPT, State.COMMITTED)},  # the new entry is staged
    (State.STAGED, Act.APPLY): (State.PROMOTED, _TEAM),
    (State.STAGED, Act.DISCARD): (State.DISCARDED, _TEAM),
    **{(state, Act.SUPERSEDE): (State.SUPERSEDED, ANYBODY) for state in sorted(LIVE)},
}


_SAID = {Principal.HUMAN: "a person", Principal.AGENT: "an agent"}  # of the others, their names


def after(state: State | None, act: Act, actor: Principal) -> State | Refusal:
    """The state that follows, or why there is none. `None`: the item does not exist yet."""
    row = TABLE.get((state, act))
    if row is None:
        known = " or ".join(sorted(other for other, (to, _) in _open(state)))
        problem = f"An item that is {state or 'not proposed yet'} takes no {act}" + (
            f", only {known}." if known else "."
        )
        return Refusal(code=RefusalCode.WRONG_STATE, problem=problem)
    to, actors = row
    if actor not in actors:
        may = " or ".join(_SAID.get(one, one) for one in sorted(actors))
        problem = f"To {act} is for {may} to decide, not for {_SAID.get(actor, actor)}."
        return Refusal(code=RefusalCode.REVIEWER_KIND, problem=problem)
    return to


def _open(state: State | None) -> list[tuple[Act, Row]]:
    return [(act, row) for (from_, act), row in TABLE.items() if from_ is state and act is not Act.SUPERSEDE]


def decided(item: QueueItem, decision: Decision, text: str | None = None) -> QueueItem | Refusal:
    """The item after a decision, or why it does not hold. `text`: what `edit-and-keep` puts in the place of its own."""
    if decision.expected_revision != item.revision:
        problem = f"The item was changed meanwhile: it stands at revision {item.revision}."
        return Refusal(code=RefusalCode.CONFLICT, problem=problem)
    to = after(item.state, decision.kind, decision.actor)
    if isinstance(to, Refusal):
        return to
    return msgspec.structs.replace(
        item,
        state=to,
        revision=item.revision + 1,
        changed_at=decision.at,
        text=item.text if text is None else text,
        decisions=(*item.decisions, decision),
    )
