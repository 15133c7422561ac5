"""What is like a text, of one isolation key: one suite over the library's and the fake that stands for it."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from governance.formation.contracts import ANY_AGENT, FormedMemory, IsolationKey, KnownRecord, Likeness, Pipeline
from governance.formation.errors import StateFault
from governance.formation.store import memories
from governance.migrations import queue_steps
from host.formation.likeness import LibraryLikeness
from recall.contracts import MemoryRecord, Origin, Scope, ScopeRef
from recall.errors import ArmUnavailable, EngineFault, IndexFault
from recall.frames import EngineHits
from recall.tables import meta
from tests.support.batching import FakeLikeness
from tests.support.builders import a_memory, a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.library import a_library, a_root, write_records
from tests.support.running_engines import an_engine, settled

TEAM = "ws_1"
OURS = IsolationKey(team=TEAM, user="u1", agent=ANY_AGENT)
THEIRS = IsolationKey(team=TEAM, user="u2", agent=ANY_AGENT)
SCOPE = ScopeRef(kind=Scope.WORKSPACE, key=TEAM)
Kept = tuple[IsolationKey | None, MemoryRecord]


def kept(number: int, text: str, key: IsolationKey | None = OURS, **changes: object) -> Kept:
    """A record; without a key it is a person's own."""
    origin = Origin.USER if key is None else Origin.EXTRACTED
    record = a_memory(text, memory_id=a_memory_id(number), scope=SCOPE, **({"origin": origin} | changes))
    return key, record


def a_life(key: IsolationKey, record: MemoryRecord) -> FormedMemory:
    return FormedMemory(
        memory_id=record.memory_id,
        pipeline=Pipeline.BATCH,
        claim="c",
        created_at=START,
        updated_at=START,
        team=key.team,
        user=key.user,
        agent=key.agent,
    )


class FakeNearest:
    """An engine that gives every row of the index, or says why not."""

    def __init__(self, epoch: int, rows: Sequence[tuple[int, str]]) -> None:
        self.epoch, self.rows = epoch, list(rows)
        self.fault: Exception | None = None
        self.cosine = 1.0

    async def search(self, text: str, scopes: Sequence[ScopeRef], limit: int) -> EngineHits:
        if self.fault is not None:
            raise self.fault
        found = self.rows[:limit]
        return EngineHits(
            epoch=self.epoch,
            rows=tuple(row for row, _ in found),
            digests=tuple(digest for _, digest in found),
            cosines=tuple(self.cosine for _ in found),
        )


@asynccontextmanager
async def of_library(folder: Path, records: Sequence[Kept]) -> AsyncIterator[LibraryLikeness]:
    database = FakeDatabase(queue_steps())
    for key, record in records:
        if key is not None:
            memories.put(database.connection, a_life(key, record))
    write_records(folder / "memory" / "2026-11.md", [record for _, record in records], SCOPE)
    async with a_library(folder / "index") as library:
        await library.adopt(a_root(folder / "memory", SCOPE))
        rows = await library.survey(lambda sql: sql.execute("SELECT id, digest FROM record ORDER BY id").fetchall())
        told = await library.survey(meta)
        assert told is not None
        yield LibraryLikeness(library, FakeNearest(told.epoch, rows), database, lambda: START)


@asynccontextmanager
async def of_fake(folder: Path, records: Sequence[Kept]) -> AsyncIterator[FakeLikeness]:
    known = [
        (
            key,
            KnownRecord(
                memory_id=record.memory_id,
                text=record.text,
                guarded=key is None or record.origin is Origin.REVIEWED or record.pinned,
            ),
        )
        for key, record in records
    ]
    yield FakeLikeness(records=known, broken=set())


Making = Callable[[Path, Sequence[Kept]], AbstractAsyncContextManager[Likeness]]
BOTH = pytest.mark.parametrize("making", [of_library, of_fake])
ARMS = pytest.mark.parametrize("arm", ["by_words", "by_meaning"])


async def ids(likeness: Likeness, arm: str, text: str, key: IsolationKey = OURS, limit: int = 5) -> list[str]:
    return [one.memory_id for one in await getattr(likeness, arm)(key, text, limit)]


@BOTH
@ARMS
async def test_only_what_is_of_the_key_and_of_persons_comes_back(tmp_path: Path, making: Making, arm: str) -> None:
    records = [
        kept(1, "Releases go out on Thursdays."),
        kept(2, "Releases go out on Fridays.", THEIRS),
        kept(3, "Releases need two approvals.", None),
    ]
    async with making(tmp_path, records) as likeness:
        assert set(await ids(likeness, arm, "When do releases go out?")) == {a_memory_id(1), a_memory_id(3)}
        assert set(await ids(likeness, arm, "When do releases go out?", THEIRS)) == {a_memory_id(2), a_memory_id(3)}


