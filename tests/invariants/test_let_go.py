"""Letting audit entries go changes nothing: what a session knows, what waits, and all that is decided later."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.checkpoint import OUTCOME
from governance.pruning import Limits, Pruning
from host.inbox import let_go
from host.retention import SECTIONS
from host.sessions import Sessions
from tests.invariants.test_restarts import ACTS, Act, Agent, an_agent, known, prepared, written

Script = Sequence[tuple[Act, int, bool]]  # what happens, and whether everything written is let go afterwards
moves = st.tuples(st.sampled_from(ACTS), st.integers(0, 11), st.booleans())


async def forget_what_was_written(agent: Agent) -> None:
    """All entries there are go, packets that are young stay, and the session is read from its stores again."""
    parts = agent.world.parts
    pruning = Pruning(
        parts.inbox._database,
        parts.audit,
        parts.ledger.append,
        SECTIONS,
        lambda connection, _: let_go(connection, 0),
    )
    await pruning.run(Limits(age=-1), agent.world.clock.now())
    sessions: Sessions = parts.sessions
    sessions.let_go(await agent.runtime())


async def played(folder: Path, script: Script, forgetful: bool) -> tuple[list[dict[str, object]], list[object]]:
    async with an_agent(folder) as agent:
        await prepared(agent)
        states, entries = [], []
        for act, number, forgets in script:
            await agent.does(act, number)
            if forgetful and forgets:
                entries += await written(agent)
                await forget_what_was_written(agent)
                assert (await agent.world.parts.audit.verify()).ok
            states.append(await known(agent))
        return states, [one for one in (*entries, *(await written(agent))) if one[1] != OUTCOME]  # type: ignore[index]


async def compare(folder: Path, script: Script) -> None:
    folder = folder / "data"
    states, entries = await played(folder, script, forgetful=False)
    shutil.rmtree(folder)
    others, other_entries = await played(folder, script, forgetful=True)
    for place, (state, other) in enumerate(zip(states, others, strict=True)):
        for name, value in state.items():
            assert other[name] == value, f"{name} after {[act.__name__ for act, _, _ in script[: place + 1]]}"
    assert other_entries == entries


@pytest.mark.promise("deterministic", "metrics-rebuilt")
@settings(max_examples=6)
@given(st.lists(moves, min_size=4, max_size=14))
def test_a_session_goes_on_as_if_all_its_entries_were_there(
    tmp_path_factory: pytest.TempPathFactory, script: Script
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("governance.pruning.YOUNG", -1)
        patch.setattr("governance.pruning.WORTH", 0)
        asyncio.run(compare(tmp_path_factory.mktemp("let-go"), script))


@pytest.mark.reliability
@settings(max_examples=60)
@given(st.lists(moves, min_size=8, max_size=24))
def test_a_long_session_does_too(tmp_path_factory: pytest.TempPathFactory, script: Script) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("governance.pruning.YOUNG", -1)
        patch.setattr("governance.pruning.WORTH", 0)
        asyncio.run(compare(tmp_path_factory.mktemp("let-go"), script))
