"""How late the event loop is."""

import asyncio
from collections import deque

LOOK_SECONDS = 0.5
LOOKS = 120  # the last minute's


class Lag:
    """How late the event loop is: a sleeper that wakes when it should, or later."""

    def __init__(self) -> None:
        self._late: deque[float] = deque(maxlen=LOOKS)

    async def watch(self) -> None:
        """Look for as long as the daemon lives."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LOOK_SECONDS
            await asyncio.sleep(LOOK_SECONDS)
            self.looked(loop.time() - due)

    def looked(self, late: float) -> None:
        """The sleeper woke, that many seconds late."""
        self._late.append(max(0.0, late))

    def read(self) -> dict[str, float]:
        """Seconds, over the last minute."""
        late = self._late or (0.0,)
        return {"last": round(late[-1], 6), "most": round(max(late), 6), "mean": round(sum(late) / len(late), 6)}
