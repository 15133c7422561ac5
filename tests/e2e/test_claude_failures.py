"""Whatever happens to the daemon, the real Claude Code does what it does without hooks: the same requests, no word of
an error in them or on the terminal, and the time of a run without hooks but for the hooks' own time-outs."""

import contextlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from host.http import HASTY_SECONDS
from tests.e2e.driver import Claude, Json, Model, Request, Run, bash, reply
from tests.e2e.installed import client, install, logged
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
PROMPT = "Please run the release step"
REMINDER = re.compile("<system-reminder>.*?</system-reminder>", re.DOTALL)  # the client's own, put in as it likes
STEPS = 5
MID = 2  # from this request on times count
NOISE = 0.5  # seconds that the median step of two runs may differ on a machine that does other things as well
CLIENTS_SECONDS = 0.5  # the time-out of our http hooks, after which the client goes on by itself
HOOKS_A_STEP = 2
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
    """A failing step, one that takes as long as steps do, and quick ones."""
    steps = [reply(f"Step {n}.", bash(f"echo {n}; sleep {0.5 if n == 0 else 0.01}")) for n in range(STEPS)]
    return [reply("I will seal it.", FAILING), *steps, reply("All steps done.")]


def talk(request: Request, folder: Path) -> list[tuple[str, str]]:
    """What the user, the model and the tools said, without what the client adds of its own or from hooks."""
    said: list[tuple[str, str]] = []
    for message in request.body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks if message["role"] != "system" else []:
            words = json.dumps(block.get("text") or block.get("input") or block.get("content"))
            text = REMINDER.sub("", words).replace(str(folder), "FOLDER").strip()
            typed = block["type"] == "text" and message["role"] == "user"
            if text and (PROMPT in text or not typed):
                said.append((message["role"], text))
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
    def occurrences(self) -> list[int]:
        return [request.mentions(WORDS) for request in self.model.requests]

    @property
    def step(self) -> float:
        """The median time from request to request after the middle."""
        times = [request.at for request in self.model.requests[MID:]]
        return statistics.median(later - at for at, later in itertools.pairwise(times))


def play(claude: Callable[[Model], Claude], act: Callable[[], None] = lambda: None) -> Played:
    """Play the script. `act` is done once, before the answer to the first request that holds the memory."""
    models: list[Model] = []
    acts = [act]

    def look() -> None:
        if acts and models[0].requests[-1].mentions(WORDS):
            acts.pop()()

    with Model(script(), at=dict.fromkeys(range(STEPS), look)) as model:
        models.append(model)
        one = claude(model)
        run = one.say(PROMPT)
        return Played(one.folder, run, model)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The same run without any hooks."""
    folder = tmp_path_factory.mktemp("alone")
    return play(lambda model: Claude(folder, model))


@dataclass
class World:
    """A daemon that knows a lesson, a project with our hooks, and what is to be undone at the end."""

    folder: Path
    daemon: RunningDaemon
    undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def settings(self) -> Path:
        return self.folder / "project" / ".claude" / "settings.local.json"

    @property
    def port(self) -> int:
        found = self.settings.read_text("utf-8").partition("http://127.0.0.1:")[2]
        return int(found.partition("/")[0])

    def pid(self) -> int:
        assert self.daemon.process is not None
        return self.daemon.process.pid

    def play(self, act: Callable[[], None] = lambda: None) -> Played:
        return play(lambda model: client(self.folder, model, self.daemon), act)

    def again(self, session_id: str) -> list[int]:
        """How often the memory stands in each request when the session goes on and fails the same way once more."""
        with Model([reply("Again.", FAILING), reply("Hm.", bash("echo looking")), reply("Done.")]) as model:
            assert client(self.folder, model, self.daemon).say("Once more, please", resume=session_id).code == 0
        return [request.mentions(WORDS) for request in model.requests]

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

    def token_wrong(self) -> None:
        text = self.settings.read_text("utf-8")
        token = text.partition("Bearer ")[2].partition('"')[0]
        self.settings.write_text(text.replace(token, "x" * len(token)), encoding="utf-8")

    def port_held(self) -> None:
        """Somebody else answers there, with what is no answer to a hook."""
        self.daemon.kill()
        self.undo.enter_context(held(self.port, b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n<html>Hello.</html>\n"))

    def port_held_in_silence(self) -> None:
        """Somebody else takes connections there, and never answers."""
        self.daemon.kill()
        self.undo.enter_context(held(self.port, b""))


@contextlib.contextmanager
def held(port: int, answer: bytes) -> Iterator[None]:
    """A stranger's server on that port. With an empty answer it keeps silent."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen(64)
    taken: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            taken.append(connection)
            if answer:
                connection.recv(1 << 20)
                connection.sendall(answer)
                connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
        for connection in taken:
            connection.close()


