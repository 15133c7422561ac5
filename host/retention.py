"""How long the audit is kept, and what goes with it: packets whose entries are gone, and answers nobody asks for again.

What entries come to is folded first (`SECTIONS`): whoever derives something from the audit folds it there.
"""

import asyncio
import sqlite3
from collections.abc import Mapping
from types import MappingProxyType

import msgspec
import structlog

from governance.checkpoint import Checkpoint, Section
from governance.errors import AuditUnavailable
from governance.evidence_store import trimmed
from governance.pruning import Broken, Hanging, Limits, Pruning
from governance.standing import EVIDENCE, fold_evidence
from host.clock import Clock
from host.inbox import let_go
from host.past import SECTION, fold_past
from host.tally import Tally
from recall.canonical import NotCanonical

ROUND_SECONDS = 600.0
SECTIONS: Mapping[str, Section] = MappingProxyType({SECTION: fold_past, EVIDENCE: fold_evidence})


class Retention:
    """Rounds of letting go. `problem`: why the last one could not be done."""

    def __init__(
        self, pruning: Pruning, limits: Limits, clock: Clock, log: structlog.typing.FilteringBoundLogger
    ) -> None:
        self._pruning = pruning
        self._limits = limits
        self._clock = clock
        self._log = log
        self.problem = ""

    async def round(self) -> int:
        """Let go of what is due; how many entries it was."""
        try:
            gone = await self._pruning.run(self._limits, self._clock.now())
        except (AuditUnavailable, Broken, NotCanonical, msgspec.MsgspecError, sqlite3.Error) as error:
            self.problem = str(error)  # all are kept as they are; `audit verify` tells which entry is wrong
            self._log.error("audit.kept", error=type(error).__name__)
            return 0
        self.problem = ""
        return gone

    async def keep_short(self, tally: Tally) -> None:
        """Rounds for as long as the daemon lives, once the past has been counted."""
        await tally.whole()
        while True:
            await self.round()
            await asyncio.sleep(ROUND_SECONDS)


def hanging(limits: Limits, clock: Clock) -> Hanging:
    """What goes with entries, in their transaction: `governance.pruning.Hanging`."""

    def work(connection: sqlite3.Connection, checkpoint: Checkpoint) -> None:
        let_go(connection, clock.now() - limits.age)
        trimmed(connection, checkpoint)

    return work
