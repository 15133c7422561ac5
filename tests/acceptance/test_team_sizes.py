"""team.md 15, item 25: a document of up to 4 MiB passes over the socket, by a command and by a tool."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from click.testing import CliRunner

from governance.team.decoding import DOCUMENT_BYTES
from host.cli.main import main
from host.client import Refused, connect
from host.mcp.registry import BY_NAME
from host.namespace import tool
from tests.support.asking import Asking
from tests.support.team_history import a_repository
from tests.support.team_loop import REQUEST, a_remora

T = TypeVar("T")
Json = dict[str, Any]


class Linked:
    """A caller of tools over a real socket, as the MCP server is."""

    agent = "claude-code"

    def __init__(self, socket: Path, folder: str) -> None:
        self._socket = socket
        self._folder = folder

    async def workspace(self) -> str:
        return self._folder

    async def ask(self, method: str, params: Mapping[str, object], kind: type[T]) -> T:
        async with connect(self._socket) as client:
            return await client.call_as(kind, method, params)


@pytest.fixture
async def remora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asking]:
    async with a_remora(tmp_path / "data", monkeypatch) as made:
        yield made


def a_share(size: int) -> Json:
    """A share of one item that nobody has, as long as wanted."""
    empty = len(msgspec.json.encode({"format": "remora-pre-share@v1", "itemIds": [""]}))
    return {"format": "remora-pre-share@v1", "itemIds": ["n" * (size - empty)]}


async def by_command(folder: Path, document: Json) -> str:
    """The kind of the refusal."""
    path = folder / "document.json"
    path.write_text(json.dumps(document))
    command = ["stage", "--request", str(path), "--workspace", str(folder), "--json"]
    done = await asyncio.to_thread(CliRunner().invoke, main, command)
    assert done.exit_code == 1, done.output
    kind: str = json.loads(done.stdout)["kind"]
    return kind


async def by_tool(socket: Path, folder: Path, name: str, **arguments: Any) -> str:
    one: Any = BY_NAME[tool(name)]
    with pytest.raises(Refused) as caught:
        await one.run(one.decode(arguments), Linked(socket, str(folder)))
    return caught.value.kind


@pytest.mark.promise("team-25")
@pytest.mark.parametrize(("size", "is_taken"), [(200_000, True), (DOCUMENT_BYTES, True), (DOCUMENT_BYTES + 1, False)])
async def test_item_25_a_document_of_the_limit_passes_on_both_transports(
    remora: Asking, tmp_path: Path, size: int, is_taken: bool
) -> None:
    folder, document = a_repository(tmp_path / "repository"), a_share(size)
    socket = tmp_path / "data" / "run" / "d.sock"

    kinds = {await by_command(folder, document), await by_tool(socket, folder, "memory_stage", document=document)}

    assert len(msgspec.json.encode(document)) == size
    assert len(kinds) == 1
    assert (kinds == {"input-too-large"}) is not is_taken


@pytest.mark.promise("team-25")
async def test_item_25_an_ordinary_query_of_one_byte_too_many_is_refused(remora: Asking, tmp_path: Path) -> None:
    folder, socket = a_repository(tmp_path / "repository"), tmp_path / "data" / "run" / "d.sock"
    empty = len(msgspec.json.encode(REQUEST | {"query": ""}))

    kind = await by_tool(socket, folder, "memory_recall", request=REQUEST | {"query": "q" * (65_537 - empty)})
    other = await by_tool(socket, folder, "memory_recall", request=REQUEST | {"query": "q" * (65_536 - empty)})

    assert kind == "input-too-large"
    assert other == "request-invalid"  # a query has a limit of its own
