"""Sessions that ended or rest, waiting to be told as episodes. Bounded; what is lost so, a start looks for again."""

import asyncio

MOST = 1024


class Endings:
    """A queue in which each session waits once."""

    def __init__(self) -> None:
        self._waiting: dict[str, None] = {}
        self._some = asyncio.Event()

    def ended(self, session_id: str) -> None:
        """A session ended, or rests."""
        self._waiting[session_id] = None
        while len(self._waiting) > MOST:
            del self._waiting[next(iter(self._waiting))]
        self._some.set()

    async def next(self) -> str:
        """The session that waits longest; waits for one."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        session_id = next(iter(self._waiting))
        del self._waiting[session_id]
        return session_id

    def __len__(self) -> int:
        return len(self._waiting)
