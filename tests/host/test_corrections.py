"""A correction takes a memory out of recall at once, in every session, until a person keeps it; and what is forgotten
stands nowhere any more."""

import sqlite3
from pathlib import Path

import pytest

from governance.contracts import AuditKind, EvidenceKind
from governance.review import ItemFlag
from host.contracts import Claimed, Reason, Silence
from host.corrections import Corrections
from host.marks import effective_version
from recall.contracts import Flag
from tests.support.asking import Asking, asking
from tests.support.builders import a_call, a_prompt, a_result
from tests.support.clock import START
from tests.support.remembering import OWNER, a_need, found, kept, listed, verbs
from tests.support.world import FAILURE, LESSON, World, a_world

CAUSE = "aud_" + "0" * 32


async def needed(world: World, session: str = "session-1") -> None:
    """A failure that LESSON helps with, in a session of its own."""
    folder = world.workspace()
    call = a_call("make integration-test", session_id=session, workspace=folder)
    await world.feed(call, a_result(FAILURE, session_id=session, workspace=folder))


async def silence(world: World, session: str = "session-1") -> Reason:
    claim = await world.claim(session=session)
    assert isinstance(claim, Silence), claim
    return claim.reason


@pytest.mark.promise("correction-at-once")
async def test_a_correction_purges_the_packets_of_every_session_and_nothing_brings_the_memory_back(
    tmp_path: Path,
) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LESSON)
        for session in ("session-1", "session-2"):
            await needed(world, session)

        assert await Corrections(world.parts).correct([memory_id], CAUSE) == 2

        assert {await silence(world, session) for session in ("session-1", "session-2")} == {Reason.NONE_PENDING}
        drops = await world.audit(kind=AuditKind.DROP)
        assert [drop.reason for drop in drops] == [Reason.CORRECTED] * 2
        await needed(world, "session-3")
        assert await silence(world, "session-3") is Reason.NONE_PENDING
        last = (await world.audit(kind=AuditKind.PASS))[-1]
        assert (last.outcome, [(row.memory_id, row.drop_reason) for row in last.candidates]) == (
            "silence",
            [(memory_id, "corrected")],
        )
    async with a_world(tmp_path) as world:
        await needed(world, "session-4")
        assert await silence(world, "session-4") is Reason.NONE_PENDING


