"""Audit entries and what depends on them, in one transaction (invariant 11)."""

from collections.abc import Callable, Sequence

import msgspec

from governance.audit import Also, Audit
from governance.contracts import AuditEntry

Listener = Callable[[Sequence[AuditEntry]], None]


def all_of(*listeners: Listener) -> Listener:
    """One who hears for all of these, in their order."""

    def heard(entries: Sequence[AuditEntry]) -> None:
        for listener in listeners:
            listener(entries)

    return heard


class AuditLedger:
    """`host.inbox.Ledger` over the audit, whose database holds both tables. Not `evidence`: the user wants none, so no
    entry carries any."""

    def __init__(self, audit: Audit, heard: Listener, *, evidence: bool = True) -> None:
        self._audit = audit
        self._heard = heard  # told of every committed entry: metrics
        self._evidence = evidence

    async def append(self, entries: Sequence[AuditEntry], also: Also | None = None) -> Sequence[AuditEntry]:
        """As `Audit.append`; those who count hear of the entries after the commit."""
        if not self._evidence:
            entries = [msgspec.structs.replace(entry, evidence=()) for entry in entries]
        stored = await self._audit.append(entries, also)
        self._heard(stored)
        return stored
