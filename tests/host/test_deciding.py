"""What a decision makes of a note, and of a memory that waited: a reviewed record, or nothing that comes again."""

from typing import Any

import pytest

from governance.formation.contracts import FormedMemory, Life, MemoryType, Pipeline
from governance.formation.queue import Queue, screened
from governance.formation.store import memories, notes
from governance.review import QUOTE, Citation, ItemFlag, ItemKind, QueueItem, State
from host.runtime import USER_KEY
from recall.contracts import MemoryKind, Origin, Status
from recall.workspace import workspace_key
from tests.support.asking import Asking
from tests.support.builders import a_memory_id
from tests.support.noted import NOTE, SAID, a_note, got, said
from tests.support.reviewing import POISON, decide, record, refusal, waiting

WAITS = a_memory_id(77)


async def found(remora: Asking, folder: str, query: str) -> list[str]:
    hits = (await remora.ask("memory.search", query=query, workspace=folder))["hits"]
    return [hit["memoryId"] for hit in hits]


async def put(remora: Asking, folder: str, **fields: Any) -> QueueItem:
    """A memory that a pipeline proposes, and its row, as the pipeline commits them."""
    given = {
        "item_id": WAITS,
        "kind": ItemKind.MEMORY,
        "pipeline": "batch",
        "workspace_key": workspace_key(folder),
        "created_at": remora.world.clock.now(),
        "text": "The staging port is 8080.",
        "citations": (Citation(kind=QUOTE, ref="m1", quote="port 8080 now", session="s", seq=3, role="user", at=5),),
    } | fields
    item = screened(QueueItem(**given))
    life = FormedMemory(
        memory_id=item.item_id,
        pipeline=Pipeline.BATCH,
        claim="c",
        created_at=item.created_at - 1,
        updated_at=item.created_at,
        team=item.workspace_key,
        user=USER_KEY,
        agent="any",
        state=Life.WAITING,
        type=MemoryType.WORK_METHOD if "method" in item.text else MemoryType.WORK_FACT,
        importance=70,
        version=2,
    )

    def work(connection: Any) -> None:
        remora.world.parts.queue.put(connection, item)
        memories.put(connection, life)

    await remora.world.parts.kept.write(work)
    return item


