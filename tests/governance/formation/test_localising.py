"""A search in a session brings the turns that hold the terms, latest first, with their neighbours, within bounds."""

from governance.formation.checkpoint_answers import Incident
from governance.formation.localising import LONGEST_EVENT, LONGEST_TOTAL, MOST_TURNS, search
from tests.support.checkpoints import said


def looking_for(*terms: str) -> list[Incident]:
    return [Incident(source_ref="s-one#99", terms=terms)]


def found(records, *terms: str, shown: set[str] | None = None) -> list[int]:
    return [one.event_seq for one in search(records, looking_for(*terms), shown or set())]


def a_session(**texts: str):
    """Turns t1, t2 …: what the user said, and an answer after each."""
    records = []
    for name, text in texts.items():
        turn = int(name[1:])
        records += [
            said(text, turn * 10, turn=turn),
            said("Understood.", turn * 10 + 1, role="assistant", turn=turn),
        ]
    return records


def test_the_turn_with_most_of_the_terms_comes_with_its_neighbours() -> None:
    session = a_session(
        t1="Hello there.", t2="The gateway is called Marrow.", t3="Go on.", t4="Nothing of it.", t5="Bye then."
    )
    assert found(session, "gateway", "Marrow") == [10, 11, 20, 21, 30, 31]


def test_without_a_match_nothing_is_found() -> None:
    assert found(a_session(t1="Hello there."), "gateway") == []
    assert found([], "gateway") == []
    assert found(a_session(t1="Hello there."), "the") == []


def test_what_was_shown_already_is_not_brought_again() -> None:
    session = a_session(t1="The gateway is called Marrow.")
    assert found(session, "gateway", shown={"s-one#10"}) == [11]


def test_at_most_seven_turns_come_and_the_latest_are_kept() -> None:
    session = [said("The gateway again.", turn, turn=turn) for turn in range(40)]
    assert found(session, "gateway") == list(range(40 - MOST_TURNS, 40))


def test_the_total_and_each_event_are_bounded() -> None:
    session = [said("gateway words. " * 1000, turn, turn=turn) for turn in range(20)]
    brought = search(session, looking_for("gateway"), set())
    assert all(len(one.text) <= LONGEST_EVENT for one in brought)
    assert sum(len(one.text) for one in brought) <= LONGEST_TOTAL


def test_a_heartbeat_is_not_brought() -> None:
    session = [said("Heartbeat: look at PULSE.md if present.", 1)]
    assert found(session, "PULSE") == []


def test_a_word_is_found_in_its_other_forms_and_however_it_is_written() -> None:
    session = [
        said("All libraries were released.", 1),
        said("ＧＡＴＥＷＡＹＳ everywhere.", 2, turn=5),
        said("数据库的备份在晚上。", 3, turn=9),
    ]
    assert found(session, "library") == [1, 2]
    assert found(session, "gateway") == [1, 2, 3]
    assert found(session, "备份") == [2, 3]


def test_the_turns_with_most_terms_are_read_first_in_a_long_session() -> None:
    session = [said("The gateway again.", turn, turn=turn) for turn in range(300)]
    session[40] = said("The gateway is called Marrow and listens on port 8443.", 40, turn=40)
    assert 40 in found(session, "gateway", "Marrow", "port")
