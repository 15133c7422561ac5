"""What may say the same as a draft: approved entries, candidates and the user's own records, one list (team.md 6.2).

Each source gives its best by the analyzer's terms; the lists become one by their ranks, so that no score of one source
is held against that of another. The digest of the result covers ranks and revisions: whoever decides about the drafts
decides about exactly this, and the same files give the same digest again.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from governance.team import payloads
from governance.team.contracts.base import Owner
from governance.team.contracts.ports import Private
from governance.team.contracts.rows import Candidate, CandidateState
from governance.team.contracts.staging import PoolItem, Ranked, RecallSet, SourceKind
from governance.team.homes import without_homes
from governance.team.store import candidates, projections, texts
from governance.team.store.texts import Row, Source
from recall.canonical import digest, text_digest
from recall.contracts import Frozen

ALGORITHM = "lexical-rrf60@1"
EACH, KEPT, K = 15, 5, 60  # of a source, of all; the constant of reciprocal rank
SUMMARY = 240
WHOLE = "content"  # the one statement of what has none of its own
_ORDER: Mapping[SourceKind, int] = {"approved": 0, "candidate": 1, "private": 2}


class Asked(Frozen, frozen=True, kw_only=True):
    """A draft as it is compared. `near`: the user's own records, best first, none that the draft is made of."""

    draft_ref: str
    content: str
    near: tuple[Private, ...] = ()


class Compared(Frozen, frozen=True, kw_only=True):
    """`pool`: everything that any draft's list names, by kind and id."""

    recall_sets: tuple[RecallSet, ...]
    pool: tuple[PoolItem, ...]
    result_set_digest: str
    approved: Row
    candidate: Row


@dataclass(frozen=True, slots=True)
class _Found:
    """`rank`: in its source's own list, from 1."""

    kind: SourceKind
    id: str
    rank: int


def compare(connection: sqlite3.Connection, owner: Owner, drafts: Sequence[Asked]) -> Compared:
    """Compare drafts with all that is there, as one snapshot. Raises TeamFault `state-corrupt`."""
    searches = _Searches(connection, owner)
    lists = {one.draft_ref: searches.items(one) for one in drafts}
    pool = {(item.source_kind, item.id): item for found in lists.values() for item in found}
    return Compared(
        recall_sets=tuple(RecallSet(draft_ref=ref, ordered=_ranked(found)) for ref, found in lists.items()),
        pool=tuple(pool[key] for key in sorted(pool, key=lambda key: (_ORDER[key[0]], key[1]))),
        result_set_digest=result_set_digest(lists),
        approved=projections.row(connection, owner.worktree_key),
        candidate=candidates.projection(connection, owner),
    )


def result_set_digest(lists: Mapping[str, Sequence[PoolItem]]) -> str:
    """Of who was found for which draft at which rank, and how it stood. Scores are not in it."""
    return digest(
        [
            {
                "draftRef": ref,
                "rank": rank,
                "kind": item.source_kind,
                "id": item.id,
                "revision": item.revision,
                "contentDigest": item.content_digest,
                "state": item.state,
            }
            for ref in sorted(lists)
            for rank, item in enumerate(lists[ref], start=1)
        ]
    )


class _Searches:
    """The searches of one comparison: what several drafts ask is looked up once."""

    def __init__(self, connection: sqlite3.Connection, owner: Owner) -> None:
        self._connection = connection
        self._owner = owner
        self._approved = texts.Search(connection, owner.worktree_key, Source.APPROVED)
        self._candidates = texts.Search(connection, owner.worktree_key, Source.CANDIDATE)

    def items(self, draft: Asked) -> list[PoolItem]:
        """What comes near to a draft, best first."""
        records = {one.memory_id: one for one in draft.near}
        found = (self._item(one, records) for one in fused(self._found(draft)))
        return [item for item in found if item is not None]

    def _found(self, draft: Asked) -> list[_Found]:
        terms = texts.asked(draft.content)
        approved = self._approved.nearest(terms, EACH)
        others = [one for one in self._candidates.nearest(terms, EACH + 1) if one != draft.draft_ref]
        # an entry and the record that it was made of may share an id
        private = [one.memory_id for one in draft.near[:EACH] if one.memory_id not in approved]
        lists: Mapping[SourceKind, Sequence[str]] = {
            "approved": approved,
            "candidate": others[:EACH],
            "private": private,
        }
        return [_Found(kind, name, rank) for kind, names in lists.items() for rank, name in enumerate(names, start=1)]

    def _item(self, found: _Found, records: Mapping[str, Private]) -> PoolItem | None:
        connection, owner = self._connection, self._owner
        match found.kind:
            case "approved":
                row = projections.entry(connection, owner.worktree_key, found.id)
                return None if row is None else _approved(connection, owner, row)
            case "candidate":
                candidate = candidates.get(connection, found.id)
                return None if candidate is None else _candidate(candidate)
            case "private":
                return _private(records[found.id])


def fused(found: Sequence[_Found]) -> list[_Found]:
    """The lists of the sources as one, by reciprocal rank; at most 5."""
    return sorted(found, key=lambda one: (-1 / (K + one.rank), _ORDER[one.kind], one.id))[:KEPT]


def _ranked(found: Sequence[PoolItem]) -> tuple[Ranked, ...]:
    return tuple(
        Ranked(rank=rank, source_kind=item.source_kind, id=item.id) for rank, item in enumerate(found, start=1)
    )


def _approved(connection: sqlite3.Connection, owner: Owner, row: projections.EntryRow) -> PoolItem:
    made_of = candidates.of_memory(connection, owner, row.memory_id)
    return PoolItem(
        source_kind="approved",
        id=row.memory_id,
        revision=row.digest,
        content_digest=text_digest(row.entry.content),
        state=row.status,
        summary=summary(row.entry.content),
        statement_ids=(WHOLE,) if made_of is None else _statements(made_of),
    )


def _candidate(candidate: Candidate) -> PoolItem:
    content = payloads.entry(candidate).content
    return PoolItem(
        source_kind="candidate",
        id=candidate.candidate_id,
        revision=str(candidate.revision),
        content_digest=text_digest(content),
        state=candidate.state,
        summary=summary(content),
        statement_ids=_statements(candidate),
    )


def _private(record: Private) -> PoolItem:
    return PoolItem(
        source_kind="private",
        id=record.memory_id,
        revision=record.revision,
        content_digest=text_digest(record.text),
        state=record.state,
        summary=summary(record.text),
        statement_ids=(WHOLE,),
    )


def _statements(candidate: Candidate) -> tuple[str, ...]:
    if candidate.kind != "entry" or candidate.state is CandidateState.DISCARDED:
        return (WHOLE,)
    return tuple(one.statement_id for one in payloads.entry(candidate).statements)


def summary(content: str) -> str:
    """A content on one line, at most 240 characters, without the name of a home folder's user."""
    line = " ".join(without_homes(content).split())
    return line if len(line) <= SUMMARY else line[: SUMMARY - 1].rstrip() + "…"
