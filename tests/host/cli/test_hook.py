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

    for product in ("claude-code", "codex"):
        CliRunner().invoke(main, ["hook", product])

    assert [arguments[1:4] for arguments in became] == [["-I", "-S", str(HOOK)]] * 2
    assert [arguments[4:] for arguments in became] == [["claude-code"], ["codex"]]


def test_an_unknown_product_is_wrong_usage() -> None:
    assert CliRunner().invoke(main, ["hook", "notepad"]).exit_code == 2
