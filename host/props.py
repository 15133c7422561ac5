"""What the stages of a pass borrow from the rest: clock and key, whose entry it is, what was said, what use showed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from governance.contracts import Stage
from governance.trust import Uses, helped, is_evidenced
from host.clock import Clock
from host.marks import Marks
from host.rollouts import Rollouts
from host.trace import Owner
from recall.contracts import ContextCursor

NO_STAGES: Mapping[str, Stage] = {}


def _no_uses(memory_id: str) -> Uses | None:
    return None


@dataclass(frozen=True, slots=True)
class Props:
    """Made by the composition root. `uses`: what the evidence of a memory comes to, None where there is none;
    `stages`: how far procedures have come, as far as any was written down; `waits`: ranges of a workspace that wait to
    be noted, but for those of a session."""

    clock: Clock
    key: bytes
    owner: Callable[[str, str, ContextCursor, int], Owner]
    rollouts: Rollouts
    marks: Marks
    uses: Callable[[str], Uses | None] = _no_uses
    stages: Callable[[], Mapping[str, Stage]] = lambda: NO_STAGES
    waits: Callable[[str, str], int] = lambda workspace, session: 0

    def used(self, memory_ids: Iterable[str]) -> dict[str, float]:
        """How much each of these has helped so far, where it has."""
        each = ((memory_id, self.uses(memory_id)) for memory_id in memory_ids)
        return {memory_id: value for memory_id, uses in each if uses is not None and (value := helped(uses))}

    def evidenced(self, memory_ids: Iterable[str]) -> frozenset[str]:
        """Those whose use has shown that they hold."""
        each = ((memory_id, self.uses(memory_id)) for memory_id in memory_ids)
        return frozenset(memory_id for memory_id, uses in each if uses is not None and is_evidenced(uses))

    def approved(self, digests: Mapping[str, str]) -> frozenset[str]:
        """Those of these records that a person approved as they stand."""
        approved = self.marks.approved
        return frozenset(memory_id for memory_id, digest in digests.items() if approved.get(memory_id) == digest)
