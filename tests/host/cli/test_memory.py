"""A person's verbs on memories: what is asked of the daemon, and what is said of its answer."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from host.cli import memory
from host.cli.main import main
from host.client import Refused
from recall.contracts import Flag, MemoryRecord, RecordState
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory, a_memory_id

ID = a_memory_id(1)
HIT = {
    "memoryId": ID,
    "score": 3.456,
    "scope": {"kind": "User", "key": "user"},
    "kind": "semantic",
    "status": "active",
    "state": "anchored",
    "title": None,
    "text": "run\x1b[31m it",
    "source": "lexical",
    "terms": ["run"],
}
LEGACY = a_memory("one", memory_id=ID, state=RecordState.LEGACY)
GOT = {"record": a_memory("Use make check.", memory_id=ID, title="Tests", tags=("ci",)), "locator": None}


def run(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str, said: str = ""
) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, memory, {"health": {"ready": True}} | answers)
    return CliRunner().invoke(main, list(arguments), input=said), daemon


def test_remember_keeps_the_text_for_the_workspace_of_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = {"memory.remember": {"memoryId": ID, "file": "f", "redacted": [], "quarantined": False}}

    result, daemon = run(
        monkeypatch, answers, "remember", "Use make check.", "--workspace", str(tmp_path), "--tag", "ci", "--pin"
    )

    assert (result.exit_code, result.output) == (0, f"Kept as {ID}.\n")
    assert daemon.params("memory.remember") == {
        "text": "Use make check.",
        "workspace": str(tmp_path.resolve()),
        "scope": "Workspace",
        "kind": "semantic",
        "tags": ["ci"],
        "pinned": True,
    }


def test_remember_says_that_secrets_were_taken_out_and_orders_quarantined(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"memory.remember": {"memoryId": ID, "redacted": ["secret.token"], "quarantined": True}}

    result, daemon = run(monkeypatch, answers, "remember", "--user", "-", said="from a pipe")

    assert "secret.token" in result.output and "quarantined" in result.output
    assert (daemon.params("memory.remember")["text"], daemon.params("memory.remember")["scope"]) == (
        "from a pipe",
        "User",
    )


@pytest.mark.parametrize("arguments", [["", "--user"], ["-"], ["x", "--workspace", "/no/such/folder"]])
def test_remember_needs_a_text_and_a_folder_that_is_there(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    result, daemon = run(monkeypatch, {}, "remember", *arguments, said=" \n")

    assert (result.exit_code, daemon.asked) == (2, [])


def test_search_shows_hits_harmlessly_and_says_when_a_source_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    arms = [{"name": "lexical", "hits": 0, "micros": 9, "shortfall": "broken"}]
    answers = {"memory.search": {"hits": [HIT], "degraded": True, "arms": arms}}

    result, daemon = run(monkeypatch, answers, "search", "run", "--explain", "--limit", "3")

    assert daemon.params("memory.search")["limit"] == 3
    assert f"{ID}  3.46  semantic, User, active" in result.output
    assert "matched: run" in result.output and "lexical (broken)" in result.output
    assert "\x1b" not in result.output


def test_an_empty_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.search": {"hits": [], "degraded": False, "arms": []}}, "search", "x")

    assert (result.exit_code, result.output) == (0, "No memory matches.\n")


def test_search_as_json_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(
        monkeypatch, {"memory.search": {"hits": [HIT], "degraded": False, "arms": []}}, "search", "x", "--json"
    )

    assert json.loads(result.output)["hits"][0]["text"] == HIT["text"]


def test_list_walks_the_pages_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    page = {"records": [a_memory("one", memory_id=ID)], "next": "more"}

    result, daemon = run(monkeypatch, {"memory.list": page}, "list", "--limit", "2")

    assert [params.get("after") for method, params in daemon.asked if method == "memory.list"] == [None, "more"]
    assert result.output.count(ID) == 2 and "more than 2" in result.output


def test_a_list_shows_what_keeps_a_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    kept_back = a_memory("one", memory_id=ID, flags=(Flag.QUARANTINED,))

    result, _ = run(monkeypatch, {"memory.list": {"records": [kept_back], "next": None}}, "list")

    assert "active, quarantined" in result.output


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_list_says_beside_the_answer_that_some_places_could_not_be_used(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    answers = {
        "memory.list": {"records": [a_memory("one", memory_id=ID)], "next": None},
        "health": {"ready": True, "memory": {"problemCount": 2}},
    }

    result, _ = run(monkeypatch, answers, "list", *arguments)

    assert result.stderr == "2 places in memory files could not be used. See: remora-pre status\n"
    assert ID in result.stdout


def test_a_list_of_sound_files_says_nothing_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.list": {"records": [], "next": None}}, "list")

    assert result.stderr == ""


@pytest.mark.parametrize(
    ("answers", "arguments"),
    [
        ({"memory.list": {"records": [LEGACY], "next": None}}, ["list"]),
        ({"memory.search": {"hits": [HIT | {"state": "legacy"}], "degraded": False, "arms": []}}, ["search", "run"]),
        ({"memory.get": {"record": LEGACY, "locator": None}}, ["show", ID]),
    ],
)
def test_a_memory_without_a_marker_of_its_own_is_shown_as_such(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], arguments: list[str]
) -> None:
    result, _ = run(monkeypatch, answers, *arguments)

    assert "active, legacy" in result.output


def test_an_empty_list_says_how_to_keep_something(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.list": {"records": [], "next": None}}, "list")

    assert 'remora-pre remember "' in result.output


def test_show_prints_the_text_and_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    locator = {
        "memoryId": ID,
        "anchorId": f"memory:{ID}",
        "sourceFile": "/notes/2026-01.md",
        "sourceVersion": 2,
        "lineStart": 4,
        "lineEnd": 6,
        "byteStart": 1,
        "byteEnd": 2,
        "recordDigest": "d",
    }

    result, _ = run(monkeypatch, {"memory.get": GOT | {"locator": locator}}, "show", ID)

    assert "Tests\nUse make check.\n" in result.output
    assert "/notes/2026-01.md, lines 4 to 6, version 2" in result.output


def test_forget_shows_the_memory_and_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"memory.get": GOT, "memory.forget": {"forgotten": True, "packetsPurged": 1}}

    refused, asked = run(monkeypatch, answers, "forget", ID, said="n\n")
    agreed, _ = run(monkeypatch, answers, "forget", ID, said="y\n")

    assert refused.exit_code == 1 and "Use make check." in refused.output
    assert [method for method, _ in asked.asked] == ["memory.get"]
    assert agreed.exit_code == 0 and "Packets purged: 1." in agreed.output


def test_what_the_daemon_refuses_ends_with_1_and_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    error = Refused.__new__(Refused)
    Exception.__init__(error, "No memory is visible from here. List them.")

    result, _ = run(monkeypatch, {"memory.get": error}, "show", ID)

    assert (result.exit_code, result.output) == (1, "Error: No memory is visible from here. List them.\n")


def test_json_of_a_record_has_wire_names(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.get": GOT}, "show", ID, "--json")

    shown = json.loads(result.output)
    assert shown["record"]["memoryId"] == ID
    assert msgspec.convert(shown["record"], MemoryRecord) == GOT["record"]
