"""What a running daemon does by itself: sessions left undecided at the last stop, idle ones, and forming memories."""

import asyncio
import sqlite3

from governance.formation.errors import StateFault
from host.parts import Parts
from host.team.trusting import trusting_of

IDLE_MS = 30 * 60_000
ROUND_SECONDS = 60.0
RECENT_SESSIONS = 200
_UNREADABLE = (sqlite3.Error, StateFault)


async def catch_up(parts: Parts) -> None:
    """Events that were acknowledged but not decided before the last stop get their pass now."""
    since = parts.clock.now() - IDLE_MS
    for session in await parts.eventlog.sessions(RECENT_SESSIONS):
        if session.last_at >= since:
            for first in await parts.eventlog.agents(session.session_id):
                opening = parts.sessions.open(first.session_id, first.agent_id)
                (opened,) = await asyncio.gather(opening, return_exceptions=True)
                if isinstance(opened, BaseException):  # one session's fault is not the next one's
                    parts.host.log.error("session.unopened", error=type(opened).__name__)


async def let_idle_go(parts: Parts) -> None:
    """Sessions without an event for half an hour leave memory; the log keeps their past."""
    while True:
        await asyncio.sleep(ROUND_SECONDS)
        await rest(parts)


async def rest(parts: Parts) -> None:
    """One round of that: what rests is formed and told, what only pauses may be formed in batches."""
    now = parts.clock.now()
    if parts.kept.problem and await parts.kept.again():  # it is back, or nobody holds it any more
        await parts.lives.reload()
        await parts.trust.read()
        await trusting_of(parts).settle()
        await parts.formation.recount()
    for runtime in parts.sessions.idle_since(now - IDLE_MS):
        parts.sessions.endings.ended(runtime.scope.session_id)
        parts.sessions.let_go(runtime)
        if not runtime.subagent:
            await parts.boundaries.rests(runtime.scope.session_id)
    await parts.boundaries.paused(now)


async def settle(parts: Parts) -> None:
    """Finish what a crash left half applied, before anybody decides about more; and note since when formation is on."""
    await parts.boundaries.begun(parts.clock.now())
    await trusting_of(parts).settle()
    if parts.formation.problem():
        return
    try:
        await parts.documents.settle()
    except _UNREADABLE as error:
        parts.host.log.warning("documents.unsettled", error=type(error).__name__)


async def form(parts: Parts) -> None:
    """Form what earlier sessions left first, then whatever comes."""
    try:
        await parts.boundaries.catch_up(parts.clock.now())
    except _UNREADABLE as error:  # the runner says so, too, and goes on when it can be read again
        parts.host.log.warning("formation.uncaught", error=type(error).__name__)
    await parts.formation.runner.run()