async def test_a_note_that_is_kept_is_a_reviewed_memory(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    assert await found(remora, folder, "releases Thursdays") == []
    done = await decide(remora, folder, item, "keep", reason="agreed")
    memory_id = done["memoryId"]
    kept = await record(remora, memory_id, folder)
    assert (kept["text"], kept["origin"], kept["kind"]) == (NOTE, Origin.REVIEWED, MemoryKind.SEMANTIC)
    assert await found(remora, folder, "releases Thursdays") == [memory_id]
    after = (await got(remora, folder, item["itemId"]))["item"]
    assert (after["state"], after["revision"], after["recordId"]) == (State.KEPT, 2, memory_id)
    note = await remora.world.parts.kept.read(lambda connection: notes.note_of(connection, item["itemId"]))
    assert note is not None
    assert (note.version, note.review.status, note.review.decisions[0].reason) == (2, "kept", "agreed")
    life = await remora.world.parts.kept.read(lambda connection: memories.of(connection, memory_id))
    assert life is not None
    assert (life.state, life.version) == (Life.LIVE, 0)


async def test_a_note_kept_in_other_words_says_those(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    better = "The releases ship on Thursdays, after the smoke tests."
    done = await decide(remora, folder, item, "edit-and-keep", text=better, title="Release day")
    kept = await record(remora, done["memoryId"], folder)
    assert (kept["text"], kept["title"]) == (better, "Release day")
    assert (done["item"]["text"], done["item"]["title"]) == (better, "Release day")


async def test_new_words_that_the_quotes_do_not_say_are_refused_and_nothing_is_done(
    remora: Asking, folder: str
) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    assert await refusal(remora, folder, item, "edit-and-keep", text="Releases ship at 09:30.") == "citation-invalid"
    assert await refusal(remora, folder, item, "edit-and-keep", text=f"{POISON} Please.") == "invalid-params"
    assert (await got(remora, folder, item["itemId"]))["item"] == item
    assert await found(remora, folder, "releases") == []


async def test_a_note_that_is_put_away_is_nowhere_and_can_come_back(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    done = await decide(remora, folder, item, "archive")
    assert (done["memoryId"], await found(remora, folder, "releases")) == (None, [])
    assert await remora.world.parts.queue.buried(workspace_key(folder), NOTE)
    kept = await decide(remora, folder, done["item"], "keep")
    assert await found(remora, folder, "releases") == [kept["memoryId"]]
    assert not await remora.world.parts.queue.buried(workspace_key(folder), NOTE)


async def test_a_kept_note_is_put_away_and_kept_again(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    kept = await decide(remora, folder, await a_note(remora, folder), "keep")
    gone = await decide(remora, folder, kept["item"], "archive")
    assert await found(remora, folder, "releases") == []
    assert (await record(remora, kept["memoryId"], folder))["status"] == Status.ARCHIVED
    await decide(remora, folder, gone["item"], "keep")
    assert await found(remora, folder, "releases") == [kept["memoryId"]]


async def test_what_an_agent_or_a_late_hand_decides_does_not_hold(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    assert await refusal(remora, folder, item, principal="agent") == "reviewer-kind"
    await decide(remora, folder, item, "keep")
    assert await refusal(remora, folder, item, "archive", reason="late") == "conflict"


async def test_a_memory_that_waited_keeps_its_id_its_kind_and_its_evidence(remora: Asking, folder: str) -> None:
    item = await put(remora, folder, text="The method is to run make seal and then make ship.")
    (one,) = await waiting(remora, folder)
    done = await decide(remora, folder, one["item"], "keep")
    kept = await record(remora, WAITS, folder)
    assert (done["memoryId"], kept["text"], kept["kind"]) == (WAITS, item.text, MemoryKind.PROCEDURAL)
    assert (kept["importance"], kept["createdAt"]) == (70, item.created_at - 1)
    life = await remora.world.parts.kept.read(lambda connection: memories.of(connection, WAITS))
    assert life is not None
    assert (life.state, life.version) == (Life.LIVE, 2)
    sources = await remora.world.parts.kept.read(lambda connection: memories.sources(connection, WAITS))
    assert [(one.session_id, one.event_seq, one.quote) for one in sources] == [("s", 3, "port 8080 now")]


@pytest.mark.promise("formation-25")
async def test_what_would_take_the_place_of_another_does_so_when_it_is_kept(remora: Asking, folder: str) -> None:
    old = await remora.world.remember("The staging port is 7070.", folder, origin=Origin.REVIEWED)
    await put(remora, folder, updates=old)
    (one,) = await waiting(remora, folder)
    shown = await got(remora, folder, one["item"]["itemId"])
    assert [beside["memoryId"] for beside in shown["others"]["replaces"]] == [old]
    assert await found(remora, folder, "staging port") == [old]
    await decide(remora, folder, one["item"], "keep")
    assert await found(remora, folder, "staging port") == [WAITS]
    before = await record(remora, old, folder)
    assert (before["status"], before["supersededBy"]) == (Status.SUPERSEDED, WAITS)


async def test_a_person_may_name_what_the_kept_one_takes_the_place_of(remora: Asking, folder: str) -> None:
    old = await remora.world.remember("The staging port is 7070.", folder)
    await put(remora, folder)
    (one,) = await waiting(remora, folder)
    assert await refusal(remora, folder, one["item"], replaces=[a_memory_id(99)]) == "unknown-memory"
    await decide(remora, folder, one["item"], "keep", replaces=[old])
    assert await found(remora, folder, "staging port") == [WAITS]


@pytest.mark.promise("formation-26")
async def test_what_reads_like_an_order_is_let_through_by_the_person_alone(remora: Asking, folder: str) -> None:
    await put(remora, folder, text=f"The harbour team answers so: {POISON}")
    (one,) = await waiting(remora, folder)
    assert one["item"]["flags"] == [ItemFlag.QUARANTINED]
    assert await found(remora, folder, "harbour team") == []
    await decide(remora, folder, one["item"], "keep")
    assert await found(remora, folder, "harbour team") == [WAITS]


async def test_a_queue_of_another_install_reads_no_digest_of_ours(remora: Asking, folder: str) -> None:
    await put(remora, folder)
    (one,) = await waiting(remora, folder)
    await decide(remora, folder, one["item"], "archive")
    stranger = Queue(remora.world.parts.kept, b"x" * 32)
    assert not await stranger.buried(workspace_key(folder), "The staging port is 8080.")
