"""A session in a whole world, formed in batches by a scripted model."""

from collections.abc import Sequence
from typing import Any

from governance.formation.contracts import Pipeline
from host.formation.ports import Ask
from host.models.scripted import Script, Scripted, Step
from recall.analyzer import distinct
from tests.support.builders import SESSION, a_prompt, a_reply, a_start
from tests.support.formed import team_of
from tests.support.world import World


def script(*steps: Step) -> Scripted:
    return Scripted(script=Script(answers=steps, id="demo"))


async def told(world: World, *texts: str) -> None:
    """A session in which user and assistant speak in turn."""
    here = {"workspace": world.workspace()}
    turns = [a_prompt(text, **here) if place % 2 == 0 else a_reply(text, **here) for place, text in enumerate(texts)]
    await world.feed(a_start(**here), *turns)
    await world.parts.tasks.settled()


async def formed(world: World, *steps: Step) -> tuple[Scripted, Sequence[Any]]:
    """What batch extraction makes of the session with these answers."""
    model = script(*steps)
    world.parts.formation.driver = model
    results = await world.parts.formation.run(Ask(session_id=SESSION, pipeline=Pipeline.BATCH))
    await world.parts.formation.projected()
    return model, results


async def told_more(world: World, text: str) -> None:
    await world.feed(a_prompt(text, workspace=world.workspace()))
    await world.parts.tasks.settled()


async def a_name(world: World, place: int) -> str:
    """The id under which a message of the user is shown."""
    read = await world.parts.formation.material.read(SESSION, -1, 999)
    return [one.message_id for one in read if one.role == "user"][place]


async def found(world: World, words: str) -> list[str]:
    scope = world.parts.sessions.scope("", "", team_of(world))
    hits = await world.parts.library.snapshot(world.clock.now()).match(distinct(words), scope, 9)
    return [one.memory_id for one in hits]
