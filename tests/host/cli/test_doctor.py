"""`doctor` says what, why and what to do; its exit code says whether there is something to mend."""

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from host.cli import doctor as command
from host.cli.main import main
from host.doctor.findings import Finding, finding
from tests.e2e.terminal import Terminal
from tests.support.patients import Patient

NOTE = finding("sqlite-old", "It is old.", "It matters a little.", "Get a newer one.")
WARNING = finding("socket-stale", "A \x1b[31mred\x1b[0m socket.", "A daemon was killed.", "remora-pre start", "/s")
PROBLEM = finding("key-missing", "The key is gone.", "Nothing works.", "Restore it.", "/k")


@pytest.fixture
def patient(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Patient:
    patient = Patient(run_dir)
    for name, value in patient.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(patient.repository)
    return patient


def looked(*words: str) -> Result:
    """The real checks, in this process."""
    return CliRunner().invoke(main, ["doctor", *words])


def run(monkeypatch: pytest.MonkeyPatch, found: list[Finding], *words: str) -> Result:
    monkeypatch.setattr(command, "examine", lambda scene, told: found)
    return CliRunner().invoke(main, ["doctor", *words])


def test_a_finding_says_what_why_and_what_to_do(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, [PROBLEM, NOTE])

    assert result.exit_code == 1
    assert result.output.startswith(
        "problem: The key is gone. [key-missing]\n  Why: Nothing works.\n  Do:  Restore it.\n\nnote: It is old."
    )
    assert result.output.endswith("Found 1 problem, 1 note.\n")


@pytest.mark.parametrize(
    ("found", "code", "said"),
    [
        ([], 0, "Everything is well.\n"),
        ([NOTE, NOTE], 0, "Found 2 notes.\n"),
        ([WARNING], 1, "Found 1 warning.\n"),
    ],
)
def test_the_exit_code_says_whether_there_is_something_to_mend(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, found: list[Finding], code: int, said: str
) -> None:
    result = run(monkeypatch, found)

    assert (result.exit_code, result.output.endswith(said)) == (code, True)


def test_nothing_of_a_file_reaches_the_terminal_as_a_command(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run(monkeypatch, [WARNING]).output


def test_as_json_it_is_all_there(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, [PROBLEM], "--json")

    assert result.exit_code == 1
    assert json.loads(result.output) == {
        "well": False,
        "hosts": [],
        "findings": [
            {
                "state": "key-missing",
                "level": "problem",
                "what": "The key is gone.",
                "why": "Nothing works.",
                "todo": "Restore it.",
                "where": "/k",
            }
        ],
    }


def test_hosts_are_shown_with_what_the_table_has_for_them(patient: Patient) -> None:
    patient.program("codex", "echo codex-cli 0.171.0")
    patient.program("claude", "echo 9.9.9")
    patient.program("gemini", "echo nothing")

    told = {line.split()[0]: line for line in looked().output.splitlines() if " to before " in line}
    as_json = json.loads(looked("--json").output)["hosts"]

    assert "0.171.0" in told["codex"] and "9500 characters, 9500 bytes" in told["codex"] and "run" in told["codex"]
    assert "9.9.9" in told["claude-code"] and "watched only" in told["claude-code"]
    assert "?" in told["gemini-cli"] and "user-prompt, post-tool" in told["gemini-cli"]
    assert [(one["host"], one["takes"]["most"], one["evidence"]) for one in as_json] == [
        ("claude-code", "shadow", "none"),
        ("codex", "active", "run"),
        ("gemini-cli", "active", "run"),
    ]


def test_a_real_installation_is_looked_at_and_no_daemon_is_started(patient: Patient) -> None:
    done = patient.run("doctor", "--json")

    states = {one["state"] for one in json.loads(done.stdout)["findings"]}
    assert (done.returncode, done.stderr) == (1, "")
    assert {"daemon-absent", "nothing-connected"} <= states
    assert not patient.paths.socket.exists()


def test_after_init_and_start_there_is_nothing_to_mend(patient: Patient) -> None:
    assert patient.run("init", "--host", "claude-code", "--host", "codex", "--yes").returncode == 0
    with patient.daemon:
        done = patient.run("doctor")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "warning: " not in done.stdout and "problem: " not in done.stdout


def test_a_workspace_can_be_named(patient: Patient) -> None:
    (patient.folder / "other").mkdir()

    assert looked("--workspace", str(patient.folder / "other")).exit_code == 1
    assert looked("--workspace", str(patient.folder / "gone")).exit_code == 2


def test_a_folder_whose_name_is_no_text_is_looked_at(patient: Patient) -> None:
    odd = os.fsencode(patient.folder) + b"/\xff\n x"
    os.makedirs(odd + b"/.remora-pre/memory")
    with open(odd + b"/.remora-pre/memory/a.md", "wb") as file:
        file.write(b"<<<<<<< HEAD\n- x\n=======\n- y\n>>>>>>> o\n")
    there = ("--workspace", os.fsdecode(odd))

    plain, as_json = looked(*there), looked(*there, "--json")

    assert (plain.exit_code, as_json.exit_code) == (1, 1)
    assert "memory-conflict" in {one["state"] for one in json.loads(as_json.output)["findings"]}
    assert "\\udcff\\n x/.remora-pre/memory/a.md. [memory-conflict]\n" in plain.output


def test_a_check_that_breaks_is_raised_for_who_asks_for_it(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(scene: object) -> list[Finding]:
        raise ZeroDivisionError

    monkeypatch.setattr(command, "strictly", breaks)

    assert isinstance(CliRunner().invoke(main, ["--debug", "doctor"]).exception, ZeroDivisionError)


def test_on_a_terminal_it_shows_that_it_works(patient: Patient) -> None:
    release = patient.folder / "release"
    wait = f'n=0; until [ -e "{release}" ] || [ $n -ge 300 ]; do sleep 0.1; n=$((n+1)); done; echo 2.1.332'
    patient.program("claude", wait)
    command = [sys.executable, "-c", "from host.cli.main import main; main()", "doctor"]

    with Terminal(command, patient.repository, patient.environ) as terminal:
        terminal.wait(lambda: "Looking at the installation" in terminal.shown())
        assert "Found" not in terminal.shown()
        release.touch()
        terminal.wait(lambda: "Found" in terminal.shown())
