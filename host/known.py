"""What an agent was shown, read or cited in its session, and which of its calls used it: a fold over evidence. Pure.

Live, the rows come as they are formed; after a restart, as they were kept; both give the same.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from governance.contracts import AccessEvidence, EvidenceKind
from governance.evidence import Given, given_of
from governance.evidence_rules import Quotable
from host.outcomes import Facts
from recall.contracts import Frozen, Segment, SegmentKind, SourceKind

MOST = 64  # records, and calls whose result is awaited, that are kept in mind
PROMPTS = 16
MEETS = frozenset({EvidenceKind.SEEN, EvidenceKind.READ, EvidenceKind.CITE})


class Traits(Frozen, frozen=True, kw_only=True):
    """What a record can be recognised by, as it reads at one digest, where its session did not hold it before.
    `names_files`: how many files it names in all."""

    text: str
    terms: frozenset[str]
    facts: Facts
    identifiers: tuple[str, ...]
    names_files: int


class Index(Frozen, frozen=True, kw_only=True):
    """What is looked for of all known records at once. `digests`: of those that it was made of."""

    digests: frozenset[str] = frozenset()
    quotable: Quotable = Quotable({})
    facts: Facts = Facts()


class Met(Frozen, frozen=True, kw_only=True):
    """A record that the agent knows. `since`, `latest`: the events that showed it first and last."""

    given: Given
    since: int
    latest: int


class Reuse(Frozen, frozen=True, kw_only=True):
    """A call that used a record, of which nobody has said yet how it went."""

    given: Given
    call_id: str | None


@dataclass(slots=True)
class Known:
    """`records` by memory id; `calls`: what calls used whose result is awaited; `unproven`: reuses of which neither a
    result nor the user has spoken yet, by memory id; `proven`: records that were used with success; `prompts`: where
    the user spoke; `before`: what the session held until a record was shown, for as long as nobody has looked. The
    rest is found again when needed: by memory id the digest and what is found at it, an index over that, and how the
    records read now (`current`) by the index of that version, seen from that workspace (`place`)."""

    records: dict[str, Met] = field(default_factory=dict)
    calls: dict[str, tuple[Given, ...]] = field(default_factory=dict)
    unproven: dict[str, Reuse] = field(default_factory=dict)
    proven: set[str] = field(default_factory=set)
    prompts: deque[int] = field(default_factory=lambda: deque(maxlen=PROMPTS))
    before: dict[str, tuple[Segment, ...]] = field(default_factory=dict, compare=False)
    traits: dict[str, tuple[str, Traits]] = field(default_factory=dict, compare=False)
    place: tuple[str, str] = field(default=("", ""), compare=False)
    current: dict[str, str] = field(default_factory=dict, compare=False)
    index: Index = field(default=Index(), compare=False)

    def took(self, rows: Iterable[AccessEvidence], segments: Sequence[Segment]) -> None:
        """Fold rows in. `segments`: what the session holds, the rows' own event included."""
        for row in rows:
            if row.kind in MEETS:
                self._met(row, segments)
            elif row.kind is EvidenceKind.REUSE:
                self.unproven[row.memory_id] = Reuse(given=given_of(row), call_id=row.call_id)
                if row.call_id is not None:
                    self.calls[row.call_id] = (*self.calls.get(row.call_id, ()), given_of(row))
            elif row.kind is EvidenceKind.SUCCESS:
                self.proven.add(row.memory_id)
                self.unproven.pop(row.memory_id, None)
                self.calls.pop(row.call_id or "", None)
            else:
                self.records.pop(row.memory_id, None)
                self.unproven.pop(row.memory_id, None)
        for kept in (self.records, self.calls, self.unproven):
            while len(kept) > MOST:
                kept.pop(next(iter(kept)))
        for memory_id in [one for one in self.before if one not in self.records]:
            del self.before[memory_id]

    def _met(self, row: AccessEvidence, segments: Sequence[Segment]) -> None:
        """What a delivery showed stands behind its event; what a result or a text showed stands in it."""
        known = self.records.pop(row.memory_id, None)
        if known is not None and known.given.record_digest == row.record_digest:
            self.records[row.memory_id] = Met(given=given_of(row), since=known.since, latest=row.event_seq)
            return
        delivered = row.kind is EvidenceKind.SEEN and row.coverage is None
        last = row.event_seq if delivered else row.event_seq - 1
        self.records[row.memory_id] = Met(given=given_of(row), since=row.event_seq, latest=row.event_seq)
        self.before[row.memory_id] = tuple(one for one in segments if one.event_seq <= last)
        self.traits.pop(row.memory_id, None)

    def heard(self, segment: Segment) -> None:
        """A segment was decided: a failed result proves nothing of its call, and the user has spoken."""
        if segment.kind is SegmentKind.RESULT and segment.call_id is not None:
            if segment.ok is False:
                for given in self.calls.pop(segment.call_id, ()):
                    self.unproven.pop(given.memory_id, None)
        elif segment.kind is SegmentKind.PROMPT and segment.source_kind is SourceKind.USER:
            self.prompts.append(segment.event_seq)
            self.unproven.clear()

    def prompts_since(self, met: Met) -> int:
        """How often the user has spoken since a record was shown last."""
        return sum(seq > met.latest for seq in self.prompts)
