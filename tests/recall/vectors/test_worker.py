"""The worker over a real library: it follows, embeds in small steps, and never compares what cannot be compared."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recall.canonical import text_digest
from recall.contracts import ScopeRef
from recall.frames import (
    Answer,
    Away,
    Done,
    EngineState,
    Failed,
    Forget,
    Found,
    Hello,
    Reembed,
    Search,
    Sync,
)
from recall.library import Library
from recall.vectors.encoder import Encoder, Floats
from recall.vectors.worker import BATCH, REMEMBERED, Worker
from tests.support.builders import a_memory, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.encoders import Larger, Tiny
from tests.support.library import a_library, a_root, write_records

HERE, MINE = a_workspace_scope(), a_user_scope()


class Counting(Tiny):
    """Counts what it is given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Floats:
        self.seen += texts
        return super().encode(texts)


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with a_library(tmp_path) as library:
        yield library


async def write(library: Library, folder: Path, texts: Sequence[str], scope: ScopeRef = HERE, **more: Any) -> None:
    """The records of one scope are these texts from now on."""
    place = folder / scope.key
    records = [
        a_memory(text, memory_id=a_memory_id(int(text_digest(text)[:8], 16)), scope=scope, **more) for text in texts
    ]
    write_records(place / "a.md", records, scope)
    await library.adopt(a_root(place, scope))
    await library.refresh(str(place))


def a_worker(folder: Path, encoder: Encoder | None = None) -> Worker:
    return Worker(folder / "index.db", folder / "vectors.db", encoder or Tiny())


def work(worker: Worker) -> int:
    """Step until there is nothing to do; how many steps that took."""
    steps = 0
    while worker.busy:
        worker.step()
        steps += 1
    return steps


def ask(worker: Worker, text: str, *scopes: ScopeRef, limit: int = 10) -> Answer:
    return worker.answer(Search(number=1, text=text, scopes=scopes or (HERE,), limit=limit))


async def said(worker: Worker, library: Library, text: str, *scopes: ScopeRef) -> list[str]:
    """The texts of the records that are found."""
    answer = ask(worker, text, *scopes)
    assert isinstance(answer, Found), answer
    texts = worker._follower.texts(answer.hits.rows)
    return [texts[row][1] for row in answer.hits.rows]


async def test_what_is_like_the_query_is_found_best_first(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["build the cache", "deploy slowly", "build the cache twice"])
    worker = a_worker(tmp_path)
    work(worker)

    answer = ask(worker, "build the cache")

    assert isinstance(answer, Found) and answer.hits.epoch >= 0
    assert answer.hits.cosines[0] == pytest.approx(1, abs=0.01)
    assert list(answer.hits.cosines) == sorted(answer.hits.cosines, reverse=True)
    assert (await said(worker, library, "build the cache"))[:2] == ["build the cache", "build the cache twice"]
    status = worker.status()
    assert (status.state, status.records, status.embedded, status.model, status.dimension) == (
        EngineState.READY,
        3,
        3,
        "tiny 1",
        256,
    )
    worker.close()


@pytest.mark.promise("no-leak")
async def test_records_of_other_scopes_are_not_found(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["build here"])
    await write(library, tmp_path, ["build there"], a_workspace_scope("ws_other"))
    worker = a_worker(tmp_path)
    work(worker)

    assert await said(worker, library, "build", HERE) == ["build here"]
    assert await said(worker, library, "build", MINE) == []
    worker.close()


async def test_a_scope_without_its_vectors_is_loading_and_another_is_not(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, [f"{number} here" for number in range(3)])
    worker = a_worker(tmp_path)
    work(worker)
    await write(library, tmp_path, [f"{number} mine" for number in range(30)], MINE)

    assert isinstance(ask(worker, "here", HERE), Found)
    assert ask(worker, "here", HERE, MINE) == Away(number=1, shortfall="loading", detail="30 texts have no vector yet.")
    assert worker.status().state is EngineState.EMBEDDING
    worker.step()
    assert worker.status().embedded == 3 + BATCH
    assert work(worker) == 3
    assert isinstance(ask(worker, "here", HERE, MINE), Found)
    worker.close()


