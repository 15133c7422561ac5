"""Which agent product a session is of: noted once, else told by its model, else unknown."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.products import REMEMBERED, UNKNOWN, Providers
from tests.support.builders import an_event
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


async def test_the_first_note_counts_and_outlives_a_restart(world: World) -> None:
    providers = Providers(world.parts.main)
    await providers.note(["s1", "s2"], "codex")
    await providers.note(["s1"], "claude-code")
    await Providers(world.parts.main).note(["s2"], "gemini-cli")
    await providers.note(["s3"], "")

    assert await Providers(world.parts.main).of(["s1", "s2", "s3"]) == {"s1": "codex", "s2": "codex", "s3": UNKNOWN}
    assert await providers.of([]) == {}


@pytest.mark.parametrize(
    ("model", "product"),
    [("claude-opus-4", "claude-code"), ("gpt-5.1-codex", "codex"), ("gemini-3", "gemini-cli"), ("llama", UNKNOWN)],
)
async def test_an_older_session_is_known_by_the_model_that_spoke_in_it(world: World, model: str, product: str) -> None:
    told = [an_event("session/client", {"version": "1"}), an_event("session/client", {"model": model})]
    await world.parts.eventlog.append(told, world.clock.now())

    assert await Providers(world.parts.main).of(["session-1"]) == {"session-1": product}


async def test_what_is_remembered_is_bounded_and_nothing_is_lost_by_that(world: World) -> None:
    providers = Providers(world.parts.main)
    names = [f"s{number}" for number in range(REMEMBERED + 1)]
    await providers.note(names[:-1], "codex")
    await providers.note(names[-1:], "codex")
    await providers.note(names[:1], "claude-code")

    assert (await providers.of(names[:1]))["s0"] == "codex"


async def test_a_session_that_is_heard_is_noted(world: World) -> None:
    await world.feed(an_event(session_id="live"), host="claude-code")

    async with asyncio.timeout(10):  # noted by a task of its own: no hook waits for it
        while (await world.parts.providers.of(["live"]))["live"] == UNKNOWN:
            pass
    assert await world.parts.providers.of(["live"]) == {"live": "claude-code"}
