"""The ladder's rules, one file a rule, in the order in which they are asked. To add one: a file and a line here."""

from governance.contracts import CandidateRule, PacketRule
from governance.rules.activation_cooldown import activation_cooldown
from governance.rules.corrected import corrected
from governance.rules.expired import expired
from governance.rules.high_risk import high_risk
from governance.rules.identity_mismatch import identity_mismatch
from governance.rules.inactive_procedure import inactive_procedure
from governance.rules.injection import injection
from governance.rules.muted import muted
from governance.rules.no_surface import no_surface
from governance.rules.quarantined import quarantined
from governance.rules.revoked import revoked
from governance.rules.scope import scope
from governance.rules.secret import secret
from governance.rules.stale_activation import stale_activation
from governance.rules.stale_index import stale_index
from governance.rules.stale_record import stale_record
from governance.rules.stale_resource import stale_resource
from governance.rules.superseded import superseded
from governance.rules.trust_level import trust_level

CANDIDATE_RULES: tuple[tuple[str, CandidateRule], ...] = (
    ("scope", scope),
    ("expired", expired),
    ("revoked", revoked),
    ("superseded", superseded),
    ("corrected", corrected),
    ("muted", muted),
    ("quarantined", quarantined),
    ("secret", secret),
    ("injection", injection),
    ("stale-record", stale_record),
    ("high-risk", high_risk),
    ("trust-level", trust_level),
)

PACKET_RULES: tuple[tuple[str, PacketRule], ...] = (
    ("inactive-procedure", inactive_procedure),
    ("stale-activation", stale_activation),
    ("activation-cooldown", activation_cooldown),
    ("stale-index", stale_index),
    ("stale-resource", stale_resource),
    ("identity-mismatch", identity_mismatch),
    ("no-surface", no_surface),
)