async def test_a_record_that_was_kept_a_moment_ago_is_found_at_once(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["one"])
    worker = a_worker(tmp_path)
    work(worker)
    await write(library, tmp_path, ["one", "two"])

    assert (await said(worker, library, "two"))[0] == "two"
    worker.close()


async def test_a_few_new_records_do_not_silence_the_others(tmp_path: Path, library: Library) -> None:
    texts = [f"{number} here" for number in range(40)]
    await write(library, tmp_path, texts)
    worker = a_worker(tmp_path)
    work(worker)
    await write(library, tmp_path, [*texts[1:], "new one"])

    assert isinstance(ask(worker, "new one"), Found)
    work(worker)
    assert (await said(worker, library, "new one"))[0] == "new one"
    assert "0 here" not in await said(worker, library, "0 here")
    worker.close()


async def test_moving_reindexing_and_coming_back_embed_nothing_again(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["one", "two"])
    encoder = Counting()
    worker = a_worker(tmp_path, encoder)
    work(worker)
    (tmp_path / HERE.key / "a.md").rename(tmp_path / HERE.key / "b.md")
    await library.refresh(str(tmp_path / HERE.key))
    work(worker)
    await write(library, tmp_path, ["one"])
    await library.rebuild()
    work(worker)
    await write(library, tmp_path, ["one", "two"])
    worker.answer(Sync(number=1))
    work(worker)
    worker.close()

    assert sorted(encoder.seen) == ["one", "two"]
    again = a_worker(tmp_path, encoder)
    work(again)
    assert sorted(encoder.seen) == ["one", "two"] and again.status().state is EngineState.READY
    again.close()


async def test_embedding_goes_on_where_a_kill_ended_it(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, [f"{number} here" for number in range(BATCH * 40)])
    first = Counting()
    worker = a_worker(tmp_path, first)
    for _ in range(36):
        worker.step()
    worker._store._connection.rollback()  # what a kill leaves: what was committed
    worker.close()

    second = Counting()
    worker = a_worker(tmp_path, second)
    work(worker)

    assert worker.status().embedded == BATCH * 40
    assert len(second.seen) == BATCH * 40 - 256 < len(first.seen) * 2
    worker.close()


async def test_vectors_of_another_model_are_stale_until_all_were_made_anew(tmp_path: Path, library: Library) -> None:
    texts = [f"{number} here" for number in range(BATCH * 2)]
    await write(library, tmp_path, texts)
    older = a_worker(tmp_path, Larger())
    work(older)
    older.close()

    worker = a_worker(tmp_path)
    work(worker)
    assert worker.waits_for_rest and not worker.busy and worker.status().state is EngineState.STALE
    answer = ask(worker, "here")
    assert isinstance(answer, Away) and answer.shortfall == "stale-vectors"
    for word in ("larger 1 (dimension 384)", "tiny 1 (dimension 256)", "reindex"):
        assert word in answer.detail and word in worker.status().problem

    worker.rested()
    worker.step()
    assert worker.status().state is EngineState.EMBEDDING and worker.status().embedded == BATCH
    answer = ask(worker, "here")
    assert isinstance(answer, Away) and answer.shortfall == "stale-vectors"  # until all are there
    work(worker)
    assert worker.status().state is EngineState.READY and worker.status().problem == ""
    assert len(await said(worker, library, "here")) == 10
    worker.close()
    assert a_worker(tmp_path)._store.other is None


async def test_asked_to_a_worker_makes_stale_vectors_anew_at_once(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["one"])
    older = a_worker(tmp_path, Larger())
    work(older)
    older.close()
    worker = a_worker(tmp_path)
    work(worker)

    assert worker.answer(Reembed(number=7)) == Done(number=7)
    work(worker)

    assert await said(worker, library, "one") == ["one"]
    worker.close()


async def test_asked_to_a_worker_makes_good_vectors_anew_as_well(tmp_path: Path, library: Library) -> None:
    texts = [f"{number} one" for number in range(BATCH + 2)]
    await write(library, tmp_path, texts)
    encoder = Counting()
    worker = a_worker(tmp_path, encoder)
    work(worker)

    worker.answer(Reembed(number=1))
    assert isinstance(ask(worker, "one"), Away)
    work(worker)

    assert sorted(encoder.seen) == sorted([*texts, *texts])
    assert set(await said(worker, library, "one")) <= set(texts)
    worker.close()


