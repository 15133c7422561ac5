"""Programs on the search path are asked for their version, and held against the table of hosts."""

import json

import pytest

from host.doctor import versions
from tests.support.checkouts import write
from tests.support.patients import Patient


def test_versions_of_the_table_are_well(patient: Patient) -> None:
    patient.program("claude", "echo '2.1.332 (Claude Code)'")
    patient.program("codex", "echo 'codex-cli 0.171.0'")
    patient.program("gemini", "echo 0.61.0")
    patient.program("opencode", "echo 1.18.33")
    patient.program("cursor-agent", "echo 2026.07.23-abc")

    assert patient.states(versions.versions) == []


@pytest.mark.parametrize(
    ("program", "said", "host"),
    [
        ("claude", "3.0.1 (Claude Code)", "claude-code 3.0"),
        ("codex", "codex-cli 0.190.2", "codex 0.190"),
        ("gemini", "1.0.0", "gemini-cli 1.0"),
    ],
)
def test_another_version_is_told_until_it_is_allowed(patient: Patient, program: str, said: str, host: str) -> None:
    path = patient.program(program, f"echo '{said}'")

    one = patient.the(versions.versions)

    assert (one.state, one.where) == ("host-unknown-version", str(path))
    assert f'[hosts] allow = ["{host}"]' in one.todo
    patient.configure(f'[hosts]\nallow = ["{host}"]\n')
    assert patient.states(versions.versions) == []


@pytest.mark.parametrize("script", ["echo hello", "exit 1", "echo 2.1.332 >&2"])
def test_a_program_that_does_not_say_its_version_is_told(patient: Patient, script: str) -> None:
    patient.program("claude", script)

    assert patient.the(versions.versions).state == "host-silent"


@pytest.mark.reliability
def test_a_session_of_another_version_is_told_by_the_daemon(patient: Patient) -> None:
    record = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "version": "9.9.1",
        "message": {"role": "user", "content": "Hi."},
    }
    transcript = write(patient.folder / "s.jsonl", json.dumps(record) + "\n")
    told = {"session_id": "s", "cwd": str(patient.repository), "transcript_path": str(transcript)}
    with patient.daemon:
        with patient.daemon.connect() as wire:
            for event in ("SessionStart", "UserPromptSubmit"):
                wire.call(
                    "hook", host="claude-code", payload=told | {"hook_event_name": event, "prompt": "Hello there."}
                )
        one = patient.the(versions.versions)
        status = patient.run("status")

    assert one.state == "host-unknown-version" and "claude-code 9.9.1" in one.what
    assert "claude-code is watched only: version 9.9.1 is" in status.stdout


def test_programs_are_asked_side_by_side(patient: Patient) -> None:
    """Each waits until the other was started: one after the other, both would wait in vain."""
    for name, other in (("claude", "codex"), ("codex", "claude")):
        met = f'n=0; until [ -e "{patient.programs}/{other}.here" ] || [ $n -ge 50 ]; do sleep 0.1; n=$((n+1)); done'
        patient.program(name, f'touch "$0.here"; {met}; [ $n -lt 50 ] && echo 2.1.332')

    assert [one.version for one in versions.seen(patient.scene())] == ["2.1.332", "2.1.332"]
