"""High-risk procedures that passes would have shown and that nobody approved: what the user is asked for (G-03, `ask`).

The question is put to the person, by `status` and `approve`, and never to the agent. It is a fold over the audit: the
verdicts of passes name the procedures, and what people decided since takes them away.
"""

from collections.abc import Iterable, Mapping

from governance.audit import Audit
from governance.contracts import Action, AuditEntry, AuditFilter, AuditKind
from governance.safety import HIGH_RISK
from host.contracts import Reason
from recall.contracts import Millis

KEPT = 500  # passes that are looked through at the start
APPROVED, DISAPPROVED, FORGOTTEN = "approved", "disapproved", "forgotten"
SETTLED = frozenset({APPROVED, FORGOTTEN, "archived", "muted"})


class Asks:
    """Memory ids of procedures, and when a pass wanted each of them last."""

    def __init__(self) -> None:
        self._at: dict[str, Millis] = {}

    @property
    def at(self) -> Mapping[str, Millis]:
        """When each was asked for last, by memory id."""
        return self._at

    def heard(self, entries: Iterable[AuditEntry]) -> None:
        """Follow the audit, entry by entry."""
        for entry in entries:
            if entry.kind is AuditKind.FEEDBACK and entry.outcome in SETTLED:
                self._at.pop(entry.memory_id or "", None)
            elif entry.verdict is not None and entry.verdict.action is Action.ASK:
                removed = (one.candidate_id for one in entry.verdict.removed if one.reason == HIGH_RISK)
                self._at |= dict.fromkeys(removed, entry.at)


async def load_asks(audit: Audit) -> Asks:
    """What the latest passes asked for, as far as it was not settled since."""
    asks = Asks()
    passes = await audit.query(AuditFilter(kind=AuditKind.PASS, reason=Reason.AWAITING_APPROVAL, limit=KEPT))
    if passes:
        said = await audit.query(AuditFilter(kind=AuditKind.FEEDBACK, since=passes[-1].at, limit=KEPT))
        asks.heard(sorted((*passes, *said), key=lambda entry: entry.at))
    return asks