async def test_a_correction_leaves_an_entry_and_one_item_for_a_person(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        folder = remora.world.workspace()
        memory_id = await remora.world.remember(LESSON)
        corrections = Corrections(remora.world.parts)

        await corrections.correct([memory_id], CAUSE)
        await corrections.correct([memory_id], CAUSE)

        assert await verbs(remora) == [("corrected", memory_id)]
        (waiting,) = (await remora.ask("review.list", workspace=folder))["items"]
        assert (waiting["item"]["flags"], waiting["item"]["recordId"]) == ([ItemFlag.CORRECTED], memory_id)
        assert waiting["record"]["flags"] == [Flag.CORRECTED]


async def test_what_a_person_keeps_speaks_again(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LESSON)
        corrections = Corrections(world.parts)
        await corrections.correct([memory_id], CAUSE)

        assert (await corrections.clear(memory_id), await corrections.clear(memory_id)) == (True, False)

        await needed(world)
        claim = await world.claim()
        assert isinstance(claim, Claimed) and [item.memory_id for item in claim.packet.items] == [memory_id]


async def test_packets_and_entries_name_another_version_after_a_correction(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await world.remember(LESSON)
        other = await world.remember("The heron gateway is deployed on Tuesdays.")
        await needed(world)
        before = (await world.audit(kind=AuditKind.PASS))[-1].versions["index"]

        await Corrections(world.parts).correct([other], CAUSE)

        await needed(world, "session-2")
        after = (await world.audit(kind=AuditKind.PASS))[-1].versions["index"]
        assert (before, after) == (world.parts.library.version, effective_version(before, 1))
        claim = await world.claim(session="session-2")
        assert isinstance(claim, Claimed) and after in claim.packet.retrieval_version


async def test_a_pass_that_a_correction_overtakes_says_nothing_of_the_memory(tmp_path: Path) -> None:
    """Between look-up and packet: the marks are asked once more."""
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LESSON)
        ranked = world.parts.host.stage.ranked

        async def overtaken(*given: object) -> object:
            answer = await ranked(*given)  # type: ignore[arg-type]
            await world.parts.marks.correct(memory_id, START)
            return answer

        world.parts.host.stage.ranked = overtaken  # type: ignore[method-assign, assignment]
        await needed(world)

        assert await silence(world) is Reason.NONE_PENDING
        verdict = (await world.audit(kind=AuditKind.PASS))[-1].verdict
        assert verdict is not None and [one.reason for one in verdict.removed] == ["corrected"]


async def test_a_crash_right_behind_the_mark_leaves_nothing_that_could_be_given(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LESSON)
        await needed(world)
        await world.parts.marks.correct(memory_id, START)
    async with asking(tmp_path) as remora:
        assert await silence(remora.world) is Reason.STALE_INDEX
        (drop,) = await remora.world.audit(kind=AuditKind.DROP)
        assert drop.reason == Reason.STALE_INDEX
        (waiting,) = (await remora.ask("review.list", workspace=remora.world.workspace()))["items"]
        assert (waiting["item"]["flags"], waiting["item"]["recordId"]) == ([ItemFlag.CORRECTED], memory_id)


async def test_a_store_that_fails_ends_no_session_and_is_told_to_who_asks(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LESSON)

        async def full(*_: object) -> bool:
            raise sqlite3.OperationalError("database or disk is full")

        world.parts.marks.correct = full  # type: ignore[method-assign, assignment]
        assert await Corrections(world.parts).taken_back([memory_id], CAUSE) == 0
        with pytest.raises(sqlite3.OperationalError):
            await Corrections(world.parts).correct([memory_id], CAUSE)


# -------------------------------------------------------------------------------------------------- feedback


@pytest.mark.parametrize("opinion", ["wrong", "harmful"])
async def test_what_is_called_wrong_is_corrected_with_its_evidence(remora: Asking, folder: str, opinion: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await a_need(remora, folder)
    claim = await remora.claim()
    packet = claim["packet"]["packetId"]
    await remora.ask("inbox.delivered", **OWNER, packetId=packet, claimId=claim["claimId"])
    await remora.append(
        a_call("make integration-test", session_id="session-2", workspace=folder),
        a_result(FAILURE, session_id="session-2", workspace=folder),
    )

    noted = await remora.ask("memory.feedback", packetId=packet, opinion=opinion)

    assert (noted["corrected"], noted["packetsPurged"], noted["memoryIds"]) == (True, 1, [memory_id])
    rows = await remora.world.parts.evidence.of_memory(memory_id)
    assert {row.kind for row in rows} == {EvidenceKind.SEEN, EvidenceKind.CORRECTION}
    assert await found(remora, "pg-fixture", folder) == []
    told = await remora.ask("memory.search", query="pg-fixture", workspace=folder, explain=True)
    assert told["explain"]["filtered"] == [{"memoryId": memory_id, "reason": "corrected"}]
    assert await listed(remora, folder) == [memory_id]  # a person sees it, with its flag
    assert (await remora.ask("audit.verify"))["ok"]


async def test_other_opinions_correct_nothing(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await a_need(remora, folder)
    claim = await remora.claim()
    packet = claim["packet"]["packetId"]
    for opinion in ("useful", "noise", "late"):
        noted = await remora.ask("memory.feedback", packetId=packet, opinion=opinion)
        assert (noted["corrected"], noted["packetsPurged"]) == (False, 0)
    assert await found(remora, "pg-fixture", folder) == [memory_id]


async def test_of_a_packet_with_several_memories_the_named_one_is_wrong(remora: Asking, folder: str) -> None:
    first = await kept(remora, "Deploy to the heron gateway with `make ship`.", folder)
    second = await kept(remora, "The osprey database is migrated by hand.", folder)
    for memory_id in (first, second):
        await remora.ask("memory.pin", memoryId=memory_id, workspace=folder)
    await remora.ask("session.open", sessionId="session-9", agentId="main", workspace=folder)
    await remora.append(a_prompt("hello there", session_id="session-9", workspace=folder, agent_id="main"))
    owner = {"sessionId": "session-9", "agentId": "main"}
    claim = await remora.claim("user-prompt", **owner)
    packet = claim["packet"]
    await remora.ask("inbox.delivered", **owner, packetId=packet["packetId"], claimId=claim["claimId"])
    assert len(packet["items"]) == 2

    await remora.ask("memory.feedback", memoryId=first, workspace=folder, opinion="wrong")

    assert remora.world.parts.marks.corrected == {first}


async def test_who_says_the_same_again_is_told_that_it_waits(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, LESSON, folder)
    await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="wrong")
    again = await remora.ask("memory.remember", text=LESSON, workspace=folder)
    assert (again["duplicateOf"], again["corrected"]) == (memory_id, True)


@pytest.mark.parametrize(("who", "left"), [("human", []), ("agent", [True])])
async def test_new_words_of_a_person_settle_a_correction(
    remora: Asking, folder: str, who: str, left: list[bool]
) -> None:
    memory_id = await kept(remora, LESSON, folder)
    await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="wrong")
    got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    edit = {"memoryId": memory_id, "workspace": folder, "expected": got["locator"]["recordDigest"], "principal": who}

    await remora.ask("memory.edit", **edit, text=LESSON.replace("docker compose up -d", "podman start"))

    assert [True for _ in remora.world.parts.marks.corrected] == left
    assert await found(remora, "pg-fixture", folder) == ([] if left else [memory_id])


async def test_what_was_corrected_is_kept_by_the_review(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, LESSON, folder)
    await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="wrong")
    (waiting,) = (await remora.ask("review.list", workspace=folder))["items"]
    item = {"itemId": waiting["item"]["itemId"], "expectedRevision": waiting["item"]["revision"]}

    await remora.ask("review.decide", workspace=folder, decision="keep", principal="human", **item)

    assert await found(remora, "pg-fixture", folder) == [memory_id]
    assert [verb for verb, _ in await verbs(remora)][-2:] == ["cleared", "kept"]
    told = await remora.ask("audit.explain", memoryId=memory_id, workspace=folder)
    assert any("took back the correction of" in line for line in told["lines"])


# -------------------------------------------------------------------------------------------------- forgotten


@pytest.mark.promise("forgotten-everywhere")
async def test_what_was_forgotten_stands_in_no_file_of_ours(tmp_path: Path) -> None:
    """Memory files, index, packets, evidence, queue, their logs: all that a person can look into."""
    words = b"Heronsgate-4711"
    async with asking(tmp_path / "data") as remora:
        folder = remora.world.workspace()
        text = f"{LESSON} Ask {words.decode()} when it stays down."
        memory_id = await kept(remora, text, folder)
        await a_need(remora, folder)
        await remora.claim()
        await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="wrong")
        assert holds(tmp_path, words)

        await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)

        assert holds(tmp_path, words) == []
        assert remora.world.parts.marks.corrected == frozenset()
    assert holds(tmp_path, words) == []


def holds(folder: Path, words: bytes) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()]
