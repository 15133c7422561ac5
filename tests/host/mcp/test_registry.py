"""The table of tools: names that every host takes, and nothing missing."""

import re

import pytest

from host.mcp.registry import BY_NAME, TOOLS
from host.namespace import SCRIPT

# Codex joins server and tool into one name of at most 64 characters; models take letters, digits, `_` and `-`.
LONGEST = 64
VALID = re.compile(r"[a-z][a-z0-9_]*")


@pytest.mark.promise("preview-names")
def test_every_name_carries_the_mark_and_is_taken_by_every_host() -> None:
    for one in TOOLS:
        assert VALID.fullmatch(one.name)
        assert one.name.endswith("_pre")
        assert len(f"mcp__plugin_{SCRIPT}_{SCRIPT}__{one.name}") <= LONGEST


def test_the_tools_are_these_and_each_is_there_once() -> None:
    assert [one.part for one in TOOLS] == [
        *("memory_search", "memory_get", "memory_remember", "memory_edit", "memory_forget", "memory_feedback"),
        "memory_evidence",
        *("memory_checkpoint", "memory_extract", "memory_stage"),
        *("memory_team_status", "memory_recall", "memory_synthesize", "memory_review", "memory_prepare"),
        *("memory_promote", "memory_assemble", "memory_discard", "memory_lint"),
        "hook",
    ]
    assert [BY_NAME[one.name] for one in TOOLS] == list(TOOLS)


def test_descriptions_are_short_and_say_what_happens() -> None:
    for one in TOOLS:
        assert 20 < len(one.description) <= 220, one.name
        assert one.description.endswith(".")
        for name, field in one.input_schema()["properties"].items():
            assert "description" in field, (one.name, name)


def test_what_only_reads_says_so_and_only_the_hook_is_hidden() -> None:
    assert {one.part for one in TOOLS if one.reads} == {
        *("memory_search", "memory_get", "memory_evidence"),
        *("memory_team_status", "memory_review", "memory_lint"),
    }
    assert {one.part for one in TOOLS if one.hidden} == {"hook"}
