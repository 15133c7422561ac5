"""A high-risk procedure is shown only after a person approved it, as it stands."""

from pathlib import Path
from typing import Any

import pytest

from governance.contracts import AuditKind
from host.contracts import Reason
from recall.contracts import MemoryKind, Risk
from tests.support.asking import Asking, asking
from tests.support.remembering import a_need, verbs
from tests.support.world import LESSON

HUMAN: dict[str, Any] = {"principal": "human"}


async def a_procedure(remora: Asking) -> str:
    return await remora.world.remember(LESSON, kind=MemoryKind.PROCEDURAL, risk_level=Risk.HIGH)


async def waiting(remora: Asking, folder: str) -> list[str]:
    found = await remora.ask("memory.approvals", workspace=folder)
    return [one["record"]["memoryId"] for one in found["waiting"]]


@pytest.mark.promise("asked-before-shown")
async def test_the_question_goes_to_the_user_and_the_approved_procedure_to_the_agent(
    remora: Asking, folder: str
) -> None:
    memory_id = await a_procedure(remora)
    await a_need(remora, folder)
    assert (await remora.claim())["packet"] is None
    assert (await remora.world.audit(kind=AuditKind.PASS))[-1].reason == Reason.AWAITING_APPROVAL
    assert (await remora.ask("health"))["waiting"]["approvals"] == 1
    (asked,) = (await remora.ask("memory.approvals", workspace=folder))["waiting"]
    assert asked["record"]["memoryId"] == memory_id and asked["askedAt"]

    done = await remora.ask(
        "memory.approve", memoryId=memory_id, workspace=folder, expected=asked["recordDigest"], **HUMAN
    )

    assert (done["approved"], done["changed"], done["stage"]) == (True, True, "active")
    assert (await remora.ask("health"))["waiting"]["approvals"] == 0
    assert await waiting(remora, folder) == []
    await a_need(remora, folder, "c2")
    packet = (await remora.claim(request_id="r2"))["packet"]
    assert [item["memoryId"] for item in packet["items"]] == [memory_id]
    assert await verbs(remora) == [("approved", memory_id)]


async def test_an_approval_is_of_the_words_that_were_read(remora: Asking, folder: str) -> None:
    memory_id = await a_procedure(remora)
    got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    digest = got["locator"]["recordDigest"]
    edited = {"memoryId": memory_id, "workspace": folder, "expected": digest, "text": f"{LESSON} Then reboot."}
    await remora.ask("memory.edit", **edited)

    fault = await remora.refused("memory.approve", memoryId=memory_id, workspace=folder, expected=digest, **HUMAN)

    assert fault.kind == "conflict"
    await remora.ask("memory.approve", memoryId=memory_id, workspace=folder, **HUMAN)
    got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    await remora.ask("memory.edit", **{**edited, "expected": got["locator"]["recordDigest"], "text": LESSON})
    assert await waiting(remora, folder) == [memory_id]


async def test_an_approval_can_be_taken_back_and_is_kept(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        folder = remora.world.workspace()
        memory_id = await a_procedure(remora)
        for approved in (True, False, True):
            await remora.ask("memory.approve", memoryId=memory_id, workspace=folder, approved=approved, **HUMAN)
        assert [verb for verb, _ in await verbs(remora)] == ["approved", "disapproved", "approved"]
    async with asking(tmp_path) as remora:
        assert await waiting(remora, folder) == []
        await remora.ask("memory.approve", memoryId=memory_id, workspace=folder, approved=False, **HUMAN)
        assert await waiting(remora, folder) == [memory_id]


@pytest.mark.parametrize("said", [{}, {"principal": "agent"}, {"principal": "engine"}])
async def test_nobody_but_a_person_approves(remora: Asking, folder: str, said: dict[str, str]) -> None:
    memory_id = await a_procedure(remora)
    fault = await remora.refused("memory.approve", memoryId=memory_id, workspace=folder, **said)
    assert (fault.kind, bool(fault.next_step)) == ("reviewer-kind", True)
    assert await waiting(remora, folder) == [memory_id]


async def test_what_can_do_no_harm_needs_no_approval(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON, kind=MemoryKind.PROCEDURAL)
    fault = await remora.refused("memory.approve", memoryId=memory_id, workspace=folder, **HUMAN)
    assert (fault.kind, await waiting(remora, folder)) == ("invalid-params", [])


@pytest.mark.promise("no-leak")
async def test_a_procedure_of_another_workspace_is_unknown(remora: Asking) -> None:
    memory_id = await a_procedure(remora)
    other = remora.world.workspace("other")
    assert (
        await remora.refused("memory.approve", memoryId=memory_id, workspace=other, **HUMAN)
    ).kind == "unknown-memory"
    assert await waiting(remora, other) == []


HARM = "To release: git push --force origin main. Success: the tag is on the server."


@pytest.mark.promise("asked-before-shown")
@pytest.mark.parametrize("verb", ["remember", "import", "edit"])
async def test_a_procedure_that_names_what_can_do_harm_waits_however_it_was_written(
    remora: Asking, folder: str, verb: str
) -> None:
    procedure = {"text": HARM, "kind": "procedural"}
    if verb == "import":
        await remora.ask("memory.import", records=[procedure | {"source": "notes.md"}], workspace=folder)
    elif verb == "remember":
        kept = await remora.ask("memory.remember", workspace=folder, **procedure)
        assert kept["riskLevel"] == Risk.HIGH
    else:
        memory_id = (await remora.ask("memory.remember", text=LESSON, kind="procedural", workspace=folder))["memoryId"]
        assert await waiting(remora, folder) == []
        got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
        asked = {"memoryId": memory_id, "workspace": folder, "expected": got["locator"]["recordDigest"]}
        assert (await remora.ask("memory.edit", text=HARM, **asked))["riskLevel"] == Risk.HIGH
    assert len(await waiting(remora, folder)) == 1


async def test_a_fact_that_names_it_waits_for_nobody(remora: Asking, folder: str) -> None:
    kept = await remora.ask("memory.remember", workspace=folder, text=HARM)
    assert (kept.get("riskLevel", Risk.LOW), await waiting(remora, folder)) == (Risk.LOW, [])
