"""Which repositories are trusted, and which files in them we wrote ourselves: what recall asks at every look at a file,
so it is held in memory. A governance.db that cannot be read trusts nobody.
"""

from governance.formation.errors import StateFault
from governance.team.store import trust as stored
from governance.team.store.trust import Known
from recall.contracts import Database
from recall.workspace import common_directory

NOTHING = Known(trusted={}, receipts=frozenset())


class Trust:
    """What was answered, and what we wrote, by the name that recall has for a repository."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = NOTHING

    async def read(self) -> None:
        """Read again what is written down."""
        try:
            self._known = await self._database.read(stored.known)
        except StateFault:
            self._known = NOTHING

    def said(self, workspace: str) -> bool | None:
        """What a person answered; None: nobody was asked."""
        return self._known.trusted.get(workspace)

    def trusts(self, workspace: str, top: str = "") -> bool:
        """Whether the user trusts the repository of that name. `top`: of the worktree that is to be read. Where another
        git directory than the one that was bound stands there, the answer was about something else. Blocks on the
        disk."""
        if not self._known.trusted.get(workspace, False):
            return False
        return not top or (workspace, _directory(top)) in self._known.directories

    def vouches(self, workspace: str, digest: str) -> bool:
        """Whether a file with these bytes was written there by us after a person's yes."""
        return (workspace, digest) in self._known.receipts


def _directory(top: str) -> str:
    """The inode of a worktree's git directory; empty: it has none."""
    common = common_directory(top)
    try:
        return "" if common is None else str(common.stat().st_ino)
    except OSError:
        return ""


async def load_trust(database: Database) -> Trust:
    """As it is written down."""
    trust = Trust(database)
    await trust.read()
    return trust
