"""The evidence beside a statement in a review: dates, and the words that were said (team.md 7).

Nothing in it is about this machine: no session id, no turn's key, no path of a home folder.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from governance.team import quoting
from governance.team.contracts.base import Bound
from governance.team.contracts.ports import History, Privates
from governance.team.contracts.promoting import Reference
from governance.team.contracts.rows import Candidate, EvidenceRow
from governance.team.errors import TeamFault
from governance.team.homes import without_homes
from governance.team.previewing import statements
from governance.team.quoting import Said
from governance.team.scrubbing import scrubber
from governance.team.times import day
from recall.contracts import Frozen, Millis

Rows = Mapping[str, Sequence[EvidenceRow]]  # by statement
References = Mapping[str, tuple[Reference, ...]]


class Evidence(Protocol):
    """Where the evidence of statements is stored."""

    async def references(self, candidate: Candidate) -> Rows:
        """The evidence of each statement, by its id."""
        ...


class _At(Frozen, frozen=True, kw_only=True):
    """Of what is pointed at, when it was."""

    at: Millis | None = None


class Referring:
    """Quotes come from the history as it is now; what cannot be read there is shown without. `privates`: the user's own
    records, of which a candidate may take the place."""

    def __init__(self, evidence: Evidence, history: History, privates: Privates) -> None:
        self._evidence = evidence
        self._history = history
        self._privates = privates

    async def replaced(self, bound: Bound, candidate: Candidate) -> dict[str, str]:
        """What the user's own records say that the candidate would take the place of, by their ids. Raises TeamFault
        `state-failed`."""
        own = [target.id for target in candidate.supersedes if target.source_kind == "private"]
        found = [(name, await self._privates.get(bound, name)) for name in own]
        return {name: without_homes(record.text) for name, record in found if record is not None}

    async def of(self, bound: Bound, found: Sequence[Candidate]) -> Mapping[str, References]:
        """The references of each statement of each candidate, by their ids."""
        rows = {one.candidate_id: await self._evidence.references(one) for one in found}
        said = await self._said(_turns(rows.values()))
        return await asyncio.to_thread(_references, found, rows, said, scrubber(bound.root))

    async def _said(self, turn_keys: Sequence[str]) -> dict[str, Sequence[Said]]:
        contents: dict[str, Sequence[Said]] = {}
        for turn in await self._history.current(turn_keys):
            try:
                content = await self._history.content(turn)
            except TeamFault:
                continue  # it changed just now: the next review says so
            contents[turn.turn_key] = await asyncio.to_thread(quoting.sentences, content)
        return contents


def _turns(rows: Iterable[Rows]) -> list[str]:
    return sorted({row.turn_key for one in rows for found in one.values() for row in found if row.kind == "turn"})


def _references(
    found: Sequence[Candidate],
    rows: Mapping[str, Rows],
    said: Mapping[str, Sequence[Said]],
    clean: Callable[[str], str],
) -> dict[str, References]:
    def reference(row: EvidenceRow, statement: str) -> Reference:
        words = quoting.quote(said.get(row.turn_key, ()), statement) if row.kind == "turn" else None
        return Reference(
            evidence_id=row.evidence_id,
            kind=row.kind,
            display=clean(row.display),
            at=_day(row.pointer),
            quote=None if words is None else clean(words),
        )

    return {
        one.candidate_id: {
            statement.statement_id: tuple(
                reference(row, statement.text) for row in rows[one.candidate_id].get(statement.statement_id, ())
            )
            for statement in statements(one)
        }
        for one in found
    }


def _day(pointer: str) -> str | None:
    at = msgspec.json.decode(pointer, type=_At).at
    return None if at is None else day(at)
