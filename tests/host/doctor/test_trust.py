"""Codex is asked by its own server which of our hooks it trusts. Here a program speaks that protocol; the real one does
in tests/e2e/test_doctor.py."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from host.doctor import trust
from host.setup import codex
from tests.support.patients import Patient

SERVER = """
import json, sys, pathlib
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        hooks = json.loads(pathlib.Path(sys.argv[1]).read_text()) if asked["method"] == "hooks/list" else []
        print(json.dumps({"id": asked["id"], "result": {"data": [{"hooks": hooks}]}}), flush=True)
"""


@pytest.fixture
def connected(patient: Patient) -> Patient:
    """Codex is connected for the user; a program by its name is on the search path."""
    patient.settle()
    patient.connect("codex", "user")
    (patient.folder / "server.py").write_text(SERVER, "utf-8")
    patient.program("codex", f"exec {sys.executable} {patient.folder}/server.py {patient.folder}/hooks.json")
    return patient


def says(patient: Patient, status: str, leave_out: int = 0, **more: Any) -> None:
    """The server lists our hooks with that status, all but so many of them."""
    file: Path = patient.home / ".codex" / "hooks.json"
    keys = sorted(codex.trust_keys(file, file.read_text("utf-8")))
    assert len(keys) == len(codex.EVENTS)
    hooks = [{"key": key, "currentHash": "h", "trustStatus": status} | more for key in keys[leave_out:]]
    others = {"key": "other:stop:0:0", "currentHash": "h", "trustStatus": "untrusted"}
    (patient.folder / "hooks.json").write_text(json.dumps([*hooks, others]), "utf-8")


@pytest.mark.parametrize("status", ["untrusted", "modified"])
def test_hooks_that_are_not_trusted_are_told_until_they_are(connected: Patient, status: str) -> None:
    says(connected, status)

    one = connected.the(trust.trust)

    assert one.state == "hooks-untrusted" and f"{len(codex.EVENTS)} of our hooks" in one.what
    says(connected, "trusted", aField="of tomorrow")
    assert connected.states(trust.trust) == []


def test_hooks_that_codex_does_not_see_are_told(connected: Patient) -> None:
    says(connected, "trusted", leave_out=2)

    assert "does not see 2" in connected.the(trust.trust).what


@pytest.mark.parametrize("script", ["exit 1", "echo hello", "cat"])
def test_a_program_that_does_not_answer_so_is_told(connected: Patient, script: str) -> None:
    connected.program("codex", script)

    assert connected.the(trust.trust).state == "host-silent"


def test_without_codex_or_without_our_hooks_nobody_is_asked(patient: Patient, connected: Patient) -> None:
    (connected.programs / "codex").unlink()

    assert connected.states(trust.trust) == []


def test_where_only_others_are_connected_nobody_is_asked(patient: Patient) -> None:
    patient.settle()
    patient.connect("claude-code")
    patient.program("codex", "exit 1")

    assert patient.states(trust.trust) == []
