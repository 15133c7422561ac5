"""Feedback over the wire: kept beside the evidence its packet had, also after a carry-over and a restart; it changes
nothing by itself."""

from pathlib import Path
from typing import Any

import pytest

from governance.contracts import AuditEntry, AuditKind
from host.contracts import Reason
from recall.contracts import Attention
from recall.workspace import workspace_key
from tests.support.asking import Asking, asking
from tests.support.builders import a_call, a_memory_id, a_result
from tests.support.remembering import OWNER, a_need
from tests.support.world import FAILURE, LESSON

MISSING = "pkt_" + "0" * 32


async def given(remora: Asking, folder: str, session: str = "session-1") -> str:
    """The id of a packet that was handed over in a session of its own; the lesson stands in it."""
    await remora.append(
        a_call("make integration-test", session_id=session, workspace=folder),
        a_result(FAILURE, session_id=session, workspace=folder),
    )
    owner = OWNER | {"sessionId": session}
    claim = await remora.claim(request_id=f"r-{session}", **owner)
    packet_id: str = claim["packet"]["packetId"]
    settled = await remora.ask("inbox.delivered", **owner, packetId=packet_id, claimId=claim["claimId"])
    assert settled["settled"]
    return packet_id


async def last(remora: Asking) -> AuditEntry:
    return (await remora.world.audit(kind=AuditKind.FEEDBACK))[-1]


async def advice(remora: Asking, folder: str) -> Any:
    return (await remora.ask("workspace.get", workspace=folder))["advice"]


async def test_a_packet_is_judged_with_the_evidence_that_it_had(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    packet_id = await given(remora, folder)

    noted = await remora.ask("memory.feedback", packetId=packet_id, opinion="noise")

    assert (noted["packetId"], noted["memoryIds"], noted["opinion"]) == (packet_id, [memory_id], "noise")
    entry = await last(remora)
    assert (entry.audit_id, entry.outcome, entry.packet and entry.packet.packet_id) == (
        noted["auditId"],
        "noise",
        packet_id,
    )
    assert entry.note == remora.world.parts.audit.ref(workspace_key(folder))
    (row,) = entry.candidates
    assert (row.memory_id, row.kept, row.door) == (memory_id, True, "evidence") and (row.margin or 0) > 0
    assert (await advice(remora, folder))["opinions"] == {"noise": 1}
    assert (await advice(remora, remora.world.workspace("other")))["judged"] == 0
    assert (await remora.ask("metrics"))["feedback"] == {"noise": 1}


async def test_a_packet_that_was_carried_over_is_judged_by_the_pass_that_made_it(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await a_need(remora, folder)
    await remora.append(a_call("ls", call_id="c2", workspace=folder))
    claim = await remora.claim()
    packet = claim["packet"]
    await remora.ask("inbox.delivered", **OWNER, packetId=packet["packetId"], claimId=claim["claimId"])
    assert packet["carried"] == 1

    await remora.ask("memory.feedback", packetId=packet["packetId"], opinion="useful")

    (row,) = (await last(remora)).candidates
    assert (row.memory_id, row.door) == (memory_id, "evidence")


async def test_a_memory_stands_for_the_last_packet_that_carried_it(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await given(remora, folder, "session-1")
    second = await given(remora, folder, "session-2")

    noted = await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="late")

    assert noted["packetId"] == second
    opened = await remora.ask("audit.query", packetId=second, kind="pass")
    told = await remora.ask("audit.get", auditId=opened["entries"][0]["auditId"])
    assert told["later"][-1]["outcome"] == "late"


async def test_a_memory_that_never_came_is_judged_by_itself(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)

    noted = await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="wrong")

    assert (noted["packetId"], noted["memoryIds"]) == (None, [memory_id])
    assert (await advice(remora, folder))["proposals"] == [
        {"kind": "look", "count": 1, "attention": None, "memoryId": memory_id}
    ]


@pytest.mark.parametrize("opinion", ["useful", "noise", "late"])
async def test_what_is_said_of_being_handed_over_needs_a_packet(remora: Asking, folder: str, opinion: str) -> None:
    memory_id = await remora.world.remember(LESSON)

    fault = await remora.refused("memory.feedback", memoryId=memory_id, workspace=folder, opinion=opinion)

    assert (fault.kind, f"nothing was {opinion}" in fault.problem) == ("invalid-params", True)
    assert not await remora.world.audit(kind=AuditKind.FEEDBACK)
    assert (await advice(remora, folder))["opinions"] == {}


async def test_a_missed_memory_is_kept_with_how_near_it_came(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await remora.append(a_result("the other container stopped", workspace=folder))

    await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="missed")

    (row,) = (await last(remora)).candidates
    assert row.memory_id == memory_id and not row.kept and (row.margin or 0) < 0
    assert (await advice(remora, folder))["missed"] == 1


async def test_feedback_proposes_and_changes_nothing(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    for number in range(3):
        packet_id = await given(remora, folder, f"session-{number}")
        await remora.ask("memory.feedback", packetId=packet_id, opinion="noise")

    assert (await advice(remora, folder))["proposals"] == [
        {"kind": "mute", "count": 3, "attention": None, "memoryId": memory_id}
    ]
    assert remora.world.parts.attentions.of(workspace_key(folder)) is Attention.NORMAL
    assert await given(remora, folder, "session-9")  # it is handed over as before
    await remora.ask("memory.mute", memoryId=memory_id, workspace=folder)
    assert (await advice(remora, folder))["proposals"] == []


async def test_feedback_is_known_after_a_restart(tmp_path: Path) -> None:
    async with asking(tmp_path / "data") as remora:
        folder = remora.world.workspace()
        await remora.world.remember(LESSON)
        await remora.ask("memory.feedback", packetId=await given(remora, folder), opinion="noise")
        before = await advice(remora, folder)
    async with asking(tmp_path / "data") as remora:
        assert await advice(remora, folder) == before
        assert (await remora.ask("audit.verify"))["ok"]


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"opinion": "noise"}, "invalid-params"),
        ({"opinion": "noise", "packetId": MISSING, "memoryId": a_memory_id(1)}, "invalid-params"),
        ({"opinion": "loud", "packetId": MISSING}, "invalid-params"),
        ({"opinion": "missed", "packetId": MISSING}, "invalid-params"),
        ({"opinion": "noise", "packetId": MISSING}, "unknown-packet"),
        ({"opinion": "noise", "memoryId": a_memory_id(9)}, "unknown-memory"),
    ],
)
async def test_what_nobody_could_mean_is_refused(remora: Asking, params: dict[str, Any], kind: str) -> None:
    assert (await remora.refused("memory.feedback", **params)).kind == kind


async def test_a_packet_that_was_never_handed_over_is_not_judged(remora: Asking, folder: str) -> None:
    await remora.world.remember(LESSON)
    await a_need(remora, folder)
    packet = (await remora.world.audit(kind=AuditKind.PASS))[-1].packet
    assert packet is not None

    fault = await remora.refused("memory.feedback", packetId=packet.packet_id, opinion="noise")

    assert fault.kind == "unknown-packet"
    assert (await remora.claim())["reason"] != Reason.NONE_PENDING


@pytest.mark.promise("no-leak")
async def test_a_memory_of_another_workspace_is_not_judged(remora: Asking) -> None:
    memory_id = await remora.world.remember(LESSON)
    other = remora.world.workspace("other")
    fault = await remora.refused("memory.feedback", memoryId=memory_id, workspace=other, opinion="noise")
    assert fault.kind == "unknown-memory"
