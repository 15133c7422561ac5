"""Memories as resources, `memory://<id>`: what an agent may read, as the tools show it."""

from collections.abc import Sequence

from host.errors import RemoraError
from host.mcp.memory_tools import AGENT, read
from host.mcp.tool import Caller, Daemon, Json
from host.mcp.wording import TITLE_BYTES, Memory, memory, told
from host.render import clip
from host.sanitise import one_line
from recall.contracts import Frozen, MemoryRecord

SCHEME = "memory://"
TEMPLATE = f"{SCHEME}{{memoryId}}"
PAGE = 100
MIME = "text/plain"


class _Listed(Frozen, frozen=True, kw_only=True):
    records: tuple[MemoryRecord, ...]
    next: str | None = None


async def page(caller: Caller, cursor: str | None) -> tuple[Sequence[Memory], str | None]:
    """Some memories, newest first, and the cursor of the next page; None on the last. Raises RemoraError."""
    params = {"workspace": await caller.workspace(), "limit": PAGE, "after": cursor, **AGENT}
    found = await caller.ask("memory.list", params, _Listed)
    return [memory(record, TITLE_BYTES) for record in found.records], found.next


class Here:
    """The `Caller` that works in this folder, whatever its client may say of roots."""

    def __init__(self, daemon: Daemon, folder: str) -> None:
        self._folder = folder
        self.ask = daemon.ask
        self.pass_on = daemon.pass_on

    async def workspace(self) -> str:
        return self._folder

    @property
    def agent(self) -> str:
        return ""


async def first_page(daemon: Daemon, folder: str) -> Json:
    """The first page as it goes over the wire. Raises RemoraError."""
    found, following = await page(Here(daemon, folder), None)
    entries = [{"name": one.memory_id, "title": title(one), "uri": uri_of(one), "mimeType": MIME} for one in found]
    return {"resources": entries} | ({"nextCursor": following} if following else {})


def uri_of(one: Memory) -> str:
    return SCHEME + one.memory_id


def title(one: Memory) -> str:
    """What a list calls a memory: its title, else its first words, on one line."""
    return one.title or clip(one_line(one.text), TITLE_BYTES)


async def text_of(uri: str, caller: Caller) -> str:
    """The memory that a URI names, for reading. Raises RemoraError."""
    memory_id = uri.removeprefix(SCHEME).rstrip("/")
    if not uri.startswith(SCHEME) or not memory_id or "/" in memory_id:
        raise RemoraError(f"{uri[:200]!r} names no memory.", f"Resources are named {TEMPLATE}.")
    return told([await read(memory_id, caller)])