async def test_a_text_that_the_model_cannot_read_keeps_nobody_from_a_vector(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["odd! one", "fine one", "nan! one"])
    worker = a_worker(tmp_path)
    work(worker)

    assert await said(worker, library, "fine one") == ["fine one"]
    assert worker.status().state is EngineState.READY
    worker.close()


async def test_a_query_that_the_model_cannot_read_is_a_fault_of_its_own(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["one"])
    worker = a_worker(tmp_path)
    work(worker)

    assert ask(worker, "odd!") == Failed(number=1, problem="ValueError")  # not the text
    assert isinstance(ask(worker, "nan!"), Found)
    assert isinstance(ask(worker, "one"), Found)
    worker.close()


async def test_the_latest_queries_are_embedded_once(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["one"])
    encoder = Counting()
    worker = a_worker(tmp_path, encoder)
    work(worker)
    for text in ("asked", "asked", *(f"other {number}" for number in range(REMEMBERED - 1)), "asked", "last", "asked"):
        ask(worker, text)

    assert encoder.seen.count("asked") == 1 and encoder.seen.count("other 0") == 1
    ask(worker, "other 0")
    assert encoder.seen.count("other 0") == 2
    worker.close()


async def test_a_bench_has_every_query_embedded(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["one"])
    encoder = Counting()
    worker = Worker(tmp_path / "index.db", tmp_path / "vectors.db", encoder, remembered=0)
    work(worker)

    for _ in range(3):
        ask(worker, "asked")

    assert encoder.seen.count("asked") == 3
    worker.close()


async def test_an_index_that_cannot_be_read_for_the_next_batch_is_asked_again_later(
    tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(library, tmp_path, ["one"])
    worker = a_worker(tmp_path)
    while not worker._pending or worker._follower.more:
        worker.step()
    with monkeypatch.context() as broken:
        broken.setattr(worker._follower, "texts", lambda rows: worker._follower._ask("SELECT nothing", ()))
        worker.step()
        assert not worker.busy and worker.status().state is EngineState.EMBEDDING

    worker.rested()
    work(worker)
    assert await said(worker, library, "one") == ["one"]
    worker.close()


async def test_what_is_forgotten_has_no_vector_left(tmp_path: Path, library: Library) -> None:
    await write(library, tmp_path, ["one", "two"])
    worker = a_worker(tmp_path)
    work(worker)
    answer = ask(worker, "two")
    assert isinstance(answer, Found)

    await write(library, tmp_path, ["one"])
    worker.answer(Forget(number=1, digests=answer.hits.digests[:1]))

    assert worker._store.fetch(answer.hits.digests).keys() == {*answer.hits.digests[1:]}
    worker.close()


async def test_vectors_of_texts_that_are_gone_are_kept_up_to_a_number(
    tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(library, tmp_path, [f"{number} here" for number in range(30)])
    worker = a_worker(tmp_path)
    work(worker)
    await write(library, tmp_path, ["0 here"])
    for _ in range(2):
        worker.rested()
    assert worker._store.count() == 30
    worker.close()

    monkeypatch.setattr("recall.vectors.worker.SPARE", 10)
    worker = a_worker(tmp_path)
    work(worker)
    worker.rested()
    assert worker._store.count() == 1 and await said(worker, library, "0 here") == ["0 here"]
    worker.close()


async def test_without_an_index_a_search_is_a_fault_and_nothing_spins(tmp_path: Path) -> None:
    worker = a_worker(tmp_path)

    assert work(worker) <= 1
    assert "index.db cannot be read" in worker.status().problem
    assert isinstance(ask(worker, "one"), Failed)
    assert worker.answer(Hello(number=4)) == Done(number=4)
    async with a_library(tmp_path) as library:
        await write(library, tmp_path, ["one"])
        worker.rested()
        work(worker)
        assert await said(worker, library, "one") == ["one"]
    worker.close()
