"""`discard`: one thing at a time, named as it was seen."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import team_calls
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering

DONE: dict[str, Any] = {"format": "remora-pre-discarded@v1", "id": "c1", "kind": "candidate", "state": "discarded"}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, done: Any = DONE) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, team_calls, {"team.discard": done})
    return CliRunner().invoke(main, ["discard", *arguments]), daemon


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        (
            ["--candidate", "c1", "--revision", "2", "--reason", "old"],
            {"candidateId": "c1", "revision": 2, "reason": "old"},
        ),
        (["--task", "t1"], {"taskId": "t1", "reason": ""}),
        (["--plan", "p1", "--keep-files"], {"planId": "p1", "keepFiles": True, "reason": ""}),
    ],
)
def test_what_is_named_is_given_up(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], sent: dict[str, object]
) -> None:
    done, daemon = run(monkeypatch, *arguments)

    given = daemon.params("team.discard")
    assert {key: given[key] for key in sent} == sent
    assert not {"candidateId", "taskId", "planId"} - sent.keys() & given.keys()
    assert done.output == "c1  discarded\n"


def test_what_was_done_before_and_put_aside_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch, "--plan", "p1", done=DONE | {"idempotent": True, "recovered": ["r/a.md"]})

    assert done.output.splitlines() == ["c1  discarded before", "Put aside: r/a.md"]


@pytest.mark.parametrize(
    "arguments", [[], ["--task", "t", "--plan", "p"], ["--candidate", "c"], ["--candidate", "c", "--revision", "0"]]
)
def test_what_is_meant_must_be_said(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    done, daemon = run(monkeypatch, *arguments)

    assert done.exit_code == 2
    assert not daemon.asked


def test_json_is_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(run(monkeypatch, "--task", "t", "--json")[0].output)["kind"] == "candidate"
