"""Candidates as items of the review queue: one row each, moved in the same transaction (formation.md 7.1, team.md 12).

The item's id is the candidate's. A draft has no item: it waits for nobody. What an agent discards it may stage again,
so no grave is dug for it; what a *person* said no to, or had forgotten, is not staged in the same words.
"""

import sqlite3

import msgspec

from governance.formation.queue import Queue, screened
from governance.formation.store import items
from governance.review import (
    LIVE,
    Act,
    Citation,
    Decision,
    ItemFlag,
    ItemKind,
    Principal,
    QueueItem,
    Refusal,
    State,
    decided,
)
from governance.team import privates
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.rows import Candidate, CandidateState
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, plans
from recall.contracts import Frozen, Millis

PIPELINE = "team"
LONGEST_TITLE = 120
_FLAGS = {flag.value: flag for flag in ItemFlag}
_ACTORS = {"user": Principal.HUMAN}


class Proposal(Frozen, frozen=True, kw_only=True):
    """What a person reads of a candidate in the queue."""

    kind: ItemKind
    title: str
    text: str
    citations: tuple[Citation, ...] = ()


def proposal_of(content: str, citations: tuple[Citation, ...] = ()) -> Proposal:
    """Of an entry."""
    line = " ".join(content.split())
    title = line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"
    return Proposal(kind=ItemKind.ENTRY, title=title, text=content, citations=citations)


def item_of(candidate: Candidate, proposal: Proposal, bound: Bound, call: Call) -> QueueItem:
    """The item of a candidate that is staged."""
    private = [target.id for target in candidate.supersedes if target.source_kind == "private"]
    item = QueueItem(
        item_id=candidate.candidate_id,
        kind=proposal.kind,
        pipeline=PIPELINE,
        workspace_key=bound.workspace_key,
        created_at=call.now,
        state=State.STAGED,
        title=proposal.title,
        text=proposal.text,
        citations=proposal.citations,
        flags=tuple(_FLAGS[flag] for flag in candidate.flags if flag in _FLAGS),
        proposed_by=call.agent or str(_actor(call)),
        related_to=tuple(private),
        target=candidate.target_path,
    )
    return screened(item)


def staged(connection: sqlite3.Connection, candidate: Candidate, proposal: Proposal, bound: Bound, call: Call) -> None:
    """Put the item of a candidate in that is staged now; one that stands there stays."""
    if items.get(connection, candidate.candidate_id) is None:
        items.insert(connection, item_of(candidate, proposal, bound, call))


def promote(connection: sqlite3.Connection, queue: Queue, candidate: Candidate, call: Call) -> Candidate:
    """A staged candidate is written: promoted at its next revision, searched no more, its item too; private records
    that it takes the place of are superseded. `candidate`: as it stands in its row, its `plan_id` set. The candidate
    after it.

    Raises TeamFault `candidate-stale`, and StateFault (`state-corrupt`).
    """
    after = _ended(candidate, CandidateState.PROMOTED, candidate.reason, call.now)
    candidates.change(connection, after)
    _end(connection, candidate.candidate_id, Act.APPLY, "", call)
    private = [target.id for target in candidate.supersedes if target.source_kind == "private"]
    privates.supersede(connection, queue, private, candidate.memory_id, call.now)
    return after


def discard(connection: sqlite3.Connection, candidate: Candidate, reason: str, call: Call) -> Candidate:
    """A draft or staged candidate is put away, its item with it. The candidate after it.

    Raises TeamFault `candidate-stale`; `plan-state-invalid`: an approved plan holds it.
    """
    plans.free(connection, [candidate.candidate_id])
    after = _ended(candidate, CandidateState.DISCARDED, reason, call.now)
    candidates.change(connection, after)
    _end(connection, candidate.candidate_id, Act.DISCARD, reason, call)
    return after


def shared(connection: sqlite3.Connection, queue: Queue, item: QueueItem, call: Call) -> QueueItem:
    """Write down that a kept or committed item was shared: it stays as it is until what comes of it is promoted.

    Raises TeamFault `candidate-stale`: it is kept or committed no more.
    """
    decision = Decision(actor=_actor(call), kind=Act.SHARE, at=call.now, expected_revision=item.revision)
    done = queue.decision(connection, item.item_id, decision)
    if isinstance(done, Refusal):
        raise TeamFault(
            Kind.CANDIDATE_STALE,
            f"The item {item.item_id} cannot be shared: {done.problem}",
            "Share items that are kept or committed.",
        )
    return done


def said_no(connection: sqlite3.Connection, queue: Queue, item: QueueItem) -> bool:
    """Whether a person said no to these very words, or had them forgotten."""
    return queue.said_no(connection, item)


def _end(connection: sqlite3.Connection, item_id: str, act: Act, reason: str, call: Call) -> None:
    """Decide about the item of a candidate. There is none of a draft, and a decided one stays as it is."""
    item = items.get(connection, item_id)
    if item is None or item.state not in LIVE:
        return
    decision = Decision(actor=_actor(call), kind=act, at=call.now, expected_revision=item.revision, reason=reason)
    done = decided(item, decision)
    if not isinstance(done, Refusal):
        items.change(connection, done, decision)


def _ended(candidate: Candidate, state: CandidateState, reason: str, at: Millis) -> Candidate:
    return msgspec.structs.replace(
        candidate, state=state, revision=candidate.revision + 1, reason=reason, changed_at=at
    )


def _actor(call: Call) -> Principal:
    return _ACTORS.get(call.principal, Principal.AGENT)
