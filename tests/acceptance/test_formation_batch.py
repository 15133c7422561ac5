"""formation.md 9, items 22 to 25, and the generations of item 28: batch extraction over real stores."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from governance.formation.claims import claim_of
from governance.formation.contracts import (
    ANY_AGENT,
    FormedMemory,
    IsolationKey,
    KnownRecord,
    Life,
    MemorySource,
    Pipeline,
    RangeStatus,
)
from governance.formation.store import generations, memories
from governance.migrations import queue_steps
from host.database import open_database
from host.formation.likeness import LibraryLikeness
from host.models.scripted import Scripted
from recall.contracts import MemoryRecord, Origin, Scope, ScopeRef
from recall.errors import EngineFault, IndexFault
from recall.frames import EngineHits
from tests.support.asking import Asking
from tests.support.batched import a_name, formed, found, told, told_more
from tests.support.batching import (
    KEY,
    USER,
    WS,
    Bench,
    a_decision,
    a_memory_said,
    a_segment,
    a_text,
    chose,
    ids_in,
    said,
)
from tests.support.builders import a_memory, a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.formed import ON
from tests.support.library import a_library, a_root, write_records
from tests.support.reviewing import decide, waiting
from tests.support.world import World, a_world

T = TypeVar("T")
CASES = Path("tests/data/cases")
SCOPE = ScopeRef(kind=Scope.WORKSPACE, key=WS)


def a_case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    return found


def a_life(memory_id: str, text: str, key: IsolationKey = KEY) -> FormedMemory:
    return FormedMemory(
        memory_id=memory_id,
        pipeline=Pipeline.BATCH,
        claim=claim_of(text),
        created_at=START,
        updated_at=START,
        team=key.team,
        user=key.user,
        agent=key.agent,
    )


def stored(bench: Bench, memory_id: str, text: str, key: IsolationKey = KEY) -> FormedMemory:
    """A record that was formed before from one message, and is found by full text."""
    life = a_life(memory_id, text, key)
    assert isinstance(bench.database, FakeDatabase)
    memories.put(bench.database.connection, life)
    source = MemorySource(session_id="s-0", message_id="m-0", event_seq=1, at=START, quote=text)
    memories.add_sources(bench.database.connection, memory_id, [source])
    bench.likeness.records.append((key, KnownRecord(memory_id=memory_id, text=text, guarded=False)))
    return life


# ------------------------------------------------------------------------------------------------------------- item 22


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        yield made


def names(model: Scripted, call: int) -> list[str]:
    """The new messages of a call."""
    rows = [line for line in model.requests[call].messages[0].content.splitlines() if '"use":"new"' in line]
    return [ids_in(row)[0] for row in rows]


@pytest.mark.promise("formation-22")
async def test_item_22_thirty_seven_qualified_messages_are_four_windows_and_none_is_unseen(world: World) -> None:
    await told(world, *[f"Statement number {number} of this long session." for number in range(37)], "…", "ok?")

    model, results = await formed(world, said(), said(), said(), said())

    assert [one.status for one in results] == [RangeStatus.SKIPPED] * 4
    assert [len(names(model, call)) for call in range(4)] == [10, 10, 10, 8]  # "ok?" has two letters: it qualifies
    seen = [name for call in range(4) for name in names(model, call)]
    assert len(seen) == len(set(seen)) == 38
    texts = "\n".join(request.messages[0].content for request in model.requests)
    assert all(f"Statement number {number} of" in texts for number in range(37))


@pytest.mark.promise("formation-22")
async def test_item_22_when_the_embedder_raises_full_text_is_used_and_without_it_all_is_stored(tmp_path: Path) -> None:
    old = a_memory("The retry limit is 10.", memory_id=a_memory_id(901), scope=SCOPE, origin=Origin.EXTRACTED)
    answer = said(a_segment(a_memory_said("The retry limit is 20.", "m-1")))
    async with a_shelf(tmp_path, [(KEY, old)]) as (bench, library):
        bench.texts.append(a_text(1, "From now on the retry limit is 20."))
        bench.also(answer, chose(a_decision(0, "update", old.memory_id)))
        (first,) = await bench.run()
        assert (first.calls, len(first.committed)) == (2, 1)  # full text brought the old one, and it was decided upon
        assert old.memory_id in bench.shown(1)

        class Broken:
            async def match(self, *_: object) -> Sequence[object]:
                raise IndexFault("The index cannot be read.")

        library.snapshot = lambda now: Broken()
        bench.texts.append(a_text(3, "The retry limit of the importer is 30."))
        bench.also(said(a_segment(a_memory_said("The retry limit of the importer is 30.", "m-3"))))
        (second,) = await bench.run()
        assert (second.calls, len(second.committed)) == (1, 1)
        logged = await bench.database.read(lambda sql: sql.execute("SELECT decisions FROM generation").fetchall())
    assert any("vectors: broken" in one for (one,) in logged) and any("full-text: broken" in one for (one,) in logged)


@pytest.mark.promise("formation-22")
async def test_item_22_a_hallucinated_target_stores_and_drop_is_written_down_as_skip() -> None:
    bench = Bench(texts=[a_text(1, "We ship on Thursdays, and the limit is 20.")])
    old = stored(bench, "mem_old", "Releases are shipped every Thursday at noon.")
    stored(bench, "mem_limit", "The limit is 10.")
    memories_said = [a_memory_said("We ship on Thursdays.", "m-1"), a_memory_said("The limit is 20.", "m-1")]
    bench.also(
        said(a_segment(*memories_said)),
        chose(a_decision(0, "drop", "mem_old"), a_decision(1, "update", "mem_made_up")),
    )
    (result,) = await bench.run()
    assert len(result.committed) == 1
    (decisions,) = bench.rows("SELECT decisions FROM generation")
    rows = [one for one in json.loads(decisions[0]) if one[0].isdecimal()]
    assert rows == ["0 skip - mem_old", f"1 store {result.committed[0]}"]
    assert [life for (life,) in bench.rows("SELECT state FROM memory ORDER BY memory_id")] == ["live"] * 3
    assert isinstance(bench.database, FakeDatabase)
    assert memories.of(bench.database.connection, "mem_old") == old


# ------------------------------------------------------------------------------------------------------------- item 23


class Embedder:
    """An engine that is broken."""

    async def search(self, text: str, scopes: Sequence[ScopeRef], limit: int) -> EngineHits:
        raise EngineFault("The embedder raised.")


@asynccontextmanager
async def a_shelf(
    folder: Path, records: Sequence[tuple[IsolationKey, MemoryRecord]]
) -> AsyncIterator[tuple[Bench, Any]]:
    """Batch extraction over a real governance.db and a real library that holds these formed records."""
    write_records(folder / "memory" / "2026-11.md", [record for _, record in records], SCOPE)
    async with (
        open_database(folder / "governance.db", queue_steps()) as database,
        a_library(folder / "index") as library,
    ):
        await library.adopt(a_root(folder / "memory", SCOPE))
        for key, record in records:
            life = a_life(record.memory_id, record.text, key)
            await database.write(lambda sql, life=life: memories.put(sql, life))  # type: ignore[misc]
        bench = Bench(database=database)
        bench.likeness = LibraryLikeness(library, Embedder(), database, lambda: START)  # type: ignore[assignment]
        yield bench, library


@pytest.mark.promise("formation-23")
@pytest.mark.parametrize("decision", ["update", "merge", "skip"])
async def test_item_23_a_record_of_another_user_is_never_seen_changed_or_superseded(
    tmp_path: Path, decision: str
) -> None:
    theirs = IsolationKey(team=WS, user="u2", agent=ANY_AGENT)
    text = "The retry limit of the wombat service is 10."
    foreign = a_memory(text, memory_id=a_memory_id(901), scope=SCOPE, origin=Origin.EXTRACTED)
    own = a_memory("The retry limit is 5 elsewhere.", memory_id=a_memory_id(902), scope=SCOPE, origin=Origin.EXTRACTED)
    async with a_shelf(tmp_path, [(theirs, foreign), (KEY, own)]) as (bench, _):
        before = await bench.database.read(lambda sql: memories.of(sql, foreign.memory_id))
        same_words = a_memory_said(text, "m-1")
        other_words = a_memory_said("The retry limit of the service is 20.", "m-3")
        bench.texts += [a_text(1, text), a_text(3, "The retry limit of the service is 20.")]
        named = a_decision(1, decision, foreign.memory_id, content="The retry limit is 20.")
        bench.also(said(a_segment(same_words, other_words)), chose(a_decision(0, "store"), named))

        (result,) = await bench.run()

        assert len(result.committed) == 2 and result.rejected == {}  # not even the same words are known
        assert foreign.memory_id not in bench.shown(1) and own.memory_id in bench.shown(1)
        after = await bench.database.read(lambda sql: memories.of(sql, foreign.memory_id))
        assert after == before and after is not None and after.state is Life.LIVE
        sources = await bench.database.read(lambda sql: memories.sources(sql, foreign.memory_id))
        assert sources == ()


class NoQuery(FakeDatabase):
    """A store that nobody may ask."""

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        raise AssertionError("A query was run.")

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        raise AssertionError("Something was written.")


@pytest.mark.promise("formation-23")
@pytest.mark.parametrize("unset", [{"user": ""}, {"user": "  "}, {"workspace_key": ""}])
async def test_item_23_with_a_part_unset_it_is_refused_and_no_query_is_run(unset: dict[str, Any]) -> None:
    bench = Bench(texts=[a_text(1, "We ship on Thursdays.")], database=NoQuery(), user=unset.pop("user", USER))
    (result,) = await bench.run(**unset)
    assert (result.status, result.reason) == (RangeStatus.UNAVAILABLE, "scope-unset")
    assert (bench.likeness.asked, bench.material.reads, bench.driver.requests) == ([], [], [])


# ------------------------------------------------------------------------------------------------------------- item 24


@pytest.mark.promise("formation-24")
@pytest.mark.parametrize(
    ("held", "new"),
    [
        ("Limit is 10", "Limit is 20"),
        ("use npm for this repository", "do not use npm for this repository"),
        ("Use `retry_limit` here", "Use `retry_limits` here"),
        (
            a_case("update-is-not-a-duplicate")["given"]["memories"][0]["text"],
            a_case("update-is-not-a-duplicate")["when"]["candidate"]["text"],
        ),
    ],
)
async def test_item_24_what_differs_in_a_number_a_name_or_a_negation_is_neither_skipped_nor_merged_by_tier_0(
    held: str, new: str
) -> None:
    bench = Bench(texts=[a_text(1, new)])
    before = stored(bench, "mem_held", held)
    bench.also(said(a_segment(a_memory_said(new, "m-1"))), chose(a_decision(0, "store")))
    (result,) = await bench.run()
    assert (len(result.committed), result.rejected, result.calls) == (1, {}, 2)  # it was for the model to decide
    assert isinstance(bench.database, FakeDatabase)
    assert memories.of(bench.database.connection, "mem_held") == before


@pytest.mark.promise("formation-24")
async def test_item_24_three_spellings_from_three_sessions_are_one_record_with_four_pieces_of_evidence() -> None:
    case = a_case("exact-duplicate-merged")
    bench = Bench()
    stored(bench, "mem_m1", case["given"]["memories"][0]["text"])
    spellings = zip(case["when"]["sessions"], case["when"]["candidates"], strict=True)
    for session, text in spellings:
        bench.texts.append(a_text(1, text, session_id=session, ref=f"{session}#1", message_id=f"{session}-m"))
        bench.also(said(a_segment(a_memory_said(text, f"{session}-m"))))
        (result,) = await bench.run(session=session)
        assert (result.committed, result.rejected) == ((), {"already-known": 1})
    assert len(bench.rows("SELECT memory_id FROM memory")) == case["then"]["records"]
    assert isinstance(bench.database, FakeDatabase)
    assert len(memories.sources(bench.database.connection, "mem_m1")) == case["then"]["evidence_count"]


# ------------------------------------------------------------------------------------------------------------- item 25


@pytest.mark.promise("formation-25")
async def test_item_25_a_kept_record_is_not_rewritten_and_keeping_the_proposal_puts_the_new_one_in_its_place(
    world: World,
) -> None:
    remora, folder = Asking(world), world.workspace()
    await told(world, "The release day is Thursday.", "Noted.")
    _, (first,) = await formed(
        world, said(a_segment(a_memory_said("The release day is Thursday.", await a_name(world, 0))))
    )
    (old,) = first.committed
    (item,) = await waiting(remora, folder, states=["committed"])
    await decide(remora, folder, item["item"], "keep", reason="agreed")
    before = await world.parts.kept.read(lambda sql: memories.of(sql, old))

    await told_more(world, "The release day is now Tuesday.")
    new_said = said(a_segment(a_memory_said("The release day is Tuesday.", await a_name(world, -1))))
    _, (second,) = await formed(world, new_said, chose(a_decision(0, "update", old)))

    assert (second.committed, len(second.pending)) == ((), 1)
    assert await world.parts.kept.read(lambda sql: memories.of(sql, old)) == before
    (proposal,) = await waiting(remora, folder, states=["pending"])
    assert proposal["item"]["updates"] == old
    assert await found(world, "release day") == [old]

    await decide(remora, folder, proposal["item"], "keep", reason="it moved")
    await world.parts.formation.projected()

    (new,) = await found(world, "release day")
    assert new == second.pending[0]
    after = await world.parts.kept.read(lambda sql: memories.of(sql, old))
    assert after is not None and (after.state, after.superseded_by) == (Life.SUPERSEDED, new)


# ------------------------------------------------------------------------------------------------------------- item 28


@pytest.mark.promise("formation-28")
async def test_item_28_a_generation_names_prompt_model_and_messages_and_no_prompt_or_secret_is_in_any_file(
    world: World,
) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    await told(world, f"The release day is Thursday. The token is {secret}.", "Noted.")
    name = await a_name(world, 0)
    leaking = a_memory_said(f"The token is {secret}.", name)
    model, (result,) = await formed(
        world, said(a_segment(a_memory_said("The release day is Thursday.", name), leaking))
    )

    assert result.rejected == {"secret": 1}
    (memory_id,) = result.committed
    (run,) = await world.parts.kept.read(lambda sql: generations.of_memory(sql, memory_id))
    assert (run.prompt.id, run.prompt.version, run.model_id) == ("batch-extract", 1, "scripted:demo")
    assert re.fullmatch("[0-9a-f]{64}", run.prompt.sha256)
    assert name in run.input_refs and run.output_refs == (memory_id,)
    sentences = [line for line in model.requests[0].system.splitlines() if len(line) > 60]
    assert sentences
    await world.parts.kept.cut_log()
    for path in world.folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert secret.encode() not in data, path.name
        assert not any(line.encode() in data for line in sentences), path.name
