"""G-04, kept up: the numbers of everything that was ever audited, whatever was let go and however often we started."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from governance.audit import CHUNK, Audit
from governance.chain import Row, entry_of
from governance.contracts import AuditEntry
from governance.metrics import EMPTY, Metrics, fold
from host.tasks import Tasks


@dataclass(slots=True)
class Tally:
    """A fold over the checkpoint and every entry since. While the past is still being read, what is committed waits:
    entries count in their order."""

    metrics: Metrics = field(default_factory=lambda: EMPTY)
    problem: str = ""  # why the past could not be read to its end
    _waiting: list[AuditEntry] | None = None
    _whole: asyncio.Event = field(default_factory=asyncio.Event)

    def heard(self, entries: Sequence[AuditEntry]) -> None:
        """Entries that were just committed."""
        if self._waiting is None:
            self.metrics = fold(self.metrics, entries)
        else:
            self._waiting.extend(entries)

    def expect(self) -> None:
        """The past is yet to be read: `restore` follows. Called before anything new is written."""
        self._waiting = []

    async def restore(self, audit: Audit, last: int) -> None:
        """Read the past, up to row `last`. What cannot be read is left out, and said."""
        metrics = self.metrics
        try:
            checkpoint = await audit.checkpoint()
            metrics, row = checkpoint.metrics, checkpoint.through.row
            while row < last and (rows := await audit.chunk(row, min(CHUNK, last - row))):
                metrics = await asyncio.to_thread(_added, metrics, rows)
                row = rows[-1].row
        except msgspec.MsgspecError as error:
            self.problem = f"an entry or the checkpoint cannot be read: {type(error).__name__}"
        finally:
            waiting, self._waiting = self._waiting or [], None
            self.metrics = fold(metrics, waiting)
            self._whole.set()

    async def whole(self) -> Metrics:
        """The numbers, once the past is in them."""
        if self._waiting is not None:
            await self._whole.wait()
        return self.metrics


def _added(metrics: Metrics, rows: Sequence[Row]) -> Metrics:
    return fold(metrics, (entry_of(row.entry, row.digest) for row in rows))


async def count_past(tally: Tally, audit: Audit, tasks: Tasks) -> None:
    """The numbers of what was audited before this start: read beside the work, before anything new is written."""
    last = await audit.head()
    if last:
        tally.expect()
        tasks.spawn(tally.restore(audit, last), name="tally")
