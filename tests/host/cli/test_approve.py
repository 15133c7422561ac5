"""`approve`: what is asked of the daemon, what the person is shown before, and what is said of the answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import approve
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory_id
from tests.support.clock import START

ID = a_memory_id(1)
HERE = str(Path().resolve())
RECORD = {
    "memoryId": ID,
    "anchorId": f"memory:{ID}",
    "kind": "procedural",
    "scope": {"kind": "Workspace", "key": "ws"},
    "text": "Drop the \x1b[31mdatabase,\nthen restore it.",
    "createdAt": START,
}
GOT = {"memory.get": {"record": RECORD, "locator": {"recordDigest": "d1"}}}


def run(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *words: str, say: str = ""
) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, approve, answers)
    return CliRunner().invoke(main, ["approve", *words], input=say), daemon


def approved(**fields: Any) -> dict[str, Any]:
    return {"memory.approve": {"memoryId": ID, "approved": True, "changed": True, "stage": "active"} | fields}


def test_the_text_is_shown_before_it_is_approved_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, GOT | approved(), ID, say="y\n")

    assert "then restore it." in result.output and "\x1b" not in result.output
    assert daemon.params("memory.approve") == {
        "memoryId": ID,
        "workspace": HERE,
        "approved": True,
        "expected": "d1",
        "principal": "agent",  # nobody sits at this terminal
    }
    assert result.output.endswith("Approved as it stands. The procedure is active now.\n")


def test_a_no_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, GOT, ID, say="n\n")
    assert (result.exit_code, [method for method, _ in daemon.asked]) == (1, ["memory.get"])


@pytest.mark.parametrize(
    ("changed", "said"), [(True, "The approval was taken back.\n"), (False, "It was not approved.\n")]
)
def test_an_approval_is_taken_back_unasked(monkeypatch: pytest.MonkeyPatch, changed: bool, said: str) -> None:
    result, daemon = run(monkeypatch, approved(approved=False, changed=changed), ID, "--off")
    assert (result.output, daemon.params("memory.approve")["approved"]) == (said, False)


def test_what_waits_is_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [
        {"record": RECORD, "recordDigest": "d1", "stage": "validated", "askedAt": START},
        {"record": RECORD, "recordDigest": "d1", "stage": "active"},
    ]
    result, daemon = run(monkeypatch, {"memory.approvals": {"waiting": waiting}})
    as_json, _ = run(monkeypatch, {"memory.approvals": {"waiting": waiting}}, "--json")
    assert daemon.params("memory.approvals") == {"workspace": HERE}
    assert [line.split()[:2] for line in result.output.splitlines()[1:]] == [[ID, "validated"], [ID, "active"]]
    assert "UTC" in result.output and "not yet" in result.output
    assert json.loads(as_json.output)["waiting"][0]["recordDigest"] == "d1"


def test_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.approvals": {"waiting": []}})
    assert result.output == "No procedure waits for your approval here.\n"


@pytest.mark.parametrize("option", ["--off", "--yes"])
def test_a_decision_needs_a_procedure(monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    result, _ = run(monkeypatch, {}, option)
    assert (result.exit_code, "Which procedure?" in result.output) == (2, True)
