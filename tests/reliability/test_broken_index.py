"""The index broken in every way a disk or a person can break it, under a real daemon and at its start: answers are
marked, nothing is said not to exist, no record is lost, and all of it heals without a person."""

import time

import pytest

from tests.reliability.breaking import WAYS, WORD, Shelf

pytestmark = [pytest.mark.reliability, pytest.mark.promise("broken-index")]

AT_START = (
    *("search-table-dropped", "search-tables-data-dropped", "records-dropped", "versions-dropped"),
    *("first-page-trashed", "pages-trashed", "truncated", "emptied", "overwritten", "made-a-folder", "log-trashed"),
    "deleted",
)


SEEN_AT_ONCE = {"search-table-dropped", "search-tables-data-dropped", "records-dropped", "counts-dropped"}


@pytest.mark.parametrize("way", WAYS)
def test_an_index_broken_under_the_daemon_is_answered_for_honestly_and_heals(shelf: Shelf, way: str) -> None:
    before = shelf.marked
    with shelf.connect() as wire:
        WAYS[way](shelf.index)

        shelf.search(wire)
        assert shelf.marked > before or way not in SEEN_AT_ONCE, "the search itself did not say that it is broken"
        taken = shelf.remember(wire, f"Said while it was broken, {WORD} of the {way} yard.")
        for _ in range(5):
            shelf.search(wire)
            listed = shelf.list(wire)
            assert listed is None or listed == shelf.kept.keys()

    assert taken
    shelf.heals()


@pytest.mark.parametrize("way", AT_START)
def test_a_start_on_a_broken_index_is_honest_and_heals(shelf: Shelf, way: str) -> None:
    shelf.daemon.kill()
    WAYS[way](shelf.index)

    shelf.daemon.start()

    with shelf.connect() as wire:
        shelf.search(wire)
        assert shelf.remember(wire, f"Said after the start, {WORD} of the {way} yard.")
        shelf.search(wire)
    shelf.heals()


def test_what_a_broken_daemon_left_is_healed_for_the_next_one_even_if_it_is_killed_while_it_makes_it_anew(
    shelf: Shelf,
) -> None:
    for number in range(6):
        WAYS["search-table-dropped"](shelf.index)
        with shelf.connect() as wire:
            wire.send("memory.search", query=WORD, workspace=shelf.workspace)
            time.sleep(0.01 * number)
            shelf.daemon.kill()
        shelf.daemon.start()
        with shelf.connect() as wire:
            shelf.search(wire)
    shelf.heals()
    left = {path.name for path in shelf.daemon.data.iterdir() if path.name.startswith("index.db.")}
    assert not left & {f"index.db.{made}{log}" for made in ("new", "ready") for log in ("", "-wal", "-shm")}
