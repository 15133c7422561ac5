"""The workspace verbs of the wire: how far remora is rolled out there, how often it speaks, and what is muted."""

import msgspec

from host.advice import Advice
from host.connection import Peer
from host.contracts import Rollout
from host.feedback import Feedback
from host.mutes import EVERYTHING, Duration, Mute, Muted, until_of
from host.parts import Parts
from host.protocol import Request, decode_params
from host.trace import of_policy
from host.verbs import Handler, Table, guarded, invalid, reach
from recall.attention import FIGURES, Figures
from recall.contracts import Attention, Frozen, MemoryKind, Millis

MOST_MUTED = 500  # memories that `workspace.get` names


class Wanted(Frozen, frozen=True, kw_only=True):
    workspace: str


class SetParams(Wanted, frozen=True, kw_only=True):
    """What is given is set."""

    rollout: Rollout | None = None
    attention: Attention | None = None


class MuteParams(Wanted, frozen=True, kw_only=True):
    """`kind`: null for everything. `for_ms`: for how long; null: until it is unmuted."""

    kind: MemoryKind | None = None
    for_ms: Duration | None = None
    muted: bool = True


class Set(Frozen, frozen=True, kw_only=True):
    """What holds now. `chosen`: somebody chose the attention here; else it is the default."""

    workspace_key: str
    rollout: Rollout
    attention: Attention
    chosen: bool


class MutedKind(Frozen, frozen=True, kw_only=True):
    """`kind`: null for everything. `until`: null: until it is unmuted."""

    kind: MemoryKind | None
    since: Millis
    until: Millis | None


class MutedMemory(Frozen, frozen=True, kw_only=True):
    memory_id: str
    text: str
    since: Millis
    until: Millis | None


class Standing(Set, frozen=True, kw_only=True):
    """All that a person settled in a workspace, what each point of attention is like as measured, and what the feedback
    given here comes to."""

    mutes: tuple[MutedKind, ...]
    memories: tuple[MutedMemory, ...]
    points: dict[Attention, Figures]
    advice: Advice


class Done(Frozen, frozen=True, kw_only=True):
    """The answer of `workspace.mute`."""

    workspace_key: str
    kind: MemoryKind | None
    muted: bool
    changed: bool
    until: Millis | None
    packets_purged: int


class Workspaces:
    """User verbs over a whole workspace."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._feedback = Feedback(parts)

    def table(self) -> dict[str, Handler]:
        own: Table = {"workspace.get": self._get, "workspace.set": self._set, "workspace.mute": self._mute}
        return guarded({**own, **self._feedback.table()})

    async def _get(self, request: Request, peer: Peer) -> Standing:
        params = decode_params(request, Wanted)
        key = self._key(params)
        standing = self._standing(key)
        mutes = self._parts.marks.workspaces.of(key, self._parts.clock.now())
        return Standing(
            **msgspec.structs.asdict(standing),
            mutes=tuple(_muted(what, mute) for what, mute in mutes.items()),
            memories=await self._memories(params.workspace),
            points=dict(FIGURES),
            advice=await self._feedback.advice(key),
        )

    async def _memories(self, workspace: str) -> tuple[MutedMemory, ...]:
        """The memories that are muted one by one and can be seen from there."""
        scope = await reach(self._parts, workspace)
        now, found = self._parts.clock.now(), []
        for memory_id in sorted(self._parts.marks.muted(now))[:MOST_MUTED]:
            known = await self._parts.library.get(memory_id, scope)
            mute = self._parts.marks.mute_of(memory_id, now)
            if known is not None and mute is not None:
                text = known[0].title or known[0].text
                found.append(MutedMemory(memory_id=memory_id, text=text, since=mute.since, until=mute.until))
        return tuple(found)

    async def _set(self, request: Request, peer: Peer) -> Set:
        params = decode_params(request, SetParams)
        key, now = self._key(params), self._parts.clock.now()
        if params.rollout is None and params.attention is None:
            raise invalid("Nothing to set.", "Give rollout or attention.")
        if params.rollout is not None:
            await self._noted(f"rollout {params.rollout}", params.rollout, key)
            await self._parts.rollouts.set(key, params.rollout, now)
            await self._withdrawn(key)
        if params.attention is not None:
            await self._noted(f"attention {params.attention}", params.attention, key)
            await self._parts.attentions.set(key, params.attention)
        return self._standing(key)

    async def _mute(self, request: Request, peer: Peer) -> Done:
        params = decode_params(request, MuteParams)
        key, now, mutes = self._key(params), self._parts.clock.now(), self._parts.marks.workspaces
        what: Muted = EVERYTHING if params.kind is None else params.kind
        if params.muted and params.kind is None and params.for_ms is None:
            raise invalid("Everything is muted for a time only.", "Give forMs, or set the rollout to off.")
        until, purged = None, 0
        verb, named = "mute" if params.muted else "unmute", "everything" if params.kind is None else params.kind
        await self._noted(f"{verb} {named}", f"{verb}d", key)
        if params.muted:
            until = until_of(params.for_ms, now)
            changed = await mutes.mute(key, what, now, until)
            purged = await self._withdrawn(key)
        else:
            changed = await mutes.unmute(key, what, now)
        return Done(
            workspace_key=key,
            kind=params.kind,
            muted=params.muted,
            changed=changed,
            until=until,
            packets_purged=purged,
        )

    def _standing(self, key: str) -> Set:
        return Set(
            workspace_key=key,
            rollout=self._parts.rollouts.level(key),
            attention=self._parts.attentions.of(key),
            chosen=self._parts.attentions.chosen(key),
        )

    async def _withdrawn(self, key: str) -> int:
        """Drop what waits there and may not be handed over any more, also in sessions that are not live, however old it
        is: a mute may have ended before its session is opened again. Returns how many packets that were."""
        parts, count = self._parts, 0
        for slot in await parts.inbox.unsettled():
            owner = (slot.packet.context_cursor.session_id, slot.packet.agent_id)
            runtime = await parts.sessions.present(*owner)
            if runtime is not None:
                count += await parts.claims.withdraw([runtime] if runtime.scope.workspace == key else [])
            elif parts.places.key(await parts.eventlog.workspace(*owner)) == key:
                count += await parts.claims.withdraw_absent(slot, parts.sessions.scope(*owner, key))
        return count

    def _key(self, params: Wanted) -> str:
        key = self._parts.places.key(params.workspace, again=True)
        if not key:
            raise invalid("No workspace was given.", "Give the folder's path.")
        return key

    async def _noted(self, outcome: str, reason: str, key: str) -> None:
        entry = of_policy(outcome, reason, self._parts.audit.ref(key), self._parts.clock.now())
        await self._parts.ledger.append([entry])


def _muted(what: Muted, mute: Mute) -> MutedKind:
    return MutedKind(kind=what if isinstance(what, MemoryKind) else None, since=mute.since, until=mute.until)
