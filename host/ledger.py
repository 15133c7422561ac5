"""Audit entries and what depends on them, in one transaction (invariant 11)."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from governance.audit import Audit
from governance.contracts import AuditEntry
from governance.errors import AuditUnavailable
from recall.contracts import Database

T = TypeVar("T")


class AuditLedger:
    """`host.inbox.Ledger` over the audit and the database that holds both tables."""

    def __init__(self, database: Database, audit: Audit, heard: Callable[[Sequence[AuditEntry]], None]) -> None:
        self._database = database
        self._audit = audit
        self._heard = heard  # told of every committed entry: metrics

    async def append(
        self, entries: Sequence[AuditEntry], also: Callable[[sqlite3.Connection], T] | None = None
    ) -> Sequence[AuditEntry]:
        """Chain and store `entries`, then run `also`, all or nothing. Subscribers hear of them after the commit.

        Raises AuditUnavailable (disk full, I/O error), and whatever `also` raises.
        """
        statements = [self._audit.statement(entry) for entry in entries]

        def work(connection: sqlite3.Connection) -> list[AuditEntry]:
            stored = [statement(connection) for statement in statements]
            if also is not None:
                also(connection)
            return stored

        try:
            stored = await self._database.write(work)
        except sqlite3.Error as error:
            raise AuditUnavailable(
                f"The audit could not be written: {error}.", "Check the disk and the data folder."
            ) from error
        self._audit.publish(stored)
        self._heard(stored)
        return stored
