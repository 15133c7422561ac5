"""A host's hook call: understood by its adapter, its events stored, its answer claimed and, once written, delivered."""

import re
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from host.adapters import ADAPTERS, Adapter
from host.claims import Ask
from host.connection import Reply
from host.contracts import Claimed, Heard, Surface
from host.ears import Ears, source
from host.errors import ProtocolFault
from host.parts import Parts
from host.payloads import mend
from host.protocol import Request, decode_params
from host.runtime import SessionRuntime
from host.steps import STEP_END
from host.transcripts.records import Place
from host.transcripts.records import client as spoken_by
from recall.contracts import Channel, EventEnvelope, Frozen, SourceKind

WAIT_MS = 250  # for a pass to end: the agent waits, but only while one runs

_CLIENT = re.compile(r"([a-z][a-z-]*)_(\d+(?:-\d+)+)(?![\d-])")  # the product and its version


class HookParams(Frozen, frozen=True, kw_only=True):
    """`client`: what the product calls itself to its children, such as `claude-code_2-1-332_harness`. `acknowledge`:
    the caller says later whether the text reached the model; until then nothing is settled."""

    host: str
    payload: msgspec.Raw
    client: str = ""
    acknowledge: bool = False


class HookClaim(Frozen, frozen=True, kw_only=True):
    """What the caller names in `inbox.delivered` or `inbox.release`."""

    session_id: str
    agent_id: str
    packet_id: str
    claim_id: str


class HookAnswer(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    output: msgspec.Raw | None
    claim: HookClaim | None = None


class Hooks:
    """Serves hooks of every adapter, over HTTP and over the socket."""

    def __init__(self, parts: Parts, own: Sequence[str] = ()) -> None:
        self._parts = parts
        self._own = own
        self._ears = Ears(parts)

    async def called(self, request: Request) -> Reply:
        """The `hook` method: the output as `{"output": object | null}`, and the claim when it is to be acknowledged."""
        params = decode_params(request, HookParams)
        reply, claim = await self._answered(params.host, bytes(params.payload), params.client)
        output = msgspec.Raw(reply.result) if isinstance(reply.result, bytes) and reply.result else None
        if not params.acknowledge or output is None:
            return Reply(result=HookAnswer(output=output), written=reply.written, lost=reply.lost)
        return Reply(result=HookAnswer(output=output, claim=claim), lost=reply.lost)

    async def heard(self, host: str, raw: bytes) -> Reply:
        """Store what the hook tells and give what may be said at its surface; `b""` is silence."""
        reply, _ = await self._answered(host, raw, "")
        return reply

    async def _answered(self, host: str, raw: bytes, client: str) -> tuple[Reply, HookClaim | None]:
        adapter = ADAPTERS.get(host)
        if adapter is None:
            known = ", ".join(sorted(ADAPTERS))
            raise ProtocolFault("unknown-host", f"No adapter for the host {host!r}.", f"Known hosts: {known}.")
        heard = adapter.decode(mend(raw), self._parts.clock.now(), self._own)
        heard, runtime = await self._store(heard, host, client)
        if heard.surface is None or runtime is None:
            return Reply(result=b""), None
        claim = await self._parts.claims.claim(runtime, Ask(surface=heard.surface, wait_ms=WAIT_MS))
        if not isinstance(claim, Claimed):
            return Reply(result=b""), None
        packet, scope = claim.packet, runtime.scope
        named = HookClaim(
            session_id=scope.session_id, agent_id=scope.agent_id, packet_id=packet.packet_id, claim_id=claim.claim_id
        )
        return self._handing_over(runtime, claim, adapter, heard), named

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

    async def _store(self, heard: Heard, host: str, client: str) -> tuple[Heard, SessionRuntime | None]:
        """Append what the hook and the host's transcript tell. Returns the call as its session knows it, and the
        session's runtime; None: the session is not known, or not open yet."""
        if not heard.session_id:
            return heard, None
        workspace = await self._workspace(heard)
        told = await self._ears.hear(heard, workspace, host)
        heard = told.heard
        own = tuple(msgspec.structs.replace(envelope, workspace=workspace) for envelope in heard.envelopes)
        envelopes = (*told.envelopes, *self._spoken(heard, host, client, workspace), *own)
        if heard.surface is Surface.POST_TOOL and heard.ends_step:
            envelopes = (*envelopes, self._step_end(heard, workspace))
        if told.unread and heard.surface is Surface.POST_TOOL:
            heard = msgspec.structs.replace(heard, surface=None)  # a step later is better than told twice
        runtime = self._parts.sessions.known(heard.session_id, heard.agent_id)
        if envelopes:
            try:
                await self._keep(envelopes, host)
            except BaseException:
                told.unheard()  # what was read of the transcript is read again
                raise
            runtime = await self._parts.sessions.within(heard.session_id, heard.agent_id, WAIT_MS)
        shown = (*told.shown, *heard.shown)
        if shown and runtime is not None:
            if told.foreign or heard.shown:  # what a fork's parent was given stands in its window
                await self._parts.claims.inherit(runtime, shown)
            await self._parts.claims.settle_shown(runtime, shown)
        return heard, runtime

    async def _keep(self, envelopes: Sequence[EventEnvelope], host: str) -> None:
        """Append all of it. What was told before in other words, as a call that another hook has changed since, keeps
        its first telling, and takes nothing else with it."""
        try:
            await self._parts.host.on_event(envelopes, host)
            return
        except ProtocolFault as fault:
            if fault.kind != "conflict":
                raise
        for envelope in envelopes:
            try:
                await self._parts.host.on_event((envelope,), host)
            except ProtocolFault as fault:
                if fault.kind != "conflict":
                    raise

    def _spoken(self, heard: Heard, host: str, client: str, workspace: str) -> Sequence[EventEnvelope]:
        """Which version of the product begins here, when it has told the hook's process."""
        said = _CLIENT.match(client)
        if said is None or said[1] != host or heard.surface is not Surface.SESSION_START:
            return ()
        now = self._parts.clock.now()
        place = Place(session_id=heard.session_id, agent_id=heard.agent_id, workspace=workspace, at=now)
        return (spoken_by(place, said[2].replace("-", "."), ""),)

    async def _workspace(self, heard: Heard) -> str:
        """Where the session works: fixed when it starts, for the host's `cwd` follows every `cd` of the agent."""
        told = heard.envelopes[0].workspace if heard.envelopes else ""
        if heard.surface is Surface.SESSION_START and told and source(heard) != "compact":
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
