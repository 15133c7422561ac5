"""Sessions as they were cut are kept, with the revisions of their turns."""

import sqlite3
from collections.abc import Iterator

import msgspec
import pytest

from governance.migrations import queue_steps
from governance.team.contracts.turns import Seal
from governance.team.matching import wanted
from governance.team.store import turns as store
from governance.team.store.turns import Facts, KeptSession
from governance.team.turns import Recorded
from recall.analyzer import distinct
from tests.governance.team.test_turns import turns
from tests.support.clock import START

SESSION = KeptSession(session_key="k", session_id="s", extent="1:1-4/4", facts=Facts(subagent=True, last_at=7))


@pytest.fixture
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(tmp_path_factory.mktemp("kept") / "governance.db", isolation_level=None)
    for step in queue_steps():
        made.executescript(step)
    yield made
    made.close()


def with_digest(one: Recorded, payload_digest: str, **fields: object) -> Recorded:
    turn = msgspec.structs.replace(one.turn, payload_digest=payload_digest, **fields)  # type: ignore[arg-type]
    return msgspec.structs.replace(one, turn=turn)


def test_a_session_comes_back_as_it_was_kept(connection: sqlite3.Connection) -> None:
    cut = turns("user", "assistant", "user", "ended")

    assert store.keep(connection, SESSION, cut, START) == cut
    assert store.sessions(connection, ["k", "other"]) == {"k": SESSION}
    assert store.turns(connection, ["k", "other"]) == {"k": cut}
    assert store.known(connection) == {"k": "s"}
    assert store.recorded(connection, [cut[1].turn.turn_key, "x"]) == {cut[1].turn.turn_key: cut[1]}


def test_a_sealed_turn_that_changed_has_the_next_revision(connection: sqlite3.Connection) -> None:
    (one,) = cut = turns("user", "ended")
    store.keep(connection, SESSION, cut, START)

    revisions = [store.keep(connection, SESSION, [with_digest(one, name)], START)[0].turn.revision for name in "aab"]

    assert revisions == [2, 2, 3]


def test_a_turn_that_was_open_has_not_changed_when_it_grew(connection: sqlite3.Connection) -> None:
    (one,) = turns("user")
    store.keep(connection, SESSION, [one], START)

    (grown,) = store.keep(connection, SESSION, [with_digest(one, "a", seal=Seal.HARD_SEALED)], START)

    assert grown.turn.revision == 1


def test_turns_that_a_session_has_no_more_are_let_go(connection: sqlite3.Connection) -> None:
    cut = turns("user", "user", "user")
    store.keep(connection, SESSION, cut, START)

    store.keep(connection, SESSION, cut[:1], START)

    assert store.turns(connection, ["k"]) == {"k": cut[:1]}


def test_terms_are_kept_as_long_as_the_payload_and_the_analyzer_are_the_same(connection: sqlite3.Connection) -> None:
    (one,) = cut = turns("user", "ended")
    key = one.turn.turn_key
    store.keep(connection, SESSION, cut, START)
    store.put_terms(connection, {key: distinct("release 发布")}, "a1")

    def held(query: str, analyzer: str = "a1") -> dict[str, bool]:
        return store.holding(connection, [key, "other"], analyzer, wanted(query))

    assert held("release") == {key: True} == held("发布") and held("importer") == {key: False}
    assert held("release", "a2") == {} and store.with_terms(connection, [key], "a1") == {key}

    store.keep(connection, SESSION, cut, START)
    assert held("release") == {key: True}
    store.keep(connection, SESSION, [with_digest(one, "a")], START)
    assert held("release") == {} and store.with_terms(connection, [key], "a1") == frozenset()


def test_a_session_that_is_let_go_leaves_nothing(connection: sqlite3.Connection) -> None:
    store.keep(connection, SESSION, turns("user", "user"), START)
    other = msgspec.structs.replace(SESSION, session_key="k2", session_id="s2")
    store.keep(connection, other, (), START)

    store.let_go(connection, ["k"])

    assert store.known(connection) == {"k2": "s2"} and store.turns(connection, ["k"]) == {}


def test_a_row_that_cannot_be_read_was_never_cut(connection: sqlite3.Connection) -> None:
    store.keep(connection, SESSION, (), START)
    connection.execute("UPDATE team_session SET facts = 'x'")

    assert store.sessions(connection, ["k"]) == {}
