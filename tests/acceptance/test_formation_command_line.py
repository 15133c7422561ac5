"""formation.md 9, item 12, from the command line: the rules of section 2 through `extract --emit-task` and `stage`,
with a daemon whose every connection to anywhere fails, and tells of it."""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recall.contracts import EventType
from tests.support.asking import on_wire
from tests.support.builders import a_call, a_prompt, a_reply, a_result
from tests.support.daemon import RunningDaemon, Wire
from tests.support.growing import lines_of
from tests.support.prompt import Prompt
from tests.support.remembering import POISON, TOKEN

pytestmark = pytest.mark.promise("formation-12")
NO_NETWORK = """
import socket
def _refused(self, address, connect=socket.socket.connect):
    if self.family == socket.AF_UNIX:
        return connect(self, address)
    with open({log!r}, "a") as file:
        file.write(repr(address) + "\\n")
    raise ConnectionRefusedError(address)
socket.socket.connect = socket.socket.connect_ex = _refused
"""
DAY = 1_793_696_400_000  # 2026-11-03, 09:00 UTC
BODY = "the body of a tool, which nobody is shown"


@dataclass
class Cut:
    """A daemon that reaches nobody, and the command line before it."""

    prompt: Prompt
    socket: Path
    log: Path

    def hears(self, session: str, *said: tuple[str, str], tools: bool = False, first: int = 0) -> None:
        """A session in which these roles say these texts, one a minute; `tools`: with a call of a tool between.
        `first`: the number of the first of them."""
        with Wire(self.socket) as wire:
            for place, (role, text) in enumerate(said, start=first):
                make = a_reply if role == "assistant" else a_prompt
                fields: dict[str, Any] = {"session_id": session, "workspace": str(self.prompt.folder)}
                at = DAY + 60_000 * place
                events = [make(text, event_id=f"{session}-{place}", timestamp=at, **fields)]
                if tools:
                    call = {"call_id": f"c{place}", "timestamp": at} | fields
                    events += [a_call(f"cat {BODY}", **call), a_result(BODY, **call)]
                wire.call("event.append", events=[on_wire(one) for one in events])

    def task(self, session: str) -> dict[str, Any]:
        task: dict[str, Any] = json.loads(self.prompt.ok("extract", "--session", session, "--emit-task"))
        return task

    def stage(self, task: dict[str, Any], *notes: Any) -> dict[str, Any]:
        said = json.dumps(answer(task, *notes))
        done = self.prompt.ok("stage", "--request", "-", "--agent", "codex", "--json", said=said)
        noted: dict[str, Any] = json.loads(done)["noted"]
        return noted


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cut]:
    log, hook = tmp_path / "connections", tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(NO_NETWORK.format(log=str(log)))
    path = os.pathsep.join([str(hook), str(Path(__file__).resolve().parents[2])])
    with (
        tempfile.TemporaryDirectory(prefix="r") as folder,
        RunningDaemon(Path(folder), env={"PYTHONPATH": path}) as daemon,
    ):
        for name, value in daemon.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield Cut(prompt=Prompt(tmp_path, monkeypatch), socket=daemon.socket, log=log)
    assert not log.exists(), log.read_text()


def answer(task: dict[str, Any], *notes: Any) -> dict[str, Any]:
    return {"format": task["contract"]["format"], "taskId": task["taskId"], "binding": task["binding"], "notes": notes}


def cited(task: dict[str, Any], quote: str, content: str, **fields: Any) -> dict[str, Any]:
    """A note with this quote, of the message that holds the first words of it."""
    said = next((one for one in lines_of(task) if quote in one["content"]), lines_of(task)[-1])
    return {
        "kind": "fact",
        "title": "A note",
        "content": content,
        "attribution": "user_statement",
        "citations": [{"messageId": said["messageId"], "quote": quote}],
    } | fields


def codes(noted: dict[str, Any]) -> list[str]:
    return [one["code"] for one in noted["rejected"]]


def test_item_12_windows_of_twenty_messages_between_tools(cut: Cut) -> None:
    cut.hears("s-long", *(("user", f"Message {number} says so.") for number in range(21)), tools=True)

    first = cut.task("s-long")
    assert [one["use"] for one in lines_of(first)] == ["new"] * 20
    assert BODY not in json.dumps(first)
    assert cut.stage(first)["remaining"] == 1
    second = cut.task("s-long")
    assert [one["use"] for one in lines_of(second)] == ["background"] * 5 + ["new"]
    old, new = lines_of(second)[0]["content"], lines_of(second)[-1]["content"]
    note = cited(second, old, old)
    both = note | {"citations": [*note["citations"], *cited(second, new, new)["citations"]], "title": "Another"}

    noted = cut.stage(second, note, both)

    assert (codes(noted), len(noted["notes"]), noted["status"]) == (["background-only"], 1, "partial")
    assert cut.prompt.run("extract", "--session", "s-long", "--emit-task").exit_code == 1


def test_item_12_a_malformed_note_and_a_ninth_leave_seven(cut: Cut) -> None:
    cut.hears("s-many", *(("user", f"Message {number} says so.") for number in range(9)))
    task = cut.task("s-many")
    good = [cited(task, f"Message {number} says so.", f"Message {number} says so.") for number in range(9)]

    noted = cut.stage(task, *good[:2], {"title": "junk"}, *good[2:8])

    assert [(one["index"], one["code"]) for one in noted["rejected"]] == [(2, "schema"), (8, "over-limit")]
    assert (len(noted["notes"]), noted["status"], noted["remaining"]) == (7, "partial", 0)


