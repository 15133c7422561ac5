"""The index version (M-06): a digest of which files there are and what they hold, kept up by adding and taking away.

Each file is weighed by the SHA-256 of its canonical (scope, path, version, digest); the weights are summed modulo
2^256, so the order and the history do not matter and one edit costs one file. No times. Pure.
"""

from recall.canonical import digest, short_id
from recall.contracts import ScopeRef

VERSION_PREFIX = "idx_pre_"
NOTHING = f"{0:064x}"
_MODULUS = 2**256


def weight(scope: ScopeRef, relative: str, version: int, file_digest: str) -> int:
    """What one present file adds to the sum."""
    return int(digest([scope.kind, scope.key, relative, version, file_digest]), 16)


def added(total: str, change: int) -> str:
    """The sum (64 hex digits) after a change, which may be negative."""
    return f"{(int(total, 16) + change) % _MODULUS:064x}"


def version_of(total: str) -> str:
    """The index version that stands for a sum."""
    return short_id(VERSION_PREFIX, total)
