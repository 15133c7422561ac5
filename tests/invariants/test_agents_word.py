"""What an agent may do with memory over the wire, as over MCP: less than a person, and it is believed less."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from recall.contracts import Origin, Scope
from tests.support.asking import Asking, asking
from tests.support.remembering import files_of, kept, listed, record_of
from tests.support.world import LESSON


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def folder(remora: Asking) -> str:
    return remora.world.workspace()


@pytest.mark.promise("agents-propose")
@pytest.mark.parametrize(
    ("said", "origin"),
    [({}, Origin.USER), ({"principal": "human"}, Origin.USER), ({"principal": "agent"}, Origin.EXTRACTED)],
)
async def test_what_an_agent_keeps_is_not_taken_for_a_persons_word(
    remora: Asking, folder: str, said: dict[str, Any], origin: Origin
) -> None:
    memory_id = await kept(remora, LESSON, folder, **said)

    assert (await record_of(remora, memory_id, folder))["origin"] == origin


@pytest.mark.promise("only-a-person-decides")
@pytest.mark.parametrize("more", [{"pinned": True}, {"anyway": True}, {"scope": Scope.USER}, {"supersedes": ["mem_1"]}])
async def test_an_agent_cannot_do_what_is_for_a_person(remora: Asking, folder: str, more: dict[str, Any]) -> None:
    params = {"text": LESSON, "workspace": folder, "principal": "agent"}

    assert (await remora.refused("memory.remember", **params, **more)).kind == "reviewer-kind"
    assert files_of(remora) == {}


async def test_an_agent_that_says_it_again_is_no_second_witness(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, LESSON, folder)

    again = await remora.ask("memory.remember", text=LESSON, workspace=folder, principal="agent")

    assert (again["duplicateOf"], again["sightings"]) == (memory_id, 1)
    assert (await record_of(remora, memory_id, folder))["origin"] == Origin.USER


@pytest.mark.parametrize("scope", [Scope.WORKSPACE, Scope.USER])
async def test_an_agent_does_not_bring_back_what_a_person_had_forgotten(
    remora: Asking, folder: str, scope: Scope
) -> None:
    memory_id = await kept(remora, LESSON, folder, scope=scope)
    await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)

    refused = await remora.refused("memory.remember", text=f" {LESSON.upper()}\n", workspace=folder, principal="agent")

    assert refused.kind == "buried"
    assert await kept(remora, LESSON, folder)  # a person can say it anew


@pytest.mark.promise("agents-propose")
async def test_an_agent_is_told_why_it_may_not_read_a_memory_and_no_word_of_it(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The port is 1.", title="Port", tags=("net",))
    await remora.ask("memory.mute", memoryId=memory_id, workspace=folder)

    person = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    agent = await remora.ask("memory.get", memoryId=memory_id, workspace=folder, principal="agent")

    assert (person["record"]["text"], person["withheld"]) == ("The port is 1.", None)
    assert agent["withheld"] == "muted"
    assert [agent["record"][name] for name in ("memoryId", "text", "title", "tags")] == [memory_id, "", None, []]


async def test_an_agents_list_has_what_it_may_read_and_goes_on_over_the_rest(remora: Asking, folder: str) -> None:
    ids = [await remora.world.remember(f"Port {number} is open.") for number in range(5)]
    for memory_id in ids[1:4]:
        await remora.ask("memory.mute", memoryId=memory_id, workspace=folder)

    first = await remora.ask("memory.list", workspace=folder, principal="agent", limit=1)
    rest = await remora.ask("memory.list", workspace=folder, principal="agent", limit=9, after=first["next"])

    assert [len(page["records"]) for page in (first, rest)] == [1, 1]
    assert {one["memoryId"] for one in first["records"] + rest["records"]} == {ids[0], ids[4]}
    assert len(await listed(remora, folder)) == 5
