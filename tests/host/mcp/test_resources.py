"""Memories as resources: those that an agent may read, a page at a time, and read as the tools show them."""

import pytest

from host.client import Refused
from host.errors import RemoraError
from host.mcp import resources
from host.mcp.resources import page, text_of, title
from tests.support.asking import Asking
from tests.support.calling import Calling


async def test_memories_are_listed_by_title_or_first_words(remora: Asking, folder: str) -> None:
    titled = await remora.world.remember("The port is 1.", folder, title="Port")
    plain = await remora.world.remember("Deploys go\nthrough heron.", folder)
    muted = await remora.world.remember("The port is 2.", folder)
    await remora.ask("memory.mute", memoryId=muted, workspace=folder)

    found, following = await page(Calling(remora, folder), None)

    assert {one.memory_id: title(one) for one in found} == {titled: "Port", plain: "Deploys go through heron."}
    assert following is None


async def test_a_long_list_comes_in_pages(remora: Asking, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "PAGE", 2)
    ids = {await remora.world.remember(f"Port {number} is open.", folder) for number in range(5)}
    cursor, seen, pages = None, [], 0
    while pages == 0 or cursor is not None:
        found, cursor = await page(Calling(remora, folder), cursor)
        seen += [one.memory_id for one in found]
        pages += 1

    assert (len(seen), set(seen), pages) == (5, ids, 3)


async def test_a_memory_is_read_by_its_uri(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The port is 1.", folder)

    for uri in (f"memory://{memory_id}", f"memory://{memory_id}/"):
        assert (await text_of(uri, Calling(remora, folder))).endswith("| The port is 1.")


@pytest.mark.parametrize("uri", ["memory://", "file:///etc/passwd", "memory://a/b", "mem_1", ""])
async def test_what_names_no_memory_is_refused(remora: Asking, folder: str, uri: str) -> None:
    with pytest.raises(RemoraError, match=r"names no memory\. Resources are named memory://{memoryId}\."):
        await text_of(uri, Calling(remora, folder))


@pytest.mark.promise("no-leak")
async def test_another_workspaces_memory_is_not_there(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The port is 1.", remora.world.workspace("other"))

    with pytest.raises(Refused, match="is visible from this workspace"):
        await text_of(f"memory://{memory_id}", Calling(remora, folder))
    assert (await page(Calling(remora, folder), None))[0] == []
