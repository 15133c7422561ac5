"""Reported faults that need many clients or many records, against a real daemon.

The cases are data: `tests/data/cases`, our own words (CC0).
"""

import ctypes
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from recall.workspace import workspace_key
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope
from tests.support.daemon import ROOT, Refused, RunningDaemon, Wire, a_message
from tests.support.library import write_records

pytestmark = [pytest.mark.reliability, pytest.mark.promise("many-at-once"), pytest.mark.promise("field-cases")]

CASES = ROOT / "tests" / "data" / "cases"
SECONDS = 3.0  # of the case's twenty
SPARE = 0.02


def load(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    return found


@dataclass
class Load:
    """What clients of one daemon do until the time is up, and what they were told."""

    daemon: RunningDaemon
    workspace: str
    end: float
    written: dict[str, str] = field(default_factory=dict)  # memory id -> text
    events: dict[str, int] = field(default_factory=dict)  # session -> acknowledged
    answers: int = 0
    errors: list[str] = field(default_factory=list)

    def run(self, work: Callable[[Wire, str, int], None], name: str) -> None:
        with self.daemon.connect() as wire:
            number = 0
            while time.monotonic() < self.end:
                number += 1
                try:
                    work(wire, name, number)
                except Refused as refused:
                    self.errors.append(str(refused))

    def write(self, wire: Wire, name: str, number: int) -> None:
        """A record, then an event of a session of the writer's own: both stores are written."""
        text = (
            f"{name}n{number} {name}: the sluice {name}s{number} opens at {number * 11} past the bell {name}b{number}."
        )
        memory_id = wire.call("memory.remember", text=text, workspace=self.workspace)["memoryId"]
        self.written[memory_id] = text
        wire.call("event.append", events=[self.event(name, number)])
        self.events[name] = number

    def event(self, name: str, number: int) -> dict[str, object]:
        text = f"When does the sluice {name}s{number} open?"
        return a_message(name, number, text, workspace=self.workspace)

    def read(self, wire: Wire, name: str, number: int) -> None:
        answer = wire.call("memory.search", query=f"sluice bell writer{number % 4}s1", workspace=self.workspace)
        listed = wire.call("memory.list", workspace=self.workspace, limit=100)
        health = wire.call("health")
        shortfalls = {arm["shortfall"] for arm in answer["arms"] if arm.get("shortfall")}
        if shortfalls - {"late"}:
            self.errors.append(f"{name}: {shortfalls}")
        if "lock" in str(health["parts"]) or len(listed["records"]) < min(100, number > 1):
            self.errors.append(f"{name}: {health['parts']}, {len(listed['records'])} listed")
        self.answers += 1


MEDDLER = (
    "import sqlite3, sys, time\n"
    "read = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True, isolation_level=None)\n"
    "write = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)\n"
    "end = time.monotonic() + float(sys.argv[2])\n"
    "turns = 0\n"
    "while time.monotonic() < end:\n"
    "    read.execute('SELECT count(*) FROM record').fetchone()\n"
    "    write.execute('BEGIN IMMEDIATE')\n"
    "    time.sleep(0.005)\n"
    "    write.execute('ROLLBACK')\n"
    "    turns += 1\n"
    "    time.sleep(0.02)\n"
    "print(turns)\n"
)


def test_writers_readers_and_a_stranger_at_the_index_meet_no_lock_and_lose_no_write(
    tmp_path: Path, run_dir: Path
) -> None:
    case = load("db-locked-by-writer")
    workspace = tmp_path / "project"
    workspace.mkdir()
    with RunningDaemon(run_dir) as daemon:
        with daemon.connect() as wire:
            wire.call("memory.remember", text="The first record of all.", workspace=str(workspace))
        load_of = Load(daemon, str(workspace), time.monotonic() + SECONDS)
        clients = [
            threading.Thread(target=load_of.run, args=(work, f"{kind}{number}"))
            for kind, work, count in (
                ("writer", load_of.write, case["given"]["writers"]),
                ("reader", load_of.read, case["given"]["readers"]),
            )
            for number in range(count)
        ]
        command = [sys.executable, "-c", MEDDLER, str(daemon.data / "index.db"), str(SECONDS)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stranger:
            for client in clients:
                client.start()
            for client in clients:
                client.join(60)
            turns = int(stranger.communicate(timeout=60)[0])
        with daemon.connect() as wire:
            listed: list[dict[str, Any]] = []
            after = None
            while after is not None or not listed:
                page = wire.call("memory.list", workspace=str(workspace), limit=500, after=after)
                listed += page["records"]
                after = page["next"]
            for name, last in load_of.events.items():
                again = wire.call("event.append", events=[load_of.event(name, last)])
                assert (again["accepted"], again["duplicates"]) == (0, 1)
                assert wire.call("session.status", sessionId=name)["eventSeq"] == last

    assert len(load_of.errors) == case["then"]["locked_errors"], load_of.errors
    kept = {record["memoryId"]: record["text"] for record in listed}
    lost = {one: text for one, text in load_of.written.items() if kept.get(one) != text}
    assert len(lost) == case["then"]["lost_writes"], lost
    assert len(listed) == len(kept) == len(load_of.written) + 1
    assert len(load_of.written) > 20 and load_of.answers > 20 and turns > 20
    assert "locked" not in daemon.log.read_text(errors="replace")


HOOK = ROOT / "host" / "hook.py"
FILES, EACH = 500, 20  # the case has a hundred in each; every file is there


class Opened:
    """Notices which files of a folder anybody opens, and the folder itself (under an empty name)."""

    OPEN = 0x20

    def __init__(self, folder: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._handle < 0 or libc.inotify_add_watch(self._handle, os.fsencode(folder), self.OPEN) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def names(self) -> set[str]:
        """Of files, since this was last asked. The folder itself, which has no name here, may be listed."""
        found: set[str] = set()
        while True:
            try:
                told = os.read(self._handle, 1 << 16)
            except BlockingIOError:
                return found - {""}
            while told:
                length = int.from_bytes(told[12:16], sys.byteorder)
                found.add(os.fsdecode(told[16 : 16 + length].rstrip(b"\0")))
                told = told[16 + length :]


def written(index: Path) -> tuple[object, ...]:
    """What changes when anything is written to the index: its version, its journal, its files."""
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        (version,) = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        (last,) = connection.execute("SELECT max(seq) FROM listing").fetchone()
        stamps = tuple(connection.execute("SELECT sum(version), count(*), max(stamp) FROM file").fetchone())
    log = index.with_name(index.name + "-wal")
    return version, last, stamps, index.stat().st_mtime_ns, log.stat().st_mtime_ns, log.stat().st_size


@pytest.mark.skipif(sys.platform != "linux", reason="who opens a file is told by inotify")
def test_a_hook_at_every_prompt_reads_no_memory_file_and_writes_no_index(tmp_path: Path, run_dir: Path) -> None:
    case = load("every-search-reindexes")
    assert case["given"]["generate"]["files"] == FILES
    workspace = tmp_path / "project"
    workspace.mkdir()
    with RunningDaemon(run_dir) as daemon:
        key = workspace_key(str(workspace))
        scope, memory = a_workspace_scope(key), daemon.data / "memory" / key
        for number in range(FILES):
            texts = [f"Rotate the certificates of host {number} by runbook {line}." for line in range(EACH)]
            ids = (a_memory_id(number * EACH + line) for line in range(EACH))
            records = [a_memory(text, memory_id=one, scope=scope) for text, one in zip(texts, ids, strict=True)]
            write_records(memory / f"{number}.md", records, scope)
        with daemon.connect() as wire:
            wire.call("memory.search", query="certificates", workspace=str(workspace))
            while wire.call("index.progress")["stage"] != "idle":
                time.sleep(SPARE)
            assert wire.call("health")["memory"]["records"] == FILES * EACH
        before, codes, said = written(daemon.data / "index.db"), [], []
        opened = Opened(memory)

        for number in range(case["when"]["repeat"]):
            payload = {
                "hook_event_name": case["when"]["event"],
                "session_id": f"s{number}",
                "prompt_id": f"p{number}",
                "cwd": str(workspace),
                "transcript_path": str(tmp_path / f"{number}.jsonl"),
                "prompt": case["when"]["prompt"],
            }
            done = subprocess.run(
                [sys.executable, "-I", "-S", str(HOOK), "claude-code"],
                input=json.dumps(payload).encode(),
                env=daemon.environment(),
                capture_output=True,
                timeout=30,
                check=False,
            )
            codes.append(done.returncode)
            said.append(done.stderr)
        with daemon.connect() as wire:
            passes = wire.call("audit.query", kind="pass", limit=100)["entries"]
            hits = wire.call("memory.search", query=case["when"]["prompt"], workspace=str(workspace), limit=10)["hits"]

        assert written(daemon.data / "index.db") == before, "a search wrote to the index"
        assert opened.names() == set(), "a search read memory files"
        (memory / "0.md").read_bytes()
        assert opened.names() == {"0.md"}, "it would not have been noticed"
    assert codes == [case["then"]["exit_code"]] * case["when"]["repeat"] and set(said) == {b""}
    assert len(hits) == 10 and len(passes) >= case["when"]["repeat"], "the prompts brought no search"
