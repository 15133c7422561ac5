"""The table of operations: whole, once each, and every difference to the adapters is found."""

import msgspec
import pytest

from governance.team.registry import BOTH, OPERATIONS, Capability, Operation, Stability, unlike

COMMANDS = frozenset(one.command for one in OPERATIONS if Capability.CLI in one.capabilities)
TOOLS = frozenset(one.tool for one in OPERATIONS if Capability.MCP in one.capabilities)
BY_ID = {one.id: one for one in OPERATIONS}


def without(*gone: str, more: tuple[Operation, ...] = ()) -> tuple[Operation, ...]:
    return (*(one for one in OPERATIONS if one.id not in gone), *more)


def test_the_table_agrees_with_itself() -> None:
    assert unlike(OPERATIONS, COMMANDS, TOOLS) == []
    assert {one.id for one in OPERATIONS if one.stability is Stability.ONE_SIDED} == {"decide", "init", "team.run"}
    assert all(one.capabilities >= BOTH for one in OPERATIONS if one.stability is Stability.STABLE)


def test_what_writes_in_the_repository_is_bound_by_the_user() -> None:
    assert {one.id for one in OPERATIONS if one.approval == "canonical-write"} == {"prepare", "promote", "assemble"}
    assert {one.id for one in OPERATIONS if one.approval == "human only"} == {"decide", "init"}


@pytest.mark.parametrize("operation", sorted(BY_ID))
def test_an_operation_without_its_adapter_is_found(operation: str) -> None:
    one = BY_ID[operation]
    if Capability.CLI in one.capabilities and one.command != BY_ID["review"].command:
        assert any(operation in line for line in unlike(OPERATIONS, COMMANDS - {one.command}, TOOLS))
    if Capability.MCP in one.capabilities:
        assert any(operation in line for line in unlike(OPERATIONS, COMMANDS, TOOLS - {one.tool}))


@pytest.mark.parametrize(
    ("operations", "commands", "tools", "says"),
    [
        (OPERATIONS, COMMANDS | {("team", "push")}, TOOLS, "the command team push has no row"),
        (OPERATIONS, COMMANDS, TOOLS | {"memory_push"}, "the tool memory_push has no row"),
        (without("discard"), COMMANDS, TOOLS, "the command discard has no row"),
        (without(more=(BY_ID["recall"],)), COMMANDS, TOOLS, "recall is there twice"),
        (OPERATIONS, COMMANDS, TOOLS | {"memory_decide"}, "decide: the MCP server and its row do not agree"),
        (OPERATIONS, COMMANDS, TOOLS | {"memory_team_run"}, "team.run: the MCP server and its row do not agree"),
    ],
)
def test_a_difference_is_named(
    operations: tuple[Operation, ...], commands: frozenset[tuple[str, ...]], tools: frozenset[str], says: str
) -> None:
    assert says in unlike(operations, commands, tools)


def test_what_is_stable_is_on_both_transports() -> None:
    alone = msgspec.structs.replace(BY_ID["team.run"], stability=Stability.STABLE)

    found = unlike(without("team.run", more=(alone,)), COMMANDS, TOOLS)

    assert found == ["team.run is stable and not on both transports"]
