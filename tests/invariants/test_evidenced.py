"""What use has shown: an extracted memory that sessions reused with success is shown in more words, until one
correction; and of what is equally relevant, that which helped comes first."""

from pathlib import Path

import pytest

from governance.contracts import EvidenceKind, EvidenceTrace
from host.contracts import Claimed, Reason, Silence
from recall.contracts import ActivationLevel, Origin
from tests.support.builders import a_call, a_result
from tests.support.entries import an_entry
from tests.support.world import FAILURE, World, a_world

LONG = (
    "When `make integration-test` fails with ECONNREFUSED on port 5433, the pg-fixture container is not running: "
    "start it with docker compose up -d pg-fixture before the integration-test target. " * 2
)


async def level(world: World, session: str) -> ActivationLevel:
    folder = world.workspace()
    await world.feed(
        a_call("make integration-test", session_id=session, workspace=folder),
        a_result(FAILURE, session_id=session, workspace=folder),
    )
    claim = await world.claim(session=session)
    assert isinstance(claim, Claimed), claim
    return claim.packet.items[0].level


async def used(world: World, memory_id: str, session: str, *kinds: EvidenceKind) -> None:
    """Evidence as the entry of a session's pass carries it."""
    traces = tuple(
        EvidenceTrace(kind=kind, memory_id=memory_id, source_version=1, record_digest="d", call_id=f"c-{kind}")
        for kind in kinds
    )
    await world.parts.ledger.append([an_entry(session_ref=session, evidence=traces)])


@pytest.mark.promise("evidence-raises")
async def test_reuse_in_two_sessions_with_success_earns_an_excerpt_and_a_correction_takes_all(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LONG, origin=Origin.EXTRACTED)
        assert await level(world, "session-1") is ActivationLevel.HINT
        await used(world, memory_id, "ref-1", EvidenceKind.REUSE, EvidenceKind.SUCCESS)
        assert await level(world, "session-2") is ActivationLevel.HINT
        await used(world, memory_id, "ref-2", EvidenceKind.REUSE)
        assert await level(world, "session-3") is ActivationLevel.EXCERPT
    async with a_world(tmp_path) as world:
        assert await level(world, "session-4") is ActivationLevel.EXCERPT
        await used(world, memory_id, "ref-3", EvidenceKind.CORRECTION)
        assert await level(world, "session-5") is ActivationLevel.HINT


async def test_what_a_person_wrote_needs_no_evidence_and_what_was_imported_gains_by_none(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LONG, origin=Origin.IMPORTED)
        for session in ("ref-1", "ref-2", "ref-3"):
            await used(world, memory_id, session, EvidenceKind.REUSE, EvidenceKind.SUCCESS)
        assert await level(world, "session-1") is ActivationLevel.HINT


async def test_success_raises_the_rank_of_a_memory_and_nothing_of_the_bar(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        folder = world.workspace()
        memory_id = await world.remember("The heron gateway is deployed on Tuesdays.")
        for session in ("ref-1", "ref-2", "ref-3"):
            await used(world, memory_id, session, EvidenceKind.REUSE, EvidenceKind.SUCCESS)
        await world.feed(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))
        claim = await world.claim()
        assert claim == Silence(reason=Reason.NONE_PENDING)
        assert world.parts.host.stage._props.used([memory_id]) == {memory_id: 1 - 0.5**3}
