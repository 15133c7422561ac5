"""Batch extraction (formation.md 6): whose memories are compared, and what finds those that may say the same."""

from collections.abc import Sequence
from typing import Protocol

from governance.formation.contracts.ranges import KnownRecord
from recall.contracts import Frozen

ANY_AGENT = "any"


class IsolationKey(Frozen, frozen=True, kw_only=True):
    """Whose memories these are: only equal keys see one another. `team`: the workspace key; `user`: the local user key;
    `agent`: `any`, unless the user separates agents. A part that is not set matches nothing."""

    team: str
    user: str
    agent: str

    @property
    def whole(self) -> bool:
        """Whether every part is set."""
        return all(part.strip() for part in (self.team, self.user, self.agent))


class Likeness(Protocol):
    """What is remembered already and may say the same as a text: live records of one key, and what a person keeps in
    the same workspace. The key is part of the query: records of another key neither come back nor use up the limit."""

    async def by_meaning(self, key: IsolationKey, text: str, limit: int) -> Sequence[KnownRecord]:
        """The nearest by vectors of this model, best first. Raises StateFault when there are none to ask."""
        ...

    async def by_words(self, key: IsolationKey, text: str, limit: int) -> Sequence[KnownRecord]:
        """The nearest by full text, best first. Raises StateFault when the index cannot be asked."""
        ...