@pytest.fixture
def world(run_dir: Path, tmp_path: Path) -> Iterator[World]:
    with RunningDaemon(run_dir) as running:
        install(tmp_path / "project", running)
        with running.connect() as wire:
            wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
        made = World(tmp_path, running)
        try:
            yield made
        finally:
            made.undo.close()
            with contextlib.suppress(OSError), running.connect() as wire:  # one that a hook has started meanwhile
                wire.call("shutdown")


def unaffected(played: Played, alone: Played, waits: float = 0.0) -> None:
    """The run is the one without hooks. `waits`: seconds that hooks may cost at every step."""
    assert (played.run.code, played.run.result) == (0, "All steps done.")
    assert played.run.stderr.strip() == ""
    assert len(played.said) == len(alone.said) and len(alone.said[-1]) > 3 * STEPS  # text, call and result of each
    differing = [(one, other) for one, other in zip(played.said, alone.said, strict=True) if one != other]
    assert not differing, differing[0]
    assert not any("hook error" in request.whole() or "ECONN" in request.whole() for request in played.model.requests)
    assert played.step < alone.step + waits + NOISE


@pytest.mark.promise("client-without-daemon", "silence-has-a-reason")
@pytest.mark.parametrize(
    ("what", "waits"),
    [
        ("killed", 0.0),
        ("hung", HOOKS_A_STEP * CLIENTS_SECONDS),
        ("disk_full", 0.0),
        ("sockets_gone", 0.0),
        ("port_held", 0.0),
        ("port_held_in_silence", HOOKS_A_STEP * CLIENTS_SECONDS),
    ],
)
def test_a_failure_in_mid_run_leaves_the_client_alone_and_what_was_given_stands_once(
    world: World, alone: Played, what: str, waits: float
) -> None:
    played = world.play(getattr(world, what))

    unaffected(played, alone, waits)
    assert sorted(played.occurrences) == played.occurrences
    assert (played.occurrences[0], played.occurrences[-1]) == (0, 1)
    world.undo.close()
    if world.daemon.process is None:
        world.daemon.start()
    assert world.again(played.run.session_id) == [1, 1, 1]


@pytest.mark.promise("client-without-daemon")
@pytest.mark.parametrize("what", ["token_wrong", "sockets_gone", "port_held", "disk_full"])
def test_a_failure_from_the_start_leaves_the_client_alone(world: World, alone: Played, what: str) -> None:
    getattr(world, what)()

    played = world.play()

    unaffected(played, alone)
    if what != "sockets_gone":  # the daemon puts them back, and http does without them
        assert played.occurrences == [0] * (STEPS + 2)


@pytest.mark.promise("client-without-daemon")
def test_a_slow_daemon_is_not_waited_for_at_every_step(world: World, alone: Played) -> None:
    world.daemon.stop()
    world.daemon.command = (sys.executable, "-c", SLOW)
    world.daemon.start()

    played = world.play()

    unaffected(played, alone, HOOKS_A_STEP * HASTY_SECONDS)
    world.daemon.stop()  # sees late hooks to their end
    assert [kind for kind, _ in logged(world.daemon, played.run.session_id)].count("tool/result") == STEPS + 1
