"""`remember`: what is asked of the daemon, and what a person is told and asked about what is known already."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import remember as module
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory_id
from tests.support.prompt import Prompt

ID, OLD, OLDER = a_memory_id(1), a_memory_id(2), a_memory_id(3)
KEPT: dict[str, Any] = {"memoryId": ID, "file": "f", "redacted": [], "quarantined": False}
OTHERS = [{"memoryId": OLD, "text": "Use tox."}, {"memoryId": OLDER, "text": "Use nox."}]


def run(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], *arguments: str, said: str = "", someone: bool = False
) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, module, {"memory.remember": KEPT | answer})
    monkeypatch.setattr(module, "_someone_there", lambda: someone)
    return CliRunner().invoke(main, ["remember", *arguments], input=said), daemon


def test_the_text_is_kept_for_the_workspace_of_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result, daemon = run(monkeypatch, {}, "Use make check.", "--workspace", str(tmp_path), "--tag", "ci", "--pin")

    assert (result.exit_code, result.output) == (0, f"Kept as {ID}.\n")
    assert daemon.asked == [
        (
            "memory.remember",
            {
                "text": "Use make check.",
                "workspace": str(tmp_path.resolve()),
                "scope": "Workspace",
                "kind": "semantic",
                "tags": ["ci"],
                "pinned": True,
            },
        )
    ]


def test_secrets_that_were_taken_out_and_orders_that_are_quarantined_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"redacted": ["secret.token"], "quarantined": True}

    result, daemon = run(monkeypatch, answer, "--user", "-", said="from a pipe")

    assert "secret.token" in result.output and "quarantined" in result.output
    params = daemon.params("memory.remember")
    assert (params["text"], params["scope"]) == ("from a pipe", "User")


@pytest.mark.parametrize("arguments", [["", "--user"], ["-"], ["x", "--workspace", "/no/such/folder"]])
def test_it_needs_a_text_and_a_folder_that_is_there(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    result, daemon = run(monkeypatch, {}, *arguments, said=" \n")

    assert (result.exit_code, daemon.asked) == (2, [])


def test_what_is_known_already_is_not_written_again_and_that_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memoryId": OLD, "duplicateOf": OLD, "sightings": 2}, "Use tox.")

    assert (result.exit_code, result.output) == (0, f"{OLD} says this already. Nothing was written.\n")


def test_in_a_script_what_says_otherwise_is_named_and_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {"updates": OTHERS[:1]}, "Use make check.")

    assert result.exit_code == 0 and f"{OLD}  Use tox." in result.output and "still count" in result.output
    assert len(daemon.asked) == 1


def test_on_a_terminal_a_person_says_before_the_write_what_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {"updates": OTHERS}, "Use make check.", said="y\nn\n", someone=True)

    checked, written = (params for _, params in daemon.asked)
    assert checked["check"] is True and "check" not in written
    assert written["supersedes"] == [OLD]
    assert result.output.count("Does the new memory take its place?") == 2


def test_a_person_who_stops_at_the_question_has_written_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {"updates": OTHERS}, "Use make check.", said="", someone=True)

    assert result.exit_code == 1
    assert [params.get("check") for _, params in daemon.asked] == [True]


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        (["--supersede", OLD, "--supersede", OLDER], {"supersedes": [OLD, OLDER]}),
        (["--anyway"], {"anyway": True}),
    ],
)
def test_options_decide_in_place_of_a_person(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], sent: dict[str, Any]
) -> None:
    answer = {"superseded": sent.get("supersedes", [])}

    result, daemon = run(monkeypatch, answer, "Use make check.", *arguments, someone=True)

    assert len(daemon.asked) == 1 and sent.items() <= daemon.params("memory.remember").items()
    assert result.output.count("is superseded by it") == len(answer["superseded"])


def test_as_json_it_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"updates": OTHERS}, "Use make check.", "--json", someone=True)

    shown = json.loads(result.output)
    assert (shown["memoryId"], shown["duplicateOf"], shown["updates"]) == (ID, None, OTHERS)


def test_with_a_real_daemon_a_text_is_kept_once_and_one_that_says_otherwise_takes_its_place(
    prompt: Prompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = prompt.keep("The deploy script listens on port 8080.")

    again = prompt.ok("remember", "The deploy script listens on port 8080.")
    monkeypatch.setattr(module, "_someone_there", lambda: True)
    asked = prompt.ok("remember", "The deploy script listens on port 9090.", said="y\n")

    assert again == f"{first} says this already. Nothing was written.\n"
    assert f"{first}  The deploy script listens on port 8080." in asked
    assert f"{first} is superseded by it" in asked
    assert prompt.json("show", first)["record"]["status"] == "superseded"
    assert first not in prompt.listed("--status", "active")


def test_with_a_real_daemon_a_script_supersedes_by_an_option(prompt: Prompt) -> None:
    first = prompt.keep("The release branch is named stable.")

    kept = prompt.json("remember", "The release branch is named main.", "--supersede", first)

    assert kept["superseded"] == [first] and kept["updates"] == []
    assert prompt.json("show", first)["record"]["supersededBy"] == kept["memoryId"]


@pytest.mark.promise("formation-16")
def test_an_agents_shell_speaks_for_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "environment", lambda: {"CLAUDECODE": "1"})
    result, daemon = run(monkeypatch, {"trust": "extracted"}, "Use tox.")
    assert daemon.params("memory.remember")["principal"] == "agent"
    assert "it counts as noted automatically" in result.output
    assert f"review {ID} --keep" in result.output
