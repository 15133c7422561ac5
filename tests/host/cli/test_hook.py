"""`hook` is a plain front for the client that the products start."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from host.cli.main import main

HOOK = Path(__file__).parents[3] / "host" / "hook.py"


def test_it_becomes_the_hook_client(monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, arguments: became.append(arguments))

    CliRunner().invoke(main, ["hook", "claude-code"])

    assert [arguments[1:] for arguments in became] == [["-I", "-S", str(HOOK), "claude-code"]]


def test_an_unknown_product_is_wrong_usage() -> None:
    assert CliRunner().invoke(main, ["hook", "cursor"]).exit_code == 2