def test_item_12_quotes_negations_numbers_dates_and_secrets(cut: Cut) -> None:
    said = (
        ("user", "一行 🙂 first line\r\n  second line of it."),
        ("user", "不可以直接删除 cache 目录。"),
        ("user", "The retry limit is 3."),
        ("user", "We froze the API yesterday."),
        ("assistant", "The suite takes an hour."),
        ("user", f"Deploy with {TOKEN} on Fridays."),
        ("user", f"{POISON} We deploy on Mondays."),
    )
    cut.hears("s-rules", *said)
    task = cut.task("s-rules")
    assert TOKEN not in json.dumps(task)

    refused = {
        "quote-not-found": cited(task, "The retry limit was 3", "The retry limit is 3."),
        "negation-cut": cited(task, "可以直接删除 cache 目录", "可以直接删除 cache 目录。"),
        "unsupported-token": cited(task, "The retry limit is 3", "The retry limit is 5."),
        "relative-date": cited(task, "We froze the API yesterday", "The API was frozen yesterday."),
        "attribution-mismatch": cited(task, "The suite takes an hour", "The suite takes an hour."),
        "unknown-message": cited(task, "The retry limit", "x")
        | {"citations": [{"messageId": "m0", "quote": "The retry"}]},
        "quote-too-short": cited(task, "The", "The limit."),
    }
    secret = cited(task, "on Fridays", "We deploy on Fridays.")
    secret["citations"][0]["quote"] = f"Deploy with {TOKEN} on Fridays"  # which not even the log has
    for code, note in [*refused.items(), ("quote-not-found", secret)]:
        done = cut.prompt.run("stage", "--request", "-", said=json.dumps(answer(task, note)))
        assert (done.exit_code, code in done.output) == (1, True), (code, done.output)

    wrapped = cited(task, "一行 🙂 first line", "There are two lines.")
    wrapped["citations"][0]["quote"] = "🙂 first line second line"
    report = cited(task, "The suite takes an hour", "The suite takes an hour.", attribution="assistant_report")
    dated = cited(task, "We froze the API yesterday", "The API was frozen on 2026-11-02.")
    order = cited(task, f"{POISON} We deploy", f"{POISON}")
    noted = cut.stage(task, wrapped, report, dated, order)

    assert (noted["status"], len(noted["notes"])) == ("completed", 4)
    items = [cut.prompt.json("review", one)["item"] for one in noted["notes"]]
    assert items[0]["citations"][0]["quote"] == "🙂 first line\n  second line"  # as the log holds it
    assert ["quarantined" in one.get("flags", []) for one in items] == [False, False, False, True]
    assert {one["proposedBy"] for one in items} == {"agent"}


def test_item_12_a_message_that_was_said_meanwhile_opens_the_next_window(cut: Cut) -> None:
    cut.hears("s-grows", ("user", "The retry limit is 3."))
    task = cut.task("s-grows")
    cut.hears("s-grows", ("user", "The retry limit is 3."), ("assistant", "Noted."), ("user", "Ship on Thursdays."))

    noted = cut.stage(task, cited(task, "The retry limit is 3", "The retry limit is 3."))

    assert (noted["status"], len(noted["notes"])) == ("completed", 1)
    new = [one["content"] for one in lines_of(cut.task("s-grows")) if one["use"] == "new"]
    assert new == ["Noted.", "Ship on Thursdays."]


def test_item_12_what_was_said_incognito_is_in_no_task(cut: Cut) -> None:
    cut.hears("s-denied", ("user", "The retry limit is 3."))
    before = cut.task("s-denied")
    with Wire(cut.socket) as wire:
        wire.call("session.set", sessionId="s-denied", incognito=True)
        cut.hears("s-denied", ("user", "The codename is heron."), first=1)
        while_it_is = cut.prompt.run("extract", "--session", "s-denied", "--emit-task")
        wire.call("session.set", sessionId="s-denied", incognito=False)
    cut.hears("s-denied", ("user", "Ship on Thursdays."), first=2)

    noted = cut.stage(before, cited(before, "The retry limit is 3", "The retry limit is 3."))
    after = cut.task("s-denied")

    assert while_it_is.exit_code == 1 and "incognito" in while_it_is.output
    assert len(noted["notes"]) == 1
    assert [one["content"] for one in lines_of(after)] == ["The retry limit is 3.", "Ship on Thursdays."]
    assert "heron" not in json.dumps(after)


def test_item_12_the_session_ends_and_its_checkpoint_waits_for_the_agent(cut: Cut) -> None:
    cut.hears("s-end", ("user", "The retry limit is 3."))
    with Wire(cut.socket) as wire:
        event = a_prompt("", session_id="s-end", workspace=str(cut.prompt.folder), event_id="end")
        end = on_wire(event) | {"eventType": str(EventType.SESSION_END), "payload": {}}
        wire.call("event.append", events=[end])
    task = json.loads(cut.prompt.ok("checkpoint", "--session", "s-end", "--emit-task"))

    noted = cut.stage(task, cited(task, "The retry limit is 3", "The retry limit is 3."))

    assert len(noted["notes"]) == 1
    assert cut.prompt.json("checkpoint", "--list")["waiting"] == []
    assert "no-range" in cut.prompt.ok("checkpoint", "--session", "s-end")
