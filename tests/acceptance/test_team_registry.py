"""team.md 15, item 2: the command line and the MCP server have the operations of the registry, and no others."""

import pytest

from governance.team.registry import OPERATIONS, Capability, unlike
from host.cli import team
from host.cli.main import PLACES, SECTIONS
from host.mcp.registry import TOOLS
from host.mcp.team_tools import TEAM

ROWS = frozenset(one.command for one in OPERATIONS)
NAMED = frozenset(one.tool for one in OPERATIONS)
GROUP = frozenset(("team", name) for name in team.team.commands)
ALONE = frozenset((name,) for name in SECTIONS["Team"]) - {("team",)}
ELSEWHERE = frozenset((name,) for name in PLACES) & ROWS  # in other sections of the command line
COMMANDS = ALONE | ELSEWHERE | GROUP
SERVED = frozenset(one.part for one in TOOLS) & NAMED | frozenset(one.part for one in TEAM)


@pytest.mark.promise("team-02")
def test_item_02_every_operation_has_its_adapters_and_no_adapter_is_without_an_operation() -> None:
    assert unlike(OPERATIONS, COMMANDS, SERVED) == []


@pytest.mark.promise("team-02")
def test_item_02_an_adapter_of_discard_that_is_removed_is_missed() -> None:
    assert unlike(OPERATIONS, COMMANDS - {("discard",)}, SERVED) == [
        "discard: the command line and its row do not agree"
    ]
    assert unlike(OPERATIONS, COMMANDS, SERVED - {"memory_discard"}) == [
        "discard: the MCP server and its row do not agree"
    ]


@pytest.mark.promise("team-02")
def test_item_02_an_adapter_without_a_row_is_found() -> None:
    assert unlike(OPERATIONS, COMMANDS | {("push",)}, SERVED) == ["the command push has no row"]
    assert unlike(OPERATIONS, COMMANDS, SERVED | {"memory_push"}) == ["the tool memory_push has no row"]


@pytest.mark.promise("team-02")
def test_item_02_a_tool_says_that_it_only_reads_exactly_where_its_operation_does() -> None:
    reads = {one.tool for one in OPERATIONS if Capability.READ in one.capabilities}

    assert {one.part for one in TOOLS if one.reads} & NAMED == reads & SERVED
