"""A store that takes no more: nothing is acknowledged, nothing is handed over, and nothing is lost by it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.contracts import Reason
from tests.support.asking import Asking, asking, on_wire
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result
from tests.support.world import FAILURE, LESSON

OWNER = {"sessionId": SESSION, "agentId": AGENT}


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    """A packet waits."""
    async with asking(tmp_path / "data") as opened:
        folder = opened.world.workspace()
        await opened.world.remember(LESSON)
        await opened.append(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))
        yield opened


async def fills(remora: Asking, table: str) -> None:
    """From now on the table takes nothing, as on a full disk."""
    statement = f"CREATE TRIGGER full_{table} BEFORE INSERT ON {table} BEGIN SELECT RAISE(FAIL, 'disk is full'); END"
    await remora.world.parts.inbox._database.write(lambda connection: connection.execute(statement))


async def empties(remora: Asking, table: str) -> None:
    await remora.world.parts.inbox._database.write(lambda connection: connection.execute(f"DROP TRIGGER full_{table}"))


@pytest.mark.promise("acknowledged-is-kept")
async def test_an_event_that_cannot_be_stored_is_not_acknowledged(remora: Asking) -> None:
    await fills(remora, "event")
    later = [on_wire(a_prompt("And now?", event_id="p1"))]

    fault = await remora.refused("event.append", events=later)

    assert (fault.kind, fault.code) == ("store-unavailable", -32011)
    assert (await remora.ask("session.status", **OWNER))["eventSeq"] == 2
    await empties(remora, "event")
    assert (await remora.ask("event.append", events=later))["accepted"] == 1


@pytest.mark.promise("audit-first")
async def test_a_claim_that_cannot_be_recorded_gets_nothing_and_takes_nothing(remora: Asking) -> None:
    await fills(remora, "audit")

    claim = await remora.claim(request_id="r1")

    assert (claim["packet"], claim["reason"]) == (None, Reason.AUDIT_UNAVAILABLE)
    await empties(remora, "audit")
    assert (await remora.claim(request_id="r2"))["packet"] is not None


@pytest.mark.promise("audit-first", "seen-only-delivered")
async def test_a_delivery_that_cannot_be_recorded_can_be_told_again(remora: Asking) -> None:
    claim = await remora.claim()
    ids = OWNER | {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}
    (item,) = claim["packet"]["items"]
    await fills(remora, "audit")

    fault = await remora.refused("inbox.delivered", **ids)

    assert (fault.kind, fault.code) == ("store-unavailable", -32011)
    assert await remora.world.parts.evidence.of_memory(item["memoryId"]) == ()
    await empties(remora, "audit")
    assert (await remora.ask("inbox.delivered", **ids))["settled"] is True
    assert len(await remora.world.parts.evidence.of_memory(item["memoryId"])) == 1


@pytest.mark.promise("audit-first", "acknowledged-is-kept")
async def test_a_pass_that_cannot_be_recorded_offers_nothing_shows_in_health_and_is_made_later(
    remora: Asking,
) -> None:
    await remora.claim(request_id="r1")
    await fills(remora, "audit")
    folder = remora.world.workspace()

    await remora.append(a_prompt("Where does the pg-fixture container come from?", workspace=folder))

    assert (await remora.ask("session.status", **OWNER))["eventSeq"] == 3
    assert (await remora.ask("health"))["ready"] is False
    remora.world.parts.tasks.failed.clear()
    await empties(remora, "audit")
    await remora.append(a_prompt("And which docker compose file starts it?", workspace=folder))
    passes = (await remora.ask("audit.query", kind="pass"))["entries"]
    assert [entry["cursor"]["eventSeq"] for entry in passes] == [4, 3, 2, 1]
