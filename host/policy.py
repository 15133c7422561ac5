"""Every stage's policy in one frozen struct: versioned code, not settings. Its ids stand in every audit entry.

An id answers for more than its struct: constants and patterns that stand beside the functions of a stage shape the same
decision. tests/host/test_policy.py lists them, and holds the digest of all values under each id.
"""

from host.broker import BrokerPolicy
from host.gate import GatePolicy
from host.holdout import HoldoutPolicy
from host.inbox import InboxPolicy
from host.runtime import RuntimePolicy
from recall.analyzer import ANALYZER
from recall.associate import AssociationPolicy
from recall.confidence import ConfidencePolicy
from recall.contracts import Frozen
from recall.rank import RankPolicy


class Policy(Frozen, frozen=True, kw_only=True):
    """The constants of a pass, stage by stage."""

    gate: GatePolicy = GatePolicy()
    association: AssociationPolicy = AssociationPolicy()
    rank: RankPolicy = RankPolicy()
    confidence: ConfidencePolicy = ConfidencePolicy()
    broker: BrokerPolicy = BrokerPolicy()
    inbox: InboxPolicy = InboxPolicy()
    runtime: RuntimePolicy = RuntimePolicy()
    holdout: HoldoutPolicy = HoldoutPolicy()  # named in a pass's entry only where it drew

    def versions(self, index_version: str) -> dict[str, str]:
        """The ids of everything that shaped a decision."""
        return {
            "gate": self.gate.id,
            "lexical": ANALYZER,
            "rank": self.rank.id,
            "confidence": self.confidence.id,
            "broker": self.broker.id,
            "index": index_version,
        }
