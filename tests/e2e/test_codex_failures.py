"""Whatever happens to the daemon, the real Codex does what it does without hooks: the same requests, no word of an
error in them or in its report, and the time of a run without hooks but for one answer that it waited for."""

import contextlib
import itertools
import os
import resource
import shutil
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from host.namespace import LATE_FILE
from host.transport import PATIENCE_SECONDS
from tests.e2e.codex_driver import Codex, Json, Model, Request, Run, client_of, logged, reply, shell
from tests.e2e.driver import strings
from tests.e2e.installed import repository
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = shell("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
STEPS = 6
MID = 2  # the number of the request during which something happens: the memory came with the one before
NOISE = 0.25  # seconds that the median step of two runs may differ on a machine that does other things as well
SLOW = """
import asyncio, sys
from host import daemon, hooks
kept = hooks.Hooks._store
async def slow(self, *about):
    await asyncio.sleep(2)
    return await kept(self, *about)
hooks.Hooks._store = slow
sys.exit(daemon.main([]))
"""


def script() -> list[Json]:
    steps = [reply(f"Step {n}.", shell(f"echo {n}")) for n in range(STEPS)]
    return [reply("I will seal it.", FAILING), *steps, reply("All steps done.")]


def talk(request: Request, folder: Path) -> list[tuple[str, str]]:
    """What was said and done, without what hooks added and what differs from run to run."""
    said = []
    for item in request.items[1:]:
        if item.get("role") == "developer" and len(item["content"]) == 1:
            continue
        parts = [item.get("arguments", ""), *strings(item.get("content"))]
        parts.append(str(item.get("output", "")).partition("Output:")[2])
        said.append((item["type"], "\n".join(parts).replace(str(folder), "FOLDER")))
    return said


@dataclass
class Played:
    """A run, and what the model saw of it."""

    folder: Path
    run: Run
    model: Model

    @property
    def said(self) -> list[list[tuple[str, str]]]:
        return [talk(request, self.folder) for request in self.model.requests]

    @property
    def step(self) -> float:
        """The median time from request to request after the middle, in seconds."""
        times = [request.at for request in self.model.requests[MID:]]
        return statistics.median(later - at for at, later in itertools.pairwise(times))


def play(codex: Callable[[Model], Codex], at: dict[int, Callable[[], None]]) -> Played:
    with Model(script(), at=at) as model:
        one = codex(model)
        return Played(one.folder, one.say("Please run the release step"), model)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The same run without any hooks."""
    folder = tmp_path_factory.mktemp("alone")
    repository(folder / "project")
    return play(lambda model: Codex(folder, model), {})


@dataclass
class World:
    """A daemon that knows a lesson, a project, and what is to be undone at the end."""

    folder: Path
    daemon: RunningDaemon
    undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def pid(self) -> int:
        assert self.daemon.process is not None
        return self.daemon.process.pid

    def play(self, at: dict[int, Callable[[], None]]) -> Played:
        return play(lambda model: client_of(self.folder, model, self.daemon), at)

    def again(self, session_id: str) -> list[int]:
        """In how many messages of each request the memory stands when the session goes on and fails once more."""
        with Model([reply("Again.", FAILING), reply("Hm.", shell("echo looking")), reply("Done.")]) as model:
            codex = client_of(self.folder, model, self.daemon)
            codex.settings.append(f'model_providers.fake.base_url="{model.url}/v1"')
            assert codex.say("Once more, please", resume=session_id).code == 0
        return model.shown(WORDS)

    # ---------------------------------------------------------------- what happens to it

    def killed(self) -> None:
        self.daemon.kill()

    def hung(self) -> None:
        os.kill(self.pid(), signal.SIGSTOP)
        self.undo.callback(os.kill, self.pid(), signal.SIGCONT)

    def disk_full(self) -> None:
        """Not one byte more is written to any file of the daemon's, as on a full disk."""
        if sys.platform != "linux":
            pytest.skip("Limits of another process can be set on Linux alone.")
        before = resource.prlimit(self.pid(), resource.RLIMIT_FSIZE)
        resource.prlimit(self.pid(), resource.RLIMIT_FSIZE, (0, before[1]))
        self.undo.callback(resource.prlimit, self.pid(), resource.RLIMIT_FSIZE, before)

    def sockets_gone(self) -> None:
        shutil.rmtree(self.daemon.socket.parent)


@pytest.fixture
def world(run_dir: Path, tmp_path: Path) -> Iterator[World]:
    repository(tmp_path / "project")
    with RunningDaemon(run_dir) as running:
        with running.connect() as wire:
            wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
        made = World(tmp_path, running)
        try:
            yield made
        finally:
            made.undo.close()
            with contextlib.suppress(OSError), running.connect() as wire:  # one that a hook has started meanwhile
                wire.call("shutdown")


def unaffected(played: Played, alone: Played) -> None:
    """The run is the one without hooks."""
    assert (played.run.code, played.run.result) == (0, "All steps done.")
    assert played.run.failures() == [] and "hook" not in played.run.stderr.lower()
    assert played.said == alone.said
    assert played.step < alone.step + NOISE


@pytest.mark.promise("client-without-daemon", "silence-has-a-reason")
@pytest.mark.parametrize("what", ["killed", "hung", "disk_full", "sockets_gone"])
def test_a_failure_in_mid_run_leaves_the_client_alone_and_what_was_given_stands_once(
    world: World, alone: Played, what: str
) -> None:
    played = world.play({MID: getattr(world, what)})

    unaffected(played, alone)
    assert played.model.shown(WORDS) == [0, *[1] * (STEPS + 1)]
    world.undo.close()
    if world.daemon.process is None:
        world.daemon.start()
    assert world.again(played.run.session_id) == [1, 1, 1]


@pytest.mark.promise("client-without-daemon")
def test_a_daemon_that_hangs_costs_one_wait_and_is_asked_again_once_it_is_well(world: World, alone: Played) -> None:
    mark = world.daemon.socket.parent / LATE_FILE
    world.hung()
    played = world.play({})
    unaffected(played, alone)
    assert played.run.seconds < alone.run.seconds + 2 * PATIENCE_SECONDS + NOISE * 4  # one at the start, one after it
    assert mark.exists()

    world.undo.close()
    for _ in range(200):
        if not mark.exists():
            break
        time.sleep(0.05)
    assert world.again(played.run.session_id)[1:] == [1, 1]


@pytest.mark.promise("client-without-daemon")
def test_a_slow_daemon_is_not_waited_for_at_every_step(world: World, alone: Played) -> None:
    world.daemon.stop()
    world.daemon.command = (sys.executable, "-c", SLOW)
    world.daemon.start()

    played = world.play({})

    unaffected(played, alone)
    world.daemon.stop()  # sees late hooks to their end
    assert "session/start" in [event["type"] for event in logged(world.daemon, played.run.session_id)]
