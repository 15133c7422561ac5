"""Sessions are cut once, and anew where the log has more of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.team.past_turns import PastTurns
from tests.support.clock import START
from tests.support.team_history import HOUR, Histories, a_history


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Histories]:
    async with a_history(tmp_path) as histories:
        yield histories


def past_of(made: Histories) -> PastTurns:
    return made.history.past


async def seen(made: Histories) -> dict[str, int]:
    rows = await made.world.parts.kept.read(
        lambda c: c.execute("SELECT session_id, seen_at FROM team_session ORDER BY session_id").fetchall()
    )
    return dict(rows)


async def test_a_session_is_cut_once_as_long_as_the_log_holds_the_same_of_it(made: Histories) -> None:
    talk = made.talk()
    await made.log(talk.turns(3))
    (first,) = await past_of(made).near(made.bound, START)
    cut_at = (await seen(made))["s-1"]

    made.world.clock.set(made.world.clock.now() + 1)
    (again,) = await past_of(made).near(made.bound, START)
    assert again == first and (await seen(made))["s-1"] == cut_at

    await made.log(talk.turn(3))
    (more,) = await past_of(made).near(made.bound, START)
    assert len(more.turns) == 4 and (await seen(made))["s-1"] == cut_at + 1


async def test_a_session_of_another_repository_is_not_cut_at_all(made: Histories) -> None:
    await made.log(made.talk("here").turns(3))
    await made.log(made.talk("other", made.world.workspace("other")).turns(3))

    (known,) = await past_of(made).near(made.bound, START)

    assert known.named.session_id == "here" and list(await seen(made)) == ["here"]
    assert known.folders == (str(made.root),)


async def test_sessions_that_ended_before_are_left_alone(made: Histories) -> None:
    await made.log(made.talk("old", start=START - 72 * HOUR).turns(3))

    assert await past_of(made).near(made.bound, START) == []
    assert len(await past_of(made).near(made.bound, START - 72 * HOUR)) == 1


async def test_a_session_whose_producers_clock_runs_ahead_is_found(made: Histories) -> None:
    await made.log(made.talk("ahead", start=START + 2_000 * HOUR).turns(3))

    assert len(await past_of(made).near(made.bound, START + 1_999 * HOUR)) == 1


async def test_sessions_are_known_by_their_ids_and_cut_anew_when_asked(made: Histories) -> None:
    await made.log(made.talk("a").turns(3))

    (known,) = await past_of(made).of(["a", "none"])

    assert known == await past_of(made).anew("a") and await past_of(made).anew("none") is None
