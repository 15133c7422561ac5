"""When the search that works by words is not asked, memory answers, and whoever reads the answer is told so."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.contracts import Action, AuditKind
from host.contracts import Claimed
from recall.contracts import ActivationLevel
from recall.fallback import FAILURES
from tests.support.asking import Asking, asking
from tests.support.builders import a_call, a_result
from tests.support.world import FAILURE, LESSON


@pytest.fixture
async def resting(tmp_path: Path) -> AsyncIterator[Asking]:
    """A remora with one memory, whose lexical source has failed too often to be asked."""
    async with asking(tmp_path / "data") as remora:
        await remora.world.remember(LESSON)
        (lexical,) = (arm for arm in remora.world.parts.host.arms if arm.name == "lexical")
        for _ in range(FAILURES):
            lexical.breaker.failed(remora.world.clock.micros())
        yield remora


async def test_a_packet_says_so_in_the_audit_and_shows_a_hint(resting: Asking) -> None:
    world = resting.world
    folder = world.workspace()
    await world.feed(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))

    claim = await world.claim()

    entry = (await world.audit(kind=AuditKind.PASS))[-1]
    assert isinstance(claim, Claimed) and claim.packet.items[0].level is ActivationLevel.HINT
    assert "found by a simpler search" in claim.packet.rendered
    assert entry.verdict is not None and entry.verdict.action is Action.FALLBACK
    shortfalls = {arm.name: arm.shortfall for arm in entry.arms}
    assert (shortfalls["lexical"], shortfalls["fallback"]) == ("open-breaker", "degraded")


async def test_a_search_says_so(resting: Asking) -> None:
    found = await resting.ask("memory.search", query="pg-fixture container", workspace=resting.world.workspace())

    assert (len(found["hits"]), found["degraded"]) == (1, True)


async def test_health_says_so(resting: Asking) -> None:
    health = await resting.ask("health")

    assert (health["ready"], health["parts"]["source lexical"]) == (False, "degraded, its breaker is open")
