"""How a memory came to be, out of every table that knows a part of it."""

from host.formed import formed_of
from tests.support.asking import Asking
from tests.support.noted import SAID, a_note, said
from tests.support.reviewing import decide
from tests.support.world import World


async def test_a_memory_that_a_person_wrote_has_no_story(world: World) -> None:
    memory_id = await world.remember("Use pnpm, never npm.")
    assert await formed_of(world.parts, memory_id) is None


async def test_quotes_runs_decisions_and_what_it_took_the_place_of(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    first = await decide(remora, folder, await a_note(remora, folder, "Releases ship on Thursdays."), "keep")
    better = "The releases ship on Thursdays, after the smoke tests."
    item = await a_note(remora, folder, better, SAID)
    done = await decide(remora, folder, item, "keep", replaces=[first["memoryId"]], reason="fuller")
    found = await formed_of(remora.world.parts, done["memoryId"])
    assert found is not None
    assert [one.quote for one in found.sources] == [SAID]
    assert [(one.pipeline, one.model_id, one.calls) for one in found.formed] == [("notes", "human", 0)]
    assert [(one.actor, one.kind, one.reason) for one in found.decided] == [("human", "keep", "fuller")]
    assert [(one.memory_id, one.state) for one in found.earlier] == [(first["memoryId"], "superseded")]
