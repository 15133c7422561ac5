"""Whether a session may be formed now, and which of its spans never may (formation.md 5.2).

Asked before and after each call of a model and before the commit: what its user decides meanwhile holds at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from governance.formation.contracts import Admission, Door, Snapshot, SnapshotOrigin
from governance.formation.jobs import NO_DRIVER
from host.contracts import Rollout
from host.formation.material import SessionMaterial
from host.formation.spans import within
from host.rollouts import Rollouts

DISABLED = "disabled"
OFF = "workspace-off"
NOWHERE = "no-workspace"
INCOGNITO = "incognito"
_OF_ORIGIN = {SnapshotOrigin.SUBAGENT: "subagent", SnapshotOrigin.OWN: "own-session"}
IDLE_REASONS = frozenset({DISABLED, OFF, NOWHERE, *_OF_ORIGIN.values()})  # a range closed for these waits for nobody


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """The `FormationGate` of a running daemon. `enabled`: the setting. `present`: whether there is a model."""

    enabled: bool
    rollouts: Rollouts
    material: SessionMaterial
    present: Callable[[], bool]

    async def of(self, snapshot: Snapshot) -> Admission:
        """Open, closed with its reason, or denied; with every span of the session that its user denied."""
        closed = self._closed(snapshot)
        if closed and closed != NO_DRIVER:
            return Admission(door=Door.CLOSED, reason=closed)
        spans = await self.material.denied(snapshot.session_id, snapshot.boundary_seq)
        if within(snapshot.boundary_seq, spans):
            return Admission(door=Door.DENIED, reason=INCOGNITO, denied=spans)
        return Admission(door=Door.CLOSED if closed else Door.OPEN, reason=closed, denied=spans)

    def _closed(self, snapshot: Snapshot) -> str:
        if snapshot.origin in _OF_ORIGIN:
            return _OF_ORIGIN[snapshot.origin]
        if not self.enabled:
            return DISABLED
        if not snapshot.workspace_key:
            return NOWHERE
        if self.rollouts.of(snapshot.workspace_key, snapshot.session_id) is Rollout.OFF:
            return OFF
        return "" if self.present() else NO_DRIVER
