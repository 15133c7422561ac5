"""What the checkpoint's tests stand on answers as the real thing does: texts of a session, and the gate before them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.formation.contracts import Door, FormationGate, Material
from host.formation.gate import Gate
from host.formation.lineage import Lineage
from host.formation.material import SessionMaterial
from recall.workspace import workspace_key
from tests.support.builders import SESSION, a_call, a_prompt, a_reply
from tests.support.checkpoints import FakeGate, FakeMaterial, a_snapshot, said
from tests.support.world import World, a_world

TEXTS = (("user", "We ship on Thursdays."), ("assistant", "Noted."), ("tool", ""), ("user", "Backups run at night."))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data") as made:
        yield made


async def real(world: World) -> SessionMaterial:
    folder, made = world.workspace(), {"user": a_prompt, "assistant": a_reply}
    events = [made[role](text, workspace=folder) if role in made else a_call() for role, text in TEXTS]
    await world.parts.eventlog.append(events, world.clock.now())
    parts = world.parts
    return SessionMaterial(parts.eventlog, Lineage(parts.eventlog), parts.places.key, parts.rollouts.asleep)


def fake() -> FakeMaterial:
    spoken = [(seq, role, text) for seq, (role, text) in enumerate(TEXTS, start=1) if role != "tool"]
    return FakeMaterial([said(text, seq, SESSION, role=role) for seq, role, text in spoken])


@pytest.mark.parametrize("kind", ["fake", "real"])
async def test_a_material_gives_the_texts_of_a_span_in_their_order_and_of_one_session(kind: str, world: World) -> None:
    material: Material = fake() if kind == "fake" else await real(world)

    async def read(after: int, through: int, session: str = SESSION) -> list[tuple[int, str, str]]:
        return [(one.event_seq, one.role, one.ref) for one in await material.read(session, after, through)]

    everything = [(1, "user", f"{SESSION}#1"), (2, "assistant", f"{SESSION}#2"), (4, "user", f"{SESSION}#4")]
    assert await read(-1, 99) == await read(0, 4) == everything
    assert await read(1, 3) == everything[1:2]
    assert await read(4, 99) == await read(2, 2) == await read(-1, 99, "another") == []


@pytest.mark.parametrize("kind", ["fake", "real"])
async def test_a_gate_is_open_for_a_session_that_nobody_denied(kind: str, world: World) -> None:
    material = await real(world)
    here = Gate(enabled=True, rollouts=world.parts.rollouts, material=material, present=lambda: True)
    gate: FormationGate = FakeGate() if kind == "fake" else here
    admission = await gate.of(a_snapshot(4, SESSION, workspace_key=workspace_key(world.workspace())))
    assert (admission.door, admission.reason, admission.denied) == (Door.OPEN, "", ())
