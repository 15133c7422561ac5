"""Signs of an instruction: what an honest note may say once, and does not say together.

Two signs of different families close to each other make a finding that is acted on; one alone is for a reviewer. One
module holds the signs of one kind of attack, and beside them the few wordings of it that need no second one.
"""

from governance.screening.addressing import ADDRESS
from governance.screening.concealment import CONCEALMENT
from governance.screening.consent import CONSENT
from governance.screening.destruction import DESTRUCTION
from governance.screening.exfiltration import EXFILTRATION
from governance.screening.falsehood import FALSEHOOD
from governance.screening.fetching import FETCHING
from governance.screening.matching import Rule
from governance.screening.planting import PLANTING
from governance.screening.precedence import PRECEDENCE
from governance.screening.safeguards import SAFEGUARDS

NEAR = 400  # bytes within which two signs belong together

SIGNS: tuple[Rule, ...] = (
    *(*ADDRESS, *CONCEALMENT, *FALSEHOOD, *SAFEGUARDS, *CONSENT),
    *(*PRECEDENCE, *DESTRUCTION, *EXFILTRATION, *FETCHING, *PLANTING),
)
