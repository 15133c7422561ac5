"""Our MCP server is started once, as its client would, and has to answer with the protocol and nothing else."""

from pathlib import Path

import pytest

from host.doctor import servers
from host.doctor.connections import wanted_now
from tests.support.patients import Patient


def test_the_server_of_this_installation_answers(running: Patient) -> None:
    scene = running.scene()
    script = wanted_now(scene).script
    assert Path(script).exists()
    running.connect("claude-code")

    assert running.states(servers.servers) == [*servers.answers(scene, script)] == []


def test_without_a_daemon_none_is_started_by_asking(patient: Patient) -> None:
    patient.settle()
    patient.connect("claude-code")

    assert patient.states(servers.servers) == []
    assert not patient.paths.socket.exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "ended with code 3"),
        ("echo Welcome; exit 0", "no answer"),
        ('echo \'{"jsonrpc": "2.0", "id": 1, "error": {}}\'', "no answer"),
        ("exec sleep 600", "did not answer within"),
    ],
)
def test_a_server_that_does_not_answer_is_told(
    patient: Patient, script: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "SECONDS", 0.5)
    path = patient.program("a-server", script)

    (one,) = servers.answers(patient.scene(), str(path))

    assert one.state == "mcp-failing" and said in one.what


def test_one_that_is_not_there_is_told(patient: Patient) -> None:
    (one,) = servers.answers(patient.scene(), str(patient.folder / "gone"))

    assert "cannot be started" in one.what


def test_without_an_entry_nothing_is_started(patient: Patient) -> None:
    assert patient.states(servers.servers) == []
