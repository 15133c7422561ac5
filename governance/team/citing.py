"""Whether what candidates cite is still there (team.md 4, 9): turns of sessions that were deleted, rewound or changed
since speak for nothing any more.

An approved entry that a statement inherits of vouches for itself, by the digest of its file: that is looked at where
files are. So it is for consolidation, whose sources are files.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from governance.team.contracts.base import Bound
from governance.team.contracts.ports import History, Privates
from governance.team.contracts.rows import Assessment, Candidate, EvidenceRow
from governance.team.contracts.turns import Turn
from governance.team.store import candidates, tasks
from recall.contracts import Database

Cites = Mapping[str, tuple[Assessment, ...]]  # candidate id -> its assessments
Catalogues = Mapping[str, Mapping[str, EvidenceRow]]  # task id -> evidence id -> row


@dataclass(frozen=True, kw_only=True, slots=True)
class Citing:
    """`privates`: the user's own records, of which shared candidates are made."""

    database: Database
    history: History
    privates: Privates

    async def check(self, bound: Bound, found: Sequence[Candidate]) -> dict[str, str]:
        """Why the citations of a candidate hold no more, by its id; one whose citations hold is left out."""
        found = [one for one in found if one.kind != "consolidation"]
        cites, catalogues = await self.database.read(lambda connection: _read(connection, found))
        keys = sorted({row.turn_key for rows in catalogues.values() for row in rows.values() if row.turn_key})
        now = {turn.turn_key: turn for turn in await self.history.current(keys)} if keys else {}
        drifted: dict[str, str] = {}
        for candidate in found:
            why = _drift(cites[candidate.candidate_id], catalogues, now) or await self._private(bound, candidate)
            if why:
                drifted[candidate.candidate_id] = why
        return drifted

    async def references(self, candidate: Candidate) -> dict[str, tuple[EvidenceRow, ...]]:
        """What each statement of a candidate cites, as the catalogues have it; what it inherits of an approved entry or
        a private record has no row."""
        cites, catalogues = await self.database.read(lambda connection: _read(connection, [candidate]))
        return {
            one.statement_id: tuple(
                row
                for cited in one.citations
                if (row := catalogues.get(cited.task_id, {}).get(cited.evidence_id)) is not None
            )
            for one in cites[candidate.candidate_id]
        }

    async def _private(self, bound: Bound, candidate: Candidate) -> str:
        """Whether a private record that it takes the place of says what it said."""
        for target in candidate.supersedes:
            if target.source_kind != "private":
                continue
            record = await self.privates.get(bound, target.id)
            if record is None:
                return f"the private record {target.id} is not there any more"
            if record.revision != target.revision:
                return f"the private record {target.id} was changed"
        return ""


def _read(connection: sqlite3.Connection, found: Sequence[Candidate]) -> tuple[Cites, Catalogues]:
    cites = {one.candidate_id: candidates.assessments(connection, one.candidate_id) for one in found}
    named = {
        cited.task_id
        for candidate in found
        for one in cites[candidate.candidate_id]
        for cited in one.citations
        if cited.task_id
    }
    rows = {task_id: tasks.evidence(connection, task_id) for task_id in sorted(named)}
    return cites, {task_id: {row.evidence_id: row for row in found_rows} for task_id, found_rows in rows.items()}


def _drift(made: Sequence[Assessment], catalogues: Catalogues, now: Mapping[str, Turn]) -> str:
    for one in made:
        for cited in one.citations:
            if cited.task_id not in catalogues:
                continue
            row = catalogues[cited.task_id].get(cited.evidence_id)
            if row is None or row.pointer_digest != cited.pointer_digest:
                return f"{cited.evidence_id} is not in its catalogue any more"
            why = _turn(row, now)
            if why:
                return f"{cited.evidence_id}: {why}"
    return ""


def _turn(row: EvidenceRow, now: Mapping[str, Turn]) -> str:
    if not row.turn_key:
        return ""
    turn = now.get(row.turn_key)
    if turn is None:
        return "the session or the turn is not there any more"
    if not turn.recallable:
        return "the turn was taken back"
    return "" if turn.revision == row.turn_revision else "the turn has changed"
