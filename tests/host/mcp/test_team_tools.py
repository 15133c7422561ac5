"""The tools of the team workflow pass on what they are given, and answer with the document as it is."""

import json
from typing import Any

import pytest

from host.errors import RemoraError
from host.mcp.team_tools import HOLDER, TEAM
from host.mcp.tool import Tool
from tests.support.calling import Told

BY_PART = {one.part: one for one in TEAM}


async def call(one: Tool[Any], told: Told, **arguments: Any) -> Any:
    return await one.run(one.decode(arguments), told)


@pytest.mark.parametrize(
    ("part", "method", "given", "sent"),
    [
        ("memory_team_status", "team.status", {"all": True}, {"all": True}),
        ("memory_recall", "team.recall", {"request": {"a": 1}}, {"request": {"a": 1}, "limit": 1}),
        ("memory_synthesize", "team.synthesize", {}, {"mode": "incremental"}),
        ("memory_review", "team.review", {"candidateIds": ["c"]}, {"kind": "entry", "candidateIds": ("c",)}),
        ("memory_prepare", "team.prepare", {"request": {"a": 1}}, {"document": {"a": 1}}),
        ("memory_promote", "team.promote", {"planId": "plan-1"}, {"planId": "plan-1"}),
        ("memory_assemble", "team.assemble", {"provider": "claude"}, {"provider": "claude", "dryRun": False}),
        ("memory_discard", "team.discard", {"taskId": "t"}, {"taskId": "t", "keepFiles": False, "reason": ""}),
    ],
)
async def test_a_tool_passes_on_what_it_is_given(
    part: str, method: str, given: dict[str, Any], sent: dict[str, Any]
) -> None:
    told = Told({method: {"format": "x"}})

    answer = await call(BY_PART[part], told, **given)

    who = {"workspace": await told.workspace(), "agent": told.agent, "holder": HOLDER}
    assert told.asked == [(method, sent | who)]
    assert answer.document == {"format": "x"} == json.loads(answer.text)


async def test_a_check_is_of_all_memory_files_of_the_workspace() -> None:
    told = Told({"memory.lint": {"findings": []}})

    answer = await call(BY_PART["memory_lint"], told)

    assert told.asked == [("memory.lint", {"workspace": await told.workspace()})]
    assert answer.document == {"findings": []}


async def test_what_is_no_argument_is_refused() -> None:
    with pytest.raises(RemoraError, match="owner"):
        BY_PART["memory_recall"].decode({"request": {}, "owner": "me"})
