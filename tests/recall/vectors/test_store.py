"""Vectors on disk: keyed by what a record says, never of two models at once, and no more than a cache."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.vectors.encoder import Identity
from recall.vectors.store import BATCH, Vector, VectorStore

TINY = Identity(name="tiny", version="1", dimension=4)
OTHER = Identity(name="tiny", version="1", dimension=6)


def digest(number: int) -> str:
    return f"{number:064x}"


def vector(number: int, dimension: int = 4) -> Vector:
    return Vector(0.5, bytes([number % 120] * dimension))


def some(*numbers: int, dimension: int = 4) -> dict[str, Vector]:
    return {digest(number): vector(number, dimension) for number in numbers}


def test_what_was_added_is_there_when_the_store_is_opened_again(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.add(some(1, 2))
    store.close()

    store = VectorStore(tmp_path / "vectors.db", TINY)

    assert store.fetch([digest(1), digest(2), digest(3)]) == some(1, 2)
    assert (store.count(), store.other, store.problem) == (2, None, "")
    assert (tmp_path / "vectors.db").stat().st_mode & 0o077 == 0
    store.close()


def test_many_vectors_are_asked_for_at_once(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.add(some(*range(1200)))

    assert store.fetch([digest(number) for number in range(1300)]) == some(*range(1200))
    store.close()


def test_a_kill_costs_one_batch_at_most(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", TINY)
    for number in range(BATCH + 10):
        store.add(some(number))

    other = sqlite3.connect(tmp_path / "vectors.db")  # sees what is committed, as the next start would
    assert other.execute("SELECT count(*) FROM vector").fetchone() == (BATCH,)
    other.close()
    store.close()


def test_vectors_of_another_model_are_neither_read_nor_lost_until_they_are_retired(tmp_path: Path) -> None:
    old = VectorStore(tmp_path / "vectors.db", OTHER)
    old.add(some(1, 2, dimension=6))
    old.close()

    store = VectorStore(tmp_path / "vectors.db", TINY)
    assert store.other == OTHER and store.fetch([digest(1)]) == {} and store.count() == 0
    store.add(some(1))
    store.close()

    back = VectorStore(tmp_path / "vectors.db", OTHER)  # the old model is in use again: both are there, none is mixed
    assert back.other == TINY and back.fetch([digest(1), digest(2)]) == some(1, 2, dimension=6)
    back.close()

    store = VectorStore(tmp_path / "vectors.db", TINY)
    assert store.retire() is False and store.other is None
    assert store.fetch([digest(1), digest(2)]) == some(1)
    store.close()
    again = VectorStore(tmp_path / "vectors.db", TINY)
    assert again.other is None
    again.close()


def test_retiring_takes_a_piece_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.vectors.store.PIECE", 10)
    old = VectorStore(tmp_path / "vectors.db", OTHER)
    old.add(some(*range(25), dimension=6))
    old.close()
    store = VectorStore(tmp_path / "vectors.db", TINY)

    assert [store.retire() for _ in range(3)] == [True, True, False]
    store.close()


def test_what_is_forgotten_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.add({digest(7): Vector(0.5, b"SECRETSECRET")} | some(1))
    store.forget([digest(7), digest(99)])
    assert store.fetch([digest(1), digest(7)]) == some(1)

    assert all(b"SECRET" not in file.read_bytes() for file in tmp_path.iterdir())
    store.close()


def test_only_the_living_are_kept(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.add(some(*range(10)))

    store.keep({digest(3), digest(4), digest(77)})

    assert store.count() == 2 and store.fetch([digest(3), digest(4)]) == some(3, 4)
    store.close()


def test_a_cleared_store_is_empty_and_works(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.add(some(1))

    store.clear()
    store.add(some(2))
    store.commit()

    assert store.fetch([digest(1), digest(2)]) == some(2)
    store.close()


def no_database(path: Path) -> None:
    path.write_bytes(b"this is no database" * 500)


def newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize("spoil", [no_database, newer])
def test_a_file_that_cannot_be_read_is_made_anew(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(tmp_path / "vectors.db")

    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.add(some(1))

    assert store.fetch([digest(1)]) == some(1) and store.problem == ""
    store.close()


def test_a_page_that_turns_out_to_be_trashed_costs_the_vectors_and_no_more(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.add(some(*range(2000)))
    store.close()
    with (tmp_path / "vectors.db").open("r+b") as file:
        file.seek(4096 * 2)
        file.write(b"\xff" * 4096 * 20)

    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.fetch([digest(number) for number in range(2000)])
    store.add(some(1))
    store.commit()

    assert store.fetch([digest(1)]) == some(1)
    store.close()


def test_where_nothing_can_be_written_vectors_live_in_memory(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("not a folder")

    store = VectorStore(folder / "vectors.db", TINY)
    store.add(some(1))
    store.commit()

    assert store.fetch([digest(1)]) == some(1) and "lost when the daemon stops" in store.problem
    store.close()


def test_a_file_that_somebody_holds_is_kept_and_not_made_anew(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", OTHER)
    store.add(some(1, dimension=6))
    store.close()
    holder = sqlite3.connect(tmp_path / "vectors.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")

    store = VectorStore(tmp_path / "vectors.db", TINY, patience_seconds=0.01)
    assert "locked" in store.problem and store.fetch([digest(1)]) == {}
    store.close()
    holder.execute("ROLLBACK")
    holder.close()

    store = VectorStore(tmp_path / "vectors.db", OTHER)
    assert store.fetch([digest(1)]) == some(1, dimension=6)
    store.close()


def test_a_full_disk_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors.db", TINY)
    store.add(some(1))
    store.commit()
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")

    store.add(some(*range(2, 900)))
    store.commit()
    assert "full" in store.problem and store.fetch([digest(1)]) == some(1)

    store._connection.execute("PRAGMA max_page_count = 100000")
    store.add(some(2))
    store.commit()
    assert store.problem == "" and store.fetch([digest(2)]) == some(2)
    store.close()
