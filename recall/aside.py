"""What the index keeps aside: episodes (M-02). They are no part of a search by words and of no statistics; their own
source asks for them.
"""

import sqlite3

from recall.contracts import Candidate
from recall.entries import ASIDE
from recall.lookup import RECORD, View, of_kind, seen_scopes

MOST = 512  # of a scope, the newest: twice what consolidation keeps of a workspace
_ASIDE = RECORD + (
    f" WHERE r.scope = ? AND r.searchable = 0 AND r.eligible = {ASIDE} AND r.standing = 'live'"
    " ORDER BY r.created DESC, r.memory_id LIMIT ?"
)


def aside(connection: sqlite3.Connection, view: View) -> list[Candidate]:
    """The live ones that can be seen from there, newest first within a scope."""
    return [
        of_kind(row)
        for scope in seen_scopes(connection, view.scope)
        for row in connection.execute(_ASIDE, (scope[0], MOST))
    ]
