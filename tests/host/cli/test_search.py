"""`search`: finds shown harmlessly, and with `--explain` how they were found."""

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import search as module
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory_id
from tests.support.prompt import Prompt

ID = a_memory_id(1)
HIT: dict[str, Any] = {
    "memoryId": ID,
    "score": 0.8312,
    "scope": {"kind": "User", "key": "user"},
    "kind": "semantic",
    "status": "active",
    "state": "anchored",
    "title": None,
    "text": "run\x1b[31m it",
    "source": "lexical",
}
EXPLAINED: dict[str, Any] = {
    "hits": [
        HIT
        | {
            "title": "Tests",
            "terms": ["run"],
            "scores": {"lexical": 7.31, "engine": 0.552},
            "confidences": {"lexical": 0.61, "engine": 0.55},
            "flags": ["muted"],
            "muted": True,
            "pinned": True,
        }
    ],
    "degraded": True,
    "arms": [
        {"name": "lexical", "hits": 1, "micros": 1240, "shortfall": None},
        {"name": "engine", "hits": 0, "micros": 90, "shortfall": "loading"},
    ],
    "explain": {
        "terms": [{"term": "run", "records": 3}, {"term": "tests", "records": 12}],
        "total": 40,
        "filtered": [{"memoryId": a_memory_id(2), "reason": "expired"}],
        "fusion": {"lexical": 0.7},
    },
}


def run(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, module, {"memory.search": {"hits": [], "degraded": False, "arms": []} | answer})
    return CliRunner().invoke(main, ["search", *arguments]), daemon


def test_a_find_is_shown_harmlessly_with_how_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {"hits": [HIT | {"state": "legacy"}]}, "run", "--limit", "3")

    assert daemon.params("memory.search")["limit"] == 3
    assert f"{ID}  0.83  semantic, User, active, legacy\n  run" in result.output
    assert "\x1b" not in result.output


def test_an_explanation_tells_terms_sources_scores_and_what_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, EXPLAINED, "run tests", "--explain")

    assert daemon.params("memory.search")["explain"] is True
    assert result.output == (
        "Records that hold each term, of 40: run 3, tests 12\n"
        "Source lexical: 1 hit in 1.2 ms\n"
        "Source engine: 0 hits in 0.1 ms: loading\n"
        "Weights in a score: 0.70 lexical, 0.30 the other sources together\n"
        f"{ID}  0.83  semantic, User, active, muted, pinned\n"
        "  Tests\n"
        "  run\\x1b[31m it\n"
        "  matched: run\n"
        "  engine 0.55 (confidence 0.55), lexical 7.31 (confidence 0.61)\n"
        "Left out:\n"
        f"  {a_memory_id(2)}  expired\n"
        "Not every source answered: engine (loading). There may be more; ask again in a moment.\n"
    )


def test_a_query_without_a_word_to_look_for_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"explain": {"total": 1}}, "…", "--explain")

    assert result.output == (
        "No term of the query can be looked for: it has none, or common words alone.\nNo memory matches.\n"
    )


def test_nothing_found_because_something_broke_is_not_reported_as_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    arms = [{"name": "lexical", "hits": 0, "micros": 9, "shortfall": "broken"}]

    result, _ = run(monkeypatch, {"degraded": True, "arms": arms}, "x")

    assert "lexical (broken)" in result.output and "No memory matches" not in result.output


def test_an_empty_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {}, "x")

    assert (result.exit_code, result.output) == (0, "No memory matches.\n")


def test_as_json_it_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, EXPLAINED, "x", "--json")

    shown = json.loads(result.output)
    assert shown["hits"][0]["text"] == HIT["text"]
    assert shown["explain"]["terms"][1] == {"term": "tests", "records": 12}


def test_with_a_real_daemon_an_explanation_counts_the_records_that_hold_each_term(prompt: Prompt) -> None:
    kept = prompt.keep("Run the zanzibar tests with make check.", "--title", "Tests")
    prompt.keep("The staging host has no outbound network.")

    shown = prompt.json("search", "zanzibar tests", "--explain")
    said = prompt.ok("search", "zanzibar tests", "--explain")

    assert {"term": "zanzibar", "records": 1} in shown["explain"]["terms"]
    assert shown["hits"][0]["memoryId"] == kept and "lexical" in shown["hits"][0]["scores"]
    assert re.search(r"Source lexical: \d+ hits? in", said) and "matched: " in said
