"""`memory.propose`: an agent would change a memory or have it forgotten; it waits, and a person decides."""

from pathlib import Path
from typing import Any

import pytest

from governance.review import EDITED, REASON, ItemFlag, State
from host.memory_propose import MAX_REASON, MOST_WAITING
from recall.contracts import Flag, Origin, Status
from tests.support.asking import Asking
from tests.support.remembering import POISON, TOKEN, files_of
from tests.support.reviewing import decide, record, refusal, waiting

OLD, NEW = "The harbour port is 7070.", "The harbour port is 7171."


async def propose(remora: Asking, folder: str, memory_id: str, change: str = "edit", **params: Any) -> Any:
    given = {"text": NEW} | params if change == "edit" else params
    return await remora.ask("memory.propose", memoryId=memory_id, change=change, workspace=folder, **given)


async def why_not(remora: Asking, folder: str, memory_id: str, change: str = "edit", **params: Any) -> str:
    given = {"memoryId": memory_id, "change": change, "workspace": folder} | params
    return (await remora.refused("memory.propose", **given)).kind


@pytest.mark.promise("agents-propose")
async def test_other_words_wait_beside_the_memory_and_change_nothing(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder, title="Harbour")
    before = files_of(remora)

    done = await propose(remora, folder, memory_id, reason="It was moved.")

    (one,) = await waiting(remora, folder)
    assert (done["itemId"], done["proposed"]) == (one["item"]["itemId"], True)
    assert (one["item"]["target"], one["item"]["text"], one["item"]["title"]) == (EDITED, NEW, "Harbour")
    assert {"kind": REASON, "ref": "It was moved."} in one["item"]["citations"]
    assert (one["item"]["proposedBy"], one["record"]["text"]) == ("agent", OLD)
    assert files_of(remora) == before


async def test_words_that_a_person_keeps_take_the_place_of_the_memorys_own(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder, origin=Origin.EXTRACTED)
    await propose(remora, folder, memory_id, title="Harbour")
    (one,) = await waiting(remora, folder)

    done = await decide(remora, folder, one["item"], "keep")

    found = await record(remora, memory_id, folder)
    assert (done["memoryId"], done["item"]["state"]) == (memory_id, State.KEPT)
    assert (found["text"], found["title"], found["origin"]) == (NEW, "Harbour", Origin.REVIEWED)
    assert await waiting(remora, folder) == []


async def test_a_person_may_keep_it_in_words_of_their_own(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder)
    await propose(remora, folder, memory_id)
    (one,) = await waiting(remora, folder)

    await decide(remora, folder, one["item"], "edit-and-keep", text="The harbour port is 9.")

    assert (await record(remora, memory_id, folder))["text"] == "The harbour port is 9."


async def test_words_that_are_not_wanted_leave_the_memory_and_do_not_come_again(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder)
    await propose(remora, folder, memory_id)
    (one,) = await waiting(remora, folder)

    await decide(remora, folder, one["item"], "archive")

    found = await record(remora, memory_id, folder)
    assert (found["text"], found["status"]) == (OLD, Status.ACTIVE)
    assert not (await propose(remora, folder, memory_id))["proposed"]
    assert await waiting(remora, folder) == []


async def test_a_memory_that_changed_meanwhile_is_not_overwritten(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder)
    await propose(remora, folder, memory_id)
    (one,) = await waiting(remora, folder)
    digest = one["locator"]["recordDigest"]
    await remora.ask("memory.edit", memoryId=memory_id, expected=digest, text="The port is 8.", workspace=folder)

    assert await refusal(remora, folder, one["item"], "keep") == "conflict"
    assert (await record(remora, memory_id, folder))["text"] == "The port is 8."


@pytest.mark.promise("only-a-person-decides")
async def test_a_crash_after_the_words_were_written_costs_saying_it_again(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder)
    await propose(remora, folder, memory_id)
    (one,) = await waiting(remora, folder)
    digest = one["locator"]["recordDigest"]
    await remora.ask("memory.edit", memoryId=memory_id, expected=digest, text=NEW, workspace=folder)

    done = await decide(remora, folder, one["item"], "keep")

    assert done["item"]["state"] == State.KEPT


