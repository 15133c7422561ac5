"""Shells get a script of their own, under a variable that carries the preview mark."""

import pytest
from click.testing import CliRunner

from host.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])

    assert result.exit_code == 0
    assert f"_REMORA_PRE_COMPLETE={shell}_complete" in result.output


def test_an_unknown_shell_is_wrong_usage() -> None:
    assert CliRunner().invoke(main, ["completion", "tcsh"]).exit_code == 2
