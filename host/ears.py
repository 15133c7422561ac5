"""How a host's transcript is listened to at hook time: from where on, how far, and what of it was told before.

One ear a session, or a subagent with a transcript of its own. It is no older than the daemon: one that is made in
mid-session begins where the session was heard last, so that what the hooks could tell nobody is not lost.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from host.contracts import Heard, Surface
from host.parts import Parts
from host.runtime import MAIN_AGENT
from host.transcripts import APART, CATCHING_UP, OVERHEARERS, PARENTS, Overhears
from host.transcripts.records import Place, forked
from host.transcripts.tail import Tail, advance, begin
from recall.contracts import EventEnvelope, EventPayload, EventType, Millis

TAIL_BACK = 256 * 1024
FORK_BACK = 4 * 1024 * 1024  # a fork's transcript begins with its parent's: what that was given stands in it
COPY_LOOKS, COPY_SECONDS = 10, 0.02  # before the end of a fork's first step: a host copies the conversation late
SPEECH = b'"message":'  # what a line of conversation has
TAILS_KEPT = 256
NEVER = 2**53  # epoch ms: nothing of a transcript is told, and what it shows is heard
SLACK_MS = 10_000

_payload = msgspec.json.Decoder(EventPayload)
Owner = tuple[str, str, str]  # host, session, agent


@dataclass(slots=True)
class Ear:
    """How far a session's own transcript has been read. Hooks of one batch come at once: one reads at a time. `fork`:
    it begins with the transcript of another, which the host may write long after it told the start."""

    overhearing: Overhears
    tail: Tail | None = None
    fork: bool = False
    copied: bool = False  # a fork's parent's words were seen: its host writes lines of its own before these
    parent: str = ""  # the session that it goes on from, as was told
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def _spoken(lines: Sequence[bytes]) -> bool:
    """Whether the conversation is among these lines, and not just what a host notes of hooks and queues before it."""
    return any(SPEECH in line for line in lines)


def _nothing() -> None:
    """How to take back what was not read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What the transcript told this time. `heard`: the hook call itself, as its session knows it. `foreign`: texts that
    other sessions were given may be among those shown. `unheard`: has it told again, should it not be kept."""

    heard: Heard
    envelopes: Sequence[EventEnvelope] = ()
    shown: Sequence[str] = ()
    foreign: bool = False
    unread: bool = False  # a fork whose parent's conversation is not there yet: what that was given is not known
    unheard: Callable[[], None] = _nothing


class Ears:
    """The transcripts of the sessions that were heard last."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._ears: OrderedDict[Owner, Ear] = OrderedDict()

    async def hear(self, heard: Heard, workspace: str, host: str) -> Told:
        """What the host's transcript says that no hook does: the agent's own words, and texts already shown."""
        overhears = OVERHEARERS.get(host)
        if overhears is None or heard.transcript is None:
            return Told(heard=heard)
        ear = await self._ear(heard, workspace, host)
        if heard.agent_id != MAIN_AGENT and host not in APART:
            return Told(heard=heard)  # its words stand in another file
        async with ear.lock:
            ear.fork = ear.fork or source(heard) == "fork"
            first = ear.tail is None or ear.tail.path != heard.transcript
            if ear.tail is None or first:
                back = FORK_BACK if ear.fork else TAIL_BACK
                ear.tail = await asyncio.to_thread(begin, heard.transcript, back)
            before = ear.tail
            lines, ear.tail = await asyncio.to_thread(advance, before)
            ear.copied = ear.copied or not ear.fork or _spoken(lines)
            for _ in range(COPY_LOOKS if heard.surface is Surface.POST_TOOL else 0):
                if ear.copied:
                    break
                await asyncio.sleep(COPY_SECONDS)
                lines, ear.tail = await asyncio.to_thread(advance, before)
                ear.copied = _spoken(lines)  # what the fork's parent was given stands in it
            told = ear.overhearing.hear(lines)
            earlier = await asyncio.to_thread(_shown_before, host, heard, told.parent) if told.parent and first else ()

            def unheard() -> None:
                ear.tail, ear.parent = before, ""
                if first:  # what only a first reading tells
                    self._ears.pop(_owner(host, heard), None)

            return Told(
                heard=ear.overhearing.placed(heard),
                envelopes=(*self._descent(ear, told.parent, heard, workspace), *told.envelopes),
                shown=(*earlier, *told.shown),
                foreign=first or ear.fork,
                unread=not ear.copied,
                unheard=unheard,
            )

    async def _ear(self, heard: Heard, workspace: str, host: str) -> Ear:
        """The ear of a call: made also for a subagent's, which is news of the session, but not of its words."""
        owner = _owner(host, heard)
        if owner not in self._ears:
            since = await self._since(heard, host)
            apart = APART.get(host) if heard.agent_id != MAIN_AGENT else None
            about = heard.session_id, workspace, since
            self._ears.setdefault(owner, Ear(apart(*about, heard.agent_id) if apart else OVERHEARERS[host](*about)))
        self._ears.move_to_end(owner)
        ear = self._ears[owner]
        if len(self._ears) > TAILS_KEPT:
            self._ears.popitem(last=False)
        return ear

    def _descent(self, ear: Ear, parent: str, heard: Heard, workspace: str) -> Sequence[EventEnvelope]:
        """Which session this one goes on from: told once, when the transcript says so."""
        if not parent or parent in (ear.parent, heard.session_id) or heard.agent_id != MAIN_AGENT:
            return ()
        ear.parent = parent
        now = self._parts.clock.now()
        here = Place(session_id=heard.session_id, agent_id=MAIN_AGENT, workspace=workspace, at=now)
        return (forked(here, parent),)

    async def _since(self, heard: Heard, host: str) -> Millis:
        """From when on a transcript is news: a session that nobody has heard begins now; one that goes on after the
        daemon was away begins where it was heard last, when its host's reader can tell what the hooks did meanwhile.
        A little before that: hosts write later than they call hooks, and what was told has its id."""
        logged = await self._parts.eventlog.last(heard.session_id) if host in CATCHING_UP else None
        if logged is None:
            return self._parts.clock.now()
        return max(logged.first_at, logged.last_at - SLACK_MS)


def source(heard: Heard) -> str | None:
    """How the session began, when that is what the call tells."""
    starts = [_payload.decode(one.payload) for one in heard.envelopes if one.event_type == EventType.SESSION_START]
    return starts[0].source if starts else None


def _owner(host: str, heard: Heard) -> Owner:
    """Whose transcript a call is about: the session's, or a subagent's own."""
    return host, heard.session_id, heard.agent_id if host in APART else MAIN_AGENT


def _shown_before(host: str, heard: Heard, parent: str) -> Sequence[str]:
    """What a fork's parent was shown, where the fork's own transcript does not repeat it. Blocks."""
    path = PARENTS[host](heard.transcript or "", parent) if host in PARENTS else None
    lines, _ = advance(begin(path, FORK_BACK)) if path else ((), None)
    return OVERHEARERS[host](parent, "", NEVER).hear(lines).shown
