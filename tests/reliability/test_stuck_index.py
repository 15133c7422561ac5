"""What keeps an index from being written or healed for a while: a lock, a full disk, a folder that is read-only."""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.reliability.breaking import HEALED_SECONDS, RECORDS, WORD, Shelf, sql
from tests.support.daemon import Refused, RunningDaemon

pytestmark = [pytest.mark.reliability, pytest.mark.promise("broken-index")]


# ------------------------------------------------------------------------------------------------ kept from healing


LOCK = (
    "import sqlite3, sys, time\n"
    "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    "connection.execute('BEGIN IMMEDIATE')\n"
    "print('locked', flush=True)\n"
    "time.sleep(float(sys.argv[2]))\n"
    "connection.execute('ROLLBACK')\n"
)


@contextmanager
def locked(index: Path, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """Another process holds the write lock for so long, and ends."""
    with subprocess.Popen([sys.executable, "-c", LOCK, str(index), str(seconds)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"locked\n"
        try:
            yield process
        finally:
            process.kill()


def test_another_process_that_holds_the_lock_stops_no_search_and_loses_no_record(shelf: Shelf) -> None:
    text, answers = f"Said to a locked {WORD}.", 0
    with locked(shelf.index, 3) as holder, shelf.connect() as wire, shelf.connect() as another:
        number = another.send("memory.remember", text=text, workspace=shelf.workspace)
        while holder.poll() is None:
            found = wire.call("memory.search", query="yard", workspace=shelf.workspace, limit=500)
            assert len(found["hits"]) >= RECORDS
            answers += 1
        answer = another.receive()

        assert answer["id"] == number and "result" in answer, answer
        assert shelf.in_files(text) and answers > 5
        shelf.kept[answer["result"]["memoryId"]] = text
    shelf.heals()


@contextmanager
def full(daemon: RunningDaemon, room: int) -> Iterator[None]:
    """No file of the running daemon may grow beyond `room` bytes, until the block ends."""
    assert daemon.process is not None
    pid = daemon.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


needs_limits = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of others cannot be set here")


@needs_limits
def test_a_disk_that_is_full_while_a_file_is_taken_in_is_said_and_made_up_for(shelf: Shelf) -> None:
    largest = max(path.stat().st_size for path in shelf.daemon.data.rglob("*") if path.is_file())
    before = frozenset(shelf.kept)
    with shelf.connect() as wire:
        with full(shelf.daemon, largest + 65_536):
            shelf.by_hand("late.md", [f"A late {WORD}, number {number}: {'long ' * 200}" for number in range(300)])
            end = time.monotonic() + HEALED_SECONDS
            while (state := wire.call("health")["parts"]["index"]) == "ok":
                assert time.monotonic() < end, "the index could not be written, and nobody is told"
                time.sleep(0.05)
            answer = wire.call("memory.search", query=WORD, workspace=shelf.workspace, limit=500)
            assert before <= {hit["memoryId"] for hit in answer["hits"]}, "what was found is found no more"
            assert answer["degraded"], "files are left out, and the answer does not say so"
            with suppress(Refused):
                wire.call("memory.remember", text=f"Said to a brimful {WORD}.", workspace=shelf.workspace)
            said = shelf.in_files(f"Said to a brimful {WORD}.")
        end = time.monotonic() + HEALED_SECONDS
        while wire.call("health")["parts"]["index"] != "ok":
            assert time.monotonic() < end, wire.call("health")["parts"]
            time.sleep(0.1)
        found = wire.call("memory.search", query="brimful", workspace=shelf.workspace)["hits"]
        assert len(found) == int(said), "it was written and is not found, or is found and was not written"
        shelf.kept |= {hit["memoryId"]: hit["text"] for hit in found}
    assert "full" in state or "disk" in state or "written" in state, state
    shelf.heals()


@needs_limits
def test_an_index_that_is_broken_and_cannot_be_made_anew_is_answered_for_from_memory(shelf: Shelf) -> None:
    with shelf.connect() as wire:
        with full(shelf.daemon, 4096):
            sql("DROP TABLE posting")(shelf.index)
            for _ in range(10):
                answer = shelf.search(wire, "quokka")
                assert answer["degraded"] and answer["hits"], "held in memory, and not answered from there"
                listed = shelf.list(wire)
                assert listed is None or listed == shelf.kept.keys()
                time.sleep(0.2)
            health = wire.call("health")
            shelf.remember(wire, f"Said to a broken and full {WORD}.")

        assert not health["ready"] and health["parts"]["index"] != "ok"
    shelf.heals()


# ------------------------------------------------------------------------------------------------ read-only

# A root user may write everywhere; without these capabilities the permissions of files count for it too.
UNPRIVILEGED = (
    "import ctypes, os, sys\n"
    "libc = ctypes.CDLL(None)\n"
    "for capability in (1, 2, 3):\n"
    "    libc.prctl(24, capability, 0, 0, 0)\n"
    "os.execv(sys.executable, [sys.executable, '-m', 'host.daemon'])\n"
)


@contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Nothing can be made, renamed or removed in these folders, until the block ends."""
    before = [folder.stat().st_mode for folder in folders]
    try:
        for folder in folders:
            folder.chmod(0o500)
        yield
    finally:
        for folder, mode in zip(folders, before, strict=True):
            folder.chmod(mode)


def test_a_data_folder_that_becomes_read_only_is_searched_on_refuses_records_in_words_and_takes_them_again(
    shelf: Shelf,
) -> None:
    shelf.daemon.stop()
    shelf.daemon.command = (sys.executable, "-c", UNPRIVILEGED)
    shelf.daemon.start()
    with shelf.connect() as wire:
        shelf.search(wire)
        with read_only(shelf.daemon.data, shelf.memory, shelf.memory / "records"):
            for _ in range(5):
                assert shelf.search(wire)["hits"]
            assert not shelf.remember(wire, f"Said to a read-only {WORD}.")
            sql("DROP TABLE posting")(shelf.index)  # and it cannot be made anew
            for _ in range(5):
                assert shelf.search(wire)["hits"]
            assert wire.call("health")["parts"]["index"] != "ok"

        assert shelf.remember(wire, f"Said to a {WORD} that listens again.")
    shelf.heals()


def test_a_start_on_a_data_folder_that_is_read_only_says_so_and_changes_nothing(shelf: Shelf) -> None:
    shelf.daemon.stop()
    shelf.daemon.command = (sys.executable, "-c", UNPRIVILEGED)
    before = {path: path.read_bytes() for path in shelf.daemon.data.rglob("*") if path.is_file()}
    with read_only(shelf.daemon.data, shelf.memory):
        for path in shelf.daemon.data.glob("*.db*"):
            path.chmod(0o400)
        done = subprocess.run(
            shelf.daemon.command,
            cwd=shelf.daemon.folder,
            env=shelf.daemon.environment(),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    assert done.returncode != 0 and "Traceback" not in done.stderr, done.stderr
    assert str(shelf.daemon.data) in done.stderr or "read" in done.stderr, done.stderr
    assert {path: path.read_bytes() for path in before} == before
    for path in shelf.daemon.data.glob("*.db*"):
        path.chmod(0o600)
    shelf.daemon.start()
    shelf.heals()
