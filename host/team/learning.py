"""What happened in repositories that share a memory is read while nobody waits for it: the first question about a long
history would else wait for all of it to be looked through."""

import asyncio
import sqlite3
from collections.abc import Callable

from governance.formation.errors import StateFault
from governance.team.errors import TeamFault
from governance.team.store import bindings
from host.team.history import TeamHistory
from recall.contracts import Database, Millis

ROUND_SECONDS = 600.0
BACK_MS: Millis = 31 * 86_400_000  # what is older is read when somebody asks


class Learning:
    """`database`: governance.db; `now`: the clock. `problem`: why the last round was not done."""

    def __init__(self, history: TeamHistory, database: Database, now: Callable[[], Millis]) -> None:
        self._history = history
        self._database = database
        self._now = now
        self.problem = ""

    async def round(self) -> int:
        """Read what is new in every worktree that was bound; how many there are."""
        self.problem, done = "", 0
        try:
            for bound in await self._database.read(bindings.all_bound):
                await self._history.learn(bound, self._now() - BACK_MS)
                done += 1
        except (TeamFault, StateFault, sqlite3.Error) as error:  # then it is read when somebody asks, and told then
            self.problem = str(error)
        return done

    async def run(self) -> None:
        """Rounds for as long as the daemon lives."""
        while True:
            await self.round()
            await asyncio.sleep(ROUND_SECONDS)
