"""Edits under load: an editor, git, two agents that remember and searches, all at once over one real daemon."""

import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from host.runtime import USER_KEY
from recall.contracts import Origin, Scope, ScopeRef
from recall.library import Root
from recall.workspace import workspace_key
from tests.reliability.repository import STEADY, Repository, branch
from tests.reliability.witness import Witness, by_a_fresh_library, parsed, sampled, settles
from tests.reliability.writers import FILES, edited, half, name_of
from tests.support.builders import a_workspace_scope
from tests.support.daemon import ROOT, RunningDaemon

pytestmark = [pytest.mark.reliability, pytest.mark.promise("files-under-load")]

CHECKOUTS = 51  # an odd number: it ends on another branch than it began
BETWEEN = 0.05  # seconds: shorter than the daemon waits for a change to settle, so that it meets half of one
APPENDED = 60  # records of each agent
ROUNDS = 5
USER = ScopeRef(kind=Scope.USER, key=USER_KEY)
QUERIES = ("quokka", "walrus ledger", "ibex table", "quagga count", "okapi moves", "switch lot cast", "heron 147")


@contextmanager
def program(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """One of the programs of `writers`; killed when the block ends early."""
    command = [sys.executable, "-m", "tests.reliability.writers", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def result(process: subprocess.Popen[str]) -> str:
    out, problem = process.communicate(timeout=60)
    assert process.returncode == 0, problem
    return out


@contextmanager
def editing(folder: Path, stop: Path) -> Iterator[subprocess.Popen[str]]:
    """The editor at work on files of the folder, from its first round on until the file `stop` is made."""
    folder.mkdir(parents=True, exist_ok=True)
    with program("edit", folder, stop) as editor:
        last = folder / name_of(FILES - 1)
        while not last.exists():
            assert editor.poll() is None, editor.communicate()
            time.sleep(0.01)
        yield editor


def edited_contents(folder: Path, turns: int) -> dict[str, list[bytes]]:
    """Absolute path -> everything that the editor ever left in the file, if only for a moment."""
    found = {}
    for file in range(FILES):
        contents = [edited(file, turn) for turn in range(1, turns + 1)]
        found[str(folder / name_of(file))] = contents + [half(data) for data in contents]
    return found


def private_roots(daemon: RunningDaemon, workspace: str) -> list[Root]:
    """The roots of a session in that folder that lie with the daemon."""
    key = workspace_key(workspace)
    return [
        Root(path=str(daemon.data / "memory" / "user"), scope=USER, origin=Origin.USER),
        Root(path=str(daemon.data / "memory" / key), scope=a_workspace_scope(key), origin=Origin.USER),
    ]


def shared_root(repository: Repository) -> Root:
    top = str(repository.folder)
    scope = a_workspace_scope(workspace_key(top))
    return Root(path=str(repository.memory), scope=scope, origin=Origin.IMPORTED, inside=top)


def ids(data: bytes) -> set[str]:
    return {one.record.memory_id for one in parsed("/m/a.md", data)}


@pytest.mark.promise("git-untouched")
async def test_an_editor_git_two_agents_and_searches_at_once_leave_the_index_equal_to_the_files(
    tmp_path: Path, run_dir: Path
) -> None:
    repository, stop, done = Repository(tmp_path / "project"), tmp_path / "stop", threading.Event()
    workspace = str(repository.folder)
    with RunningDaemon(run_dir) as daemon:
        user = daemon.data / "memory" / "user"
        witness = Witness(daemon, workspace, QUERIES, STEADY)
        with editing(user, stop) as editor, daemon.connect() as wire:
            wire.call("memory.search", query="quokka", workspace=workspace)
            searching = threading.Thread(target=witness.search, args=(done,))
            searching.start()
            try:
                with (
                    program("append", daemon.socket, workspace, "ant", APPENDED) as first,
                    program("append", daemon.socket, workspace, "bee", APPENDED) as second,
                ):
                    for turn in range(CHECKOUTS):
                        repository.git("checkout", "--quiet", "other" if turn % 2 == 0 else "main")
                        time.sleep(BETWEEN)
                    acknowledged = json.loads(result(first)) | json.loads(result(second))
                stop.touch()
                turns = int(result(editor))
            finally:
                done.set()
                searching.join(30)
        roots = [*private_roots(daemon, workspace), shared_root(repository)]
        wanted = await by_a_fresh_library(tmp_path / "fresh", roots, workspace)
        settles(daemon, workspace, wanted)
        witness.samples.append(sampled(daemon.data / "index.db"))
        months = (daemon.data / "memory" / workspace_key(workspace) / "records").glob("*.md")
        appended = {str(path): [path.read_bytes()] for path in months}
        hidden = list((daemon.data / "memory").rglob(".*"))

    # every record is there, once
    assert len(acknowledged) == 2 * APPENDED
    assert {one: wanted[one][0].text for one in acknowledged} == acknowledged
    here = {one for data in branch("other").values() for one in ids(data)}
    rewritten = {one for file in range(FILES) for one in ids(edited(file, turns))}
    assert wanted.keys() == acknowledged.keys() | here | rewritten
    assert hidden == [] and repository.git("status", "--porcelain") == ""

    # whatever was said of a place was true of the file at that version
    contents = repository.contents() | edited_contents(user, turns) | appended
    untrue, exact = witness.untrue(contents)
    assert untrue == [] and witness.wrong == []
    seen = witness.contents_seen()

    # and all this happened while everything moved
    assert turns > 20 and witness.searches > 50 and witness.unmarked > 5 and exact > 100 and seen > 10
    both = {locator.byte_end for _, locator in witness.said if locator.source_file.endswith("/both.md")}
    assert len(both) > 1, "only one of the branches was ever seen"


def remember_until_gone(
    daemon: RunningDaemon, workspace: str, name: str, kept: dict[str, str], sent: list[str]
) -> None:
    """One agent, until the daemon dies. `sent`: what was said, acknowledged or not."""
    with daemon.connect() as wire:
        for number in range(10_000):
            text = f"{name}{number} {name}: the lever {name}x{number} stays up before lot {name}y{number * 7} is cast."
            sent.append(text)
            try:
                kept[wire.call("memory.remember", text=text, workspace=workspace)["memoryId"]] = text
            except (OSError, ConnectionError):
                return


async def test_kills_of_the_daemon_in_the_middle_of_all_this_lose_no_acknowledged_record_and_double_none(
    tmp_path: Path, run_dir: Path
) -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    folder, stop = tmp_path / "project", tmp_path / "stop"
    folder.mkdir()
    workspace = str(folder)
    daemon, kept, sent = RunningDaemon(run_dir), dict[str, str](), list[str]()
    daemon.start()
    try:
        with editing(daemon.data / "memory" / "user", stop) as editor:
            for turn in range(ROUNDS):
                agents = [
                    threading.Thread(target=remember_until_gone, args=(daemon, workspace, f"r{turn}{name}", kept, sent))
                    for name in ("ant", "bee")
                ]
                for agent in agents:
                    agent.start()
                time.sleep(chance.uniform(0.05, 0.4))
                daemon.kill()
                for agent in agents:
                    agent.join(10)
                daemon.start()
            stop.touch()
            result(editor)
        wanted = await by_a_fresh_library(tmp_path / "fresh", private_roots(daemon, workspace), workspace)
        settles(daemon, workspace, wanted)
    finally:
        daemon.stop()

    assert len(kept) > ROUNDS, f"seed {seed}: the agents hardly worked"
    assert {one: wanted[one][0].text for one in kept} == kept, f"seed {seed}"
    written = Counter(record.text for record, _ in wanted.values() if record.text in set(sent))
    assert [text for text, times in written.items() if times > 1] == [], f"seed {seed}: a record is there twice"
