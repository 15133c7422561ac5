"""What is held in memory loses at once what the index lost, and takes in what is new."""

import pytest

from recall import lookup
from recall.hot import Hot
from tests.support.builders import a_memory, a_memory_id
from tests.support.shelf import Shelf


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf()
    shelf.put(*(a_memory(f"Number {n}.", memory_id=a_memory_id(n)) for n in range(1, 4)), name="a.md", folder="/m")
    return shelf


def held(hot: Hot) -> set[str]:
    return {one.memory_id for one in hot.candidates()}


def test_rows_become_candidates_once(shelf: Shelf) -> None:
    hot = Hot(lookup.hottest(shelf.connection, 2))

    assert len(hot) == 2 and hot.candidates() is hot.candidates()
    assert Hot().candidates() == ()


def test_what_is_gone_goes_and_what_is_new_comes(shelf: Shelf) -> None:
    hot = Hot(lookup.rows(shelf.connection, [1, 2]))

    after = hot.changed({1}, lookup.rows(shelf.connection, [3]))

    assert held(after) == {a_memory_id(2), a_memory_id(3)} and held(hot) == {a_memory_id(1), a_memory_id(2)}
    assert hot.changed({99}, []) is hot


def test_it_never_holds_more_than_there_is_room_for(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.hot.HOT", 1)
    monkeypatch.setattr("recall.hot.SLACK", 1)

    hot = Hot(lookup.rows(shelf.connection, [1, 2])).changed((), lookup.rows(shelf.connection, [3]))

    assert held(hot) == {a_memory_id(3), a_memory_id(1)}


def test_each_is_placed_in_its_file(shelf: Shelf) -> None:
    hot = Hot(lookup.rows(shelf.connection, [2]))

    ((file, one),) = hot.placed()

    assert file.startswith("/m/") and file.endswith("/a.md") and one.memory_id == a_memory_id(2)
