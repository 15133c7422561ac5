"""The table of agent products that read a repository's files."""

import pytest

from governance.team.errors import Kind, TeamFault
from governance.team.providers import PROVIDERS, provider, size


def test_each_provider_has_places_of_its_own() -> None:
    assert {one.name: one.file for one in PROVIDERS} == {"claude": "CLAUDE.md", "codex": "AGENTS.md"}
    assert len({one.skills for one in PROVIDERS}) == len(PROVIDERS)
    assert [provider(one.name) for one in PROVIDERS] == list(PROVIDERS)


def test_an_unknown_provider_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(TeamFault) as fault:
        provider("nobody")
    assert fault.value.kind is Kind.REQUEST_INVALID
    assert "claude, codex" in fault.value.next_step


def test_a_size_is_in_the_unit_of_the_cap() -> None:
    assert (size("长文".encode(), "bytes"), size("长文".encode(), "characters")) == (6, 2)
