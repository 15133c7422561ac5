"""The memory verbs over a real socket to a real daemon: what a person decided is there after kill -9, and two at once
lose nothing."""

import json
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import Refused, RunningDaemon, Wire

pytestmark = pytest.mark.reliability


@pytest.fixture
def daemon() -> Iterator[RunningDaemon]:
    with tempfile.TemporaryDirectory(prefix="v") as folder, RunningDaemon(Path(folder)) as running:
        yield running


def place(daemon: RunningDaemon, name: str = "project") -> str:
    folder = daemon.folder / "work" / name
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def found(wire: Wire, query: str, folder: str) -> dict[str, Any]:
    hits = wire.call("memory.search", query=query, workspace=folder)["hits"]
    return {hit["memoryId"]: hit for hit in hits}


def test_what_a_person_decided_outlives_the_daemon(daemon: RunningDaemon) -> None:
    folder = place(daemon)
    with daemon.connect() as wire:
        old = wire.call("memory.remember", text="The retry limit is 10.", workspace=folder)["memoryId"]
        new = wire.call("memory.remember", text="The retry limit is 20.", workspace=folder, supersedes=[old])
        quiet = wire.call("memory.remember", text="Owls sleep by day.", workspace=folder)["memoryId"]
        again = wire.call("memory.remember", text="owls  sleep by day", workspace=folder)
        wire.call("memory.mute", memoryId=quiet, workspace=folder)
        got = wire.call("memory.get", memoryId=new["memoryId"], workspace=folder)
        changed = wire.call(
            "memory.edit",
            memoryId=new["memoryId"],
            workspace=folder,
            expected=got["locator"]["recordDigest"],
            text="The retry limit is 30.",
        )
        batch = [{"text": f"Heron {n} nests in tree {n}.", "source": "birds.md"} for n in range(50)]
        taken = wire.call("memory.import", workspace=folder, records=batch)
    daemon.kill()

    daemon.start()

    with daemon.connect() as wire:
        hits = found(wire, "retry limit owls", folder)
        assert set(hits) == {new["memoryId"], quiet}
        assert (hits[new["memoryId"]]["text"], hits[quiet]["muted"]) == ("The retry limit is 30.", True)
        assert (new["superseded"], again["duplicateOf"], changed["changed"]) == ([old], quiet, True)
        replaced = wire.call("memory.get", memoryId=old, workspace=folder)["record"]
        assert (replaced["status"], replaced["supersededBy"]) == ("superseded", new["memoryId"])
        assert wire.call("memory.get", memoryId=quiet, workspace=folder)["sightings"] == 2
        assert taken["imported"] == 50
        assert wire.call("memory.import", workspace=folder, records=batch)["duplicates"] == 50
        linted = wire.call("memory.lint", workspace=folder)
        assert (linted["records"], linted["findings"]) == (53, [])
        verbs = [entry["outcome"] for entry in wire.call("audit.query", kind="feedback")["entries"]]
        assert verbs == ["edited", "muted", "superseded"]
        assert wire.call("audit.verify")["ok"] is True


def test_two_persons_at_once_lose_nothing(daemon: RunningDaemon) -> None:
    folder, told = place(daemon), []

    def speak(name: str) -> None:
        with daemon.connect() as wire:
            for number in range(20):
                told.append(wire.call("memory.remember", text=f"{name} saw heron {number}.", workspace=folder))
                told.append(wire.call("memory.remember", text=f"Heron {number} is grey.", workspace=folder))

    threads = [threading.Thread(target=speak, args=(name,)) for name in ("Ada", "Bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({one["memoryId"] for one in told}) == 60  # what both said is one memory
    with daemon.connect() as wire:
        assert wire.call("memory.lint", workspace=folder)["records"] == 60
        assert wire.call("memory.lint", workspace=folder)["findings"] == []


def test_an_index_is_made_anew_while_questions_are_answered(daemon: RunningDaemon) -> None:
    folder = place(daemon)
    with daemon.connect() as wire:
        for first in range(0, 1024, 256):
            batch = [{"text": f"Heron {n} nests in tree {n}.", "source": "b"} for n in range(first, first + 256)]
            wire.call("memory.import", workspace=folder, records=batch)
        assert wire.call("index.rebuild")["started"] is True
        stages = {wire.call("index.progress")["stage"]}
        answers = []
        while wire.call("index.progress")["stage"] != "idle":
            answers.append(wire.call("memory.search", query="heron 77 tree", workspace=folder))
        answers.append(wire.call("memory.search", query="heron 77 tree", workspace=folder))

    assert stages == {"rebuilding"}
    assert all(answer["hits"] for answer in answers)
    lexical = [arm["shortfall"] for answer in answers for arm in answer["arms"] if arm["name"] == "lexical"]
    assert lexical == [None] * len(answers)


@pytest.mark.promise("bad-input")
def test_a_lone_surrogate_in_any_verb_is_refused_and_nothing_is_written(daemon: RunningDaemon) -> None:
    folder = place(daemon)
    bad = {
        "memory.remember": {"text": "x\ud800"},
        "memory.search": {"query": "x\ud800"},
        "memory.edit": {"memoryId": "mem_1", "expected": "", "title": "\udfff"},
        "memory.import": {"records": [{"text": "\ud800", "source": "s"}]},
    }
    for method, params in bad.items():
        with daemon.connect() as wire:
            sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"workspace": folder} | params}
            wire.send_bytes(json.dumps(sent).encode() + b"\n")
            assert wire.receive()["error"]["code"] == -32700, method

    with daemon.connect() as wire:
        assert wire.call("memory.list", workspace=folder)["records"] == []
        with pytest.raises(Refused) as caught:
            wire.call("memory.mute", memoryId="x" * 5000, workspace=folder)
        assert caught.value.data["kind"] == "unknown-memory"
