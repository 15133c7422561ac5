"""What the team workflow needs of the world around it. `host/team` has the real ones."""

from collections.abc import Sequence
from typing import Protocol

from governance.team.contracts.base import Bound
from governance.team.contracts.recalling import ExtractionRequest
from governance.team.contracts.turns import Commit, Selection, Turn, TurnContent
from recall.contracts import Frozen, Millis


class History(Protocol):
    """Sessions of a worktree as turns, from the event log and imported transcripts (team.md 4)."""

    async def select(self, bound: Bound, request: ExtractionRequest, limit: int) -> Selection:
        """The recallable turns that a request matches, by session, best first, and why other sessions have none.

        Raises TeamFault `query-too-broad` above `limit`, `coverage-incomplete` when a matched turn is not whole.
        """
        ...

    async def content(self, turn: Turn) -> TurnContent:
        """A turn whole. Raises TeamFault `coverage-incomplete`; `payload-changed`: it is not what was selected."""
        ...

    async def current(self, turn_keys: Sequence[str]) -> Sequence[Turn]:
        """These turns as they are now; one that is gone, or whose session is, is left out."""
        ...


class Commits(Protocol):
    """What git knows of the repository; read only, and no program of git's is run."""

    async def named(self, bound: Bound, text: str) -> Sequence[Commit]:
        """Commits that a text names by their full hash."""
        ...

    async def abbreviated(self, bound: Bound, text: str) -> Sequence[Commit]:
        """Commits that a text names by a short hash that is theirs alone."""
        ...

    async def between(self, bound: Bound, since: Millis, until: Millis, limit: int) -> Sequence[Commit]:
        """Commits of HEAD in that time, newest first, with the paths that each changed."""
        ...


class Private(Frozen, frozen=True, kw_only=True):
    """A private record of the user's in this workspace. `revision`: its record digest."""

    memory_id: str
    text: str
    revision: str
    state: str = "live"


class Privates(Protocol):
    """The user's own records of a workspace, as comparison and promotion see them."""

    async def near(self, bound: Bound, text: str, limit: int) -> Sequence[Private]:
        """Those that may say the same, best first."""
        ...

    async def get(self, bound: Bound, memory_id: str) -> Private | None: ...


class Committed(Protocol):
    """Hears of what was promoted: recall looks again, and packets with what was superseded are taken back."""

    async def promoted(self, bound: Bound, written: Sequence[str], superseded: Sequence[str]) -> None:
        """`written`: paths relative to the top; `superseded`: memory ids that no longer hold. Raises nothing of its
        own: what fails is told as `sync-partial`."""
        ...
