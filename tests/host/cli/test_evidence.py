"""`evidence`: what is asked of the daemon and what is said of its answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import evidence
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory_id
from tests.support.clock import START

MEMORY = a_memory_id(1)
EDGE = {
    "evidenceId": "ev_1",
    "kind": "read",
    "memoryId": MEMORY,
    "sessionRef": "a" * 32,
    "eventSeq": 3,
    "contextVersion": 2,
    "sourceVersion": 1,
    "recordDigest": "1" * 64,
    "at": START,
    "callId": "call-7",
    "coverage": 1_000_000,
}
OF_MEMORY = {
    "memoryId": MEMORY,
    "freshness": "stale",
    "standing": {"seen": 2, "read": 1, "reuse": 1, "success": 1, "sessions": 2, "reuseSessions": 1},
    "workspaces": [{"workspaceKey": "ws_1", "edges": 3, "sessions": 1}],
    "edges": [EDGE],
}


def run(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, evidence, answers)
    return CliRunner().invoke(main, ["evidence", *arguments]), daemon


def test_of_a_memory_the_numbers_and_the_acts_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {"evidence.get": OF_MEMORY}, MEMORY)
    as_json, _ = run(monkeypatch, {"evidence.get": OF_MEMORY}, MEMORY, "--json")

    assert daemon.params("evidence.get") == {"workspace": str(Path().resolve()), "limit": 50, "memoryId": MEMORY}
    assert f"{MEMORY}: seen 2, read 1, cited 0, reused 1, success 1, corrected 0" in result.output
    assert "In 2 sessions; reused in 1, with success in 0. It reads otherwise now" in result.output
    assert "ws_1: 3 edges" in result.output
    assert "100 %" in result.output and "call-7" in result.output
    assert json.loads(as_json.output)["edges"][0]["evidenceId"] == "ev_1"


def test_a_session_is_told_by_its_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"evidence.get": {"sessionRef": "a" * 32, "edges": [EDGE]}}
    result, daemon = run(monkeypatch, answer, "--session", "s-1", "--limit", "5")
    nothing, _ = run(monkeypatch, {"evidence.get": {"sessionRef": "", "edges": []}}, "--session", "s-1")

    assert daemon.params("evidence.get")["sessionId"] == "s-1"
    assert MEMORY in result.output
    assert nothing.output == "Nothing was done with a memory in it.\n"


def test_without_a_memory_those_of_the_workspace_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"evidence.get": {"memories": [OF_MEMORY]}})
    nothing, _ = run(monkeypatch, {"evidence.get": {"memories": []}})

    assert MEMORY in result.output and "stale" in result.output
    assert nothing.output == "No agent has done anything with a memory of this workspace yet.\n"


@pytest.mark.parametrize(("differed", "said"), [(False, "as they were kept"), (True, "put right")])
def test_made_again_it_says_whether_it_differed(monkeypatch: pytest.MonkeyPatch, differed: bool, said: str) -> None:
    result, _ = run(monkeypatch, {"evidence.rebuild": {"edges": 4, "memories": 2, "differed": differed}}, "--rebuild")
    assert result.output.startswith("4 edges, 2 with evidence: ") and said in result.output


def test_one_thing_is_asked_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {}, MEMORY, "--rebuild")
    assert result.exit_code == 2
    assert "Give one of MEMORY, --session and --rebuild." in result.output


@pytest.mark.parametrize("arguments", [[], [MEMORY], ["--session", "s1"]])
@pytest.mark.parametrize("off", [True, False])
def test_where_it_is_switched_off_nothing_found_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], off: bool
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"[evidence]\nenabled = {str(not off).lower()}\n")
    monkeypatch.setenv("REMORA_PRE_CONFIG", str(file))
    empty = {"memoryId": MEMORY, "freshness": "unknown", "standing": {}, "edges": [], "sessionRef": "", "memories": []}
    result, _ = run(monkeypatch, {"evidence.get": empty}, *arguments)
    assert (result.exit_code, "switched off" in result.output) == (0, off)


@pytest.mark.promise("formation-28")
def test_how_a_memory_came_to_be_is_told_before_what_was_done_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run_of = {"pipeline": "checkpoint", "modelId": "scripted:demo", "promptId": "p", "promptVersion": 1}
    source = {"sessionId": "s-one", "messageId": "m1", "eventSeq": 17, "at": START, "quote": "we ship"}
    decided = [{"actor": "policy", "kind": "commit", "at": START}]
    formed = {"version": 0, "sources": [source], "formed": [run_of | {"promptSha256": "9c1e" * 16}], "decided": decided}
    result, daemon = run(monkeypatch, {"evidence.get": OF_MEMORY | {"formed": formed}}, "--memory", MEMORY)
    assert daemon.params("evidence.get")["memoryId"] == MEMORY
    lines = result.output.splitlines()
    assert lines[0].startswith('quotes   s-one#17 (m1) "we ship"')
    assert lines[1] == "formed   checkpoint · prompt p@1 sha256 9c1e9c1e9c1e… · model scripted:demo"
    assert lines[2].startswith("decided  auto commit ")
    assert lines[4].startswith(f"{MEMORY}: seen 2")
    twice, _ = run(monkeypatch, {}, MEMORY, "--memory", MEMORY)
    assert (twice.exit_code, "One memory at a time." in twice.output) == (2, True)
