"""Evidence over the wire: of a memory, of a session, of a workspace; and made again."""

import pytest

from host.errors import ProtocolFault
from tests.support.asking import Asking, Json
from tests.support.builders import AGENT, SESSION, a_call, a_result
from tests.support.world import FAILURE, LESSON

OWNER = {"sessionId": SESSION, "agentId": AGENT}
CURE = "docker compose up -d pg-fixture"


async def a_story(remora: Asking) -> str:
    """A lesson was handed over, and followed with success. Returns the memory's id."""
    folder = remora.world.workspace()
    memory_id = await remora.world.remember(LESSON)
    await remora.append(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))
    claim = await remora.claim()
    settled = {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}
    await remora.ask("inbox.delivered", **OWNER, **settled)
    await remora.append(
        a_call(CURE, call_id="c2", workspace=folder), a_result("done", ok=True, call_id="c2", workspace=folder)
    )
    return memory_id


async def of_memory(remora: Asking, memory_id: str) -> Json:
    return await remora.ask("evidence.get", memoryId=memory_id, workspace=remora.world.workspace())


async def test_a_memory_has_its_standing_its_edges_and_where_they_come_from(remora: Asking) -> None:
    memory_id = await a_story(remora)

    found = await of_memory(remora, memory_id)

    assert [edge["kind"] for edge in found["edges"]] == ["seen", "reuse", "success"]
    assert (found["freshness"], found["scope"]["kind"]) == ("fresh", "Workspace")
    standing = {name: found["standing"][name] for name in ("seen", "reuse", "success", "sessions", "successSessions")}
    assert standing == {"seen": 1, "reuse": 1, "success": 1, "sessions": 1, "successSessions": 1}
    assert [(share["edges"], share["sessions"]) for share in found["workspaces"]] == [(3, 1)]
    assert found["workspaces"][0]["workspaceKey"] == found["scope"]["key"]


async def test_what_has_changed_since_is_stale_and_what_nothing_is_known_of_unknown(remora: Asking) -> None:
    memory_id, folder = await a_story(remora), remora.world.workspace()
    other = await remora.world.remember("Nobody was ever shown this.")
    seen = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    changed = {"text": "Something else.", "expected": seen["locator"]["recordDigest"]}
    await remora.ask("memory.edit", memoryId=memory_id, workspace=folder, **changed)

    assert (await of_memory(remora, memory_id))["freshness"] == "stale"
    assert (await of_memory(remora, other))["freshness"] == "unknown"


async def test_a_session_and_a_workspace_are_told_too(remora: Asking) -> None:
    memory_id = await a_story(remora)

    session = await remora.ask("evidence.get", sessionId=SESSION, limit=2)
    used = await remora.ask("evidence.get", workspace=remora.world.workspace())
    elsewhere = await remora.ask("evidence.get", workspace=remora.world.workspace("other"))

    assert [edge["kind"] for edge in session["edges"]] == ["reuse", "success"]
    assert [one["memoryId"] for one in used["memories"]] == [memory_id]
    assert elsewhere["memories"] == []


async def test_the_evidence_of_a_memory_that_cannot_be_seen_is_not_told(remora: Asking) -> None:
    memory_id = await a_story(remora)
    with pytest.raises(ProtocolFault, match="No memory"):
        await remora.ask("evidence.get", memoryId=memory_id, workspace=remora.world.workspace("other"))
    with pytest.raises(ProtocolFault, match="one memory or of one session"):
        await remora.ask("evidence.get", memoryId=memory_id, sessionId=SESSION)


@pytest.mark.promise("evidence-rebuilt")
async def test_made_again_it_is_what_it_was_and_what_was_changed_is_put_right(remora: Asking) -> None:
    memory_id = await a_story(remora)
    before = await of_memory(remora, memory_id)
    assert await remora.ask("evidence.rebuild") == {"edges": 3, "memories": 1, "differed": False}

    await remora.world.parts.main.write(lambda connection: connection.execute("DELETE FROM evidence"))

    assert await remora.ask("evidence.rebuild") == {"edges": 3, "memories": 1, "differed": True}
    assert await of_memory(remora, memory_id) == before


async def test_an_audit_that_cannot_be_read_leaves_the_evidence_as_it_was(remora: Asking) -> None:
    memory_id = await a_story(remora)
    broken = "UPDATE audit SET entry = CAST('{\"evidence\":[{' AS BLOB) WHERE row = 1"
    await remora.world.parts.main.write(lambda connection: connection.execute(broken))

    with pytest.raises(ProtocolFault, match=r"audit\.verify"):
        await remora.ask("evidence.rebuild")
    assert len((await of_memory(remora, memory_id))["edges"]) == 3


async def test_what_was_forgotten_has_none(remora: Asking) -> None:
    memory_id, folder = await a_story(remora), remora.world.workspace()
    await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)

    assert await remora.world.parts.evidence.rows() == ()
    assert (await remora.ask("evidence.get", workspace=folder))["memories"] == []
