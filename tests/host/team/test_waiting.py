"""What waits is known by its memories, and taken back with them."""

from host.contracts import Reason, Silence
from host.team.waiting import Waiting
from tests.support.builders import a_memory_id
from tests.support.team_trust import needed
from tests.support.world import LESSON, World


async def test_what_waits_is_taken_back_with_a_memory_in_every_session(world: World) -> None:
    memory_id, parts = await world.remember(LESSON), world.parts
    waiting = Waiting(inbox=parts.inbox, claims=parts.claims, runtimes=parts.sessions.known)
    assert await waiting.carried() == frozenset()
    for session in ("session-1", "session-2"):
        await needed(world, world.folder / "work" / "project", session)

    assert await waiting.carried() == {memory_id}
    assert await waiting.purge(a_memory_id(99)) == 0
    assert await waiting.purge(memory_id) == 2

    assert await waiting.carried() == frozenset()
    assert await world.claim(session="session-1") == Silence(reason=Reason.NONE_PENDING)
