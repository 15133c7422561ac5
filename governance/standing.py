"""G-01 in numbers: what the evidence of a memory comes to. A fold over the audit, rebuildable at any time. Pure.

Edges are kept as rows for a while, and as numbers for good. What was let go stands in the audit's checkpoint: a section
with the numbers of rows that are gone (`past`) and the rows that are still kept though their entries are not (`rows`).
So the numbers are `past` with every kept row added, however much was let go and however often we started.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from governance.contracts import AccessEvidence, AuditEntry, AuditKind, EvidenceKind
from governance.evidence import edges
from recall.contracts import Frozen, Millis

EVIDENCE = "evidence"  # the section's name
DAY: Millis = 86_400_000
KEPT: Millis = 30 * DAY  # how long a row is kept
ROWS = 10_000  # rows that are kept of entries that are gone: with their indexes some 4 MiB
SLACK = 1_000  # rows beyond that, so that they need not be put in order for each one
FAR: Millis = 2**62  # later than any row
SESSIONS = 32  # a memory's distinct sessions are counted up to here; no threshold asks for more
REF = 12  # digits of a session's name that tell it from the others of one memory
FORGOTTEN = "forgotten"
USES = frozenset({EvidenceKind.READ, EvidenceKind.CITE, EvidenceKind.REUSE, EvidenceKind.SUCCESS})


class Standing(Frozen, frozen=True, kw_only=True):
    """What the evidence of one memory comes to: edges by kind, and distinct sessions. Being shown is no use: it does
    not move `last_used_at`."""

    seen: int = 0
    read: int = 0
    cite: int = 0
    reuse: int = 0
    success: int = 0
    correction: int = 0
    sessions: int = 0
    reuse_sessions: int = 0
    success_sessions: int = 0
    first_at: Millis | None = None
    last_at: Millis | None = None
    last_used_at: Millis | None = None


class Tallied(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """The same as it is added to: edges by kind, and by session which of the kinds it has."""

    kinds: dict[str, int] = {}
    sessions: dict[str, str] = {}  # the name's beginning -> initials of its kinds, in order
    first_at: Millis | None = None
    last_at: Millis | None = None
    last_used_at: Millis | None = None


class Section(Frozen, frozen=True, kw_only=True):
    """What the checkpoint holds. `floor`: rows from before are in `past`; a row is its fields in their order. `last`:
    the time of the youngest entry that was folded."""

    floor: Millis = 0
    last: Millis = 0
    rows: list[list[Any]] = []
    past: dict[str, Tallied] = {}


NOTHING = Standing()
NEVER = Tallied()
_FIELDS = AccessEvidence.__struct_fields__
_AT = _FIELDS.index("at")
_MEMORY = _FIELDS.index("memory_id")
_initials = {kind: kind.value[0] if kind is not EvidenceKind.SEEN else "v" for kind in EvidenceKind}  # success: s


def added(before: Tallied, row: AccessEvidence) -> Tallied:
    """The numbers with one more edge."""
    session, initial = row.session_ref[:REF], _initials[row.kind]
    sessions, known = before.sessions, before.sessions.get(session, "")
    if initial not in known:
        sessions = sessions | {session: "".join(sorted(known + initial))}
        if len(sessions) > SESSIONS:  # the first ones by name stay, in whatever order they came
            sessions.pop(max(sessions))
    used = row.at if row.kind in USES else None
    return Tallied(
        kinds=before.kinds | {row.kind.value: before.kinds.get(row.kind.value, 0) + 1},
        sessions=sessions,
        first_at=_extreme(min, before.first_at, row.at),
        last_at=_extreme(max, before.last_at, row.at),
        last_used_at=_extreme(max, before.last_used_at, used),
    )


def standing(tallied: Tallied) -> Standing:
    """The numbers as they are read. What a person says of a memory belongs to no session."""
    named = [kinds for session, kinds in tallied.sessions.items() if session]
    return Standing(
        **tallied.kinds,
        sessions=len(named),
        reuse_sessions=sum(_initials[EvidenceKind.REUSE] in kinds for kinds in named),
        success_sessions=sum(_initials[EvidenceKind.SUCCESS] in kinds for kinds in named),
        first_at=tallied.first_at,
        last_at=tallied.last_at,
        last_used_at=tallied.last_used_at,
    )


def counted(rows: Iterable[AccessEvidence]) -> Standing:
    """What these edges of one memory come to."""
    tallied = NEVER
    for row in rows:
        tallied = added(tallied, row)
    return standing(tallied)


def forgets(entry: AuditEntry) -> str | None:
    """The memory that an entry says was forgotten: of its evidence nothing is kept."""
    return entry.memory_id if entry.kind is AuditKind.FEEDBACK and entry.outcome == FORGOTTEN else None


class Standings:
    """The numbers of every memory that has evidence, in memory. They follow the audit: `heard`, after each commit."""

    def __init__(self, tallied: Mapping[str, Tallied] | None = None) -> None:
        self._tallied = dict(tallied or {})
        self._read: dict[str, Standing] = {}
        self._corrected = frozenset(name for name, one in self._tallied.items() if one.kinds.get("correction"))

    def of(self, memory_id: str) -> Standing:
        """What the evidence of a memory comes to."""
        known = self._read.get(memory_id)
        if known is None:
            tallied = self._tallied.get(memory_id)
            if tallied is None:
                return NOTHING
            known = self._read[memory_id] = standing(tallied)
        return known

    def corrected(self) -> frozenset[str]:
        """The memories that were corrected once, whatever a person said of them since."""
        return self._corrected

    def known(self) -> tuple[str, ...]:
        """The memories that have evidence, in the order of their ids."""
        return tuple(sorted(self._tallied))

    def tallied(self) -> dict[str, Tallied]:
        """All numbers, to compare."""
        return dict(self._tallied)

    def become(self, other: "Standings") -> bool:
        """Take over the numbers of others; whether these were different."""
        differed = self._tallied != other._tallied
        self._tallied, self._read, self._corrected = dict(other._tallied), {}, other._corrected
        return differed

    def heard(self, entries: Iterable[AuditEntry]) -> None:
        """Entries that were just committed."""
        for entry in entries:
            gone = forgets(entry)
            if gone is not None and self._tallied.pop(gone, None) is not None:
                self._read.pop(gone, None)
                self._corrected -= {gone}
            for row in edges(entry) if entry.evidence else ():
                self._tallied[row.memory_id] = added(self._tallied.get(row.memory_id, NEVER), row)
                self._read.pop(row.memory_id, None)
                if row.kind is EvidenceKind.CORRECTION:
                    self._corrected |= {row.memory_id}


def with_rows(past: Mapping[str, Tallied], rows: Iterable[AccessEvidence]) -> Standings:
    """The numbers of what is gone and of the rows that are kept."""
    tallied = dict(past)
    for row in rows:
        tallied[row.memory_id] = added(tallied.get(row.memory_id, NEVER), row)
    return Standings(tallied)


def fold_evidence(section: Any | None, entries: Sequence[AuditEntry], now: Millis) -> Any:
    """`governance.checkpoint.Section`: entries that are let go leave their edges as rows, until these are too old or
    too many; then they are numbers."""
    before = opened(section)
    rows, past, floor, last = list(before.rows), dict(before.past), before.floor, before.last
    oldest = _oldest(rows)
    for entry in entries:
        last = max(last, entry.at)
        gone = forgets(entry)
        if gone is not None:
            rows = [row for row in rows if row[_MEMORY] != gone]
            past.pop(gone, None)
        more = [[msgspec.to_builtins(getattr(edge, field)) for field in _FIELDS] for edge in edges(entry)]
        oldest = min(oldest, _oldest(more))
        rows += more
        # Rows of entries that are still there are counted as rows: a clock that was put back must not let them go.
        floor = max(floor, min(now - KEPT, last - DAY))
        if rows and rows[0][_AT] < floor:
            rows = _counted(rows, past, floor)
        if len(rows) > ROWS + SLACK:
            if oldest < max(floor, last - DAY):
                floor = max(floor, min(sorted(row[_AT] for row in rows)[-ROWS], last - DAY))
                rows = _counted(rows, past, floor)
                oldest = _oldest(rows)
            else:  # all are of one day: none may go, however many
                floor = max(floor, last - DAY)
    rows = _counted(rows, past, floor)
    return msgspec.to_builtins(Section(floor=floor, last=last, rows=rows, past=past))


def _oldest(rows: list[list[Any]]) -> Millis:
    return min((row[_AT] for row in rows), default=FAR)


def _counted(rows: list[list[Any]], past: dict[str, Tallied], floor: Millis) -> list[list[Any]]:
    """The rows that stay; those from before the floor are added to the numbers."""
    for row in rows:
        if row[_AT] < floor:
            past[row[_MEMORY]] = added(past.get(row[_MEMORY], NEVER), edge_of(row))
    return [row for row in rows if row[_AT] >= floor]


def opened(section: Any | None) -> Section:
    """The section read."""
    return Section() if section is None else msgspec.convert(section, Section)


def edge_of(row: Sequence[Any]) -> AccessEvidence:
    """The edge that a row of the section holds."""
    return AccessEvidence(**dict(zip(_FIELDS, row, strict=True)) | {"kind": EvidenceKind(row[_FIELDS.index("kind")])})


def _extreme(choose: Callable[[Iterable[Millis]], Millis], one: Millis | None, other: Millis | None) -> Millis | None:
    times = [time for time in (one, other) if time is not None]
    return choose(times) if times else None
