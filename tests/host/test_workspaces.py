"""The workspace verbs of the wire: what is muted is silent at once, with its reason, and speaks again by itself."""

from pathlib import Path
from typing import Any

import pytest

from governance.contracts import AuditKind
from host.contracts import Reason, Rollout
from recall.contracts import Attention, MemoryKind
from recall.workspace import workspace_key
from tests.support.asking import Asking, asking
from tests.support.builders import a_memory_id, a_prompt
from tests.support.remembering import a_need
from tests.support.world import LESSON

HOUR = 3_600_000
MUTED_KIND = {"kind": "semantic", "muted": True}


async def reasons(remora: Asking, kind: AuditKind = AuditKind.PASS) -> list[str]:
    return [entry.reason for entry in await remora.world.audit(kind=kind)]


def later(remora: Asking, millis: int) -> None:
    remora.world.clock.set(remora.world.clock.now() + millis)


# ---------------------------------------------------------------------------------- everything, for a time


async def test_an_hour_of_quiet_is_quiet_for_an_hour(remora: Asking, folder: str) -> None:
    await remora.world.remember(LESSON)
    now = remora.world.clock.now()

    muted = await remora.ask("workspace.mute", workspace=folder, forMs=HOUR)

    assert muted == {
        "workspaceKey": workspace_key(folder),
        "kind": None,
        "muted": True,
        "changed": True,
        "until": now + HOUR,
        "packetsPurged": 0,
    }
    later(remora, HOUR - 1)
    await a_need(remora, folder)
    assert (await remora.claim())["packet"] is None
    assert (await reasons(remora))[-1] == Reason.USER_MUTED  # the failure; the call before it is no trigger anyway
    later(remora, 1)
    await a_need(remora, folder, "c2")
    assert (await remora.claim(request_id="r2"))["packet"] is not None


@pytest.mark.parametrize("state", ["pending", "claimed"])
@pytest.mark.parametrize(("what", "reason"), [({}, Reason.USER_MUTED), (MUTED_KIND, Reason.MUTED)])
async def test_a_mute_takes_back_what_waits_and_its_end_does_not_bring_it_again(
    remora: Asking, folder: str, state: str, what: dict[str, Any], reason: Reason
) -> None:
    await remora.world.remember(LESSON)
    await a_need(remora, folder)
    claim = await remora.claim() if state == "claimed" else None

    muted = await remora.ask("workspace.mute", workspace=folder, forMs=1_000, **what)

    assert muted["packetsPurged"] == 1
    assert (await reasons(remora, AuditKind.DROP))[-1] == reason
    later(remora, 1_000)
    assert (await remora.claim(request_id="r2"))["packet"] is None
    if claim is not None:
        settled = {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}
        owner = {"sessionId": "session-1", "agentId": "main"}
        assert (await remora.ask("inbox.delivered", **owner, **settled))["settled"] is False


async def test_a_mute_takes_back_also_what_waits_in_a_session_that_nobody_opened_since_a_restart(
    tmp_path: Path,
) -> None:
    async with asking(tmp_path / "data") as remora:
        folder = remora.world.workspace()
        await remora.world.remember(LESSON)
        await a_need(remora, folder)
    async with asking(tmp_path / "data") as remora:
        muted = await remora.ask("workspace.mute", workspace=folder, forMs=1_000)
        assert muted["packetsPurged"] == 1
        later(remora, 1_000)
        assert (await remora.claim())["reason"] == Reason.NONE_PENDING


@pytest.mark.parametrize("what", [{}, MUTED_KIND])
@pytest.mark.parametrize("restarted", [False, True])
async def test_a_mute_during_the_users_pause_holds_however_long_the_pause_was(
    tmp_path: Path, what: dict[str, Any], restarted: bool
) -> None:
    async with asking(tmp_path / "data") as remora:
        folder = remora.world.workspace()
        await remora.world.remember(LESSON)
        await a_need(remora, folder)
        if not restarted:
            await muted_in_a_pause(remora, folder, what)
    if restarted:
        async with asking(tmp_path / "data") as remora:
            await muted_in_a_pause(remora, folder, what)


