"""The scope scenarios of the adversarial fixtures, over the wire: nothing of one session, agent or project is told to
another. What a scenario leaves to us (`policy`) is decided here, and in docs/explanation/decisions/0037."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from host.contracts import Claimed
from recall.workspace import workspace_key
from tests.support.asking import Asking, asking
from tests.support.builders import a_call, a_reply, a_result
from tests.support.scoping import NEED, Scoped
from tests.support.world import a_world

DATA = Path(__file__).parents[1] / "data" / "adversarial" / "scope_scenarios.jsonl"
CASES: dict[str, Any] = {one["kind"]: one for one in map(json.loads, DATA.read_text("ascii").splitlines())}
KNOWN = {"never_in", "or_reject", "no_error", "evidence_of", "policy", "error", "packet_state_of_S1"}
GENERATED = ("interleaved-100", "concurrent-claims-one-session")

SECRETIVE = [kind for kind, one in CASES.items() if isinstance(one["expect"].get("never_in"), dict)]


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "data") as opened:
        yield opened


async def played(remora: Asking, kind: str) -> Scoped:
    scenario = Scoped(remora, CASES[kind]["steps"])
    await scenario.play()
    return scenario


def test_every_scenario_and_every_expectation_is_bound() -> None:
    assert len(CASES) == 25
    for case in CASES.values():
        assert set(case["expect"]) <= KNOWN or case["kind"] in GENERATED


@pytest.mark.promise("adversarial-scenarios", "no-leak")
@pytest.mark.parametrize(
    "kind", [kind for kind, one in CASES.items() if isinstance(one["expect"].get("never_in"), dict)]
)
async def test_no_word_of_another_reaches_a_session(remora: Asking, kind: str) -> None:
    expect = CASES[kind]["expect"]

    scenario = await played(remora, kind)

    for session, words in expect["never_in"].items():
        told = "\n".join(scenario.told[session])
        assert told, "nobody asked"
        assert [word for word in words if word in told and word not in named(kind, session)] == []
    unseen = {"unknown-memory"}  # to name a memory of another project by its id is refused
    assert not expect.get("no_error") or {fault.kind for fault in scenario.refused} <= unseen


def named(kind: str, session: str) -> str:
    """The words that the session itself said: an echo is no leak."""
    return json.dumps([one for one in CASES[kind]["steps"] if one["session"] == session and one["op"] == "claim"])


async def test_what_is_asked_for_there_is_found_where_it_belongs(remora: Asking) -> None:
    """The other tests would hold of a remora that says nothing."""
    scenario = Scoped(remora, CASES["two-projects"]["steps"])
    await scenario.play()

    claim = await scenario.packet("S1", "proj-red", "ag1")

    assert "CANARY-RED-7f3a" in json.dumps(claim["packet"])


@pytest.mark.promise("adversarial-scenarios")
async def test_the_same_text_in_two_projects_leaves_evidence_in_each_of_its_own(remora: Asking) -> None:
    scenario = await played(remora, "same-digest")
    owners = {"S1": ("S1", "proj-red", "ag1"), "S2": ("S2", "proj-blue", "ag1")}
    for session, owner in owners.items():
        claim = await scenario.packet(*owner)
        ids = {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}
        await remora.ask("inbox.delivered", sessionId=session, agentId="ag1", **ids)

    world = remora.world
    for session, only in CASES["same-digest"]["expect"]["evidence_of"].items():
        assert only == f"{session} only"
        rows = await world.parts.evidence.of_session(world.parts.audit.ref(session))
        assert {row.memory_id for row in rows} == {scenario.memories[session]}
        assert await scenario.delivered(session) == [scenario.memories[session]]


@pytest.mark.promise("adversarial-scenarios")
@pytest.mark.parametrize("kind", ["claim-foreign-packet", "ack-foreign-packet"])
async def test_a_packet_of_another_session_is_not_there(remora: Asking, kind: str) -> None:
    scenario = await played(remora, kind)

    settled = [json.loads(told) for told in scenario.told["S2"]]
    assert [one.get("reason") for one in settled] == ["unknown-packet"] * 2
    assert not any(one["settled"] for one in settled)
    packet = json.loads(scenario.told["S1"][0])["packet"]
    assert await scenario.state_of(packet["packetId"]) == "claimed"
    assert "CANARY-RED-7f3a" in json.dumps(packet)


# ---------------------------------------------------------------------------------------------------- our policy


@pytest.mark.promise("adversarial-scenarios")
async def test_a_subagent_has_an_inbox_of_its_own(remora: Asking) -> None:
    """It sees the memories of its workspace, and no packet and no word of the agent that started it."""
    scenario = Scoped(remora, CASES["other-agent-same-session"]["steps"])
    folder = scenario.folder("proj-red")
    memory_id = await remora.world.remember(f"When {NEED}: rotate the token.", folder)
    await scenario._need("S1", "proj-red", "main", NEED)
    await scenario.play()

    assert "CANARY-RED-7f3a" not in "\n".join(scenario.told["S1"])
    slot, _ = await remora.world.parts.inbox.slot("S1", "main")
    assert slot is not None and [item.memory_id for item in slot.packet.items] == [memory_id]


@pytest.mark.promise("adversarial-scenarios")
async def test_a_folder_is_one_project_however_it_is_spelled(remora: Asking) -> None:
    scenario = Scoped(remora, CASES["cwd-trailing-slash"]["steps"])
    spelled = [scenario.folder(step["project"]) for step in scenario.steps]
    assert len(set(spelled)) == 2 and len({workspace_key(path) for path in spelled}) == 1
    await remora.world.remember(f"When {NEED}: CANARY-RED-7f3a", spelled[0])

    claim = await scenario.packet("S1", "/w/app", "ag1")

    assert "CANARY-RED-7f3a" in json.dumps(claim)


@pytest.mark.promise("adversarial-scenarios")
async def test_a_fork_inherits_what_was_kept_and_nothing_else(remora: Asking) -> None:
    scenario = Scoped(remora, CASES["forked-session"]["steps"])
    promoted = await remora.world.remember(f"When {NEED}: rotate the token.", scenario.folder("proj-red"))
    await scenario.play()

    assert "CANARY-RED-7f3a" not in "\n".join(scenario.told["S2"]).replace(json.dumps("CANARY"), "")
    claim = await scenario.packet("S2", "proj-red", "ag1")
    shown = [promoted] if claim["packet"] is None else [item["memoryId"] for item in claim["packet"]["items"]]
    assert shown == [promoted]


# ---------------------------------------------------------------------------------------------------- generated


@pytest.mark.promise("adversarial-scenarios", "no-leak")
async def test_a_hundred_sessions_at_once_never_hear_of_one_another(tmp_path: Path) -> None:
    (step,) = CASES["interleaved-100"]["steps"]
    chance = random.Random(step["seed"])
    async with a_world(tmp_path) as world:
        scripts: dict[int, list[Any]] = {}
        for number in range(step["sessions"]):
            folder = world.workspace(f"project-{number}")
            await world.remember(f"When {NEED}: {canary(number)}", folder)
            known = {"session_id": f"S{number}", "workspace": folder}
            talk = [a_reply(f"step {place} of {canary(number)}", **known) for place in range(step["events"] - 2)]
            scripts[number] = [
                *talk,
                a_call("helm upgrade kiwi-gateway", **known),
                a_result(f"error: {NEED}", **known),
            ]
        order = [number for number in scripts for _ in range(0, step["events"], 10)]
        chance.shuffle(order)
        for number in order:
            batch, scripts[number] = scripts[number][:10], scripts[number][10:]
            await world.parts.host.on_event(batch)

        for number in scripts:
            await world.settled(await world.parts.sessions.find(f"S{number}", "main"))
            claim = await world.claim(session=f"S{number}")
            assert isinstance(claim, Claimed), (number, claim)
            others = [other for other in scripts if other != number and canary(other) in claim.packet.rendered]
            assert canary(number) in claim.packet.rendered and others == []
        assert "finch" not in repr(await world.audit(limit=5000))


def canary(number: int) -> str:
    return f"finch{number:03d}x"


@pytest.mark.promise("adversarial-scenarios")
async def test_of_many_claims_at_once_one_gets_the_packet(tmp_path: Path) -> None:
    (step,) = CASES["concurrent-claims-one-session"]["steps"]
    chance = random.Random(step["seed"])
    async with asking(tmp_path) as remora:
        scenario = Scoped(remora, [])
        folder = scenario.folder("proj-red")
        given: list[str] = []
        claims = step["claims"]
        for number in range(step["packets"]):
            await remora.world.remember(f"When `make part-{number}` says E{7000 + number}: run fix-{number}.", folder)
            known = {"workspace": folder, "call_id": f"c{number}"}
            await remora.append(
                a_call(f"make part-{number}", **known), a_result(f"make part-{number}: error E{7000 + number}", **known)
            )
            left = step["packets"] - number
            many = claims if left == 1 else min(claims - left + 1, chance.randint(1, 5))
            claims -= many
            answers = await asyncio.gather(*(remora.claim(request_id=f"r{number}-{one}") for one in range(many)))
            given += [answer["packet"]["packetId"] for answer in answers if answer["packet"]]
            for answer in answers:
                if answer["packet"]:
                    ids = {"packetId": answer["packet"]["packetId"], "claimId": answer["claimId"]}
                    await remora.ask("inbox.delivered", sessionId="session-1", agentId="main", **ids)

        assert len(given) == len(set(given)) and len(given) > 1
