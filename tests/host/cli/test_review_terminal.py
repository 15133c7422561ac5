"""`review` on a terminal: one item at a time, one key each, nothing lost wherever it ends."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from host.cli import drafts, review_terminal
from host.cli.review_terminal import Walk
from host.client import DaemonAbsent, Refused
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.clock import START
from tests.support.prompt import editor_of

Json = dict[str, Any]


def an_item(number: int, **fields: Any) -> Json:
    return {
        "itemId": f"note_{number}",
        "kind": "note",
        "pipeline": "notes",
        "workspaceKey": "ws",
        "createdAt": START,
        "text": f"Fact number {number}.",
    } | fields


class Queue:
    """The daemon's side: items that wait, and what was decided."""

    def __init__(self, *items: Json, others: Json | None = None) -> None:
        self.items = {one["itemId"]: one for one in items}
        self.others = others or {}
        self.decided: list[Json] = []
        self.refuse: list[Exception] = []

    def answers(self) -> dict[str, Callable[[Json], object]]:
        return {"review.list": self._list, "review.get": self._get, "review.decide": self._decide}

    def _list(self, params: Json) -> object:
        states = params.get("states") or ["pending"]
        found = [{"item": one} for one in self.items.values() if one.get("state", "pending") in states]
        return {"items": found[: params["limit"]], "total": len(found)}

    def _get(self, params: Json) -> object:
        return {"item": self.items[params["itemId"]], "others": self.others}

    def _decide(self, params: Json) -> object:
        if self.refuse:
            return self.refuse.pop(0)
        self.decided.append(params)
        state = "archived" if params["decision"] == "archive" else "kept"
        one = self.items[params["itemId"]]
        self.items[params["itemId"]] = one | {"state": state, "revision": one.get("revision", 1) + 1}
        return {"item": self.items[params["itemId"]], "trust": "reviewed"}


