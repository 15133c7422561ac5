"""A learned procedure through whole sessions: shown, carried out, proposed, kept, approved, corrected. Nothing of it is
ever run by us."""

from pathlib import Path
from typing import Any

import pytest

from governance.contracts import Stage
from governance.review import ItemFlag, State
from host.lifecycle import Lifecycle
from recall.contracts import MemoryKind, Origin
from tests.support.asking import Asking, asking
from tests.support.builders import AGENT, a_call, a_prompt, a_result, a_start
from tests.support.world import FAILURE

FIX = "docker compose up -d pg-fixture"
RECIPE = (
    "When `make integration-test` fails with ECONNREFUSED on port 5433, the pg-fixture container is not running:\n"
    f"1. run `{FIX}`\n2. run `make integration-test` again\n3. verify that port 5433 answers"
)
RISKY = f"{RECIPE}\n4. run `git push --force origin main`"


async def a_session(remora: Asking, number: int, *, ok: bool = True) -> bool:
    """The failure comes up; the agent does what it was told, if it was. Whether it was told."""
    session, folder = f"session-{number}", remora.world.workspace()
    where: dict[str, Any] = {"session_id": session, "workspace": folder}
    await remora.append(a_start(**where), a_prompt("run the integration tests", **where))
    call = f"call-{number}"
    await remora.append(
        a_call("make integration-test", call_id=call, **where), a_result(FAILURE, call_id=call, **where)
    )
    owner = {"sessionId": session, "agentId": AGENT}
    given = await remora.ask("inbox.claim", **owner, surface="post-tool", requestId="r", waitMs=2000)
    told = given["packet"] is not None
    if told:
        packet = given["packet"]["packetId"]
        await remora.ask("inbox.delivered", **owner, packetId=packet, claimId=given["claimId"])
    again = f"fix-{number}"
    await remora.append(a_call(FIX, call_id=again, **where))
    await remora.append(a_result("Container pg-fixture  Started", ok=ok, call_id=again, **where))
    remora.world.clock.set(remora.world.clock.now() + 3_600_000)
    return told


async def learned(remora: Asking, text: str) -> str:
    folder = remora.world.workspace()
    return await remora.world.remember(text, folder, kind=MemoryKind.PROCEDURAL, origin=Origin.EXTRACTED)


async def waiting(remora: Asking) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await remora.ask("review.list", workspace=remora.world.workspace()))["items"]
    return found


async def keep(remora: Asking, item: dict[str, Any]) -> Any:
    return await remora.ask(
        "review.decide",
        itemId=item["itemId"],
        workspace=remora.world.workspace(),
        decision="keep",
        expectedRevision=item["revision"],
        principal="human",
    )


@pytest.mark.promise("procedures-rise-by-evidence", "nothing-executed")
async def test_the_third_session_makes_it_a_proposal_and_a_person_an_active_procedure(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        memory_id = await learned(remora, RECIPE)
        for number in (1, 2):
            assert await a_session(remora, number)
            await Lifecycle(remora.world.parts).round()
        assert (await waiting(remora), remora.world.parts.lives.stages) == ([], {})
    async with asking(tmp_path) as remora:  # what was seen is not lost by a restart
        assert await a_session(remora, 3)
        await Lifecycle(remora.world.parts).round()
        (one,) = await waiting(remora)
        assert (one["item"]["target"], one["stage"]) == ("validated", Stage.CANDIDATE)
        assert one["item"]["evidence"] == {"sessions": 3, "success": 3, "correction": 0}
        done = await keep(remora, one["item"])
        assert (done["item"]["state"], done["stage"]) == (State.KEPT, Stage.ACTIVE)
        assert (await remora.ask("memory.get", memoryId=memory_id, workspace=remora.world.workspace()))["record"][
            "origin"
        ] == Origin.REVIEWED


async def test_the_audit_tells_how_it_rose(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        memory_id = await learned(remora, RECIPE)
        for number in range(3):
            assert await a_session(remora, number)
        await Lifecycle(remora.world.parts).round()
        (one,) = await waiting(remora)
        await keep(remora, one["item"])
        told = "\n".join((await remora.ask("audit.explain", memoryId=memory_id))["lines"])
    assert f"the agent did what {memory_id} says" in told
    assert f"the procedure {memory_id} is candidate now: agents used it with success often enough" in told
    assert f"the procedure {memory_id} is active now: a person kept it" in told
    assert f"the user kept {memory_id}" in told


@pytest.mark.promise("procedures-rise-by-evidence")
async def test_without_success_it_stays_where_it_is(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        await learned(remora, RECIPE)
        for number in range(5):
            assert await a_session(remora, number, ok=number == 0)
        await Lifecycle(remora.world.parts).round()
        assert await waiting(remora) == []


@pytest.mark.promise("correction-blocks")
async def test_one_correction_blocks_whatever_came_before(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        memory_id = await learned(remora, RECIPE)
        for number in range(5):
            assert await a_session(remora, number)
        folder = remora.world.workspace()
        await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="wrong")
        await Lifecycle(remora.world.parts).round()
        (one,) = await waiting(remora)
        assert one["item"]["flags"] == [ItemFlag.CORRECTED]
        assert await a_session(remora, 9) is False  # recalled no more
        await keep(remora, one["item"])
        assert await a_session(remora, 10) is True


@pytest.mark.promise("high-risk-waits", "nothing-executed")
async def test_what_can_do_harm_waits_for_the_approval_after_it_was_kept(tmp_path: Path) -> None:
    async with asking(tmp_path) as remora:
        memory_id = await learned(remora, RISKY)
        for number in range(3):
            assert await a_session(remora, number)
        await Lifecycle(remora.world.parts).round()
        (one,) = await waiting(remora)
        assert one["item"]["flags"] == [ItemFlag.HIGH_RISK]
        assert (await keep(remora, one["item"]))["stage"] == Stage.VALIDATED
        assert await a_session(remora, 4) is False
        params = {"memoryId": memory_id, "workspace": remora.world.workspace()}
        await remora.ask("memory.approve", **params, principal="human")
        assert remora.world.parts.lives.stages[memory_id] is Stage.ACTIVE
        assert await a_session(remora, 5) is True
