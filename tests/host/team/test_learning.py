"""Bound worktrees are read ahead; others are not, and trouble ends a round and not the daemon."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.store import bindings
from governance.team.store.bindings import Installation
from host.team.learning import BACK_MS, Learning
from tests.support.clock import START
from tests.support.team_history import HOUR, SECRET, Histories, a_history


@pytest.fixture
async def past(tmp_path: Path) -> AsyncIterator[Histories]:
    async with a_history(tmp_path) as made:
        await made.log(made.talk("new").turns(4))
        await made.log(made.talk("old", start=START - BACK_MS - 48 * HOUR).turns(4))
        yield made


def learning_of(past: Histories) -> Learning:
    return Learning(past.history, past.world.parts.kept, past.world.clock.now)


async def known(past: Histories) -> int:
    count: int = await past.world.parts.kept.read(
        lambda c: c.execute("SELECT count(*) FROM team_turn WHERE terms != ''").fetchone()[0]
    )
    return count


async def test_what_is_new_in_a_bound_worktree_is_known_before_anybody_asks(past: Histories) -> None:
    assert await learning_of(past).round() == 0 and await known(past) == 0

    def bind(connection: object) -> None:
        bindings.installation(connection, Installation(secret=SECRET, uuid="db"))  # type: ignore[arg-type]
        bindings.put(connection, past.bound, START)  # type: ignore[arg-type]

    await past.world.parts.kept.write(bind)
    assert await learning_of(past).round() == 1 and await known(past) == 3

    await past.log(past.talk("new").turn(4))
    assert await learning_of(past).round() == 1 and await known(past) == 4


async def test_trouble_is_told_and_ends_the_round(past: Histories) -> None:
    await past.world.parts.kept.write(lambda c: c.execute("DROP TABLE team_binding"))
    learning = learning_of(past)

    assert await learning.round() == 0 and "team_binding" in learning.problem
