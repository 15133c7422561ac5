"""What the log holds of which session, without what was said."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.team import logged
from host.team.logged import Logged
from tests.support.builders import a_prompt, a_reply
from tests.support.clock import START
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        log = made.parts.eventlog
        await log.append([a_prompt("one", session_id="a", workspace="/x"), a_reply("two", session_id="a")], START)
        await log.append([a_prompt("one", session_id="b", workspace="/y")], START + 10)
        yield made


async def test_a_session_has_an_extent_and_a_last_time(world: World) -> None:
    read = world.parts.main.read
    one = Logged(session_id="a", first=1, last=2, last_at=START, folder="/project")
    two = Logged(session_id="b", first=1, last=1, last_at=START + 10, folder="/y")

    assert await read(lambda c: logged.since(c, START)) == (one, two)
    assert await read(lambda c: logged.since(c, START + 1)) == (two,)
    assert await read(lambda c: logged.named(c, ["b", "none"])) == (two,)
    assert (one.extent, two.extent) == ("1-2", "1-1")


async def test_a_session_names_its_folders(world: World) -> None:
    assert await world.parts.main.read(lambda c: logged.folders(c, "a")) == ("/project", "/x")
    assert await world.parts.main.read(lambda c: logged.folders(c, "none")) == ()


async def test_a_session_without_an_event_is_not_there(world: World) -> None:
    await world.parts.main.write(lambda c: c.execute("DELETE FROM event WHERE session = 1"))

    assert await world.parts.main.read(lambda c: logged.present(c, ["a", "b", "none"])) == {"b"}
    assert [one.session_id for one in await world.parts.main.read(lambda c: logged.since(c, 0))] == ["b"]
