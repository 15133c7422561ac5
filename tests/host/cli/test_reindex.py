"""`reindex`: starts the work, looks on until it has ended, and says what came of it."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import reindex as module
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.prompt import Prompt

HEALTH = {"ready": True, "memory": {"files": 3, "records": 12, "problemCount": 1}}
READY = {"state": "ready", "model": "use-m3", "dimension": 256, "records": 12, "embedded": 12}
READY_NOW = {"stage": "idle", "engine": READY}


def run(
    monkeypatch: pytest.MonkeyPatch, seen: list[Any], *options: str, paused: list[float] | None = None
) -> tuple[Result, FakeDaemon]:
    states: Iterator[Any] = iter(seen)
    answers: dict[str, Any] = {
        "index.rebuild": {"started": True},
        "engine.reembed": {"started": True},
        "index.progress": lambda _: next(states),
        "health": HEALTH,
    }
    daemon = answering(monkeypatch, module, answers)
    monkeypatch.setattr(module.time, "sleep", (paused if paused is not None else []).append)
    return CliRunner().invoke(main, ["reindex", *options]), daemon


def test_it_looks_on_until_the_index_is_made_and_says_what_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    working = {"stage": "rebuilding", "done": 4, "total": 12}

    result, daemon = run(monkeypatch, [working, working, {"stage": "idle"}], paused=paused)

    assert result.exit_code == 0
    assert result.stdout == (
        "The index is made anew: 12 records in 3 files.\n1 place could not be used. See: remora-pre lint\n"
    )
    assert next(method for method, _ in daemon.asked) == "index.rebuild" and len(paused) == 2


def test_its_bar_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[float, float]] = []
    monkeypatch.setattr(module, "bar", lambda doing: nullcontext(lambda *counted: told.append(counted)))
    working = [{"stage": "rebuilding", "done": done, "total": 12} for done in (4, 11)]

    run(monkeypatch, [*working, {"stage": "idle"}])

    assert told == [(4, 12), (11, 12)]


def test_a_rebuilding_that_failed_ends_with_1_and_says_that_the_old_index_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result, _ = run(monkeypatch, [{"stage": "idle", "problem": "The disk is full."}])

    assert result.exit_code == 1
    assert "The disk is full." in result.output and "old one is still in use" in result.output


def test_with_vectors_it_is_the_engine_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    loading = {"stage": "idle", "engine": READY | {"state": "loading", "embedded": 0}}
    embedding = {"stage": "idle", "engine": READY | {"state": "embedding", "embedded": 6}}

    result, daemon = run(monkeypatch, [loading, embedding, READY_NOW], "--vectors")

    assert result.output == "12 records embedded with use-m3, 256 dimensions.\n"
    assert next(method for method, _ in daemon.asked) == "engine.reembed"


def test_an_engine_that_was_told_only_just_now_is_given_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = {"stage": "idle", "engine": READY | {"state": "embedding", "embedded": 0}}
    paused: list[float] = []

    run(monkeypatch, [READY_NOW] * 3 + [embedding] * 2 + [READY_NOW], "--vectors", paused=paused)

    assert len(paused) == 5


@pytest.mark.parametrize("engine", [None, READY | {"state": "broken", "problem": "The worker ended."}])
def test_an_engine_that_does_not_get_ready_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, engine: dict[str, Any] | None
) -> None:
    result, _ = run(monkeypatch, [{"stage": "idle", "engine": engine}] * 10, "--vectors")

    assert result.exit_code == 1 and ("off" if engine is None else "broken, The worker ended.") in result.output


@pytest.mark.parametrize("options", [["--json"], ["--json", "--vectors"]])
def test_as_json_there_is_one_object_at_the_end(monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    result, _ = run(monkeypatch, [READY_NOW] * 10, *options)

    shown = json.loads(result.stdout)
    assert (shown["records"], shown["files"], shown["engine"]["embedded"]) == (12, 3, 12)


def test_who_stops_looking_is_told_that_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, [KeyboardInterrupt()])

    assert result.exit_code == 1 and "The daemon goes on with it" in result.stderr


def test_with_a_real_daemon_the_index_is_made_anew_and_finds_what_it_found(prompt: Prompt) -> None:
    kept = prompt.keep("The zeppelin service restarts at midnight.")

    said = prompt.ok("reindex")

    assert said.startswith("The index is made anew: ")
    assert [hit["memoryId"] for hit in prompt.json("search", "zeppelin")["hits"]] == [kept]
