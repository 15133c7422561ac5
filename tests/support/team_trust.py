"""A repository in a world, bound and trusted or not, for tests of recall of its memory."""

import sqlite3
from pathlib import Path
from typing import Any

from governance.team.contracts.base import Bound, Call
from governance.team.formats import Formats
from governance.team.store.bindings import Installation
from governance.team.store.trust import Receipt, receipt
from host import namespace
from host.team.bind import Binding
from host.team.committed import Reread
from host.team.trusting import trusting_of
from host.team.waiting import Waiting
from recall.analyzer import distinct
from recall.canonical import bytes_digest
from recall.contracts import Candidate, RuntimeScope
from recall.workspace import workspace_key
from tests.support.builders import a_call as a_tool_call
from tests.support.builders import a_result
from tests.support.clock import START
from tests.support.world import FAILURE, World

FORMATS = Formats(prefix=namespace.name(), mark=namespace.MARK, folder=namespace.REPOSITORY_FOLDER)


def a_call(principal: str = "user") -> Call:
    return Call(principal=principal, holder=principal, now=START)


def seen_from(folder: Path) -> RuntimeScope:
    return RuntimeScope(session_id="", agent_id="", workspace=workspace_key(str(folder)), user="user")


async def bound_in(world: World, top: Path) -> Bound:
    """The repository, bound as an operation of the team workflow binds it."""
    fresh = Installation(secret=b"s" * 32, uuid="test")
    return await Binding(world.parts.kept, FORMATS, lambda: fresh, world.clock.now).bind(str(top))


async def adopted(world: World, *tops: Path) -> None:
    for top in tops:
        await world.parts.roots.adopt(str(top), workspace_key(str(top)))


async def trusts(world: World, top: Path, trusted: bool = True) -> None:
    """The user answers."""
    await trusting_of(world.parts).set(await bound_in(world, top), a_call(), trusted)


async def hits(world: World, top: Path, query: str = "heron gateway") -> list[Candidate]:
    """What a search from there finds, by id."""
    index = world.parts.library.snapshot(world.clock.now())
    return sorted(await index.match(distinct(query), seen_from(top), 50), key=lambda hit: hit.memory_id)


async def origins(world: World, top: Path, query: str = "heron gateway") -> list[str]:
    return [str(hit.origin) for hit in await hits(world, top, query)]


def reread(world: World) -> Reread:
    """What follows of a promotion, over the world's parts."""
    parts = world.parts
    waiting = Waiting(inbox=parts.inbox, claims=parts.claims, runtimes=parts.sessions.known)
    return Reread(trust=parts.trust, roots=parts.roots, library=parts.library, waiting=waiting)


async def receive(world: World, bound: Bound, *files: Path) -> None:
    """Receipts for files, as the last step of a promotion writes them."""

    def work(connection: sqlite3.Connection) -> None:
        for file in files:
            written = Receipt(
                repository_key=bound.owner.repository_key,
                memory_id=file.name,
                digest=bytes_digest(file.read_bytes()),
                plan_id="plan-1",
            )
            receipt(connection, written, START)

    await world.parts.kept.write(work)


async def needed(world: World, top: Path, session: str = "session-1", call_id: str = "call-1") -> None:
    """A failure that `LESSON` helps with, in a session there."""
    said: dict[str, Any] = {"session_id": session, "workspace": str(top), "call_id": call_id}
    await world.feed(a_tool_call("make integration-test", **said), a_result(FAILURE, **said))