@BOTH
@ARMS
async def test_an_unset_key_matches_nothing(tmp_path: Path, making: Making, arm: str) -> None:
    async with making(tmp_path, [kept(1, "Releases go out on Thursdays.", None)]) as likeness:
        for key in (IsolationKey(team=TEAM, user="", agent="a"), IsolationKey(team=TEAM, user="u1", agent=" ")):
            assert await ids(likeness, arm, "Releases", key) == []


@BOTH
@ARMS
async def test_records_of_others_do_not_use_up_the_limit(tmp_path: Path, making: Making, arm: str) -> None:
    others = [kept(number, f"Releases go out on day {number}.", THEIRS) for number in range(1, 60)]
    async with making(tmp_path, [*others, kept(99, "The releases of ours go out weekly, as a rule.")]) as likeness:
        assert await ids(likeness, arm, "releases go out on day", limit=1) == [a_memory_id(99)]


@BOTH
@ARMS
async def test_what_a_person_made_kept_or_pinned_is_guarded(tmp_path: Path, making: Making, arm: str) -> None:
    records = [
        kept(1, "Releases go out on Thursdays."),
        kept(2, "Releases are signed.", None),
        kept(3, "Releases are tagged.", origin=Origin.REVIEWED),
        kept(4, "Releases are announced.", pinned=True),
    ]
    async with making(tmp_path, records) as likeness:
        found = await getattr(likeness, arm)(OURS, "Releases", 9)
    guarded = {one.memory_id: one.guarded for one in found}
    assert guarded == {a_memory_id(1): False, a_memory_id(2): True, a_memory_id(3): True, a_memory_id(4): True}


async def test_another_workspace_is_not_asked(tmp_path: Path) -> None:
    async with of_library(tmp_path, [kept(1, "Releases go out on Thursdays.", None)]) as likeness:
        elsewhere = IsolationKey(team="ws_2", user="u1", agent=ANY_AGENT)
        assert await ids(likeness, "by_words", "Releases", elsewhere) == []
        assert await ids(likeness, "by_words", "…", OURS) == []


async def test_what_is_far_from_it_is_not_like_it(tmp_path: Path) -> None:
    async with of_library(tmp_path, [kept(1, "Releases go out on Thursdays.")]) as likeness:
        engine = likeness._engine
        assert isinstance(engine, FakeNearest)
        for cosine, found in ((0.11, [a_memory_id(1)]), (0.09, [])):
            engine.cosine = cosine
            assert await ids(likeness, "by_meaning", "When do releases go out?") == found


async def test_an_arm_that_cannot_be_asked_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with of_library(tmp_path, [kept(1, "Releases go out on Thursdays.")]) as likeness:
        engine = likeness._engine
        assert isinstance(engine, FakeNearest)
        for fault, code in ((ArmUnavailable("stale-vectors"), "stale-vectors"), (EngineFault("gone"), "broken")):
            engine.fault = fault
            with pytest.raises(StateFault) as found:
                await likeness.by_meaning(OURS, "Releases", 5)
            assert found.value.code == code
        without = LibraryLikeness(likeness._library, None, likeness._memories._database, lambda: START)
        with pytest.raises(StateFault) as found:
            await without.by_meaning(OURS, "Releases", 5)
        assert found.value.code == "no-vectors"

        async def broken(*_: object) -> Sequence[object]:
            raise IndexFault("torn")

        monkeypatch.setattr(type(likeness._library.snapshot(START)), "match", broken)
        with pytest.raises(StateFault) as found:
            await likeness.by_words(OURS, "Releases", 5)
        assert found.value.code == "broken"


async def test_the_engine_is_asked_for_the_key_and_its_vectors_of_another_model_are_not_used(tmp_path: Path) -> None:
    records = [kept(1, "Releases go out on Thursdays."), kept(2, "Releases go out on Fridays.", THEIRS)]
    async with of_library(tmp_path, records) as likeness:
        library, database = likeness._library, likeness._memories._database
        async with an_engine(tmp_path / "index") as engine:
            await settled(engine)
            over = LibraryLikeness(library, engine, database, lambda: START)
            assert await ids(over, "by_meaning", "Releases go out on Thursdays.") == [a_memory_id(1)]
        async with an_engine(tmp_path / "index", encoder="tests.support.encoders:Larger") as engine:
            await settled(engine)
            over = LibraryLikeness(library, engine, database, lambda: START)
            with pytest.raises(StateFault) as fault:
                await over.by_meaning(OURS, "Releases go out on Thursdays.", 5)
            assert fault.value.code == "stale-vectors"