async def muted_in_a_pause(remora: Asking, folder: str, what: dict[str, Any]) -> None:
    """Forty minutes after the need somebody mutes; when that is over, the user goes on."""
    later(remora, 40 * 60_000)
    muted = await remora.ask("workspace.mute", workspace=folder, forMs=1_000, **what)
    later(remora, 1_000)
    await remora.append(a_prompt("And what now, please?", workspace=folder))

    assert muted["packetsPurged"] == 1
    assert (await remora.claim("user-prompt"))["packet"] is None


async def test_what_waits_elsewhere_is_left_alone_also_in_a_session_that_is_not_live(tmp_path: Path) -> None:
    async with asking(tmp_path / "data") as remora:
        here, other = remora.world.workspace(), remora.world.workspace("other")
        await remora.world.remember(LESSON, other)
        await a_need(remora, other)
    async with asking(tmp_path / "data") as remora:
        for params in (MUTED_KIND, {"forMs": 1_000}):
            assert (await remora.ask("workspace.mute", workspace=here, **params))["packetsPurged"] == 0
        unmuted = await remora.ask("workspace.set", workspace=other, rollout="active")

        assert unmuted["rollout"] == "active"
        assert remora.world.parts.sessions.all() == []  # nobody's past is read for it
        assert (await remora.claim())["packet"] is not None


async def test_another_workspace_is_not_disturbed(remora: Asking, folder: str) -> None:
    other = remora.world.workspace("other")
    await remora.world.remember(LESSON, other)
    await a_need(remora, other)

    muted = await remora.ask("workspace.mute", workspace=folder, forMs=HOUR)

    assert muted["packetsPurged"] == 0
    assert (await remora.claim())["packet"] is not None


async def test_a_session_that_starts_while_all_is_muted_is_shown_no_pinned_memory(remora: Asking, folder: str) -> None:
    await remora.world.remember(LESSON, pinned=True)
    await remora.ask("workspace.mute", workspace=folder, forMs=HOUR)

    await remora.ask("session.open", sessionId="session-1", workspace=folder)

    assert (await remora.claim("session-start"))["packet"] is None
    assert await reasons(remora) == [Reason.USER_MUTED]


async def test_the_quiet_ends_when_it_is_unmuted(remora: Asking, folder: str) -> None:
    await remora.world.remember(LESSON)
    await remora.ask("workspace.mute", workspace=folder, forMs=HOUR)

    first = await remora.ask("workspace.mute", workspace=folder, muted=False)
    second = await remora.ask("workspace.mute", workspace=folder, muted=False)

    assert (first["changed"], second["changed"], first["until"]) == (True, False, None)
    await a_need(remora, folder)
    assert (await remora.claim())["packet"] is not None


async def test_everything_is_not_muted_for_good_by_the_way(remora: Asking, folder: str) -> None:
    fault = await remora.refused("workspace.mute", workspace=folder)

    assert (fault.kind, "rollout" in fault.next_step) == ("invalid-params", True)


@pytest.mark.parametrize(
    "params",
    [
        {"forMs": 0},
        {"forMs": -1},
        {"forMs": 367 * 24 * HOUR},
        {"kind": "prospective", "forMs": 1},
        {"workspace": "", "forMs": 1},
    ],
)
async def test_a_mute_that_cannot_be_is_refused(remora: Asking, folder: str, params: dict[str, Any]) -> None:
    fault = await remora.refused("workspace.mute", **({"workspace": folder} | params))

    assert fault.kind == "invalid-params"
    assert not await remora.world.audit(kind=AuditKind.POLICY)


# ------------------------------------------------------------------------------------------------ a kind


