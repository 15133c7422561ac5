"""`remora-pre mcp` as a process of its own beside a real daemon: bytes on its output, its end, and a daemon that comes
and goes. Met by the SDK's own client, and by plain bytes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from host import namespace
from host.mcp.registry import TOOLS
from tests.support.daemon import RunningDaemon
from tests.support.speaking import ROOT, SERVE, Speaking, discovery, gone, hello, loaded, shut_down
from tests.support.world import LESSON

pytestmark = pytest.mark.reliability
NOISY = {"PYTHONWARNINGS": "always", "DEBUG": "1", "PYTHONUNBUFFERED": "", "PYTHONFAULTHANDLER": "1"}
PROMPT_SECONDS = 5.0  # an end is prompt: no client is kept waiting


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def remember(daemon: RunningDaemon, folder: Path, text: str = LESSON) -> str:
    with daemon.connect() as wire:
        memory_id: str = wire.call("memory.remember", text=text, workspace=str(folder))["memoryId"]
        return memory_id


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_uses_it_over_its_own_pipes(daemon: RunningDaemon, folder: Path, mode: str) -> None:
    memory_id = remember(daemon, folder)
    server = StdioServerParameters(
        command=SERVE[0], args=list(SERVE[1:]), env=daemon.environment() | NOISY, cwd=str(folder)
    )
    async with asyncio.timeout(60), Client(stdio_client(server), mode=mode) as client:
        listed = (await client.list_tools()).tools
        found = await client.call_tool("memory_search_pre", {"query": "pg-fixture"})
        kept = await client.call_tool("memory_remember_pre", {"text": "Deploys go through heron."})
        uris = {one.uri for one in (await client.list_resources()).resources}

    assert [one.name for one in listed] == [one.name for one in TOOLS]
    assert [one["memoryId"] for one in found.structured_content["memories"]] == [memory_id]
    assert uris == {f"memory://{one}" for one in (memory_id, kept.structured_content["memoryId"])}


@pytest.mark.promise("field-cases", "mcp-clean")
def test_standard_output_holds_nothing_but_protocol(daemon: RunningDaemon, folder: Path) -> None:
    case = json.loads((ROOT / "tests" / "data" / "cases" / "mcp-stdout-clean.json").read_text("utf-8"))
    remember(daemon, folder)
    others = 0
    for _ in range(case["given"]["starts"]):
        with Speaking(folder, daemon.environment(), **(NOISY | case["given"]["env"])) as server:
            server.begin()
            server.ask("tools/list")
            assert server.call("memory_search_pre", query="pg-fixture")["isError"] is False
            server.call("hook_pre", host="codex", hook_event_name="Stop", session_id="s1", cwd=str(folder))
            assert server.hang_up() == 0
            lines = [*server.lines, *server.rest().splitlines()]
            others += sum(json.loads(line).get("jsonrpc") != "2.0" for line in lines)

    assert others == case["then"]["non_json_lines"]


@pytest.mark.promise("mcp-clean")
def test_what_tools_libraries_and_children_print_goes_beside_the_protocol(daemon: RunningDaemon, folder: Path) -> None:
    program = (
        "import importlib, os, sys, warnings\n"
        "from host.mcp import process\n"
        "real = importlib.import_module\n"
        "def noisy(name, package=None):\n"
        "    print('import of', name); os.write(1, b'raw import\\n'); return real(name, package)\n"
        "process.importlib.import_module = noisy\n"
        "from host.mcp import link\n"
        "ask = link.Link.ask\n"
        "async def talks(self, *given):\n"
        "    print('in a tool'); os.write(1, b'raw tool\\n'); os.system('echo child'); warnings.warn('beware')\n"
        "    sys.__stdout__.write('through the old stream\\n')\n"
        "    return await ask(self, *given)\n"
        "link.Link.ask = talks\n"
        "process.run()\n"
    )
    with Speaking(folder, daemon.environment(), (sys.executable, "-c", program), PYTHONWARNINGS="always") as server:
        server.begin()
        server.call("memory_search_pre", query="x")
        assert server.hang_up() == 0
        lines = [*server.lines, *server.rest().splitlines()]
        said = server.errors()

    assert [json.loads(line)["jsonrpc"] for line in lines] == ["2.0", "2.0"]
    for words in ("import of host.mcp.server", "raw import", "in a tool", "raw tool", "child", "beware"):
        assert words in said


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_a_client_that_shakes_hands_is_answered_in_its_own_version(
    daemon: RunningDaemon, folder: Path, version: str
) -> None:
    with Speaking(folder, daemon.environment()) as server:
        assert server.begin(version)["result"]["protocolVersion"] == version
        assert server.ask("no/such/method")["error"]["code"] == -32601
        assert server.ask("tools/call", name="no_such_tool", arguments={})["error"]["code"] == -32602
        assert server.ask("tools/call", arguments={})["error"]["code"] == -32602
        assert server.ask("resources/read", uri="memory://mem_none")["error"]["code"] == -32602
        assert server.ask("ping")["result"] == {}


def test_a_probe_of_2026_is_answered_and_so_is_what_follows_it(daemon: RunningDaemon, folder: Path) -> None:
    probe = discovery()
    meta = probe["params"]["_meta"]
    with Speaking(folder, daemon.environment()) as server:
        server.send(probe)
        found = server.receive()["result"]
        assert "2026-07-28" in found["supportedVersions"]
        assert found["instructions"]
        assert server.ask("tools/list", _meta=meta)["result"]["tools"]
        called = server.ask("tools/call", name="memory_search_pre", arguments={"query": "x"}, _meta=meta)
        assert called["result"]["structuredContent"]["memories"] == []
        assert server.ask("no/such/method", _meta=meta)["error"]["code"] == -32601
        late = server.ask("initialize", **hello()["params"])
        assert "error" in late  # and the client hangs up


@pytest.mark.parametrize("shakes_hands", [True, False])
def test_what_a_client_waits_for_at_the_start_is_answered_before_the_sdk_is_there(
    daemon: RunningDaemon, folder: Path, shakes_hands: bool
) -> None:
    memory_id = remember(daemon, folder)
    more: dict[str, Any] = {} if shakes_hands else {"_meta": discovery()["params"]["_meta"]}
    answers, early = [], []
    for _ in range(2):
        with Speaking(folder, daemon.environment()) as server:
            if shakes_hands:
                first = server.begin()
            else:
                server.send(discovery())
                first = server.receive()
            asked = [server.ask(method, **more) for method in ("tools/list", "resources/list")]
            early.append(not loaded(server))
            called = server.call_with(more, "memory_search_pre", query="pg-fixture")
            assert loaded(server)
            answers.append([first["result"], *(one["result"] for one in asked), called])
            assert server.hang_up() == 0
            assert server.rest() == b""

    assert answers[0] == answers[1]
    assert early == [False, True]
    assert [one["uri"] for one in answers[1][2]["resources"]] == [f"memory://{memory_id}"]


def test_a_client_that_is_gone_at_once_is_not_waited_for(daemon: RunningDaemon, folder: Path) -> None:
    for begun in (False, True):
        with Speaking(folder, daemon.environment()) as server:
            if begun:
                server.begin()
            assert server.hang_up() == 0
            assert server.errors() == ""
        with Speaking(folder, daemon.environment()) as server:  # what was asked is answered all the same
            server.send(hello(), {"jsonrpc": "2.0", "method": "notifications/initialized"})
            assert server.process.stdin is not None
            server.process.stdin.close()
            assert server.receive()["result"]["protocolVersion"] == "2025-11-25"


def test_a_probe_without_its_envelope_is_an_error_and_a_handshake_may_follow(
    daemon: RunningDaemon, folder: Path
) -> None:
    with Speaking(folder, daemon.environment()) as server:
        assert "error" in server.ask("server/discover")
        assert server.begin()["result"]["serverInfo"]["name"] == namespace.SCRIPT


def test_what_is_no_json_ends_nothing(daemon: RunningDaemon, folder: Path) -> None:
    with Speaking(folder, daemon.environment()) as server:
        server.begin()
        server.send(b"nonsense", b"", b'{"jsonrpc":"2.0"}', b"[1,2]", b"\xff\xfe\x00", b'{"a":"\\ud800"}', b"[" * 5000)
        assert server.ask("ping")["result"] == {}


@pytest.mark.promise("mcp-clean")
@pytest.mark.parametrize("how", ["hang-up", "SIGTERM", "SIGINT"])
def test_it_ends_with_its_client_quietly_and_at_once(daemon: RunningDaemon, folder: Path, how: str) -> None:
    with Speaking(folder, daemon.environment()) as server:
        server.begin()
        server.call("memory_search_pre", query="x")
        begun = time.monotonic()
        if how == "hang-up":
            assert server.hang_up() == 0
        else:
            server.process.send_signal(getattr(signal, how))
            server.process.wait(PROMPT_SECONDS)
        assert time.monotonic() - begun < PROMPT_SECONDS
        assert server.errors() == ""


def test_it_ends_while_an_answer_is_under_way(daemon: RunningDaemon, folder: Path) -> None:
    assert daemon.process is not None
    with Speaking(folder, daemon.environment()) as server:
        server.begin()
        server.call("memory_search_pre", query="x")
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            asked = {"name": "memory_search_pre", "arguments": {"query": "x"}}
            server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked})
            begun = time.monotonic()
            server.hang_up()
            assert time.monotonic() - begun < PROMPT_SECONDS
        finally:
            daemon.process.send_signal(signal.SIGCONT)


def test_it_ends_when_nobody_reads_any_more(daemon: RunningDaemon, folder: Path) -> None:
    with Speaking(folder, daemon.environment()) as server:
        server.begin()
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert server.process.wait(PROMPT_SECONDS) == 0
        assert server.errors() == ""


@pytest.mark.promise("mcp-clean")
def test_it_ends_when_its_client_is_killed_even_if_its_input_stays_open(daemon: RunningDaemon, folder: Path) -> None:
    """The client is killed, and a child of its own holds the other end of the pipe."""
    program = (
        "import json, os, subprocess, sys, time\n"
        f"server = subprocess.Popen({list(SERVE)!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        f"server.stdin.write({json.dumps(hello()).encode()!r} + b'\\n'); server.stdin.flush()\n"
        "server.stdout.readline()\n"
        "holder = subprocess.Popen(['sleep', '60'], pass_fds=[server.stdin.fileno(), server.stdout.fileno()])\n"
        "print(server.pid, holder.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=daemon.environment() | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    assert client.stdout is not None
    server, holder = map(int, client.stdout.readline().split())
    try:
        client.kill()
        client.wait()
        client.stdout.close()
        assert gone(server, 2 * PROMPT_SECONDS)
    finally:
        os.kill(holder, signal.SIGKILL)


def test_without_a_daemon_it_starts_one_that_stays(tmp_path: Path, folder: Path) -> None:
    absent = RunningDaemon(tmp_path)
    for made in (absent.home, absent.data, absent.socket.parent):
        made.mkdir(mode=0o700, parents=True)
    (absent.data / "config.toml").write_text("[recall]\nengine = false\n", encoding="utf-8")
    environ = absent.environment() | {"ANTHROPIC_API_KEY": "a-canary", "HOME": str(absent.home)}
    with Speaking(folder, environ) as server:
        server.begin()
        kept = server.call("memory_remember_pre", text=LESSON)
        assert kept["isError"] is False
        assert server.hang_up() == 0
    try:
        with absent.connect() as wire:
            (hit,) = wire.call("memory.search", query="pg-fixture", workspace=str(folder))["hits"]
            pid = wire.call("health")["pid"]
        assert hit["origin"] == "extracted"
        assert b"a-canary" not in Path(f"/proc/{pid}/environ").read_bytes()
    finally:
        shut_down(absent.socket)


@pytest.mark.promise("client-without-daemon")
def test_a_daemon_that_is_killed_and_comes_back_is_met_again(daemon: RunningDaemon, folder: Path) -> None:
    remember(daemon, folder)

    def found(server: Speaking) -> int:
        result = server.call("memory_search_pre", query="pg-fixture")
        return len(result["structuredContent"]["memories"])

    with Speaking(folder, daemon.environment()) as server:
        server.begin()
        assert found(server) == 1
        daemon.kill()
        stop: dict[str, Any] = {"host": "codex", "hook_event_name": "Stop", "session_id": "s", "cwd": str(folder)}
        assert server.call("hook_pre", **stop)["content"][0]["text"] == ""
        daemon.start()
        assert found(server) == 1
        daemon.kill()
        assert found(server) == 1  # by a daemon that it started itself
        shut_down(daemon.socket)
