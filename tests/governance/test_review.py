"""The queue's table: what may follow what, and who may say so."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.review import (
    LIVE,
    TABLE,
    Act,
    Citation,
    Decision,
    ItemKind,
    Principal,
    QueueItem,
    Refusal,
    RefusalCode,
    State,
    about,
    after,
    decided,
    words_of,
)
from tests.support.clock import START

ITEM = QueueItem(
    item_id="rev_1", kind=ItemKind.NOTE, pipeline="notes", workspace_key="ws", created_at=START, text="Use pnpm."
)


def a_decision(kind: Act = Act.KEEP, actor: Principal = Principal.HUMAN, revision: int = 1) -> Decision:
    return Decision(actor=actor, kind=kind, at=START + 5, expected_revision=revision, reason="because")


@pytest.mark.parametrize(
    ("state", "act", "actor", "then"),
    [
        (None, Act.PROPOSE, Principal.PIPELINE, State.PENDING),
        (None, Act.DEFER, Principal.ENGINE, State.DEFERRED),
        (None, Act.COMMIT, Principal.POLICY, State.COMMITTED),
        (None, Act.STAGE, Principal.AGENT, State.STAGED),
        (State.DEFERRED, Act.MEET_FLOOR, Principal.ENGINE, State.COMMITTED),
        (State.DEFERRED, Act.EXPIRE, Principal.ENGINE, State.EXPIRED),
        (State.PENDING, Act.KEEP, Principal.HUMAN, State.KEPT),
        (State.COMMITTED, Act.EDIT_AND_KEEP, Principal.HUMAN, State.KEPT),
        (State.KEPT, Act.ARCHIVE, Principal.HUMAN, State.ARCHIVED),
        (State.DEFERRED, Act.ARCHIVE, Principal.HUMAN, State.ARCHIVED),
        (State.ARCHIVED, Act.KEEP, Principal.HUMAN, State.KEPT),
        (State.KEPT, Act.SHARE, Principal.AGENT, State.KEPT),
        (State.STAGED, Act.APPLY, Principal.HUMAN, State.PROMOTED),
        (State.STAGED, Act.DISCARD, Principal.AGENT, State.DISCARDED),
        (State.PENDING, Act.SUPERSEDE, Principal.POLICY, State.SUPERSEDED),
        (State.PENDING, Act.KEEP, Principal.AGENT, RefusalCode.REVIEWER_KIND),
        (State.PENDING, Act.ARCHIVE, Principal.POLICY, RefusalCode.REVIEWER_KIND),
        (State.COMMITTED, Act.KEEP, Principal.ENGINE, RefusalCode.REVIEWER_KIND),
        (State.DEFERRED, Act.KEEP, Principal.HUMAN, RefusalCode.WRONG_STATE),
        (State.ARCHIVED, Act.ARCHIVE, Principal.HUMAN, RefusalCode.WRONG_STATE),
        (State.SUPERSEDED, Act.KEEP, Principal.HUMAN, RefusalCode.WRONG_STATE),
        (State.PROMOTED, Act.SUPERSEDE, Principal.HUMAN, RefusalCode.WRONG_STATE),
        (None, Act.KEEP, Principal.HUMAN, RefusalCode.WRONG_STATE),
    ],
)
def test_what_follows(state: State | None, act: Act, actor: Principal, then: State | RefusalCode) -> None:
    done = after(state, act, actor)
    assert (done.code if isinstance(done, Refusal) else done) == then


def test_a_refusal_says_what_is_possible() -> None:
    refused = after(State.ARCHIVED, Act.ARCHIVE, Principal.HUMAN)
    assert isinstance(refused, Refusal)
    assert refused.problem == "An item that is archived takes no archive, only edit-and-keep or keep."
    unheard = after(State.PENDING, Act.KEEP, Principal.AGENT)
    assert isinstance(unheard, Refusal)
    assert unheard.problem == "To keep is for a person to decide, not for an agent."


@pytest.mark.promise("only-a-person-decides")
def test_nothing_becomes_kept_or_archived_but_by_a_person() -> None:
    for (state, act), (to, actors) in TABLE.items():
        if to in (State.KEPT, State.ARCHIVED) and to is not state:
            assert actors == {Principal.HUMAN}, (state, act)


def test_whatever_is_live_can_be_superseded_and_nothing_else() -> None:
    assert {state for state, act in TABLE if act is Act.SUPERSEDE} == LIVE


def test_a_decision_moves_the_item_by_one_revision_and_stays_with_it() -> None:
    done = decided(ITEM, a_decision())
    assert isinstance(done, QueueItem)
    assert (done.state, done.revision, done.changed_at, done.text) == (State.KEPT, 2, START + 5, "Use pnpm.")
    assert done.decisions == (a_decision(),)
    edited = decided(ITEM, a_decision(Act.EDIT_AND_KEEP), "Use pnpm 9.")
    assert isinstance(edited, QueueItem)
    assert edited.text == "Use pnpm 9."


def test_a_decision_to_another_revision_is_a_conflict() -> None:
    refused = decided(ITEM, a_decision(revision=2))
    assert isinstance(refused, Refusal)
    assert refused.code is RefusalCode.CONFLICT


def test_an_item_may_be_about_the_words_of_a_memory() -> None:
    assert about(ITEM, None, "anything")
    cited = (Citation(kind="reuse", ref="ev_1"), words_of("Tests", "Run them."))
    item = msgspec.structs.replace(ITEM, citations=cited)
    assert about(item, "Tests", "Run them.")
    assert not about(item, "Tests", "Run them twice.")
    assert not about(item, None, "Run them.")


@given(st.lists(st.tuples(st.sampled_from(Act), st.sampled_from(Principal), st.integers(0, 4)), max_size=12))
def test_whatever_is_said_a_revision_is_a_decision_and_only_a_person_keeps(
    said: list[tuple[Act, Principal, int]],
) -> None:
    item = ITEM
    for act, actor, revision in said:
        done = decided(item, a_decision(act, actor, revision))
        if isinstance(done, Refusal):
            continue
        assert revision == item.revision
        item = done
    assert item.revision == 1 + len(item.decisions)
    if item.state in (State.KEPT, State.ARCHIVED):
        assert any(one.actor is Principal.HUMAN for one in item.decisions)
