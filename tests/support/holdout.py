"""Worlds in which half of what would be handed over is held out, and sessions whose draw is known."""

from host.holdout import HoldoutPolicy, keeps_back
from host.policy import Policy
from tests.support.builders import a_call, a_cursor, a_memory_id, a_packet, a_result, an_item
from tests.support.world import FAILURE, KEY, World

HALF = Policy(holdout=HoldoutPolicy(share=0.5))


def drawn(session: str, number: int = 1, share: float = 0.5, key: bytes = KEY) -> bool:
    """Whether a packet that this memory leads is kept back in that session."""
    packet = a_packet(
        context_cursor=a_cursor(session_id=session), items=(an_item(memory_id=a_memory_id(number)), an_item())
    )
    return keeps_back(packet, HoldoutPolicy(share=share), key)


def a_session(*, held_out: bool, number: int = 1) -> str:
    """A session in which the draw falls this way for that memory."""
    return next(name for name in map("s{}".format, range(100)) if drawn(name, number) is held_out)


async def fail(world: World, session: str, call_id: str, failure: str = FAILURE) -> None:
    """A call of that session fails: not quite the same command each time, or the call itself would be looked up."""
    where = {"session_id": session, "call_id": call_id, "workspace": world.workspace()}
    await world.feed(a_call(f"make integration-test RUN={call_id}", **where), a_result(failure, **where))
