"""Invariant 12 over the real socket: a recorded session replayed twice, and its envelopes sent live, decide alike."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from governance.contracts import AuditFilter, AuditKind
from host.client import Client, connect
from host.clock import SetClock
from host.compose import Setup, open_parts
from host.config import Config, Paths, locate
from host.connection import Methods, Shell
from host.daemon import Daemon
from host.namespace import env
from host.parts import Parts
from host.replay import Replay, Surfaces, counted_ids
from host.service import Service
from host.tasks import Tasks
from host.transcripts import READERS, read
from recall.contracts import EventEnvelope, Origin, Scope, ScopeRef
from recall.library import Root
from recall.workspace import workspace_key
from tests.support.builders import a_memory, a_memory_id

TRANSCRIPT = Path(__file__).parents[1] / "data" / "transcripts" / "claude" / "cc-2.1.39-long-with-compaction.jsonl"
KEY = b"k" * 32
LESSONS = (
    "Pre-commit validation failed with CREDO: cyclomatic complexity max is 9; hooks_controller.ex tool_call must be "
    "split into private functions before credo passes.",
    "Credo wants an implicit try, not an explicit try, in otel_trace_helpers.ex get_current_trace_id (Readability).",
    "Pre-commit validation runs DIALYZER over the PLT of ash, ash_oban, grpcbox, chatterbox and acceptor_pool: the "
    "otel span_ctx specs are opaque, match them with Tracer functions only.",
    "The office closes at six on Fridays.",
)

Digests = list[tuple[str, str, str]]


def envelopes() -> list[EventEnvelope]:
    with TRANSCRIPT.open("rb") as lines:
        return list(read(READERS["claude-code"](TRANSCRIPT.stem), lines))


async def with_memories(parts: Parts, folder: Path, workspace: str) -> None:
    """The same records, with the same versions, for every run over `folder`."""
    scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace_key(workspace))
    root = Root(path=str(folder / "notes"), scope=scope, origin=Origin.USER, writable=True)
    (folder / "notes").mkdir(exist_ok=True)
    await parts.library.adopt(root)
    if not (await parts.library.digests([a_memory_id(1)])):
        for number, text in enumerate(LESSONS, start=1):
            await parts.library.remember(a_memory(text, memory_id=a_memory_id(number), scope=scope), root)


async def digests(parts: Parts) -> Digests:
    found: Digests = []
    before: int | None = None
    while True:
        page = await parts.audit.rows(AuditFilter(kind=AuditKind.PASS, after_row=before, limit=500))
        found += [(entry.trigger, entry.reason, entry.decision_digest) for _, entry in page]
        if len(page) < 500:
            return found[::-1]
        before = page[-1][0]


def a_log() -> Any:
    return structlog.wrap_logger(structlog.testing.CapturingLogger(), processors=[])


async def replayed(folder: Path, number: int, events: Iterable[EventEnvelope]) -> Digests:
    clock, tasks = SetClock(), Tasks(a_log())
    setup = Setup(data=folder, database=folder / f"replay-{number}.db", index=folder / "index.db", key=KEY)
    async with open_parts(setup, clock, counted_ids(), tasks, a_log()) as parts:
        await with_memories(parts, folder, next(iter(events)).workspace)
        packets = [one.packet async for one in Replay(parts, clock).play(events) if one.packet is not None]
        await tasks.close()
        assert packets, "the session must be one in which something is handed over"
        return await digests(parts)


class LivePlayer:
    """What `host.replay.Replay` does, as a client of the socket: append, claim and acknowledge, one event at a time."""

    def __init__(self, client: Client, clock: SetClock) -> None:
        self._client = client
        self._clock = clock
        self._requests = 0

    async def play(self, events: Iterable[EventEnvelope]) -> None:
        places: dict[tuple[str, str], Surfaces] = {}
        for event in events:
            surfaces = places.setdefault((event.session_id, event.agent_id), Surfaces())
            surface = surfaces.after(event)
            self._clock.set(event.timestamp)
            await self._client.call("event.append", {"events": [msgspec.json.decode(msgspec.json.encode(event))]})
            if surface is not None and await self._claim(event, surface):
                surfaces.brought()
            await self._client.call("session.status", {"sessionId": event.session_id, "agentId": event.agent_id})

    async def _claim(self, event: EventEnvelope, surface: str) -> bool:
        self._requests += 1
        owner = {"sessionId": event.session_id, "agentId": event.agent_id}
        asked = {"surface": surface, "requestId": f"r{self._requests}", "waitMs": 2000}
        claim = await self._client.call("inbox.claim", owner | asked)
        if claim["packet"] is None:
            return False
        ids = {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}
        await self._client.call("inbox.delivered", owner | ids)
        return True


async def lived(folder: Path, run_dir: Path, events: list[EventEnvelope]) -> Digests:
    clock, opened = SetClock(), asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def build(config: Config, paths: Paths, shell: Shell) -> AsyncIterator[Methods]:
        setup = Setup(data=folder, database=folder / "live.db", index=folder / "index.db", key=KEY)
        async with open_parts(setup, clock, counted_ids(), shell.tasks, shell.log) as parts:
            await with_memories(parts, folder, events[0].workspace)
            opened.set_result(parts)
            yield Service(parts, shell)
            await shell.tasks.close()

    paths = locate({"HOME": str(folder), env("data"): str(folder / "d"), env("socket"): str(run_dir / "s" / "d.sock")})
    paths.socket.parent.mkdir(mode=0o700)
    daemon = Daemon(Config(), paths, a_log())
    daemon.config = msgspec.structs.replace(
        daemon.config, daemon=msgspec.structs.replace(daemon.config.daemon, http=False)
    )
    serving = asyncio.create_task(daemon.serve(build))
    async with asyncio.timeout(60):
        await daemon.ready.wait()
        async with connect(paths.socket) as client:
            await LivePlayer(client, clock).play(events)
        found = await digests(await opened)
        daemon.stop()
        await serving
    return found


@pytest.mark.promise("replay-equals-live")
@pytest.mark.promise("deterministic")
async def test_replayed_twice_and_sent_live_the_decisions_are_the_same_bytes(tmp_path: Path, run_dir: Path) -> None:
    events = envelopes()

    first = await replayed(tmp_path, 1, events)
    second = await replayed(tmp_path, 2, events)
    live = await lived(tmp_path, run_dir, events)

    assert len(first) > 100
    assert second == first
    assert live == first
