"""What is handed to nobody is found by a person who asks for all, and by nobody else."""

from typing import Any

import pytest

from recall.contracts import Status
from tests.support.asking import Asking
from tests.support.noted import SAID, a_note, said
from tests.support.reviewing import POISON, decide


async def aside(remora: Asking, folder: str, query: str, **params: Any) -> dict[str, str]:
    found = await remora.ask("memory.search", query=query, workspace=folder, **({"all": True} | params))
    return {one["id"]: one["reason"] for one in found.get("aside", [])}


async def test_what_waits_and_what_was_put_away_is_found_with_why(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    assert await aside(remora, folder, "releases on Thursdays") == {item["itemId"]: "pending"}
    assert await aside(remora, folder, "releases on Thursdays", all=False) == {}
    assert await aside(remora, folder, "the colour of the harbour") == {}
    await decide(remora, folder, item, "archive")
    assert await aside(remora, folder, "releases on Thursdays") == {item["itemId"]: "archived"}


async def test_records_that_are_handed_to_nobody_are_found_with_why(remora: Asking, folder: str) -> None:
    gone = await remora.world.remember("The harbour port was 7070.", folder, status=Status.SUPERSEDED)
    wrong = await remora.world.remember("The harbour port is 8080.", folder)
    await remora.ask("memory.feedback", memoryId=wrong, opinion="wrong", workspace=folder)
    held = await remora.ask("memory.remember", text=f"The harbour port. {POISON}", workspace=folder)
    assert await aside(remora, folder, "harbour port") == {
        gone: "not-active",
        wrong: "corrected",
        held["memoryId"]: "quarantined",
    }


@pytest.mark.promise("no-leak")
async def test_an_agent_and_another_workspace_find_nothing_of_it(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    await a_note(remora, folder)
    other = remora.world.workspace("other")
    assert await aside(remora, folder, "releases on Thursdays", principal="agent") == {}
    assert await aside(remora, other, "releases on Thursdays") == {}
