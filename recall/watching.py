"""Following folders with the system's file notifications, so that an edit is seen in under a second (M-06)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from watchfiles import awatch
from watchfiles._rust_notify import WatchfilesRustInternalError

TICK_MS = 500  # how often `heard` is called without news: for what cannot be watched, files by name and missing folders
SETTLE_MS = 200  # changes this close together are one
STEP_MS = 50


async def watch(
    folders: Callable[[], frozenset[str]],
    heard: Callable[[frozenset[str] | None], Awaitable[None]],
    stop: asyncio.Event,
) -> None:
    """Tell `heard` the paths that changed, every tick, until `stop`. None means: look at everything.

    `folders` is asked at every tick; when its answer changes, the new set is watched, and all is looked at once more,
    so that nothing is missed between two watches.
    """
    polling = False
    while not stop.is_set():
        watched = folders()
        await heard(frozenset())  # a folder that came is looked at now, not when its watch first tells something
        if not watched:
            await _wait(stop)
            continue
        changes = awatch(
            *watched,
            watch_filter=None,
            stop_event=stop,
            debounce=SETTLE_MS,
            step=STEP_MS,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
            force_polling=polling,
            poll_delay_ms=TICK_MS,
            ignore_permission_denied=True,
        )
        try:
            async with aclosing(changes):
                first = True
                async for news in changes:
                    await heard(None if first else frozenset(path for _, path in news))
                    first = False
                    if folders() != watched:
                        break
        except (
            OSError,
            WatchfilesRustInternalError,
        ):  # no notifications left for this user, or a folder went away at this moment
            polling = True
            await _wait(stop)


async def _wait(stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(TICK_MS / 1000):
            await stop.wait()
    except TimeoutError:
        pass