async def test_a_muted_kind_is_left_out_with_its_reason_and_the_others_speak(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await remora.ask("workspace.mute", workspace=folder, kind="semantic")

    await a_need(remora, folder)

    assert (await remora.claim())["packet"] is None
    entry = (await remora.world.audit(kind=AuditKind.PASS))[-1]
    assert [(one.memory_id, one.drop_reason) for one in entry.candidates] == [(memory_id, "muted")]
    await remora.ask("workspace.mute", workspace=folder, kind="semantic", muted=False)
    await remora.ask("workspace.mute", workspace=folder, kind="episodic")
    await a_need(remora, folder, "c2")
    assert (await remora.claim(request_id="r2"))["packet"]["items"][0]["kind"] == "semantic"


async def test_a_packet_that_a_pass_made_while_its_kind_was_muted_is_not_claimed(remora: Asking, folder: str) -> None:
    await remora.world.remember(LESSON)
    await a_need(remora, folder)
    mutes, now = remora.world.parts.marks.workspaces, remora.world.clock.now()
    await mutes.mute(workspace_key(folder), MemoryKind.SEMANTIC, now, None)  # as if the pass had ranked just before

    claim = await remora.claim()

    assert (claim["packet"], claim["reason"]) == (None, Reason.MUTED)


# ------------------------------------------------------------------------------------------------ what holds


async def test_what_is_set_is_noted_without_a_path_and_told_again(remora: Asking, folder: str) -> None:
    first = await remora.ask("workspace.set", workspace=folder, attention="quiet")
    second = await remora.ask("workspace.set", workspace=folder, rollout="shadow")

    key = workspace_key(folder)
    assert first == {"workspaceKey": key, "rollout": "active", "attention": "quiet", "chosen": True}
    assert second == first | {"rollout": "shadow"}
    entries = await remora.world.audit(kind=AuditKind.POLICY)
    assert [(one.outcome, one.reason) for one in entries] == [
        ("attention quiet", Attention.QUIET),
        ("rollout shadow", Rollout.SHADOW),
    ]
    assert {one.note for one in entries} == {remora.world.parts.audit.ref(key)}


@pytest.mark.parametrize("params", [{}, {"attention": "loud"}, {"rollout": "half"}])
async def test_nothing_and_nonsense_are_not_set(remora: Asking, folder: str, params: dict[str, Any]) -> None:
    assert (await remora.refused("workspace.set", workspace=folder, **params)).kind == "invalid-params"


async def test_a_workspace_is_shown_with_all_that_was_settled_there(remora: Asking, folder: str) -> None:
    now = remora.world.clock.now()
    here = await remora.world.remember(LESSON, title="Fixtures")
    hidden = await remora.world.remember("Elsewhere.", remora.world.workspace("other"))
    for memory_id in (here, hidden):
        await remora.world.parts.marks.mute(memory_id, now, now + HOUR)
    await remora.ask("workspace.mute", workspace=folder, kind="episodic")
    await remora.ask("workspace.mute", workspace=folder, forMs=HOUR)

    found = await remora.ask("workspace.get", workspace=folder)

    assert (found["rollout"], found["attention"], found["chosen"]) == ("active", "normal", False)
    assert found["mutes"] == [
        {"kind": None, "since": now, "until": now + HOUR},
        {"kind": "episodic", "since": now, "until": None},
    ]
    assert found["memories"] == [{"memoryId": here, "text": "Fixtures", "since": now, "until": now + HOUR}]
    assert list(found["points"]) == ["quiet", "normal", "eager"]
    assert found["advice"]["proposals"] == []
    assert (await remora.refused("workspace.get", workspace="")).kind == "invalid-params"


# ---------------------------------------------------------------------------------- one memory, for a time


async def test_a_memory_is_muted_for_a_time(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    now = remora.world.clock.now()

    muted = await remora.ask("memory.mute", memoryId=memory_id, workspace=folder, forMs=HOUR)

    assert (muted["until"], muted["changed"]) == (now + HOUR, True)
    got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    assert (got["muted"], got["mutedAt"], got["mutedUntil"]) == (True, now, now + HOUR)
    await a_need(remora, folder)
    assert (await remora.claim())["packet"] is None
    later(remora, HOUR)
    got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    assert (got["muted"], got["mutedUntil"]) == (False, None)
    await a_need(remora, folder, "c2")
    assert (await remora.claim(request_id="r2"))["packet"]["items"][0]["memoryId"] == memory_id


async def test_an_unknown_memory_is_not_muted(remora: Asking, folder: str) -> None:
    fault = await remora.refused("memory.mute", memoryId=a_memory_id(9), workspace=folder, forMs=HOUR)
    assert fault.kind == "unknown-memory"
