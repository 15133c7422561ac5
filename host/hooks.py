"""A host's hook call: understood by its adapter, its events stored, its answer claimed and, once written, delivered."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from host.adapters import ADAPTERS, Adapter
from host.claims import Ask
from host.connection import Reply
from host.contracts import Claimed, Heard, Surface
from host.errors import ProtocolFault
from host.parts import Parts
from host.payloads import mend
from host.protocol import Request, decode_params
from host.runtime import MAIN_AGENT, SessionRuntime
from host.steps import STEP_END
from host.transcripts import OVERHEARERS, Overhears
from host.transcripts.tail import Tail, advance, begin
from recall.contracts import Channel, EventEnvelope, EventPayload, Frozen, SourceKind

WAIT_MS = 150
TAIL_BACK = 256 * 1024
TAILS_KEPT = 256

_payload = msgspec.json.Decoder(EventPayload)


class HookParams(Frozen, frozen=True, kw_only=True):
    host: str
    payload: msgspec.Raw


@dataclass(slots=True)
class Ear:
    """How far a session's own transcript has been read. Hooks of one batch come at once: one reads at a time."""

    overhearing: Overhears
    tail: Tail | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What the transcript told this time, and how to have it told again should it not be kept."""

    envelopes: Sequence[EventEnvelope] = ()
    shown: Sequence[str] = ()
    ear: Ear | None = None
    before: Tail | None = None

    def unheard(self) -> None:
        if self.ear is not None:
            self.ear.tail = self.before


class Hooks:
    """Serves hooks of every adapter, over HTTP and over the socket."""

    def __init__(self, parts: Parts, own: Sequence[str] = ()) -> None:
        self._parts = parts
        self._own = own
        self._ears: OrderedDict[tuple[str, str], Ear] = OrderedDict()  # by host and session

    async def called(self, request: Request) -> Reply:
        """The `hook` method: the output as `{"output": object | null}`."""
        params = decode_params(request, HookParams)
        reply = await self.heard(params.host, bytes(params.payload))
        output = msgspec.Raw(reply.result) if isinstance(reply.result, bytes) and reply.result else None
        return Reply(result={"output": output}, written=reply.written, lost=reply.lost)

    async def heard(self, host: str, raw: bytes) -> Reply:
        """Store what the hook tells and give what may be said at its surface; `b""` is silence."""
        adapter = ADAPTERS.get(host)
        if adapter is None:
            known = ", ".join(sorted(ADAPTERS))
            raise ProtocolFault("unknown-host", f"No adapter for the host {host!r}.", f"Known hosts: {known}.")
        heard = adapter.decode(mend(raw), self._parts.clock.now(), self._own)
        runtime = await self._store(heard, host)
        if heard.surface is None or runtime is None:
            return Reply(result=b"")
        claim = await self._parts.claims.claim(runtime, Ask(surface=heard.surface, wait_ms=WAIT_MS))
        if not isinstance(claim, Claimed):
            return Reply(result=b"")
        return self._handing_over(runtime, claim, adapter, heard)

    def _handing_over(self, runtime: SessionRuntime, claim: Claimed, adapter: Adapter, heard: Heard) -> Reply:
        packet, claims = claim.packet, self._parts.claims
        text = adapter.encode(heard, packet.rendered)

        def settle(verb: Callable[[SessionRuntime, str, str], Awaitable[object]]) -> Callable[[], Awaitable[None]]:
            async def act() -> None:  # by whoever is the session's runtime by then: nobody tells us twice
                scope = runtime.scope
                live = await self._parts.sessions.find(scope.session_id, scope.agent_id)
                await verb(live, packet.packet_id, claim.claim_id)

            return act

        if not text:  # this host cannot take it after all: nothing was handed over
            return Reply(result=b"", written=settle(claims.release), lost=settle(claims.release))
        return Reply(result=text, written=settle(claims.delivered), lost=settle(claims.release))

    async def _store(self, heard: Heard, host: str) -> SessionRuntime | None:
        """Append what the hook and the host's transcript tell. None: the session is not known, or not open yet."""
        if not heard.session_id:
            return None
        workspace = await self._workspace(heard)
        told = await self._overhear(heard, workspace, host)
        own = tuple(msgspec.structs.replace(envelope, workspace=workspace) for envelope in heard.envelopes)
        envelopes = (*told.envelopes, *own)
        if heard.surface is Surface.POST_TOOL:
            envelopes = (*envelopes, self._step_end(heard, workspace))
        runtime = self._parts.sessions.known(heard.session_id, heard.agent_id)
        if envelopes:
            try:
                await self._parts.host.on_event(envelopes, host)
            except BaseException:
                told.unheard()  # what was read of the transcript is read again
                raise
            runtime = await self._parts.sessions.within(heard.session_id, heard.agent_id, WAIT_MS)
        if told.shown and runtime is not None:
            await self._parts.claims.settle_shown(runtime, told.shown)
        return runtime

    async def _overhear(self, heard: Heard, workspace: str, host: str) -> "Told":
        """What the host's transcript says that no hook does: the agent's own words, and texts already shown."""
        overhears = OVERHEARERS.get(host)
        if overhears is None or heard.transcript is None or heard.agent_id != MAIN_AGENT:
            return Told()
        owner = host, heard.session_id
        ear = self._ears.get(owner)
        if ear is None:
            ear = Ear(overhears(heard.session_id, workspace, self._parts.clock.now()))
        self._ears[owner] = ear
        self._ears.move_to_end(owner)
        if len(self._ears) > TAILS_KEPT:
            self._ears.popitem(last=False)
        async with ear.lock:
            if ear.tail is None or ear.tail.path != heard.transcript:
                ear.tail = await asyncio.to_thread(begin, heard.transcript, TAIL_BACK)
            before = ear.tail
            lines, ear.tail = await asyncio.to_thread(advance, before)
            told = ear.overhearing.hear(lines)
        return Told(envelopes=told.envelopes, shown=told.shown, ear=ear, before=before)

    async def _workspace(self, heard: Heard) -> str:
        """Where the session works: fixed when it starts, for the host's `cwd` follows every `cd` of the agent."""
        told = heard.envelopes[0].workspace if heard.envelopes else ""
        if heard.surface is Surface.SESSION_START and told and not _compacted(heard):
            return told
        runtime = self._parts.sessions.known(heard.session_id, heard.agent_id)
        if runtime is not None and runtime.workspace_path:
            return runtime.workspace_path
        logged = await self._parts.eventlog.last(heard.session_id)
        return told if logged is None else logged.workspace or told

    def _step_end(self, heard: Heard, workspace: str) -> EventEnvelope:
        """A batch of tool results is complete: the next request is the next step."""
        return EventEnvelope(
            session_id=heard.session_id,
            agent_id=heard.agent_id,
            workspace=workspace,
            channel=Channel.AGENT,
            event_type=STEP_END,
            timestamp=self._parts.clock.now(),
            source_kind=SourceKind.LIFECYCLE,
            payload=msgspec.Raw(b"{}"),
        )


def _compacted(heard: Heard) -> bool:
    """A compaction begins a context window in mid-session: the agent may be anywhere by then."""
    return _payload.decode(heard.envelopes[0].payload).source == "compact"
