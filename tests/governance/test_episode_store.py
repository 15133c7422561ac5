"""What consolidation has done: written once for a session, gone for good, and only the newest of a workspace."""

from typing import Any

from governance.episode_store import EpisodeStore, Written
from governance.episodes import Outcome
from governance.migrations import queue_steps
from tests.support.fakes import FakeDatabase


def a_store() -> EpisodeStore:
    return EpisodeStore(FakeDatabase(queue_steps()))


def written(number: int, **fields: Any) -> Written:
    given = {
        "memory_id": f"mem_{number:032x}",
        "workspace": "ws_1",
        "session_ref": "ref",
        "record_digest": "aa",
        "outcome": Outcome.SUCCESS,
        "at": number,
    } | fields
    return Written(**given)


async def test_what_was_written_is_found_again_and_brought_up_to_date() -> None:
    store = a_store()
    await store.put(written(1))
    await store.put(written(1, record_digest="bb", outcome=Outcome.FAILURE, at=9))

    assert await store.of("mem_" + "0" * 32) is None
    assert await store.of(written(1).memory_id) == written(1, record_digest="bb", outcome=Outcome.FAILURE, at=9)


async def test_one_that_is_gone_stays_gone() -> None:
    store = a_store()
    await store.put(written(1))
    await store.gone(written(1).memory_id)
    await store.put(written(1, record_digest="bb"))

    assert await store.of(written(1).memory_id) == written(1, gone=True)


async def test_one_that_is_too_old_is_let_go_without_a_trace() -> None:
    store = a_store()
    await store.put(written(1))
    await store.put(written(2))
    await store.let_go(written(1).memory_id)

    assert (await store.of(written(1).memory_id), await store.of(written(2).memory_id)) == (None, written(2))


async def test_how_far_a_session_was_told_only_rises() -> None:
    store = a_store()
    before = await store.told("ref")
    await store.tell("ref", 9)
    await store.tell("ref", 4)

    assert (before, await store.told("ref"), await store.told("other")) == (0, 9, 0)
