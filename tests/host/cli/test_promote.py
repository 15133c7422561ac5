"""`prepare` and `promote`: a yes is bound to what was shown, and what was written is named."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import team_calls
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering

DIGEST = "7be10c44a9d2" + "0" * 52
FILE = {"targetPath": ".remora-pre/memory/entries/a.md", "operation": "write", "targetBlob": None}
REQUEST = {
    "format": "remora-pre-prepare-request@v1",
    "kind": "entry",
    "candidates": [],
    "confirmation": {"by": "user", "via": "terminal"},
    "approvalDigest": DIGEST,
}
REVIEW: dict[str, Any] = {
    "format": "remora-pre-review@v1",
    "kind": "entry",
    "items": [],
    "broken": [],
    "approval": {"digest": DIGEST, "prepareRequest": REQUEST, "changes": []},
}
PLAN: dict[str, Any] = {
    "format": "remora-pre-promotion-plan@v1",
    "planId": "plan-1",
    "owner": {"repositoryKey": "r", "worktreeKey": "w"},
    "kind": "entry",
    "state": "approved",
    "candidateIds": ["c1"],
    "approvalDigest": DIGEST,
    "assessmentDigest": "a",
    "policyVersion": "sanitize-pre@1",
    "perFile": [FILE | {"sanitizedDigest": "d"}],
    "planDigest": "p" * 64,
}
APPLIED: dict[str, Any] = {
    "format": "remora-pre-apply-result@v1",
    "planId": "plan-1",
    "state": "applied",
    "applied": True,
    "files": [{"targetPath": FILE["targetPath"], "operation": "write", "digest": "d"}],
    "candidates": ["c1"],
}


def run(
    monkeypatch: pytest.MonkeyPatch, *arguments: str, said: str = "", plan: Any = PLAN, applied: Any = APPLIED
) -> tuple[Result, FakeDaemon]:
    answers = {"team.review": REVIEW, "team.prepare": plan, "team.promote": applied}
    daemon = answering(monkeypatch, team_calls, answers)
    return CliRunner().invoke(main, list(arguments), input=said), daemon


def test_a_yes_names_the_approval_that_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, "prepare", "--kind", "entry", "--approval", "7be10c44…")

    assert done.output.splitlines() == [
        "plan-1  approved  approval 7be10c44a9d2…",
        f"  write  {FILE['targetPath']}",
        "Write it with: remora-pre promote --plan plan-1",
    ]
    assert daemon.params("team.prepare")["document"] == REQUEST


@pytest.mark.parametrize("approval", ["7be10c45", "00000000"])
def test_a_yes_to_something_else_is_refused_before_it_is_recorded(
    monkeypatch: pytest.MonkeyPatch, approval: str
) -> None:
    done, daemon = run(monkeypatch, "prepare", "--kind", "entry", "--approval", approval)

    assert done.exit_code != 0
    assert [method for method, _ in daemon.asked] == ["team.review"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--approval", DIGEST],
        ["--kind", "entry", "--approval", "7be10c4"],
        ["--kind", "entry", "--approval", "…" * 12],
        ["--kind", "entry", "--approval", DIGEST, "--request", "-"],
    ],
)
def test_what_is_said_yes_to_must_be_named(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    done, daemon = run(monkeypatch, "prepare", *arguments)

    assert done.exit_code == 2
    assert not daemon.asked


def test_a_plan_without_an_approval_is_written_by_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = PLAN | {"approvalDigest": None, "state": "generated"}
    done, daemon = run(monkeypatch, "prepare", "--request", "-", said=json.dumps(REQUEST), plan=plan)

    assert done.output.splitlines()[-1].endswith(f"promote --plan plan-1 --plan-digest {'p' * 64}")
    assert daemon.params("team.prepare")["document"] == REQUEST


def test_what_was_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, "promote", "--plan", "plan-1", "--plan-digest", "p")

    assert done.output.splitlines() == [
        "applied  1 file",
        f"  write  {FILE['targetPath']}",
    ]
    sent = daemon.params("team.promote")
    assert (sent["planId"], sent["planDigest"]) == ("plan-1", "p")


def test_what_was_put_aside_or_went_wrong_afterwards_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    applied = APPLIED | {
        "idempotent": True,
        "recovered": ["r/old.md"],
        "problem": "It is not seen yet.",
        "note": "Look.",
    }
    done, _ = run(monkeypatch, "promote", "--plan", "plan-1", applied=applied)

    assert done.output.splitlines()[0].startswith("applied before")
    assert done.output.splitlines()[2:] == ["Put aside: r/old.md", "It is not seen yet.", "Look."]


@pytest.mark.parametrize("command", [["prepare", "--request", "-"], ["promote", "--plan", "plan-1"]])
def test_json_is_the_document(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    done, _ = run(monkeypatch, *command, "--json", said=json.dumps(REQUEST))

    assert json.loads(done.output)["planId"] == "plan-1"
