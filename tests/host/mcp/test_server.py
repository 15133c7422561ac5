"""The server over the official SDK, met by the SDK's own client: the handshake protocols and 2026-07-28 alike."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from host.client import DaemonAbsent, DaemonSilent
from host.errors import RemoraError
from host.maintained import RULES, RULES_BYTES
from host.mcp.registry import TOOLS
from host.mcp.server import INSTRUCTIONS, Serving
from host.namespace import SCRIPT
from tests.support.asking import Asking
from tests.support.calling import Calling, Told
from tests.support.world import LESSON

LEGACY, MODERN = "legacy", "2026-07-28"


@asynccontextmanager
async def met(daemon: Any, cwd: str, mode: str = LEGACY, **client: Any) -> AsyncIterator[Client]:
    """A client that meets a server of this folder."""
    async with asyncio.timeout(20), Client(Serving(daemon, cwd).server(), mode=mode, **client) as opened:
        yield opened


def text(result: Any) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def test_a_client_is_greeted_with_the_stable_rules() -> None:
    async with met(Told(), "/project") as client:
        assert client.instructions == INSTRUCTIONS
        assert (client.server_info.name, client.server_capabilities.tools is not None) == (SCRIPT, True)
    assert INSTRUCTIONS.endswith(RULES)
    assert len(INSTRUCTIONS.encode()) <= RULES_BYTES


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_the_tools_are_those_of_the_registry_and_the_hook_is_not_for_models(mode: str) -> None:
    async with met(Told(), "/project", mode) as client:
        listed = (await client.list_tools()).tools

    assert [one.name for one in listed] == [one.name for one in TOOLS]
    hidden = {one.name for one in listed if one.meta == {"ui": {"visibility": ["app"]}}}
    assert hidden == {"hook_pre"}
    assert all(one.input_schema["type"] == "object" for one in listed)


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_text_and_document_say_the_same_and_fit_the_schema(remora: Asking, folder: str, mode: str) -> None:
    async with met(Calling(remora, folder), folder, mode) as client:
        kept = await client.call_tool("memory_remember_pre", {"text": LESSON})
        found = await client.call_tool("memory_search_pre", {"query": "pg-fixture"})  # the client checks the schema

    assert (kept.is_error, found.is_error) == (False, False)
    assert kept.structured_content["note"] == text(kept)
    (memory,) = found.structured_content["memories"]
    assert memory["memoryId"] == kept.structured_content["memoryId"]
    assert (memory["text"], LESSON in text(found)) == (LESSON, True)


async def test_what_goes_wrong_in_a_tool_is_an_answer_that_says_what_to_do() -> None:
    absent = DaemonAbsent("No daemon answers.", "Start it.")
    broken = {"memory.search": absent, "memory.get": KeyError("x")}
    async with met(Told(broken), "/project") as client:
        fails = [
            await client.call_tool("memory_search_pre", {"query": "x"}),
            await client.call_tool("memory_search_pre", {"words": "x"}),
            await client.call_tool("memory_get_pre", {"memoryId": "mem_1"}),
        ]

    assert [one.is_error for one in fails] == [True, True, True]
    assert [one.structured_content for one in fails] == [None, None, None]
    assert text(fails[0]) == "No daemon answers. Start it."
    assert text(fails[1]).startswith("memory_search_pre cannot use these arguments: ")
    assert text(fails[2]) == "memory_get_pre failed unexpectedly (KeyError). Nothing else is affected."


async def test_an_unknown_tool_is_an_error_of_the_protocol() -> None:
    async with met(Told(), "/project") as client:
        with pytest.raises(MCPError, match="There is no tool 'memory_search'") as fault:
            await client.call_tool("memory_search", {})

    assert fault.value.error.code == types.INVALID_PARAMS


async def test_a_hooks_answer_is_its_text_alone() -> None:
    output = '{"hookSpecificOutput":{}}'
    async with met(Told(hooked=output.encode()), "/project") as client:
        result = await client.call_tool("hook_pre", {"host": "codex", "session_id": "s"})

    assert (text(result), result.is_error, result.structured_content) == (output, False, None)


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_memories_are_resources(remora: Asking, folder: str, mode: str) -> None:
    memory_id = await remora.world.remember("The port is 1.", folder, title="Port")
    uri = f"memory://{memory_id}"
    async with met(Calling(remora, folder), folder, mode) as client:
        (one,) = (await client.list_resources()).resources
        (template,) = (await client.list_resource_templates()).resource_templates
        (content,) = (await client.read_resource(uri)).contents
        with pytest.raises(MCPError, match="names no memory"):
            await client.read_resource("memory://")

    assert (one.uri, one.title, one.mime_type) == (uri, "Port", "text/plain")
    assert template.uri_template == "memory://{memoryId}"
    assert isinstance(content, types.TextResourceContents)
    assert content.text.endswith("| Port\n| The port is 1.")


@pytest.mark.parametrize("kind", [DaemonAbsent, DaemonSilent])
async def test_without_a_daemon_a_list_is_empty_and_a_page_of_it_an_error(kind: type[DaemonAbsent]) -> None:
    async with met(Told({"memory.list": kind("No daemon answers.", "Start it.")}), "/project") as client:
        assert (await client.list_resources()).resources == []
        with pytest.raises(MCPError, match=r"No daemon answers\. Start it\."):
            await client.list_resources(cursor="mem_1")


async def test_what_the_daemon_refuses_is_an_error_of_a_list() -> None:
    async with met(Told({"memory.list": RemoraError("It keeps others.", "Look.")}), "/project") as client:
        with pytest.raises(MCPError, match=r"It keeps others\. Look\."):
            await client.list_resources()


@dataclass
class Hanging(Calling):
    """Answers nothing before `go`; `begun` counts who asks."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    begun: int = 0

    async def ask(self, method: str, params: Any, kind: Any) -> Any:
        self.begun += 1
        await self.go.wait()
        return await super().ask(method, params, kind)


