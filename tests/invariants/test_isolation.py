"""Nothing of one workspace's session or memory reaches another, however the sessions are interleaved."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.contracts import Claimed, Surface
from recall.contracts import EventEnvelope
from tests.support.builders import a_call, a_prompt, a_result
from tests.support.world import World, a_world

SESSIONS = 20


def canary(number: int) -> str:
    return f"zebrafinch{number:02d}x"


def lesson(number: int) -> str:
    return (
        f"The {canary(number)} deploy needs the kiwi-gateway token rotated first, else helm upgrade kiwi-gateway "
        f"fails with UPGRADE FAILED: timed out waiting for the condition."
    )


def script(number: int, folder: str) -> list[EventEnvelope]:
    """One session's events: all sessions have the same need, each its own canary."""
    session, call = f"session-{number}", f"call-{number}"
    failure = (
        "helm upgrade kiwi-gateway\nUPGRADE FAILED: timed out waiting for the condition\n"
        f"{canary(number)}: kiwi-gateway token expired, deploy stopped"
    )
    return [
        a_prompt(f"Deploy {canary(number)} with helm upgrade.", session_id=session, workspace=folder),
        a_call(f"helm upgrade kiwi-gateway # {canary(number)}", call_id=call, session_id=session, workspace=folder),
        a_result(failure, call_id=call, session_id=session, workspace=folder),
    ]


async def play(folder: Path, order: list[int]) -> None:
    async with a_world(folder) as world:
        scripts = {}
        for number in range(SESSIONS):
            workspace = world.workspace(f"project-{number}")
            await world.remember(lesson(number), workspace)
            scripts[number] = script(number, workspace)
        for number in order:
            if scripts[number]:
                await world.parts.host.on_event([scripts[number].pop(0)])
        for number in range(SESSIONS):
            for envelope in scripts[number]:
                await world.parts.host.on_event([envelope])
        await judge(world)


async def judge(world: World) -> None:
    delivered = 0
    for number in range(SESSIONS):
        claim = await world.claim(Surface.POST_TOOL, session=f"session-{number}")
        if isinstance(claim, Claimed):
            delivered += 1
            await world.deliver(claim, session=f"session-{number}")
        reply = msgspec.json.encode(claim).decode()
        assert foreign(reply, number) == [], f"session {number} was told of another"
        evidence = msgspec.json.encode(
            await world.parts.evidence.of_session(world.parts.audit.ref(f"session-{number}"))
        )
        assert foreign(evidence.decode(), number) == []
    assert delivered == SESSIONS
    audit = msgspec.json.encode(await world.audit()).decode()
    assert foreign(audit, None) == [], "the audit holds words of events or memories"
    assert len(world.logged.calls) >= SESSIONS
    assert foreign(repr(world.logged.calls), None) == [], "the log holds words of events or memories"


def foreign(text: str, own: int | None) -> list[str]:
    return [canary(number) for number in range(SESSIONS) if number != own and canary(number) in text]


@pytest.mark.promise("no-leak")
@pytest.mark.promise("canaries-stay-home")
@settings(max_examples=5)
@given(st.lists(st.integers(0, SESSIONS - 1), min_size=20, max_size=80))
def test_no_canary_leaves_its_workspace(tmp_path_factory: pytest.TempPathFactory, order: list[int]) -> None:
    asyncio.run(play(tmp_path_factory.mktemp("world"), order))
