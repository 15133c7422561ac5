"""Codex is asked about our hooks, and told to trust them, over its own app-server; a stand-in answers as it did."""

import json
import os
from pathlib import Path

import pytest

from host.setup import codex_trust
from host.setup.codex_trust import TRUSTED, TrustFault, app_server
from tests.support.fake_codex import install

COMMAND = {"type": "command", "command": "true"}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    home = tmp_path / "codex"
    home.mkdir()
    hooks = {"Stop": [{"hooks": [COMMAND, COMMAND]}], "PostToolUse": [{"hooks": [COMMAND]}]}
    (home / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    return install(tmp_path / "bin")


def environ(tmp_path: Path, fault: str = "") -> dict[str, str]:
    return {"CODEX_HOME": str(tmp_path / "codex"), "FAKE_CODEX": fault, "PATH": os.environ["PATH"]}


def keys(tmp_path: Path) -> frozenset[str]:
    return frozenset(f"{tmp_path / 'codex' / 'hooks.json'}:stop:0:{place}" for place in (0, 1))


def test_our_hooks_are_listed_trusted_and_listed_as_trusted(tmp_path: Path, program: Path) -> None:
    with app_server(program, environ(tmp_path)) as server:
        before = server.hooks(tmp_path, keys(tmp_path))
        server.trust(before)
        after = server.hooks(tmp_path, keys(tmp_path))

    assert {hook.key for hook in before} == keys(tmp_path)
    assert {hook.trust_status for hook in before} == {"untrusted"}
    assert {hook.trust_status for hook in after} == {TRUSTED}
    assert "post_tool_use" not in (tmp_path / "codex" / "config.toml").read_text()  # not ours, not trusted


@pytest.mark.parametrize(
    ("fault", "problem"), [("refuses", "refused hooks/list"), ("silent", "no answer"), ("odd", "unknown to us")]
)
def test_a_codex_that_does_not_answer_as_it_should_is_told_with_the_way_by_hand(
    tmp_path: Path, program: Path, fault: str, problem: str
) -> None:
    with pytest.raises(TrustFault, match=problem) as caught, app_server(program, environ(tmp_path, fault)) as server:
        server.hooks(tmp_path, keys(tmp_path))
    assert "/hooks" in caught.value.next_step


def test_a_codex_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    with pytest.raises(TrustFault, match="cannot be started"), app_server(tmp_path / "none", {}):
        pass


@pytest.mark.parametrize("script", ["exec sleep 600", "sleep 600; exit 0"], ids=["itself", "by a child"])
def test_a_codex_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    hanging = tmp_path / "codex"
    hanging.write_text(f"#!/bin/sh\n{script}\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(codex_trust, "SECONDS", 0.2)
    with pytest.raises(TrustFault, match="no answer"), app_server(hanging, {"PATH": os.environ["PATH"]}):
        pass
