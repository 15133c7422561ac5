"""What an agent that asks may read: what could be handed to it, and of the rest which rule objects."""

import pytest

from host.readable import GONE, UNASKED, withheld
from host.verbs import reach
from recall.contracts import Flag, Origin, Scope, Status
from tests.support.asking import Asking
from tests.support.builders import a_memory_id
from tests.support.remembering import POISON, TOKEN
from tests.support.reviewing import decide, waiting

RISKY = "To clean up:\n1. run `git push --force origin main`\n2. run `rm -rf build`"


async def against(remora: Asking, folder: str, *memory_ids: str) -> dict[str, str]:
    return await withheld(remora.world.parts, memory_ids, await reach(remora.world.parts, folder))


@pytest.mark.parametrize("origin", Origin)
async def test_an_agent_may_read_what_is_in_force_whoever_said_it(remora: Asking, folder: str, origin: Origin) -> None:
    memory_id = await remora.world.remember("The harbour port is 7070.", folder, origin=origin)

    assert await against(remora, folder, memory_id) == {}


@pytest.mark.parametrize(
    ("text", "fields", "rule"),
    [
        ("The port is 1.", {"status": Status.ARCHIVED}, "revoked"),
        ("The port is 1.", {"status": Status.SUPERSEDED, "superseded_by": a_memory_id(9)}, "superseded"),
        ("The port is 1.", {"flags": (Flag.QUARANTINED,)}, "quarantined"),
        ("The port is 1.", {"flags": (Flag.MUTED,)}, "muted"),
        ("The port is 1.", {"flags": (Flag.CORRECTED,)}, "corrected"),
        ("The port is 1.", {"expires_at": 1}, "expired"),
        (POISON, {}, "injection"),
        (RISKY, {"kind": "procedural", "risk_level": "high"}, "high-risk"),
    ],
)
async def test_an_agent_may_not_read_what_would_not_be_handed_to_it(
    remora: Asking, folder: str, text: str, fields: dict[str, object], rule: str
) -> None:
    memory_id = await remora.world.remember(text, folder, **fields)

    assert await against(remora, folder, memory_id) == {memory_id: rule}


async def test_a_secret_that_a_person_wrote_into_a_file_is_not_read(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(f"The token is {TOKEN}.", folder)

    got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder, principal="agent")

    assert TOKEN not in str(got)


@pytest.mark.promise("no-leak")
async def test_what_cannot_be_seen_from_there_is_not_there(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The port is 1.", remora.world.workspace("other"))
    own = await remora.world.remember("I like tea.", scope=Scope.USER)

    assert await against(remora, folder, memory_id, own, "mem_none") == {memory_id: GONE, "mem_none": GONE}


async def test_what_a_person_kept_as_it_stands_may_be_read(remora: Asking, folder: str) -> None:
    kept = await remora.ask("memory.remember", text=POISON, workspace=folder)
    before = await against(remora, folder, kept["memoryId"])
    (one,) = await waiting(remora, folder)
    await decide(remora, folder, one["item"], "keep")

    assert before == {kept["memoryId"]: "quarantined"}
    assert await against(remora, folder, kept["memoryId"]) == {}


async def test_one_that_was_said_to_be_wrong_is_kept_back(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The port is 1.", folder)
    await remora.ask("memory.feedback", memoryId=memory_id, opinion="wrong", workspace=folder)

    assert await against(remora, folder, memory_id) == {memory_id: "corrected"}


async def test_every_rule_but_the_ceiling_on_what_comes_unasked_is_asked(remora: Asking) -> None:
    named = {name for name, _ in remora.world.parts.host.rules.candidate}

    assert named - UNASKED == named - {"trust-level"}
    assert len(UNASKED) == 1
