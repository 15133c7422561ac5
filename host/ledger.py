"""Audit entries and what depends on them, in one transaction (invariant 11)."""

from collections.abc import Callable, Sequence

from governance.audit import Also, Audit
from governance.contracts import AuditEntry


class AuditLedger:
    """`host.inbox.Ledger` over the audit, whose database holds both tables."""

    def __init__(self, audit: Audit, heard: Callable[[Sequence[AuditEntry]], None]) -> None:
        self._audit = audit
        self._heard = heard  # told of every committed entry: metrics

    async def append(self, entries: Sequence[AuditEntry], also: Also | None = None) -> Sequence[AuditEntry]:
        """As `Audit.append`; those who count hear of the entries after the commit."""
        stored = await self._audit.append(entries, also)
        self._heard(stored)
        return stored
