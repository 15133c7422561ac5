"""`review --kind entry`: each candidate with its evidence, the files line by line, and how to say yes."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import team_calls
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering

DIGEST = "7be10c44a9d2" + "0" * 52
STATEMENT: dict[str, Any] = {
    "statementId": "s1",
    "text": "Publish only from the release branch.",
    "statementTextDigest": "t",
    "citationsDigest": "c",
    "strength": "direct",
    "support": "unverified",
    "limitations": ["source-local-only"],
    "evidence": [
        {"evidenceId": "ev-4", "kind": "turn", "display": "turn 3", "at": "2026-11-12", "quote": "published from main"},
        {"evidenceId": "ev-5", "kind": "path", "display": "release.sh"},
    ],
}
ITEM: dict[str, Any] = {
    "candidateId": "extract-9f-c1",
    "kind": "entry",
    "revision": 2,
    "payload": "{}",
    "content": "Publish only from the release branch.",
    "statements": [STATEMENT],
    "strength": "direct",
    "support": "unverified",
    "limitations": ["source-local-only"],
    "flags": [{"code": "html-comment", "detail": "<!-- hidden -->"}],
    "supersedes": ["mem_1"],
    "type": "work_method",
}
REVIEW: dict[str, Any] = {
    "format": "remora-pre-review@v1",
    "kind": "entry",
    "items": [ITEM],
    "broken": [
        {"candidateId": "c2", "kind": "binding-drift", "problem": "It drifted.", "next": "Recall again.", "revision": 3}
    ],
    "approval": {
        "digest": DIGEST,
        "prepareRequest": {
            "format": "remora-pre-prepare-request@v1",
            "kind": "entry",
            "candidates": [],
            "confirmation": {"by": "user", "via": "terminal"},
        },
        "changes": [
            {"targetPath": "m/a.md", "operation": "write", "content": "a\n", "diff": "+++ b/m/a.md\n+a\n"},
        ],
    },
    "more": 3,
}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, answer: Any = REVIEW) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, team_calls, {"team.review": answer})
    return CliRunner().invoke(main, ["review", *arguments]), daemon


def test_a_candidate_is_shown_with_its_evidence_and_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, "--kind", "entry", "--candidate", "extract-9f-c1")

    assert done.output.splitlines() == [
        "extract-9f-c1  rev 2  work_method  direct · source-local-only",
        "  “Publish only from the release branch.”",
        "    ev-4 2026-11-12 “published from main”",
        "    ev-5 release.sh",
        "  look here: html-comment: <!-- hidden -->",
        "  in place of mem_1",
        "c2  binding-drift: It drifted. Recall again.",
        "  Give it up with: remora-pre discard --candidate c2 --revision 3",
        "  write  m/a.md",
        "    +++ b/m/a.md",
        "    +a",
        "approval 7be10c44a9d2…",
        "Say yes with: remora-pre prepare --kind entry --approval 7be10c44a9d2 --candidate extract-9f-c1",
        "Give it up with: remora-pre discard --candidate extract-9f-c1 --revision 2",
        "3 more are staged.",
    ]
    assert daemon.params("team.review")["candidateIds"] == ["extract-9f-c1"]


@pytest.mark.parametrize("note", ["", "Nothing is staged."])
def test_nothing_staged_is_said_once(monkeypatch: pytest.MonkeyPatch, note: str) -> None:
    nothing = REVIEW | {"items": [], "broken": [], "approval": None, "more": 0, "note": note}

    assert run(monkeypatch, "--kind", "consolidation", answer=nothing)[0].output == "Nothing is staged.\n"


def test_of_several_the_whole_is_said_yes_to_and_none_is_named_to_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    two = REVIEW | {"items": [ITEM, ITEM | {"candidateId": "extract-9f-c2"}], "more": 1}
    lines = run(monkeypatch, "--kind", "entry", answer=two)[0].output.splitlines()

    assert "Say yes with: remora-pre prepare --kind entry --approval 7be10c44a9d2" in lines
    assert "1 more is staged." in lines
    assert not [line for line in lines if line.startswith("Give it up")]


def test_what_is_taken_over_of_another_memory_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    source = {"evidenceId": "target:mem_1/s1", "kind": "target", "display": "target:mem_1/s1"}
    item = ITEM | {"statements": [STATEMENT | {"evidence": [source]}]}

    done, _ = run(monkeypatch, "--kind", "entry", answer=REVIEW | {"items": [item]})

    assert "    target:mem_1/s1" in done.output.splitlines()


def test_a_whole_file_is_not_quoted_as_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    item = ITEM | {"kind": "consolidation", "statements": [STATEMENT | {"statementId": "o1", "text": "a\nb"}]}

    done, _ = run(monkeypatch, "--kind", "consolidation", answer=REVIEW | {"items": [item]})

    assert "  “o1”" in done.output.splitlines()


def test_json_is_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(run(monkeypatch, "--kind", "entry", "--json")[0].output)["more"] == 3


@pytest.mark.parametrize("arguments", [["--candidate", "c"], ["--kind", "note", "--candidate", "c"]])
def test_a_candidate_needs_a_kind_of_candidates(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    done, daemon = run(monkeypatch, *arguments)

    assert done.exit_code == 2
    assert not daemon.asked
