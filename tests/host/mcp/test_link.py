"""The MCP server's way to the daemon: each call meets the daemon that is there, or one is started; hooks start none."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from host.client import DaemonAbsent, DaemonSilent, Refused
from host.config import Paths, locate
from host.connection import Peer
from host.errors import ProtocolFault, RemoraError, SocketFault
from host.mcp import link as module
from host.mcp.link import Link, client_of, kept_environment
from host.namespace import LATE_FILE
from host.protocol import Request, decode_params
from host.sockets import Listener, leave_stopped
from host.wire import Connections
from tests.support.methods import FakeMethods, FakeShell

Json = dict[str, Any]


class Answering(FakeMethods):
    """A daemon that keeps `data`. `output`: what its hooks answer."""

    def __init__(self, data: str = "") -> None:
        super().__init__()
        self.data = data
        self.output: Json | None = {"hookSpecificOutput": {"additionalContext": "x"}}
        self.hooked: list[Json] = []
        self.table["hook"] = self._hooked
        self.table["health"] = self._well
        self.table["unknown"] = self._unknown

    async def _well(self, request: Request, peer: Peer) -> object:
        return {"ready": True, "data": self.data, "pid": 7}

    async def _hooked(self, request: Request, peer: Peer) -> object:
        self.hooked.append(decode_params(request, Json))
        return self.reply({"output": self.output})

    async def _unknown(self, request: Request, peer: Peer) -> object:
        raise ProtocolFault("unknown-memory", "No memory 'x'.", "List them with memory.list.")


@asynccontextmanager
async def served(paths: Paths, methods: FakeMethods) -> AsyncIterator[FakeMethods]:
    listener = Listener(paths.socket, Connections(methods, FakeShell(), "1", 8))
    await listener.open()
    try:
        yield methods
    finally:
        methods.go.set()
        listener.close()
        listener.remove()


@pytest.fixture
def paths(run_dir: Path) -> Paths:
    return locate({"REMORA_PRE_DATA": str(run_dir / "data"), "REMORA_PRE_SOCKET": str(run_dir / "d.sock")})


def never() -> None:
    raise AssertionError("a daemon was started")


async def test_a_call_is_answered_by_the_daemon_that_is_there(paths: Paths) -> None:
    async with served(paths, Answering()):
        link = Link(paths, never)
        assert await link.ask("echo", {"a": 1}, Json) == {"a": 1}


async def test_how_the_daemon_is_is_asked_once_and_each_call_stands_alone(paths: Paths) -> None:
    async with served(paths, Answering()) as methods:
        link = Link(paths, never)
        for _ in range(3):
            await link.ask("echo", {}, Json)

    assert methods.asked == ["health", "echo", "echo", "echo"]


async def test_a_slow_answer_holds_up_nobody_elses(paths: Paths) -> None:
    async with served(paths, Answering()) as methods:
        link = Link(paths, never)
        waits = asyncio.create_task(link.ask("wait", {}, str))
        await methods.waiting.wait()
        assert await link.ask("echo", {"b": 2}, Json) == {"b": 2}
        assert await link.pass_on("codex", b"{}") != b""
        methods.go.set()
        assert await waits == "waited"


async def test_a_daemon_that_was_restarted_is_met_like_any_other(paths: Paths) -> None:
    link = Link(paths, never)
    for _ in range(2):
        async with served(paths, Answering()):
            assert await link.ask("echo", {"a": 1}, Json) == {"a": 1}


async def test_without_a_daemon_one_is_started_once_for_all_who_ask(paths: Paths) -> None:
    loop = asyncio.get_running_loop()
    async with contextlib.AsyncExitStack() as stack:
        started: list[str] = []

        async def begin() -> None:
            started.append("once")
            await stack.enter_async_context(served(paths, Answering()))

        link = Link(paths, lambda: asyncio.run_coroutine_threadsafe(begin(), loop).result(10))
        answers = await asyncio.gather(*(link.ask("echo", {"n": n}, Json) for n in range(3)))

    assert answers == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert started == ["once"]


async def test_a_daemon_that_cannot_be_started_says_why(paths: Paths) -> None:
    def fails() -> None:
        raise RemoraError("The daemon ended with code 1.", "The log is here.")

    with pytest.raises(RemoraError, match=r"The daemon ended with code 1\. The log is here\."):
        await Link(paths, fails).ask("echo", {}, Json)


async def test_a_daemon_of_another_data_folder_is_not_asked(paths: Paths) -> None:
    async with served(paths, Answering("/elsewhere")) as methods:
        with pytest.raises(SocketFault, match=r"keeps /elsewhere, not .*/data\. Give the MCP server the environment"):
            await Link(paths, never).ask("echo", {}, Json)

    assert "echo" not in methods.asked


async def test_a_refusal_says_what_an_agent_can_do(paths: Paths) -> None:
    async with served(paths, Answering()):
        with pytest.raises(Refused) as unknown:
            await Link(paths, never).ask("unknown", {}, Json)
        with pytest.raises(Refused) as conflict:
            await Link(paths, never).ask("fail", {}, Json)

    assert unknown.value.next_step == "Find its id with memory_search_pre."
    assert conflict.value.next_step == "Send another."


async def test_a_daemon_that_does_not_answer_is_given_up(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(paths, Answering()) as methods:
        link = Link(paths, never)
        await link.ready()
        monkeypatch.setattr(module, "ASK_SECONDS", 0.05)
        with pytest.raises(DaemonSilent, match="did not answer within"):
            await link.ask("wait", {}, str)
        monkeypatch.setattr(module, "HOOK_SECONDS", 0.05)
        methods.table["hook"] = methods.table["wait"]
        assert await link.pass_on("codex", b"{}") == b""


@asynccontextmanager
async def silent(paths: Paths, *answered: bytes) -> AsyncIterator[list[bytes]]:
    """Somebody listens, and answers no method but these; what it was asked."""
    heard: list[bytes] = []
    talks: set[asyncio.Task[None]] = set()

    async def listens(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        with contextlib.closing(writer):
            while asked := await reader.readline():
                heard.append(asked)
                if any(one in asked for one in answered):
                    writer.write(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')

    paths.socket.parent.mkdir(exist_ok=True, mode=0o700)
    async with await asyncio.start_unix_server(listens, paths.socket):
        yield heard
        await asyncio.gather(*talks)  # their clients have gone


def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SILENT_SECONDS", "HUNG_SECONDS", "HOOK_SECONDS"):
        monkeypatch.setattr(module, name, 0.05)


async def test_a_daemon_that_hangs_is_told_with_what_to_do_and_remembered_until_it_is_well(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief(monkeypatch)
    link = Link(paths, never)
    async with silent(paths) as heard:
        for _ in range(2):
            with pytest.raises(DaemonSilent, match=r"hangs: .* tell the user that `remora-pre stop` ends it"):
                await link.ask("echo", {}, Json)
            assert link.hangs
    assert all(b'"health"' in one for one in heard)
    monkeypatch.setattr(module, "HUNG_SECONDS", 60)
    async with served(paths, Answering()):
        assert await link.ask("echo", {"a": 1}, Json) == {"a": 1}
    assert not link.hangs


async def test_a_daemon_that_begins_to_hang_in_mid_answer_is_given_up(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief(monkeypatch)
    async with silent(paths, b'"health"') as heard:
        with pytest.raises(DaemonSilent, match="hangs"):
            await Link(paths, never).ask("echo", {}, Json)
    assert [next(one for one in ("health", "echo", "hello") if f'"{one}"'.encode() in line) for line in heard] == [
        "health",
        "echo",
        "hello",
    ]


async def test_a_daemon_that_works_long_is_waited_for_as_long_as_it_lives(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(paths, Answering()) as methods:
        link = Link(paths, never)
        await link.ready()
        looks: list[int] = []
        live = link._live

        async def looked() -> None:
            await live()
            looks.append(1)
            if len(looks) == 3:
                methods.go.set()

        monkeypatch.setattr(link, "_live", looked)
        monkeypatch.setattr(module, "SILENT_SECONDS", 0.2)
        assert await link.ask("wait", {}, str) == "waited"


async def test_who_gives_up_waiting_for_a_daemon_stops_nothing(paths: Paths) -> None:
    async with silent(paths) as heard:
        link = Link(paths, never)
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await link.ready()
        assert len(heard) == 1
        with pytest.raises(DaemonSilent):
            await link.ready()


async def test_what_a_person_stopped_is_not_started_and_the_agent_is_told(paths: Paths) -> None:
    leave_stopped(paths.socket.parent)
    link = Link(paths, never)

    for asks in (link.ready(), link.ask("echo", {}, Json)):
        with pytest.raises(DaemonAbsent, match=r"The user stopped the memory daemon\. .*`remora-pre start`"):
            await asks
    async with served(paths, Answering()):  # they started it again
        assert await link.ask("echo", {"a": 1}, Json) == {"a": 1}


async def test_what_a_person_stops_while_it_starts_is_told_as_that(paths: Paths) -> None:
    def stopped() -> None:
        leave_stopped(paths.socket.parent)
        raise RemoraError("The daemon did not answer within 10 s.", "Look into its log.")

    with pytest.raises(DaemonAbsent, match="The user stopped"):
        await Link(paths, stopped).ask("echo", {}, Json)


async def test_a_hook_that_waited_in_vain_leaves_the_mark_that_spares_the_next_ones(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief(monkeypatch)
    async with silent(paths) as heard:
        link = Link(paths, never)
        for _ in range(2):
            assert await link.pass_on("codex", b"{}") == b""
    assert len(heard) == 1
    assert link.hangs and (paths.socket.parent / LATE_FILE).exists()


async def test_a_daemon_that_ends_in_mid_answer_is_told(paths: Paths) -> None:
    async def ends(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readline()
        if b'"health"' in asked:
            writer.write(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
        writer.close()

    paths.socket.parent.mkdir(exist_ok=True, mode=0o700)
    async with await asyncio.start_unix_server(ends, paths.socket):
        with pytest.raises(
            DaemonAbsent, match=r"closed the connection\. It was just restarted, or ended\. Ask again\."
        ):
            await Link(paths, never).ask("echo", {}, Json)


async def test_a_hook_is_passed_on_as_it_is_and_its_output_given_back_as_it_is(paths: Paths) -> None:
    async with served(paths, Answering()) as methods:
        said = await Link(paths, never, "codex_1").pass_on("codex", b'{"prompt": "a\\nb"}')

    assert json.loads(said) == methods.output
    assert methods.hooked == [{"host": "codex", "payload": {"prompt": "a\nb"}, "client": "codex_1"}]
    assert methods.asked == ["hook"]  # and nothing before it


async def test_silence_is_nothing(paths: Paths) -> None:
    async with served(paths, Answering()) as methods:
        methods.output = None
        assert await Link(paths, never).pass_on("codex", b"{}") == b""


async def test_a_large_payload_is_passed_on_too(paths: Paths) -> None:
    payload = json.dumps({"tool_response": "x" * 2_000_000}).encode()
    async with served(paths, Answering()) as methods:
        assert await Link(paths, never).pass_on("codex", payload) != b""

    assert len(methods.hooked[0]["payload"]["tool_response"]) == 2_000_000


@pytest.mark.promise("client-without-daemon")
async def test_a_hook_without_a_daemon_is_nothing_and_starts_none(paths: Paths) -> None:
    assert await Link(paths, never).pass_on("codex", b"{}") == b""


async def test_a_hook_that_the_daemon_refuses_is_nothing(paths: Paths) -> None:
    async with served(paths, Answering()) as methods:
        methods.table["hook"] = methods.table["fail"]
        assert await Link(paths, never).pass_on("unheard-of", b"{}") == b""


def test_a_daemon_is_started_with_nothing_of_the_agents_secrets() -> None:
    environ = {
        "PATH": "/bin",
        "HOME": "/home/a",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "LC_ALL": "C.UTF-8",
        "REMORA_PRE_DATA": "/d",
        "REMORA_PRE_MODEL_KEY": "for us",
        "HTTPS_PROXY": "http://proxy.example:3128",
        "ANTHROPIC_API_KEY": "secret",
        "CLAUDECODE": "1",
        "PYTHONPATH": "/elsewhere",
    }

    kept = kept_environment(environ)

    assert set(environ) - set(kept) == {"ANTHROPIC_API_KEY", "CLAUDECODE", "PYTHONPATH"}


@pytest.mark.parametrize(
    ("environ", "client"),
    [
        ({"AI_AGENT": "claude-code_2-1-332_harness"}, "claude-code_2-1-332_harness"),
        ({"AI_AGENT": "\udcff"}, ""),
        ({"AI_AGENT": "x" * 129}, ""),
        ({}, ""),
    ],
)
def test_a_product_that_says_who_it_is_is_named(environ: dict[str, str], client: str) -> None:
    assert client_of(environ) == client
