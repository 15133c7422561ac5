"""The screen: one linter for secrets, personal data, instructions in disguise and hidden text. Pure, linear time.

Each text is read as it is and, where that differs, as a folded copy (screening.folding), so that `ig​nore` and
full-width or look-alike letters hide nothing. High findings are acted on: secrets are replaced or refused, the others
quarantine a record. Low findings are for the eyes of a reviewer.
"""

from collections.abc import Callable, Iterator

from governance.contracts import Finding
from governance.screening.folding import Folded, fold
from governance.screening.hidden import blobs, invisible
from governance.screening.injection import NEAR, PLAIN, SIGNS
from governance.screening.matching import Hit, Matcher
from governance.screening.personal import PERSONAL
from governance.screening.secrets import SECRETS

HIGH = "high"
_SECRETS = Matcher(SECRETS + PERSONAL)
_PLAIN = Matcher(PLAIN)
_SIGNS = Matcher(SIGNS)
_DEEP = 1  # how many layers of encoding are opened
