"""The review queue as one table: how a proposal lives, and who may decide what (formation.md 7.1). Pure.

Theory of operation: an item is proposed once, under an id made of what it proposes. Its state changes only along
`TABLE`, each time by one revision, and a decision names the revision that it was made to. `quarantined` and the like
are flags of an item and no states: what a screen found only a person takes back.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from governance.contracts import Act as Act
from governance.contracts import Decision as Decision
from governance.contracts import Principal as Principal
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
    of what a tool or a page said; `unwanted`: an agent would have it forgotten; `truncated-evidence`: a message that it
    quotes was not shown whole; `recheck`: the user said otherwise after it was kept."""

    QUARANTINED = "quarantined"
    CORRECTED = "corrected"
    HIGH_RISK = "high-risk"
    UNUSED = "unused"
    DERIVED = "derived"
    CONFLICT = "conflict"
    UNWANTED = "unwanted"
    TRUNCATED_EVIDENCE = "truncated-evidence"
    RECHECK = "recheck"


class RefusalCode(StrEnum):
    """`wrong-state`: an item in this state takes no such decision; `reviewer-kind`: it does, but not from this one;
    `conflict`: it was decided upon meanwhile; `unknown-item`: there is none of that id; `evidence-stale`: a message
    that a note rests on is not what it was; `citation-invalid`: the new words are not what the quotes say;
    `stale-read`: a document was changed since."""

    WRONG_STATE = "wrong-state"
    REVIEWER_KIND = "reviewer-kind"
    CONFLICT = "conflict"
    UNKNOWN_ITEM = "unknown-item"
    EVIDENCE_STALE = "evidence-stale"
    CITATION_INVALID = "citation-invalid"
    STALE_READ = "stale-read"


class Refusal(Frozen, frozen=True, kw_only=True):
    """A decision that does not hold, and why."""

    code: RefusalCode
    problem: str


WORDS = "words"
REASON = "reason"
QUOTE = "quote"
CORRECTION = "correction"  # what the user said against a memory
EDITED = "edited"  # a target: the item's own words are to take the place of the memory's


class Citation(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """What a proposal rests on: `kind` says of what sort (`reuse`, `success`; `words`: the digest of what the memory
    said when it was proposed; `reason`: what an agent gave as its reason; `quote`: what somebody said), `ref` names it.

    Of a quote: `quote` word for word, `start` and `end` its code points in the message `ref`, the event `seq` of
    `session` (0: nobody knows), and who said it when (`at`: epoch ms)."""

    kind: str
    ref: str
    quote: str = ""
    start: int = 0
    end: int = 0
    session: str = ""
    seq: int = 0
    role: str = ""
    at: Millis = 0


class QueueItem(Frozen, frozen=True, kw_only=True):
    """One proposal. `record_id`: the memory that it is about, or that was made of it; then what holds is the text in
    the memory file, and the one here is what was proposed. `updates`: the memory that it would replace. `target`: what
    a promotion makes of it. `evidence`: what was counted when it was proposed."""

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


def may_commit(item: QueueItem) -> bool:
    """Whether the policy `auto` may commit it: it carries no flag, and is for one workspace. Whether it would replace
    what is a person's, the pipeline knows."""
    return not item.flags and bool(item.workspace_key)


def quotes_of(item: QueueItem) -> tuple[Citation, ...]:
    """What somebody said that the item rests on."""
    return tuple(one for one in item.citations if one.kind == QUOTE)


def words_of(title: str | None, text: str) -> Citation:
    """What a memory says, by its digest: a pin or a status changes nothing of it."""
    return Citation(kind=WORDS, ref=digest([title or "", text]))


def about(item: QueueItem, title: str | None, text: str) -> bool:
    """Whether the item was proposed of a memory that says this; one of no words in particular is of any."""
    cited = [one for one in item.citations if one.kind == WORDS]
    return not cited or words_of(title, text) in cited


LIVE = frozenset({State.PENDING, State.DEFERRED, State.COMMITTED, State.STAGED, State.KEPT})
WAITING = frozenset({State.PENDING, State.STAGED})  # for a person; what is deferred waits to be seen once more
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
    (State.KEPT, Act.EDIT_AND_KEEP): (State.KEPT, _HUMAN),  # a note that was kept may be put into better words
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


def decided(
    item: QueueItem, decision: Decision, text: str | None = None, record_id: str | None = None
) -> QueueItem | Refusal:
    """The item after a decision, or why it does not hold. `text`: what `edit-and-keep` puts in the place of its own.
    `record_id`: the memory that was made of it."""
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
        record_id=item.record_id if record_id is None else record_id,
        decisions=(*item.decisions, decision),
    )
