"""`doctor` beside the real products: Codex's own word on which hooks it trusts, and the version of each program."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from host.doctor import programs, trust, versions
from host.setup import codex, codex_trust
from tests.e2e import clients
from tests.support.patients import Patient

pytestmark = pytest.mark.client


@pytest.fixture
def patient(run_dir: Path) -> Iterator[Patient]:
    patient = Patient(run_dir)
    patient.settle()
    yield patient


def test_codex_says_that_it_does_not_trust_our_hooks_until_its_user_does(patient: Patient) -> None:
    program = clients.codex()
    (patient.programs / "codex").symlink_to(program)
    hooks = next(file for file in patient.connect("codex", "user") if file.name == "hooks.json")
    keys = codex.trust_keys(hooks, hooks.read_text("utf-8"))

    before = patient.the(trust.trust)
    with codex_trust.app_server(program, patient.environ) as server:
        server.trust(server.hooks(patient.repository, keys))
    after = patient.states(trust.trust)
    text = hooks.read_text("utf-8")
    hooks.write_text(text.replace('"timeout": 2', '"timeout": 3'), "utf-8")  # any change of a hook asks again

    assert before.state == "hooks-untrusted" and f"{len(codex.EVENTS)} of our hooks" in before.what
    assert after == []
    assert patient.states(trust.trust) == ["hooks-untrusted"]


def test_the_versions_of_the_real_programs_are_read_and_known(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "VERSION_SECONDS", 90)  # whatever else this machine does
    commands = {
        "claude": [str(clients.claude())],
        "codex": [str(clients.codex())],
        "gemini": clients.gemini(),
        "opencode": [str(clients.opencode())],
    }
    for name, words in commands.items():
        patient.program(name, "exec " + " ".join(f"'{word}'" for word in words) + ' "$@"')
    scene = patient.scene()

    told = {name: scene.programs.version(str(patient.programs / name)) for name in commands}

    assert told == {"claude": "2.1.332", "codex": "0.171.0", "gemini": "0.61.0", "opencode": "1.18.33"}
    assert patient.states(versions.versions) == []