async def test_a_newer_proposal_takes_the_place_of_the_older(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder)
    await propose(remora, folder, memory_id)
    await propose(remora, folder, memory_id, text="The harbour port is 7272.")

    (one,) = await waiting(remora, folder)
    assert one["item"]["text"] == "The harbour port is 7272."


@pytest.mark.promise("agents-propose")
async def test_a_memory_to_be_forgotten_waits_and_stays_in_force(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder)

    done = await propose(remora, folder, memory_id, "forget", reason="It was moved.")

    (one,) = await waiting(remora, folder)
    assert (one["item"]["itemId"], one["item"]["flags"]) == (done["itemId"], [ItemFlag.UNWANTED])
    assert (one["item"]["text"], one["record"]["text"]) == ("", OLD)
    assert [hit["memoryId"] for hit in (await remora.ask("memory.search", query="harbour", workspace=folder))["hits"]]


@pytest.mark.parametrize(("decision", "status"), [("keep", Status.ACTIVE), ("archive", Status.ARCHIVED)])
async def test_a_person_decides_whether_it_stays(remora: Asking, folder: str, decision: str, status: Status) -> None:
    memory_id = await remora.world.remember(OLD, folder)
    await propose(remora, folder, memory_id, "forget")
    (one,) = await waiting(remora, folder)

    await decide(remora, folder, one["item"], decision)

    assert (await record(remora, memory_id, folder))["status"] == status
    assert await waiting(remora, folder) == []


@pytest.mark.promise("only-a-person-decides")
async def test_an_agent_cannot_decide_about_its_own_proposal(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder)
    await propose(remora, folder, memory_id)
    (one,) = await waiting(remora, folder)

    assert await refusal(remora, folder, one["item"], "keep", principal="agent") == "reviewer-kind"


async def test_secrets_are_cut_out_of_words_and_reason(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder)

    done = await propose(remora, folder, memory_id, text=f"The token is {TOKEN}.", reason=f"It is {TOKEN}.")

    (one,) = await waiting(remora, folder)
    assert done["redacted"] == ["secret.github-token"]
    assert TOKEN not in str(one)


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"text": POISON}, "invalid-params"),
        ({"text": OLD}, "invalid-params"),
        ({}, "invalid-params"),
        ({"text": "  "}, "invalid-params"),
        ({"text": NEW, "reason": "x" * (MAX_REASON + 1)}, "invalid-params"),
        ({"text": NEW, "memoryId": "mem_none"}, "unknown-memory"),
    ],
)
async def test_what_nobody_could_keep_is_not_proposed(
    remora: Asking, folder: str, params: dict[str, Any], kind: str
) -> None:
    memory_id = await remora.world.remember(OLD, folder)

    assert await why_not(remora, folder, memory_id, **params) == kind
    assert await waiting(remora, folder) == []


@pytest.mark.promise("no-leak")
async def test_what_an_agent_may_not_read_it_cannot_reach(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(OLD, folder, flags=(Flag.MUTED,))
    elsewhere = await remora.world.remember(OLD, remora.world.workspace("other"))

    assert await why_not(remora, folder, memory_id, "forget") == "withheld"
    assert await why_not(remora, folder, elsewhere, "forget") == "unknown-memory"


async def test_a_file_of_the_users_own_is_only_read(remora: Asking, folder: str) -> None:
    (Path(folder) / ".git").mkdir()
    (Path(folder) / "CLAUDE.md").write_text("# Harbour\n\nThe harbour port is 7070, always.\n")
    (one,) = (await remora.ask("memory.list", workspace=folder))["records"]

    assert await why_not(remora, folder, one["memoryId"], text=NEW) == "read-only"


async def test_no_more_wait_than_a_person_reads(remora: Asking, folder: str) -> None:
    ids = [await remora.world.remember(f"Port {number} is open.", folder) for number in range(MOST_WAITING + 1)]
    for memory_id in ids[:-1]:
        await propose(remora, folder, memory_id, "forget")

    assert await why_not(remora, folder, ids[-1], "forget") == "queue-full"
