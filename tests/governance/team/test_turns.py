"""Events become turns: what begins them, what seals them, what leaves them behind."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team.contracts.turns import Ineligible, ResultEvidence, Seal, TerminalState
from governance.team.turns import (
    LEAST_TURNS,
    Heard,
    Recorded,
    Session,
    Use,
    cut,
    events_of,
    ineligible,
    payload_digest,
    rested,
    turn_key,
)
from tests.support.clock import START

SESSION = Session(session_id="s", session_key="k", provider="codex", agent="main")


def heard(*kinds: str | tuple[str, dict[str, Any]]) -> list[Heard]:
    """Events of these kinds, one after the other; each with an id, and fields where they are given."""
    events = []
    for seq, each in enumerate(kinds, 1):
        kind, fields = each if isinstance(each, tuple) else (each, {})
        given = {
            "kind": kind,
            "event_seq": seq,
            "event_id": f"e{seq}",
            "digest": f"d{seq}",
            "at": START + seq,
            "observed_at": START + 1_000 + seq,
            "text": kind,
        }
        events.append(Heard(**given | fields))
    return events


def turns(*kinds: str | tuple[str, dict[str, Any]], session: Session = SESSION) -> tuple[Recorded, ...]:
    return cut(heard(*kinds), session)


def seals(*kinds: str | tuple[str, dict[str, Any]]) -> list[Seal]:
    return [one.turn.seal for one in turns(*kinds)]


def test_a_turn_reaches_from_one_message_of_the_user_to_the_next() -> None:
    one, two = turns("assistant", "user", "tool-call", "tool-result", "assistant", "user", "assistant")

    assert (one.turn.place, one.turn.first_seq, one.turn.last_seq, one.turn.at) == (0, 2, 5, START + 2)
    assert (two.turn.place, two.turn.first_seq, two.turn.last_seq) == (1, 6, 7)
    assert one.turn.session_key == "k" and one.turn.provider == "codex" and one.session_id == "s"
    assert one.observed == (START + 1_002, START + 1_005)


def test_a_message_that_follows_or_a_told_end_seals() -> None:
    assert seals("user", "user") == [Seal.HARD_SEALED, Seal.OPEN]
    assert seals("user", "assistant", "ended") == [Seal.HARD_SEALED]
    assert seals("user", "aborted") == [Seal.HARD_SEALED]
    assert seals("user", "apart") == [Seal.HARD_SEALED]
    assert seals("ended", "user") == [Seal.OPEN]


def test_the_last_thing_that_was_told_of_its_end_is_its_result() -> None:
    assert [one.turn.result_evidence for one in turns("user", "aborted", "user", "ended", "user", "user")] == [
        ResultEvidence.ABANDONED,
        ResultEvidence.PROVIDER_COMPLETED,
        ResultEvidence.UNKNOWN,
        ResultEvidence.UNKNOWN,
    ]
    assert turns("user", "aborted", "assistant", "ended")[0].turn.result_evidence is ResultEvidence.PROVIDER_COMPLETED


def test_what_comes_after_the_end_belongs_to_the_turn_and_not_what_comes_after_a_message_apart() -> None:
    (one,) = turns("user", "ended", "assistant", "apart", "tool-call", "assistant")

    assert (one.turn.last_seq, one.seal_seq) == (3, 3)


def test_the_seal_is_where_every_event_must_be_there() -> None:
    gap = Session(session_id="s", session_key="k", provider="codex", agent="main", gaps=(4,))
    whole = Session(session_id="s", session_key="k", provider="codex", agent="main", gaps=(1, 5))

    assert [one.turn.complete for one in turns("user", "assistant", "assistant", "user", "user", session=gap)] == [
        False,
        True,
        True,
    ]
    assert [one.turn.complete for one in turns("user", "assistant", "assistant", "user", "user", session=whole)] == [
        True,
        False,
        True,
    ]
    assert not turns("user", ("assistant", {"readable": False}))[0].turn.complete


def test_prompts_that_were_gone_back_on_stay_and_are_not_active() -> None:
    events = ("user", "assistant", "user", "assistant", ("rewound", {"events": ("e3",)}), "user")

    assert [one.turn.active for one in turns(*events)] == [True, False, True]
    assert [one.turn.recallable for one in turns(*events)] == [True, False, False]


def test_a_reply_that_was_gone_back_on_is_out_of_its_turn() -> None:
    (one,) = turns("user", "assistant", ("rewound", {"events": ("e2",)}), "assistant", "ended")

    assert one.left == ("e2",) and one.turn.active
    assert one.turn.payload_digest == payload_digest([*heard("user"), heard("user", "x", "x", "assistant")[3]])


@pytest.mark.parametrize(("count", "active"), [(1, [True, True, False]), (2, [True, False, False]), (9, [False] * 3)])
def test_rolling_back_leaves_the_last_active_turns(count: int, active: list[bool]) -> None:
    back = ("rolled-back", {"turns": count})

    assert [one.turn.active for one in turns("user", "user", "user", back)] == active
    assert [one.turn.seal for one in turns("user", back)] == [Seal.HARD_SEALED]


def test_a_second_roll_back_goes_on_from_what_is_left() -> None:
    back = ("rolled-back", {"turns": 1})

    assert [one.turn.active for one in turns("user", "user", "user", back, back, "user")] == [True, False, False, True]


def test_calls_have_the_state_of_what_answered_them() -> None:
    def call(number: int) -> tuple[str, dict[str, Any]]:
        return "tool-call", {"call_id": f"c{number}", "name": "shell", "native": "Bash", "about": "x"}

    def result(number: int, **fields: Any) -> tuple[str, dict[str, Any]]:
        return "tool-result", {"call_id": f"c{number}"} | fields

    (one,) = turns(
        "user",
        *(call(number) for number in range(5)),
        result(0, ok=True),
        result(1, ok=False),
        result(2, ok=False, denied=True),
        result(3),
    )
    states = [TerminalState.COMPLETED, TerminalState.FAILED, TerminalState.CANCELLED, TerminalState.UNKNOWN]

    assert [use.state for use in one.uses] == [*states, TerminalState.PENDING]
    assert one.uses[0] == Use(tools=("Bash", "shell"), state=TerminalState.COMPLETED, about="x")
    assert one.turn.tools == ("Bash", "shell") and one.turn.states == tuple(sorted(one.turn.states))


def test_a_result_whose_call_nobody_heard_stands_for_it() -> None:
    (one,) = turns("user", ("tool-result", {"call_id": "c", "name": "web", "ok": True}), ("tool-result", {"ok": True}))

    assert [(use.tools, use.state) for use in one.uses] == [
        (("web",), TerminalState.COMPLETED),
        ((), TerminalState.COMPLETED),
    ]


def test_skills_of_all_its_parts_are_the_turns() -> None:
    (one,) = turns(("user", {"skills": ("b",)}), ("tool-call", {"skills": ("a",), "name": "Skill"}))

    assert one.skills == ("a", "b") == one.turn.skills and one.uses[0].skills == ("a",)


def test_the_parts_of_a_turn_are_read_without_its_marks() -> None:
    parts = heard("user", ("tool-call", {"call_id": "c"}), "ended", ("tool-result", {"call_id": "c", "ok": True}))

    found = events_of(parts)

    assert [one.kind for one in found] == ["user", "tool-call", "tool-result"]
    assert [one.state for one in found] == [None, TerminalState.COMPLETED, TerminalState.COMPLETED]
    assert payload_digest(found) == payload_digest(parts)


def test_the_digest_is_of_what_was_said_and_in_which_order() -> None:
    one, two = heard("user", "assistant")

    assert len({payload_digest(each) for each in ([one, two], [two, one], [one], [])}) == 4


def test_a_turns_name_is_made_of_its_session_and_first_event() -> None:
    (first,) = heard("user")
    (unnamed,) = heard(("user", {"event_id": ""}))

    assert turn_key("s", first) == turns("user", "assistant")[0].turn.turn_key
    assert len({turn_key("s", first), turn_key("t", first), turn_key("s", unnamed)}) == 3


def test_where_it_happened_is_the_folder_that_was_named_last() -> None:
    named = ("user", {"folder": "/a"})

    assert [one.folder for one in turns("user", named, "user", ("assistant", {"folder": "/b"}), "user")] == [
        "",
        "/a",
        "/a",
        "/b",
    ]


def test_spans_and_copies_are_noted_and_not_cut_out() -> None:
    session = Session(
        session_id="s", session_key="k", provider="codex", agent="main", copied=frozenset({1, 2}), denied=((4, 5),)
    )

    found = turns("user", "assistant", "user", "assistant", "user", "user", session=session)

    assert [one.copied for one in found] == [True, False, False, False]
    assert [one.denied for one in found] == [False, True, True, False]


def test_an_answer_concludes_when_it_stands_last_and_asks_nothing() -> None:
    def last(*kinds: str | tuple[str, dict[str, Any]]) -> bool:
        return turns("user", *kinds)[0].conclusive

    assert last(("assistant", {"text": "Done."})) and last(("assistant", {"text": "Really? Yes."}))
    assert not last(("assistant", {"text": "Shall I?  "})) and not last(("assistant", {"text": "继续吗？"}))
    assert not last("assistant", "tool-call") and not last()


def test_a_session_is_eligible_with_three_recallable_turns() -> None:
    assert LEAST_TURNS == 3
    assert ineligible(turns("user", "user", "user")) is Ineligible.TOO_FEW_TURNS
    assert ineligible(turns("user", "user", "user", "user")) is None
    assert (
        ineligible(turns("user", "user", "user", ("rewound", {"events": ("e1",)}), "user")) is Ineligible.TOO_FEW_TURNS
    )
    assert ineligible(()) is Ineligible.TOO_FEW_TURNS


def test_a_session_of_which_all_is_denied_is_told_as_such() -> None:
    all_of_it = Session(session_id="s", session_key="k", provider="codex", agent="main", denied=((1, 9),))
    some = Session(session_id="s", session_key="k", provider="codex", agent="main", denied=((1, 1),))

    assert ineligible(turns("user", "user", "user", "user", session=all_of_it)) is Ineligible.DENIED
    assert ineligible(turns("user", "user", "user", "user", session=some)) is Ineligible.TOO_FEW_TURNS
    assert ineligible(turns("user", "user", "user", "user", "user", session=some)) is None


@pytest.mark.parametrize(("waited", "rest", "seal"), [
    (299_999, 300_000, Seal.OPEN),
    (300_000, 300_000, Seal.QUIESCENT),
    (59_999, 1, Seal.OPEN),
    (60_000, 1, Seal.QUIESCENT),
    (86_400_000, 10**12, Seal.QUIESCENT),
])  # fmt: skip
def test_a_last_turn_rests_after_a_while_and_is_not_recallable_for_that(waited: int, rest: int, seal: Seal) -> None:
    found = rested(turns("user", "user"), START, START + waited, rest)

    assert [one.turn.seal for one in found] == [Seal.HARD_SEALED, seal] and not found[-1].turn.recallable


def test_a_sealed_turn_does_not_rest() -> None:
    assert rested(turns("user", "ended"), START, START * 2)[0].turn.seal is Seal.HARD_SEALED
    assert rested((), START, START * 2) == ()


EVENTS = st.lists(
    st.one_of(
        st.sampled_from(["user", "assistant", "tool-call", "tool-result", "ended", "aborted", "apart"]),
        st.integers(0, 4).map(lambda count: ("rolled-back", {"turns": count})),
        st.lists(st.integers(1, 12).map(lambda seq: f"e{seq}"), max_size=3).map(
            lambda ids: ("rewound", {"events": tuple(ids)})
        ),
    ),
    max_size=12,
)


@given(EVENTS)
def test_turns_never_overlap_and_only_the_last_one_may_be_open(kinds: list[str | tuple[str, dict[str, Any]]]) -> None:
    found = turns(*kinds)

    assert len(found) == sum(kind == "user" for kind in kinds)
    assert [one.turn.place for one in found] == list(range(len(found)))
    assert all(one.turn.last_seq < after.turn.first_seq for one, after in pairwise(found))
    assert all(one.turn.seal is Seal.HARD_SEALED for one in found[:-1])
    assert all(one.turn.first_seq <= one.turn.last_seq <= one.seal_seq for one in found)
    assert all(one.turn.active and one.turn.seal is Seal.HARD_SEALED for one in found if one.turn.recallable)


@given(EVENTS, st.integers(0, 12))
def test_what_comes_later_changes_no_sealed_turn_but_by_leaving_it(
    kinds: list[str | tuple[str, dict[str, Any]]], length: int
) -> None:
    whole = {one.turn.turn_key: one for one in turns(*kinds)}

    for before in turns(*kinds[:length])[:-1]:
        after = whole[before.turn.turn_key]
        left = set(after.left) - set(before.left)
        assert after.turn.payload_digest == before.turn.payload_digest or left
        assert after.turn.active <= before.turn.active and after.turn.at == before.turn.at
