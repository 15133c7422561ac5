"""Where agent products keep what is the user's own, by the environment that is given."""

from pathlib import Path

import pytest

from host.homes import Homes, homes_of


def test_the_usual_folders_lie_below_the_home_folder() -> None:
    assert homes_of({"HOME": "/u/dev"}) == Homes(
        home=Path("/u/dev"),
        claude=Path("/u/dev/.claude"),
        codex=Path("/u/dev/.codex"),
        gemini=Path("/u/dev/.gemini"),
    )


def test_the_products_own_variables_name_others() -> None:
    homes = homes_of({"HOME": "/u/dev", "CLAUDE_CONFIG_DIR": "/vol/claude", "CODEX_HOME": "/vol/codex"})

    assert homes is not None
    assert (homes.claude, homes.codex, homes.gemini) == (
        Path("/vol/claude"),
        Path("/vol/codex"),
        Path("/u/dev/.gemini"),
    )


@pytest.mark.parametrize("name", ["CLAUDE_CONFIG_DIR", "CODEX_HOME"])
@pytest.mark.parametrize("value", ["", "relative/folder"])
def test_a_path_that_means_nothing_here_is_not_taken(name: str, value: str) -> None:
    assert homes_of({"HOME": "/u/dev", name: value}) == homes_of({"HOME": "/u/dev"})


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "dev"}, {"CLAUDE_CONFIG_DIR": "/vol/claude"}])
def test_without_a_home_folder_nothing_of_a_users_is_known(environ: dict[str, str]) -> None:
    assert homes_of(environ) is None