class FakeKeys:
    """Keys that are pressed one after the other; then the terminal is gone. `!` is an interruption."""

    def __init__(self, keys: str) -> None:
        self._keys = iter(keys)

    def pressed(self) -> str:
        key = next(self._keys, "")
        if key == "!":
            raise KeyboardInterrupt
        if not key:
            raise EOFError
        return key

    def aside(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


def walk(
    monkeypatch: pytest.MonkeyPatch, queue: Queue, keys: str, line: str = "", **asked: object
) -> tuple[Result, FakeDaemon]:
    """Press these keys; lines that are asked for are read as usual."""
    daemon = answering(monkeypatch, review_terminal, queue.answers())

    @click.command()
    def command() -> None:
        Walk("/here", asked, FakeKeys(keys)).run()

    return CliRunner().invoke(command, input=line), daemon


def decisions(queue: Queue) -> list[tuple[str, str]]:
    return [(one["itemId"], one["decision"]) for one in queue.decided]


def test_one_key_for_each_decision_and_a_summary_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(*(an_item(number) for number in range(1, 5)))
    result, _ = walk(monkeypatch, queue, "kas?q")
    assert result.exit_code == 0, result.output
    assert decisions(queue) == [("note_1", "keep"), ("note_2", "archive")]
    assert queue.decided[1]["reason"] == review_terminal.NOT_WORTH
    assert [one["expectedRevision"] for one in queue.decided] == [1, 1]
    for place in range(1, 5):
        assert f"{place} of 4" in result.output
    assert review_terminal.HELP.splitlines()[0] in result.output
    assert result.output.endswith("1 archived, 1 kept, 1 skipped; 2 items wait.\n")


def test_archive_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(an_item(1))
    walk(monkeypatch, queue, "A", "nobody said so\n")
    assert queue.decided[0]["reason"] == "nobody said so"


@pytest.mark.parametrize("keys", ["k", "k!", "kq"])
def test_wherever_it_ends_what_was_decided_is_decided(monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
    queue = Queue(an_item(1), an_item(2))
    result, _ = walk(monkeypatch, queue, keys)
    assert result.exit_code == 0
    assert decisions(queue) == [("note_1", "keep")]
    assert "1 kept; 1 item waits." in result.output


def test_nothing_that_waits_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(an_item(1, state="committed"))
    result, _ = walk(monkeypatch, queue, "")
    assert (
        result.output == "Nothing waits any more.\n1 noted automatically and not reviewed: remora-pre review --noted\n"
    )


def test_what_is_staged_takes_no_key_and_is_said_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(an_item(1, state="staged", kind="skill"), an_item(2))
    result, _ = walk(monkeypatch, queue, "k")

    assert decisions(queue) == [("note_2", "keep")]
    assert "1 of 1" in result.output
    assert result.output.endswith("Staged for the repository: 1. See which: remora-pre team status\n")


def test_what_was_noted_can_be_gone_through_too(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(an_item(1, state="committed"), an_item(2))
    walk(monkeypatch, queue, "k", states=["committed"])
    assert decisions(queue) == [("note_1", "keep")]


def test_what_was_decided_elsewhere_meanwhile_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(an_item(1), an_item(2))
    seen = queue._get

    def get(params: Json) -> object:
        queue.items["note_1"] |= {"state": "kept"}
        return seen(params)

    monkeypatch.setattr(queue, "_get", get)
    result, _ = walk(monkeypatch, queue, "k")
    assert "note_1 was decided meanwhile: it is kept." in result.output
    assert decisions(queue) == [("note_2", "keep")]


def test_a_decision_that_does_not_hold_is_said_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(an_item(1))
    queue.refuse = [Refused("conflict", 1, "The item was changed meanwhile.", "Look at it again.")]
    result, _ = walk(monkeypatch, queue, "ka")
    assert "Nothing was decided: The item was changed meanwhile." in result.output
    assert decisions(queue) == [("note_1", "archive")]


def test_a_daemon_that_is_gone_ends_it_with_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(an_item(1), an_item(2))
    result, daemon = walk(monkeypatch, queue, "")
    daemon.answers["review.decide"] = lambda params: DaemonAbsent("The daemon is gone.", "Start it.")

    @click.command()
    def command() -> None:
        Walk("/here", {}, FakeKeys("k")).run()

    result = CliRunner().invoke(command)
    assert isinstance(result.exception, DaemonAbsent)


def test_what_reads_like_an_order_is_asked_about_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(an_item(1, flags=["quarantined"]))
    result, _ = walk(monkeypatch, queue, "kn")
    assert (queue.decided, "Keep it as it stands? [y/N] n" in result.output) == ([], True)
    walk(monkeypatch, queue, "ky")
    assert decisions(queue) == [("note_1", "keep")]


def test_what_says_otherwise_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"memoryId": "mem_1", "text": "Fact number 2.", "trust": "user", "createdAt": START}
    queue = Queue(an_item(1), others={"otherwise": [other]})
    result, _ = walk(monkeypatch, queue, "r")
    assert "[r]eplace the other" in result.output
    assert queue.decided[0]["replaces"] == ["mem_1"]
    alone = Queue(an_item(1))
    walk(monkeypatch, alone, "r")
    assert alone.decided == []


def test_other_words_come_out_of_the_editor_and_its_file_goes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    queue = Queue(an_item(1, title="Old"))
    editor_of(monkeypatch, tmp_path, "text = text.replace('Fact number 1', 'A better fact')")
    walk(monkeypatch, queue, "e")
    assert (queue.decided[0]["decision"], queue.decided[0]["text"]) == ("edit-and-keep", "A better fact.")
    assert queue.decided[0]["title"] == "Old"
    assert drafts.resume("note_1") is None


@pytest.mark.parametrize("script", ["pass", "text = ''", "text = text.split('Fact')[0]"])
def test_an_editor_that_changes_nothing_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    queue = Queue(an_item(1))
    editor_of(monkeypatch, tmp_path, script)
    result, _ = walk(monkeypatch, queue, "es")
    assert queue.decided == []
    assert "Nothing was changed, and nothing decided." in result.output
    assert drafts.resume("note_1") is None


def test_words_that_are_refused_stay_and_are_opened_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    queue = Queue(an_item(1))
    queue.refuse = [Refused("citation-invalid", 1, "No quote says so.", "Say what they say.")]
    editor_of(monkeypatch, tmp_path, "text = text.replace('number', 'NUMBER')")
    result, _ = walk(monkeypatch, queue, "eq")
    draft = drafts.resume("note_1")
    assert draft is not None and "Fact NUMBER 1." in draft.read_text()
    assert "Your words are kept in" in result.output
    editor_of(monkeypatch, tmp_path, "text = text.replace('NUMBER', 'no.')")
    walk(monkeypatch, queue, "e")
    assert queue.decided[0]["text"] == "Fact no. 1."
    assert drafts.resume("note_1") is None


def test_an_editor_that_fails_or_a_terminal_that_closes_loses_no_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    queue = Queue(an_item(1))
    editor_of(monkeypatch, tmp_path, "file.write_text(text.replace('Fact', 'FACT')); sys.exit(3)")
    result, _ = walk(monkeypatch, queue, "eq")
    assert "Nothing was decided" in result.output
    draft = drafts.resume("note_1")
    assert draft is not None and "FACT number 1." in draft.read_text()
