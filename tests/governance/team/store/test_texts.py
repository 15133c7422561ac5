"""Full text of entries and candidates, and its generations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.migrations import queue_steps
from governance.team.store import texts
from governance.team.store.texts import Row, Source
from tests.support.fakes import FakeDatabase

HERE, THERE = "wt-1", "wt-2"


@pytest.fixture
def connection():
    return FakeDatabase(queue_steps()).connection


def put(connection, item_id: str, text: str, key: str = HERE, source: Source = Source.APPROVED) -> None:
    texts.put(connection, key, source, item_id, text)


def found(connection, text: str, limit: int = 9, key: str = HERE, source: Source = Source.APPROVED):
    return texts.Search(connection, key, source).nearest(texts.asked(text), limit)


def test_the_rarest_words_decide_and_ties_go_by_id(connection):
    put(connection, "b", "The release branch is protected")
    put(connection, "a", "The release branch is protected")
    put(connection, "c", "The heron release")
    put(connection, "d", "Something else")
    assert found(connection, "the heron") == ("c",)
    assert found(connection, "release branch") == ("a", "b", "c")
    assert found(connection, "release branch", limit=1) == ("a",)
    assert found(connection, "") == ()
    assert found(connection, "the of and") == ()


def test_chinese_and_other_scripts_are_found(connection):
    put(connection, "zh", "发布之前必须跑测试")
    put(connection, "hi", "रिलीज़ शाखा")
    put(connection, "c", "C++ and .NET in src/db/pool.py")
    assert found(connection, "发布前先跑测试") == ("zh",)
    assert found(connection, "शाखा") == ("hi",)
    assert found(connection, "C++") == ("c",)
    assert found(connection, "src/db/pool.py") == ("c",)
    assert found(connection, 'say "pool" OR (db) NEAR *') == ("c",)


def test_another_worktree_and_the_other_source_change_nothing(connection):
    put(connection, "a", "release branch")
    put(connection, "b", "release tag")
    before = found(connection, "release branch tag")
    for number in range(50):
        put(connection, f"x{number}", "branch branch branch", key=THERE)
        put(connection, f"y{number}", "tag", source=Source.CANDIDATE)
    assert found(connection, "release branch tag") == before
    assert found(connection, "branch", key=THERE, limit=99) != before


def test_a_text_takes_the_place_of_the_one_before_and_can_be_dropped(connection):
    put(connection, "a", "release branch")
    put(connection, "a", "heron gateway")
    assert (found(connection, "release"), found(connection, "heron")) == ((), ("a",))
    texts.drop(connection, HERE, Source.APPROVED, "a")
    texts.drop(connection, HERE, Source.APPROVED, "a")
    assert found(connection, "heron") == ()
    assert connection.execute("SELECT count(*) FROM team_terms").fetchone() == (0,)
    assert texts.items(connection, HERE, Source.APPROVED) == frozenset()


def test_at_most_32_terms_of_the_first_1024_characters_are_asked():
    assert len(texts.asked(" ".join(f"word{n}" for n in range(100)))) == 32
    assert texts.asked("a" * 1023 + " heron") == texts.asked("a" * 1023)


def test_a_word_that_most_of_many_texts_hold_is_asked_only_when_there_is_no_other(connection):
    for number in range(texts.MANY):
        put(connection, f"i{number:03}", f"heron number{number}")
    put(connection, "z", "gateway")
    assert found(connection, "heron gateway") == ("z",)
    assert found(connection, "heron", limit=2) == ("i000", "i001")


def test_generations_count_changes(connection):
    assert texts.row(connection, HERE, Source.CANDIDATE) == Row(complete=True)
    assert not texts.row(connection, HERE, Source.APPROVED).complete
    texts.advance(connection, HERE, 1)
    texts.advance(connection, HERE, 2)
    assert texts.row(connection, HERE, Source.CANDIDATE).generation == 2
    assert texts.row(connection, THERE, Source.CANDIDATE).generation == 0
    row = Row(generation=7, tree_digest="d", complete=False, problem="moved")
    texts.put_row(connection, HERE, Source.APPROVED, row, 3)
    assert texts.row(connection, HERE, Source.APPROVED) == row


@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=40))
def test_any_text_can_be_put_and_asked(given_texts, query):
    connection = FakeDatabase(queue_steps()).connection
    for number, text in enumerate(given_texts):
        put(connection, f"i{number}", text)
    ids = found(connection, query)
    assert len(set(ids)) == len(ids) <= len(given_texts)
