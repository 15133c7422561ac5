"""`recall`: a request is made of what is typed, and the tasks are named; the whole of them is JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from governance.team.contracts.turns import Ineligible
from host.cli import team_calls
from host.cli.main import main
from host.cli.recall import LEFT_OUT, NOTHING
from host.client import Refused
from host.namespace import SCRIPT
from tests.host.cli.fakes import FakeDaemon, answering

EMPTY: dict[str, Any] = {
    "format": "remora-pre-agent-recall@v1",
    "selection": {
        "requestDigest": "a",
        "resultSetDigest": "b",
        "sourceBindingDigest": "c",
        "matchedTurns": 0,
        "matchedSessions": 1,
        "rejectedSessions": [{"reason": "too-few-turns", "count": 2}],
        "pendingChunks": 0,
    },
    "sources": [],
    "guidance": {"nextAction": "", "formats": [], "rules": []},
    "note": "Nothing is left to read.",
}

TASK: dict[str, Any] = {
    "format": "remora-pre-extraction-task@v1",
    "taskId": "extract-1",
    "lease": {"token": "lease_1", "epoch": 1, "expiresAt": "2026-11-12T09:35:00.000Z"},
    "binding": {
        "databaseUuid": "u",
        "owner": {"repositoryKey": "r", "worktreeKey": "w"},
        "sourceInputDigest": "d",
        "selection": {"requestDigest": "a", "resultSetDigest": "b", "sourceBindingDigest": "c"},
        "turnRevisions": [1],
        "payloadDigests": ["p"],
        "edgeRevisions": ["e"],
        "versions": {"prompt": "p", "schema": "s", "chunker": "c", "analyzer": "a"},
        "provenance": {"snapshotSeq": 1, "evaluatedAt": "2026-11-12T09:30:00.000Z"},
    },
    "session": "s",
    "evidenceCatalog": [],
    "chunk": {"turnRange": {"first": 0, "last": 0}, "coverage": [], "turnEvidence": [], "transcript": "abc"},
    "context": {},
    "contract": {"draftSchema": "{}", "prompts": []},
}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, said: str = "") -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, team_calls, {"team.recall": EMPTY})
    return CliRunner().invoke(main, ["recall", *arguments], input=said), daemon


def test_what_was_found_and_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch, "--since", "14d")

    assert done.output.splitlines() == [
        "0 turns of 1 session; 0 tasks to answer.",
        "Left out: 2 sessions with fewer than three turns that are over.",
        "Nothing is left to read.",
        NOTHING,
    ]


def test_every_reason_has_words() -> None:
    assert set(LEFT_OUT) == {str(one) for one in Ineligible}


@pytest.mark.parametrize(("last", "turns"), [(3, "turn 4"), (5, "turns 4 to 6")])
def test_a_task_is_named_and_handed_over_by_the_same_command(
    monkeypatch: pytest.MonkeyPatch, last: int, turns: str
) -> None:
    chunk = TASK["chunk"] | {"turnRange": {"first": 3, "last": last}}
    found = EMPTY | {
        "selection": EMPTY["selection"] | {"matchedTurns": 3},
        "sources": [TASK | {"chunk": chunk}],
    }
    answering(monkeypatch, team_calls, {"team.recall": found})

    done = CliRunner().invoke(
        main, ["recall", "--since", "14d", "--query", "make smoke", "--result-evidence", "unknown"]
    )

    typed = "remora-pre recall --since 14d --query 'make smoke' --result-evidence unknown --json"
    assert done.output.splitlines()[2:] == [f"extract-1  {turns}, 3 bytes", f"Hand the task to the agent: {typed}"]


def test_a_request_is_made_of_what_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(
        monkeypatch,
        *("--since", "2026-01-01", "--until", "2026-01-02T12:00:00.000Z", "--query", "release", "--limit", "3"),
        *("--providers", "codex, claude,", "--result-evidence", "unknown", "--json"),
    )

    assert json.loads(done.output) == EMPTY | {"selection": EMPTY["selection"] | {"tooLarge": []}}
    sent = daemon.params("team.recall")
    assert (sent["limit"], sent["request"]["format"]) == (3, "remora-pre-extraction-request@v1")
    assert sent["request"]["query"] == "release"
    assert sent["request"]["window"]["before"] == "2026-01-02T12:00:00.000Z"
    filters = sent["request"]["filters"]
    assert (filters["providers"], filters["resultEvidence"]) == (["claude", "codex"], ["unknown"])


def test_no_filter_is_sent_where_none_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    _, daemon = run(monkeypatch, "--since", "1d")

    assert daemon.params("team.recall")["request"]["filters"] is None


def test_a_whole_request_goes_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    request = {"format": "x", "window": {}, "more": 1}

    _, daemon = run(monkeypatch, "--request", "-", said=json.dumps(request))

    assert daemon.params("team.recall")["request"] == request


@pytest.mark.parametrize("since", ["soon", "2026-13-01", "-4d"])
def test_a_time_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, since: str) -> None:
    done, daemon = run(monkeypatch, "--since", since)

    assert done.exit_code == 1 or isinstance(done.exception, Refused)
    assert not daemon.asked


def test_from_when_on_must_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch)

    assert done.exit_code == 2
    assert "--since" in done.output
    assert SCRIPT in CliRunner().invoke(main, ["recall", "--help"]).output