@pytest.mark.parametrize("hangs", [False, True])
async def test_nobody_waits_for_a_list_and_the_client_is_told_when_it_is_there(
    remora: Asking, folder: str, hangs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.mcp.server.LIST_SECONDS", 60 if hangs else 0.05)  # to one that hangs nothing is granted
    memory_id = await remora.world.remember("The port is 1.", folder)
    daemon, told = Hanging(remora, folder, hangs), asyncio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, types.ResourceListChangedNotification):
            told.set()

    async with met(daemon, folder, message_handler=heard) as client:
        assert [(await client.list_resources()).resources for _ in range(3)] == [[], [], []]
        assert daemon.begun == 1
        daemon.go.set()
        await told.wait()
        daemon.hangs = False
        assert [one.name for one in (await client.list_resources()).resources] == [memory_id]


class Rooted:
    """A client that answers the question for its roots; `asked` counts the questions."""

    def __init__(self, *folders: Path) -> None:
        self.roots = [types.Root(uri=folder.as_uri()) for folder in folders]
        self.asked = 0

    async def __call__(self, _: object) -> types.ListRootsResult:
        self.asked += 1
        return types.ListRootsResult(roots=self.roots)


async def workspaces(daemon: Told, cwd: str, **client: Any) -> list[str]:
    """Where two searches were asked from."""
    async with met(daemon, cwd, **client) as opened:
        for _ in range(2):
            await opened.call_tool("memory_search_pre", {"query": "x"})
    return [params["workspace"] for _, params in daemon.asked]


@pytest.fixture
def finds_nothing() -> Told:
    return Told({"memory.search": {"hits": []}})


async def test_the_workspace_is_the_folder_we_were_started_in(finds_nothing: Told) -> None:
    assert await workspaces(finds_nothing, "/here") == ["/here", "/here"]


async def test_a_clients_roots_count_and_are_asked_for_once(finds_nothing: Told, tmp_path: Path) -> None:
    answer = Rooted(tmp_path)

    assert await workspaces(finds_nothing, "/", list_roots_callback=answer) == [str(tmp_path)] * 2
    assert answer.asked == 1


async def test_roots_that_change_are_asked_for_again(finds_nothing: Told, tmp_path: Path) -> None:
    answer = Rooted(tmp_path)
    async with met(finds_nothing, "/", list_roots_callback=answer) as client:
        await client.call_tool("memory_search_pre", {"query": "x"})
        await client.session.send_notification(types.RootsListChangedNotification())
        await client.call_tool("memory_search_pre", {"query": "x"})

    assert answer.asked == 2


async def test_a_client_that_cannot_say_its_roots_after_all_works_where_we_are(finds_nothing: Told) -> None:
    async def refuses(_: object) -> types.ErrorData:
        return types.ErrorData(code=types.INTERNAL_ERROR, message="no")

    assert await workspaces(finds_nothing, "/here", list_roots_callback=refuses) == ["/here", "/here"]


async def test_a_client_of_2026_is_not_asked(finds_nothing: Told, tmp_path: Path) -> None:
    answer = Rooted(tmp_path)

    found = await workspaces(finds_nothing, "/here", list_roots_callback=answer, mode=MODERN)

    assert found == ["/here", "/here"]
    assert answer.asked == 0
