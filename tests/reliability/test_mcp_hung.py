"""`remora-pre mcp` beside a daemon that hangs, or that a person stopped: no client waits for it, and it is not started
behind anybody's back."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import RunningDaemon
from tests.support.speaking import ROOT, SERVE, Speaking, discovery, gone, hello, loaded, shut_down
from tests.support.world import LESSON

pytestmark = pytest.mark.reliability
START_SECONDS = 1.0  # all that a client asks at its start, together


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def remember(daemon: RunningDaemon, folder: Path) -> str:
    with daemon.connect() as wire:
        memory_id: str = wire.call("memory.remember", text=LESSON, workspace=str(folder))["memoryId"]
        return memory_id


@pytest.fixture
def hung(daemon: RunningDaemon) -> Iterator[int]:
    """The pid of the daemon, which is stopped with SIGSTOP."""
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGSTOP)
    yield daemon.process.pid
    daemon.process.send_signal(signal.SIGCONT)


def timed(server: Speaking, method: str, **params: Any) -> tuple[float, dict[str, Any]]:
    """How long an answer took, in seconds, and the answer."""
    begun = time.monotonic()
    answer = server.ask(method, **params)
    return time.monotonic() - begun, answer


@pytest.mark.promise("client-without-daemon")
@pytest.mark.parametrize("how", ["shakes-hands", "names-roots", "probes"])
def test_nothing_that_a_client_asks_at_its_start_waits_for_a_daemon_that_hangs(
    daemon: RunningDaemon, folder: Path, how: str, request: pytest.FixtureRequest
) -> None:
    """Measured from the moment on in which the SDK is there, for to load it costs the same without a daemon."""
    remember(daemon, folder)
    with Speaking(folder, daemon.environment()) as server:  # what is known from the last time
        server.begin()
        server.ask("tools/list")
    request.getfixturevalue("hung")
    more: dict[str, Any] = {"_meta": discovery()["params"]["_meta"]} if how == "probes" else {}
    first = discovery(1) if how == "probes" else hello(number=1, **({"roots": {}} if how == "names-roots" else {}))
    with Speaking(folder, daemon.environment()) as server:
        server.send(first)
        assert "result" in server.receive()
        if how != "probes":
            server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.ask("prompts/list", **more)  # loads the SDK
        if how == "names-roots":
            server.send({"jsonrpc": "2.0", "id": 50, "method": "resources/list", "params": {}})
            begun = time.monotonic()
            while (message := server.receive()).get("method") != "roots/list":
                pass
            server.send({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": [{"uri": folder.as_uri()}]}})
            assert server.receive()["result"]["resources"] == []
            assert time.monotonic() - begun < START_SECONDS
        asked = ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/list", "ping")
        took = {}
        for place, method in enumerate(asked):
            seconds, answer = timed(server, method, **more)
            took[f"{place} {method}"] = seconds
            if method == "resources/list":
                assert answer["result"]["resources"] == []
        assert sum(took.values()) < START_SECONDS, took
        begun = time.monotonic()
        refused = [server.call_with(more, "memory_search_pre", query="x") for _ in range(2)]
        assert time.monotonic() - begun < 2 * 2.0 + START_SECONDS
        for one in refused:
            assert one["isError"] is True
            assert "hangs" in one["content"][0]["text"] and "remora-pre stop" in one["content"][0]["text"]


def test_a_greeting_does_not_wait_for_a_daemon_that_hangs_and_the_client_hears_when_it_is_back(
    daemon: RunningDaemon, folder: Path
) -> None:
    memory_id = remember(daemon, folder)
    assert daemon.process is not None
    for _ in range(2):  # the second is greeted from what the first learned
        with Speaking(folder, daemon.environment()) as server:
            server.begin()
            server.ask("resources/list")
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        with Speaking(folder, daemon.environment()) as server:
            server.begin()
            seconds, answer = timed(server, "resources/list")
            assert answer["result"]["resources"] == []
            assert not loaded(server)
            assert seconds < START_SECONDS
            daemon.process.send_signal(signal.SIGCONT)
            while server.receive().get("method") != "notifications/resources/list_changed":
                pass
            listed = server.ask("resources/list")["result"]["resources"]
            assert [one["uri"] for one in listed] == [f"memory://{memory_id}"]
    finally:
        daemon.process.send_signal(signal.SIGCONT)


def ours(daemon: RunningDaemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Our command line, as a person at a terminal beside."""
    return subprocess.run(
        [*SERVE[:-1], *arguments],
        env=daemon.environment() | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.promise("client-without-daemon")
def test_what_a_person_stops_stays_so_beside_an_open_session(daemon: RunningDaemon, folder: Path) -> None:
    with Speaking(folder, daemon.environment()) as server:
        server.begin()
        assert server.call("memory_search_pre", query="x")["isError"] is False
        assert ours(daemon, "stop").stdout.startswith("Stopped.")
        with Speaking(folder, daemon.environment()) as later:  # another session's server, which comes up by itself
            later.begin()
            later.ask("prompts/list")
            for one in (server, later):
                assert one.ask("resources/list")["result"]["resources"] == []
                refused = one.call("memory_search_pre", query="x")
                assert refused["isError"] is True
                assert "The user stopped the memory daemon." in refused["content"][0]["text"]
                assert "remora-pre start" in refused["content"][0]["text"]
            assert not json.loads(ours(daemon, "status", "--json").stdout)["running"]
            assert ours(daemon, "start").returncode == 0
            for one in (server, later):
                assert one.call("memory_search_pre", query="x")["isError"] is False
    shut_down(daemon.socket)


@pytest.mark.promise("client-without-daemon")
def test_a_person_gets_rid_of_a_daemon_that_hangs(daemon: RunningDaemon, folder: Path, hung: int) -> None:
    begun = time.monotonic()
    status = ours(daemon, "status")
    assert time.monotonic() - begun < 6
    assert status.returncode == 1 and "did not answer within 3 s" in status.stderr
    stopped = ours(daemon, "stop")
    assert (stopped.returncode, stopped.stdout.splitlines()[0]) == (0, "Stopped.")
    assert gone(hung)
    assert ours(daemon, "start").returncode == 0
    assert remember(daemon, folder)
    shut_down(daemon.socket)
