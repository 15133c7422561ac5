"""Whether a session may be formed now."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import Door, Snapshot, SnapshotOrigin, Trigger
from host.contracts import Rollout
from host.formation.gate import Gate
from host.runtime import SESSION_SET
from tests.support.builders import SESSION, a_prompt, an_event
from tests.support.formed import ON, team_of
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        yield made


def a_gate(world: World, **fields: Any) -> Gate:
    given = {
        "enabled": True,
        "rollouts": world.parts.rollouts,
        "material": world.parts.formation.material,
        "present": lambda: True,
    } | fields
    return Gate(**given)


def at(world: World, seq: int = 1, **fields: Any) -> Snapshot:
    given = {
        "trigger": Trigger.END,
        "session_id": SESSION,
        "conversation_key": SESSION,
        "boundary_seq": seq,
        "workspace_key": team_of(world),
    } | fields
    return Snapshot(**given)


async def test_it_is_open_for_a_session_of_a_workspace_that_is_on(world: World) -> None:
    await world.feed(a_prompt(workspace=world.workspace()))

    admitted = await a_gate(world).of(at(world))

    assert (admitted.door, admitted.reason, admitted.denied) == (Door.OPEN, "", ())


@pytest.mark.parametrize(
    ("snapshot", "gate", "reason"),
    [
        ({}, {"enabled": False}, "disabled"),
        ({}, {"present": lambda: False}, "no-driver"),
        ({"workspace_key": ""}, {}, "no-workspace"),
        ({"origin": SnapshotOrigin.SUBAGENT}, {}, "subagent"),
        ({"origin": SnapshotOrigin.OWN}, {"enabled": False}, "own-session"),
    ],
)
async def test_it_is_closed_with_a_reason(
    world: World, snapshot: dict[str, Any], gate: dict[str, Any], reason: str
) -> None:
    admitted = await a_gate(world, **gate).of(at(world, **snapshot))

    assert (admitted.door, admitted.reason) == (Door.CLOSED, reason)


async def test_it_is_closed_in_a_workspace_that_is_off(world: World) -> None:
    await world.parts.rollouts.set(team_of(world), Rollout.OFF)

    assert (await a_gate(world).of(at(world))).reason == "workspace-off"


@pytest.mark.promise("formation-19")
async def test_a_boundary_that_is_incognito_is_denied_and_a_later_one_knows_the_span(world: World) -> None:
    here = {"workspace": world.workspace()}
    await world.feed(
        a_prompt("before", **here), an_event(SESSION_SET, {"incognito": True}, **here), a_prompt("hidden", **here)
    )
    now = await a_gate(world).of(at(world, 3))
    assert (now.door, now.reason) == (Door.DENIED, "incognito")

    await world.feed(an_event(SESSION_SET, {"incognito": False}, **here), a_prompt("after", **here))
    later = await a_gate(world).of(at(world, 5))

    assert later.door is Door.OPEN
    assert [(one.from_seq, one.through_seq) for one in later.denied] == [(2, 4)]


async def test_what_its_user_decides_during_a_run_holds_at_once(world: World) -> None:
    gate = a_gate(world)
    await world.feed(a_prompt(workspace=world.workspace()))
    assert (await gate.of(at(world))).door is Door.OPEN

    await world.parts.rollouts.set(team_of(world), Rollout.OFF)

    assert (await gate.of(at(world))).door is Door.CLOSED


async def test_without_a_driver_the_spans_are_told_all_the_same(world: World) -> None:
    """Ranges for the running agent are cut at them, too."""
    await world.feed(
        a_prompt(), an_event(SESSION_SET, {"incognito": True}), an_event(SESSION_SET, {"incognito": False})
    )

    admitted = await a_gate(world, present=lambda: False).of(at(world, 9))

    assert (admitted.door, admitted.reason, len(admitted.denied)) == (Door.CLOSED, "no-driver", 1)
