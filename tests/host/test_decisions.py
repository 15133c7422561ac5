"""What a decision about an item does to its memory: put away, kept, kept in other words, promoted."""

import json
from functools import partial
from pathlib import Path

import pytest

from governance.contracts import AuditKind, Stage
from governance.promotion import FACT, PROCEDURE, VALIDATED, proposal
from governance.review import ItemFlag, State
from host.lifecycle import propose_memory
from host.namespace import REPOSITORY_FOLDER
from recall.contracts import MemoryKind, Origin, Risk, Status
from recall.survey import anywhere
from recall.workspace import workspace_key
from tests.support.asking import Asking
from tests.support.builders import a_memory_id, a_scope
from tests.support.remembering import a_need
from tests.support.reviewing import (
    ENOUGH,
    POISON,
    RECIPE,
    decide,
    proposed,
    record,
    refusal,
    waiting,
)
from tests.support.world import LESSON


async def test_what_is_put_away_is_recalled_no_more_and_can_come_back(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The port of the harbour service is 7070.", folder)
    assert await propose_memory(remora.world.parts, [memory_id], ItemFlag.CORRECTED, "aud_1") == 1
    (one,) = await waiting(remora, folder)
    done = await decide(remora, folder, one["item"], "archive")
    assert (await record(remora, memory_id, folder))["status"] == Status.ARCHIVED
    words = (workspace_key(folder), "the port of the HARBOUR service is 7070.")
    assert await remora.world.parts.queue.buried(*words)
    assert (await remora.ask("memory.search", query="harbour port", workspace=folder))["hits"] == []
    await decide(remora, folder, done["item"], "keep")
    assert (await record(remora, memory_id, folder))["status"] == Status.ACTIVE
    assert not await remora.world.parts.queue.buried(*words)


async def test_what_is_kept_in_other_words_says_those(remora: Asking, folder: str) -> None:
    kept = await remora.ask("memory.remember", text=POISON, workspace=folder)
    (one,) = await waiting(remora, folder)
    done = await decide(remora, folder, one["item"], "edit-and-keep", text="The harbour port is 7070.")
    assert (done["item"]["state"], done["item"]["text"]) == (State.KEPT, "")
    found = await record(remora, kept["memoryId"], folder)
    assert (found["text"], found["flags"]) == ("The harbour port is 7070.", [])
    assert [hit["memoryId"] for hit in (await remora.ask("memory.search", query="harbour", workspace=folder))["hits"]]


@pytest.mark.promise("only-a-person-decides")
@pytest.mark.parametrize("shared", [False, True], ids=["our-file", "the-repositorys-file"])
async def test_what_a_person_keeps_though_the_screen_held_it_back_is_recalled_as_it_stands(
    remora: Asking, folder: str, shared: bool
) -> None:
    text = f"The harbour team answers every ticket so: {POISON}"
    if shared:
        memory_id = a_memory_id(7)
        file = Path(folder) / REPOSITORY_FOLDER / "memory" / "notes.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"<!-- memory:{memory_id} -->\n{text}\n")
    else:
        memory_id = (await remora.ask("memory.remember", text=text, workspace=folder))["memoryId"]
    scope = a_scope(workspace=workspace_key(folder))

    async def hits() -> list[str]:
        found = await remora.ask("memory.search", query="harbour ticket", workspace=folder)
        return [hit["memoryId"] for hit in found["hits"]]

    assert await hits() == []
    before = remora.world.parts.marks.generation
    (one,) = await waiting(remora, folder)
    await decide(remora, folder, one["item"], "keep")
    assert await hits() == [memory_id]
    assert await remora.world.parts.library.digests([memory_id], scope)
    assert remora.world.parts.marks.generation > before  # packets that wait are checked anew
    assert await waiting(remora, folder) == []

    await remora.world.parts.library.rebuild()
    assert await hits() == [memory_id]  # the index is a cache: the decision is not

    if shared:
        file.write_text(f"<!-- memory:{memory_id} -->\n{text} And send it on.\n")
        await remora.world.parts.library.refresh(str(file))
        assert await hits() == []  # that is not what the person kept


async def test_what_a_person_keeps_is_handed_over_again(remora: Asking, folder: str) -> None:
    await remora.ask("memory.remember", text=f"{LESSON} {POISON}", workspace=folder)
    await a_need(remora, folder)
    assert (await remora.claim())["packet"] is None
    (one,) = await waiting(remora, folder)
    await decide(remora, folder, one["item"], "keep")
    await a_need(remora, folder, "c2")
    packet = (await remora.claim(request_id="r2"))["packet"]
    assert packet is not None
    assert [item["memoryId"] for item in packet["items"]] == [one["item"]["recordId"]]


async def test_a_title_is_put_right_with_the_text_or_stays(remora: Asking, folder: str) -> None:
    for title, given in (("Port", {}), ("Harbour", {"title": "Harbour"}), (None, {"title": ""})):
        memory_id = await remora.world.remember(f"The port of {title} is 7070.", folder, title="Port")
        await propose_memory(remora.world.parts, [memory_id], ItemFlag.CORRECTED, "aud_1")
        (one,) = await waiting(remora, folder)
        await decide(remora, folder, one["item"], "edit-and-keep", text=f"The port of {title} is 8080.", **given)
        assert (await record(remora, memory_id, folder))["title"] == title


async def test_new_words_go_through_the_screen(remora: Asking, folder: str) -> None:
    await remora.ask("memory.remember", text=POISON, workspace=folder)
    (one,) = await waiting(remora, folder)
    assert await refusal(remora, folder, one["item"], "edit-and-keep", text=f"{POISON} Please.") == "invalid-params"
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    done = await decide(remora, folder, one["item"], "edit-and-keep", text=f"The account is {key}.")
    assert done["redacted"]
    assert key not in json.dumps(await record(remora, done["memoryId"], folder))


async def test_a_fact_out_of_an_episode_is_a_memory_of_its_own(remora: Asking, folder: str) -> None:
    episode = await remora.world.remember(
        "make seal failed with SealBrokenError; deleting build/seal.stamp helped.",
        folder,
        kind=MemoryKind.EPISODIC,
        origin=Origin.EXTRACTED,
    )
    item = await proposed(remora, episode, FACT, folder)
    done = await decide(remora, folder, item, "edit-and-keep", text="On SealBrokenError delete build/seal.stamp.")
    fact, old = await record(remora, done["memoryId"], folder), await record(remora, episode, folder)
    assert (fact["kind"], fact["origin"], fact["text"]) == (
        MemoryKind.SEMANTIC,
        Origin.REVIEWED,
        "On SealBrokenError delete build/seal.stamp.",
    )
    assert (old["status"], old["supersededBy"]) == (Status.SUPERSEDED, done["memoryId"])
    verbs = [entry.outcome for entry in await remora.world.audit(kind=AuditKind.FEEDBACK)]
    assert verbs.count("promoted") == 2


async def test_a_promotion_that_is_not_wanted_leaves_its_memory_as_it_is(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(RECIPE, folder, origin=Origin.EXTRACTED)
    item = await proposed(remora, memory_id, PROCEDURE, folder)
    before = await record(remora, memory_id, folder)
    await decide(remora, folder, item, "archive")
    assert await record(remora, memory_id, folder) == before
    (found,) = await remora.world.parts.library.survey(partial(anywhere, memory_ids=[memory_id]))
    again = proposal(found.record, PROCEDURE, ENOUGH, remora.world.clock.now())
    assert await remora.world.parts.queue.propose(again) is False


async def test_a_fact_with_steps_becomes_an_active_procedure(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(RECIPE, folder, origin=Origin.EXTRACTED)
    done = await decide(remora, folder, await proposed(remora, memory_id, PROCEDURE, folder), "keep")
    found = await record(remora, memory_id, folder)
    assert (found["kind"], found["origin"], found["riskLevel"]) == (
        MemoryKind.PROCEDURAL,
        Origin.REVIEWED,
        Risk.LOW,
    )
    assert (done["memoryId"], done["stage"]) == (memory_id, Stage.ACTIVE)
    assert remora.world.parts.lives.stages == {memory_id: Stage.ACTIVE}


@pytest.mark.promise("high-risk-waits")
async def test_a_kept_procedure_that_can_do_harm_waits_for_approval(remora: Asking, folder: str) -> None:
    risky = f"{RECIPE}\n4. run `git push --force origin main`"
    memory_id = await remora.world.remember(risky, folder, kind=MemoryKind.PROCEDURAL, origin=Origin.EXTRACTED)
    item = await proposed(remora, memory_id, VALIDATED, folder)
    assert item["flags"] == [ItemFlag.HIGH_RISK]
    done = await decide(remora, folder, item, "keep")
    assert done["stage"] == Stage.VALIDATED
    assert (await record(remora, memory_id, folder))["riskLevel"] == Risk.HIGH


async def test_a_memory_that_is_gone_can_only_be_put_away(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The port is 7070.", folder)
    await propose_memory(remora.world.parts, [memory_id], ItemFlag.CORRECTED, "aud_1")
    (one,) = await waiting(remora, folder)
    for file in remora.world.folder.rglob("*.md"):
        file.unlink()
    await remora.world.parts.library.refresh(str(remora.world.folder / "memory" / workspace_key(folder)))
    assert await refusal(remora, folder, one["item"]) == "unknown-memory"
    assert (await decide(remora, folder, one["item"], "archive"))["item"]["state"] == State.ARCHIVED


async def test_a_decision_that_could_not_be_written_down_can_be_said_again(remora: Asking, folder: str) -> None:
    episode = await remora.world.remember(
        "Deleting the stamp helped.", folder, kind=MemoryKind.EPISODIC, origin=Origin.EXTRACTED
    )
    item = await proposed(remora, episode, FACT, folder)
    full = "CREATE TRIGGER full BEFORE INSERT ON decision BEGIN SELECT RAISE(ABORT, 'no room'); END"
    await remora.world.parts.kept.write(lambda given: given.execute(full))
    assert await refusal(remora, folder, item) == "store-unavailable"
    await remora.world.parts.kept.write(lambda given: given.execute("DROP TRIGGER full"))
    assert [one["item"]["itemId"] for one in await waiting(remora, folder)] == [item["itemId"]]
    done = await decide(remora, folder, item, "keep")
    everything = await remora.ask("memory.list", workspace=folder)
    assert {one["memoryId"] for one in everything["records"]} == {episode, done["memoryId"]}


async def test_a_pin_takes_nothing_back_of_what_a_person_let_through(remora: Asking, folder: str) -> None:
    memory_id = (await remora.ask("memory.remember", text=POISON, workspace=folder))["memoryId"]
    assert await remora.world.parts.queue.depths() == {"pending": 1}  # it waits before anybody looks
    (one,) = await waiting(remora, folder)
    await decide(remora, folder, one["item"], "keep")
    await remora.ask("memory.pin", memoryId=memory_id, workspace=folder)
    hits = (await remora.ask("memory.search", query="system prompt", workspace=folder))["hits"]
    assert [hit["memoryId"] for hit in hits] == [memory_id]
    assert await waiting(remora, folder) == []


@pytest.mark.promise("forgotten-everywhere")
async def test_a_forgotten_memory_waits_no_more(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(RECIPE, folder, origin=Origin.EXTRACTED)
    await decide(remora, folder, await proposed(remora, memory_id, PROCEDURE, folder), "keep")
    await propose_memory(remora.world.parts, [memory_id], ItemFlag.UNUSED, "x")
    await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)
    assert await waiting(remora, folder) == []
    assert remora.world.parts.lives.stages == {}


async def test_in_a_file_of_others_it_is_muted_in_place_of_being_put_away(remora: Asking, folder: str) -> None:
    memory_id = a_memory_id(7)
    file = Path(folder) / REPOSITORY_FOLDER / "memory" / "notes.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"<!-- memory:{memory_id} -->\nThe harbour port is 7070.\n")
    before = file.read_bytes()
    await remora.ask("memory.list", workspace=folder)
    await propose_memory(remora.world.parts, [memory_id], ItemFlag.CORRECTED, "aud_1")
    (one,) = await waiting(remora, folder)
    done = await decide(remora, folder, one["item"], "archive")
    now = remora.world.clock.now()
    assert remora.world.parts.marks.muted(now) == {memory_id}
    assert await refusal(remora, folder, done["item"], "edit-and-keep", text="The port is 7071.") == "read-only"
    await decide(remora, folder, done["item"], "keep")
    assert remora.world.parts.marks.muted(now) == frozenset()
    assert file.read_bytes() == before


async def test_words_that_were_kept_once_are_asked_for_anew_when_others_were_kept_since(
    remora: Asking, folder: str
) -> None:
    memory_id = (await remora.ask("memory.remember", text=POISON, workspace=folder))["memoryId"]
    for text in (None, f"{POISON} Twice.", POISON):
        if text is not None:
            got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
            digest = got["locator"]["recordDigest"]
            await remora.ask("memory.edit", memoryId=memory_id, workspace=folder, expected=digest, text=text)
        (one,) = await waiting(remora, folder)
        await decide(remora, folder, one["item"], "keep")
        assert await waiting(remora, folder) == []
