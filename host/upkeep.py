"""What a running daemon does by itself: sessions left undecided at the last stop, and idle ones."""

import asyncio

from host.parts import Parts

IDLE_MS = 30 * 60_000
ROUND_SECONDS = 60.0
RECENT_SESSIONS = 200


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
        for runtime in parts.sessions.idle_since(parts.clock.now() - IDLE_MS):
            parts.sessions.endings.ended(runtime.scope.session_id)
            parts.sessions.let_go(runtime)
