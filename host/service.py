"""The wire methods: one table, one function a method. Decoded to types here, typed until the answer is encoded."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

import msgspec

from governance.errors import AuditUnavailable
from governance.formation.errors import StateFault
from governance.metrics import as_json, gauges, prometheus
from host.audits import Audits
from host.backfill import Backfill
from host.claims import Ask
from host.connection import Peer, Reply, Shell
from host.contracts import Claim, Claimed, MemoryPacket, Reason, Surface
from host.envelopes import EventsParams, read_events
from host.errors import ProtocolFault
from host.evidence import Evidence
from host.gauges import readings
from host.growing.serving import FormationServing
from host.health import Health, health
from host.hooks import Hooks
from host.memories import Memories
from host.namespace import name
from host.parts import Parts
from host.protocol import WAIT_MS, Request, decode_params, refusal, unknown_method
from host.reviewing import Reviewing
from host.runtime import MAIN_AGENT, SESSION_SET, SessionRuntime, state_text
from host.team.serving import TeamServing
from host.workspaces import Workspaces
from recall.contracts import Channel, ContextCursor, EventEnvelope, EventType, Frozen, SourceKind

Handler = Callable[[Request, Peer], Awaitable[object]]
METHODS = (
    "event.append",
    "step",
    "inbox.claim",
    "inbox.delivered",
    "inbox.release",
    "session.open",
    "session.status",
    "session.set",
    "session.close",
    "workspace.get",
    "workspace.set",
    "workspace.mute",
    "memory.search",
    "memory.get",
    "memory.remember",
    "memory.edit",
    "memory.propose",
    "memory.pin",
    "memory.mute",
    "memory.forget",
    "memory.feedback",
    "memory.approve",
    "memory.approvals",
    "memory.list",
    "memory.import",
    "memory.lint",
    "history.begin",
    "history.append",
    "index.rebuild",
    "index.progress",
    "engine.reembed",
    *("checkpoint.run", "checkpoint.list", "checkpoint.retry", "extract.run", "extract.recover"),
    *("formation.stage", "formation.status"),
    *("team.status", "team.recall", "team.synthesize", "team.stage", "team.review", "team.prepare"),
    *("team.promote", "team.assemble", "team.discard", "team.init", "team.run"),
    *("review.list", "review.get", "review.decide", "review.add"),
    "audit.query",
    "audit.get",
    "audit.explain",
    "audit.export",
    "audit.stats",
    "audit.subscribe",
    "audit.verify",
    "evidence.get",
    "evidence.rebuild",
    "metrics",
    "health",
    "hook",
)
DEFAULT_WAIT_MS = 150
PATIENCE_SECONDS = 5.0
LEAST_WAIT_MS = 50  # a claim that waits for no pass waits so long for its session to be opened


class ClaimWish(Frozen, frozen=True, kw_only=True):
    """The claim of a `step`: whose, where, and how long it may wait."""

    surface: Surface
    wait_ms: int = DEFAULT_WAIT_MS
    request_id: str | None = None
    session_id: str | None = None
    agent_id: str | None = None


class StepParams(EventsParams, frozen=True, kw_only=True):
    claim: ClaimWish | None = None


class ClaimParams(Frozen, frozen=True, kw_only=True):
    session_id: str
    agent_id: str
    surface: Surface
    request_id: str
    wait_ms: int = 0


class SettleParams(Frozen, frozen=True, kw_only=True):
    session_id: str
    agent_id: str
    packet_id: str
    claim_id: str
    reason: str = ""


class SessionParams(Frozen, frozen=True, kw_only=True):
    session_id: str
    agent_id: str = MAIN_AGENT
    workspace: str = ""
    incognito: bool | None = None
    muted: bool | None = None


class MetricsParams(Frozen, frozen=True, kw_only=True):
    """`format`: `json`, or `prometheus` for its text format."""

    format: Literal["json", "prometheus"] = "json"


class AppendResult(Frozen, frozen=True, kw_only=True):
    accepted: int
    duplicates: int
    cursor: ContextCursor


class ClaimResult(Frozen, frozen=True, kw_only=True):
    packet: MemoryPacket | None
    claim_id: str | None = None
    reason: str | None = None


class StepResult(AppendResult, frozen=True, kw_only=True):
    packet: MemoryPacket | None = None
    claim_id: str | None = None
    reason: str | None = None


class SessionStatus(Frozen, frozen=True, kw_only=True):
    """`queued`: envelopes that wait for their pass."""

    session_id: str
    agent_id: str
    workspace_key: str
    event_seq: int
    context_version: int
    step: int
    incognito: bool
    muted: bool
    gate: str
    pending: str | None
    queued: int


class Service:
    """Answers every wire method but `hello` and `shutdown`, which are the daemon's own."""

    def __init__(self, parts: Parts, shell: Shell) -> None:
        self._parts = parts
        self._shell = shell
        self._hooks = Hooks(parts, parts.own)
        self.team = TeamServing(parts)
        table: dict[str, Handler] = {
            "event.append": self._append,
            "step": self._step,
            "inbox.claim": self._claim,
            "inbox.delivered": self._delivered,
            "inbox.release": self._release,
            "session.open": self._session_open,
            "session.status": self._session_status,
            "session.set": self._session_set,
            "session.close": self._session_close,
            "metrics": self._metrics,
            "health": self._health,
            "hook": self._hook,
        }
        for verbs in (
            Memories(parts),
            Backfill(parts),
            Reviewing(parts),
            FormationServing(parts),
            self.team,
            Audits(parts),
            Evidence(parts),
            Workspaces(parts),
        ):
            table |= verbs.table()
        self._table: Mapping[str, Handler] = table

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(self._table)

    async def answer(self, request: Request, peer: Peer) -> object:
        """The result of one request. Raises ProtocolFault."""
        handler = self._table.get(request.method)
        if handler is None:
            raise unknown_method(request)
        try:
            return await handler(request, peer)
        except AuditUnavailable as error:
            raise refusal("store-unavailable", error.problem, error.next_step) from error
        except StateFault as error:  # governance.db: all else runs on
            raise ProtocolFault(error.code, error.problem, error.next_step) from error

    async def hook(self, host: str, raw: bytes) -> Reply:
        """A host's hook over HTTP."""
        return await self._hooks.heard(host, raw)

    # ------------------------------------------------------------------ events and claims

    async def _append(self, request: Request, peer: Peer) -> AppendResult:
        with self._parts.workers.appending():
            return await self._stored(read_events(request, EventsParams))

    async def _stored(self, params: EventsParams) -> AppendResult:
        appended = await self._parts.host.on_event(params.events, params.host)
        last = params.events[-1]
        runtime = self._parts.sessions.known(last.session_id, last.agent_id)
        return AppendResult(
            accepted=appended.accepted,
            duplicates=appended.duplicates,
            cursor=ContextCursor(
                session_id=appended.session_id,
                event_seq=appended.event_seq,
                context_version=0 if runtime is None else runtime.context_version,
            ),
        )

    async def _step(self, request: Request, peer: Peer) -> StepResult:
        params = read_events(request, StepParams)
        stored = await self._stored(params)
        wish = params.claim
        if wish is None:
            return StepResult(accepted=stored.accepted, duplicates=stored.duplicates, cursor=stored.cursor)
        last = params.events[-1]
        whose = (wish.session_id or last.session_id, wish.agent_id or last.agent_id)
        runtime = await self._parts.sessions.within(*whose, min(wish.wait_ms, WAIT_MS))
        if runtime is None:
            return StepResult(
                accepted=stored.accepted, duplicates=stored.duplicates, cursor=stored.cursor, reason=Reason.LATE
            )
        claim = await self._parts.claims.claim(
            runtime, Ask(surface=wish.surface, request_id=wish.request_id, wait_ms=wish.wait_ms)
        )
        cursor = ContextCursor(
            session_id=stored.cursor.session_id,
            event_seq=stored.cursor.event_seq,
            context_version=runtime.context_version,
        )
        answer = _claimed(claim)
        return StepResult(
            accepted=stored.accepted,
            duplicates=stored.duplicates,
            cursor=cursor,
            packet=answer.packet,
            claim_id=answer.claim_id,
            reason=answer.reason,
        )

    async def _claim(self, request: Request, peer: Peer) -> ClaimResult:
        params = decode_params(request, ClaimParams)
        wait = max(LEAST_WAIT_MS, min(params.wait_ms, WAIT_MS))
        runtime = await self._parts.sessions.within(params.session_id, params.agent_id, wait)
        if runtime is None:
            return ClaimResult(packet=None, reason=Reason.LATE)
        ask = Ask(surface=params.surface, request_id=params.request_id, wait_ms=params.wait_ms)
        return _claimed(await self._parts.claims.claim(runtime, ask))

    async def _delivered(self, request: Request, peer: Peer) -> object:
        params = decode_params(request, SettleParams)
        runtime = await self._parts.sessions.find(params.session_id, params.agent_id)
        return await self._parts.claims.delivered(runtime, params.packet_id, params.claim_id)

    async def _release(self, request: Request, peer: Peer) -> object:
        params = decode_params(request, SettleParams)
        runtime = await self._parts.sessions.find(params.session_id, params.agent_id)
        return await self._parts.claims.release(runtime, params.packet_id, params.claim_id)

    # ------------------------------------------------------------------ sessions

    async def _session_open(self, request: Request, peer: Peer) -> SessionStatus:
        params = decode_params(request, SessionParams)
        last = await self._parts.eventlog.last(params.session_id)
        if last is None:
            await self._say(params, EventType.SESSION_START, {"source": "startup"}, params.workspace)
            return await self._status(params)
        runtime = await self._parts.sessions.find(params.session_id, params.agent_id)
        await _calm(runtime)
        if runtime.disposed:
            workspace = params.workspace or runtime.workspace_path
            await self._say(params, EventType.SESSION_START, {"source": "resume"}, workspace)
        return await self._status(params)

    async def _session_status(self, request: Request, peer: Peer) -> SessionStatus:
        return await self._status(decode_params(request, SessionParams))

    async def _session_set(self, request: Request, peer: Peer) -> SessionStatus:
        params = decode_params(request, SessionParams)
        wanted = {"incognito": params.incognito, "muted": params.muted}
        chosen: dict[str, object] = {name: value for name, value in wanted.items() if value is not None}
        if not chosen:
            raise ProtocolFault("invalid-params", "Nothing to set.", "Give incognito or muted.", code=-32602)
        runtime = await self._parts.sessions.find(params.session_id, params.agent_id)
        await self._say(params, SESSION_SET, chosen, runtime.workspace_path)
        return await self._status(params)

    async def _session_close(self, request: Request, peer: Peer) -> dict[str, bool]:
        params = decode_params(request, SessionParams)
        runtime = await self._parts.sessions.find(params.session_id, params.agent_id)
        await self._say(params, EventType.SESSION_END, {}, runtime.workspace_path)
        await _calm(runtime)
        return {"closed": True}

    async def _say(self, params: SessionParams, event: str, payload: dict[str, object], workspace: str) -> None:
        """Every trigger enters as an event: there is no other door."""
        envelope = EventEnvelope(
            session_id=params.session_id,
            agent_id=params.agent_id,
            workspace=workspace,
            channel=Channel.SESSION,
            event_type=event,
            timestamp=self._parts.clock.now(),
            source_kind=SourceKind.LIFECYCLE,
            payload=msgspec.Raw(msgspec.json.encode(payload)),
        )
        runtime = self._parts.sessions.known(params.session_id, params.agent_id)
        host = "socket" if runtime is None else runtime.host  # whoever asks: the agent runs where it ran
        await self._parts.host.on_event((envelope,), host)

    async def _status(self, params: SessionParams) -> SessionStatus:
        runtime = await self._parts.sessions.find(params.session_id, params.agent_id)
        await _calm(runtime)
        pending, _ = await self._parts.inbox.slot(params.session_id, params.agent_id)
        return _status(runtime, None if pending is None else pending.packet.packet_id)

    # ------------------------------------------------------------------ the daemon itself

    async def _metrics(self, request: Request, peer: Peer) -> dict[str, object]:
        params = decode_params(request, MetricsParams)
        metrics, read = await self._parts.tally.whole(), await readings(self._parts)
        counts = {"events": dict(self._parts.eventlog.counts), "daemon": self._shell.statistics()}
        if params.format == "prometheus":
            prefix = name(sep="_")
            text = prometheus(metrics, prefix) + gauges({**read, **counts}, prefix)
            return {"text": text}
        return as_json(metrics) | counts | {"now": read}

    async def _health(self, request: Request, peer: Peer) -> Health:
        return await health(self._parts, self._shell)

    async def _hook(self, request: Request, peer: Peer) -> Reply:
        return await self._hooks.called(request)


async def _calm(runtime: SessionRuntime) -> None:
    """Wait until what was sent has been heard, within reason."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await runtime.idle.wait()
    except TimeoutError:
        return


def _claimed(claim: Claim) -> ClaimResult:
    if isinstance(claim, Claimed):
        return ClaimResult(packet=claim.packet, claim_id=claim.claim_id)
    return ClaimResult(packet=None, reason=claim.reason)


def _status(runtime: SessionRuntime, pending: str | None) -> SessionStatus:
    scope = runtime.scope
    return SessionStatus(
        session_id=scope.session_id,
        agent_id=scope.agent_id,
        workspace_key=scope.workspace,
        event_seq=runtime.event_seq,
        context_version=runtime.context_version,
        step=runtime.step,
        incognito=runtime.incognito,
        muted=runtime.muted,
        gate=state_text(runtime.gate),
        pending=pending,
        queued=len(runtime.queue),
    )
