"""A whole remora in this process: real stores in a folder, a clock that is set, ids that count, a fixed install key."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog

from governance.contracts import AuditEntry, AuditFilter
from governance.formation.contracts import Fault, no_fault
from host.claims import Ask, Settled
from host.clock import SetClock
from host.compose import Setup, open_parts
from host.config import FormationSettings
from host.contracts import Claim, Claimed, Surface
from host.homes import Homes
from host.parts import Parts
from host.policy import Policy
from host.runtime import SessionRuntime
from host.tasks import Tasks
from recall.contracts import Attention, EventEnvelope, Scope
from recall.workspace import workspace_key
from tests.support.builders import AGENT, SESSION, a_memory
from tests.support.clock import START, CountedIds

KEY = b"k" * 32


class World:
    """The parts, and the verbs of a test: remember, feed, claim, deliver, audit."""

    def __init__(self, parts: Parts, clock: SetClock, folder: Path, logged: structlog.testing.CapturingLogger) -> None:
        self.parts = parts
        self.clock = clock
        self.folder = folder
        self.logged = logged
        self._memories = 0

    def workspace(self, name: str = "project") -> str:
        """A folder of its own: another workspace."""
        path = self.folder / "work" / name
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    async def remember(self, text: str, workspace: str = "", **fields: Any) -> str:
        """Write one record to its memory file and index it. `scope=Scope.USER` for the user's own."""
        self._memories += 1
        key = workspace_key(workspace or self.workspace())
        user = fields.pop("scope", Scope.WORKSPACE) is Scope.USER
        root = self.parts.roots.user() if user else self.parts.roots.private(key)
        memory_id = fields.pop("memory_id", f"mem_{self._memories:032x}")
        record = a_memory(text, memory_id=memory_id, scope=root.scope, **fields)
        locator = await self.parts.library.remember(record, root)
        assert locator, locator
        return memory_id

    async def feed(self, *envelopes: EventEnvelope, host: str = "socket") -> SessionRuntime:
        """Append, and wait until the passes of these events are done."""
        await self.parts.host.on_event(envelopes, host)
        runtime = await self.parts.sessions.find(envelopes[-1].session_id, envelopes[-1].agent_id)
        await self.settled(runtime)
        return runtime

    async def settled(self, runtime: SessionRuntime) -> None:
        async with asyncio.timeout(10):
            await runtime.idle.wait()

    async def claim(
        self, surface: Surface = Surface.POST_TOOL, session: str = SESSION, agent: str = AGENT, **fields: Any
    ) -> Claim:
        runtime = await self.parts.sessions.find(session, agent)
        return await self.parts.claims.claim(runtime, Ask(surface=surface, **({"wait_ms": 2000} | fields)))

    async def deliver(self, claim: Claim, session: str = SESSION, agent: str = AGENT) -> Settled:
        assert isinstance(claim, Claimed), claim
        runtime = await self.parts.sessions.find(session, agent)
        return await self.parts.claims.delivered(runtime, claim.packet.packet_id, claim.claim_id)

    async def release(self, claim: Claim, session: str = SESSION, agent: str = AGENT) -> Settled:
        assert isinstance(claim, Claimed), claim
        runtime = await self.parts.sessions.find(session, agent)
        return await self.parts.claims.release(runtime, claim.packet.packet_id, claim.claim_id)

    async def audit(self, **fields: Any) -> Sequence[AuditEntry]:
        """Entries in their order."""
        return (await self.parts.audit.query(AuditFilter(**({"limit": 1000} | fields))))[::-1]


class RunningClock(SetClock):
    """A set clock that is one millisecond later at every look, as a real one may be."""

    def now(self) -> int:
        self.set(super().now() + 1)
        return super().now()


@asynccontextmanager
async def a_world(
    folder: Path,
    policy: Policy | None = None,
    start: int = START,
    clock: SetClock | None = None,
    homes: Homes | None = None,
    attention: Attention = Attention.NORMAL,
    *,
    evidence: bool = True,
    allowed: tuple[str, ...] = (),
    formation: FormationSettings | None = None,
    fault: Fault = no_fault,
) -> AsyncIterator[World]:
    """Open a remora over `folder`; opening the same folder again is a restart."""
    folder.mkdir(parents=True, exist_ok=True)
    logged = structlog.testing.CapturingLogger()
    log = structlog.wrap_logger(logged, processors=[])
    clock = clock or SetClock(start)
    tasks = Tasks(log)
    setup = Setup(
        data=folder,
        database=folder / "log.db",
        index=folder / "index.db",
        key=KEY,
        policy=policy or Policy(),
        homes=homes,
        attention=attention,
        evidence=evidence,
        allowed=allowed,
        formation=formation or FormationSettings(enabled=False),
        fault=fault,
    )
    opened = folder / "opened"  # ids of a later start must differ from those of an earlier one
    opened.write_bytes(opened.read_bytes() + b"." if opened.exists() else b".")
    ids, start_no = CountedIds(), opened.stat().st_size

    def new_id(prefix: str) -> str:
        return f"{prefix}{start_no:08x}{ids()[-24:]}"

    async with open_parts(setup, clock, new_id, tasks, log) as parts:
        try:
            yield World(parts, clock, folder, logged)
        finally:
            await tasks.close()
        assert not tasks.failed, tasks.failed


LESSON = (
    "When `make integration-test` fails with ECONNREFUSED on port 5433, the pg-fixture container is not running: "
    "start it with docker compose up -d pg-fixture before the integration-test target."
)
FAILURE = (
    "make integration-test\npsycopg.OperationalError: connection to server at 127.0.0.1, port 5433 failed: "
    "ECONNREFUSED\nIs the pg-fixture container running?\nmake: *** [integration-test] Error 2"
)
