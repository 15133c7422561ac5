"""What is left of audit entries that were let go: a document that sums them up, and that an entry of the chain names.

Entries are let go from the old end only. Before that they are folded into the document: the metrics, and sections that
others fold (what evidence comes to, what a restart of a session must know). The next entry of the chain names the
document's digest, so that neither it nor the place where the chain begins now can be changed unnoticed. Whatever is a
fold over the audit is the document's section plus the entries that follow. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from governance.chain import Link, Row, canonical_bytes, entry_of, flaw
from governance.contracts import AuditEntry, AuditKind
from governance.metrics import EMPTY, Metrics, fold
from recall.canonical import bytes_digest
from recall.contracts import Frozen, Millis

OUTCOME = "checkpoint"

# (what stood in the section, or None; entries in their order; now) -> what stands there afterwards: JSON values without
# floats. Folding in parts is folding at once.
Section = Callable[[Any | None, Sequence[AuditEntry], Millis], Any]


class Through(Frozen, frozen=True, kw_only=True):
    """The last entry that was let go. Row 0: none was."""

    row: int = 0
    digest: str = ""
    at: Millis = 0


class Checkpoint(Frozen, frozen=True, kw_only=True):
    """The document. `entries`: how many were let go so far."""

    through: Through = Through()
    entries: int = 0
    metrics: Metrics = EMPTY
    sections: dict[str, Any] = {}

    @property
    def link(self) -> Link:
        """Where the chain goes on."""
        return Link(row=self.through.row, digest=self.through.digest)


class Stored(Frozen, frozen=True, kw_only=True):
    """The document as it is stored: its bytes are what its digest covers."""

    document: bytes
    digest: str


class Walked(Frozen, frozen=True, kw_only=True):
    """A walk over the chain so far: up to where it holds, and the document that an entry named last. `problem`: what is
    wrong with the row `row`, where the walk ends."""

    link: Link = Link()
    entries: int = 0
    named: str | None = None
    named_at: int | None = None
    problem: str | None = None
    row: int | None = None


NOTHING = Checkpoint()
_decoder = msgspec.json.Decoder(Checkpoint)


def folded(
    before: Checkpoint, entries: Sequence[AuditEntry], through: Through, sections: Mapping[str, Section], now: Millis
) -> Checkpoint:
    """The document with more entries in it. A section that nobody folds any more stays as it is."""
    kept = {name: section(before.sections.get(name), entries, now) for name, section in sections.items()}
    return Checkpoint(
        through=through,
        entries=before.entries + len(entries),
        metrics=fold(before.metrics, entries),
        sections=before.sections | kept,
    )


def stored(checkpoint: Checkpoint) -> Stored:
    """The document's bytes and their digest."""
    document = canonical_bytes(checkpoint)
    return Stored(document=document, digest=bytes_digest(document))


def opened(kept: Stored | None) -> Checkpoint:
    """The document of what is stored; without one nothing was let go. Raises msgspec.DecodeError for a damaged one."""
    return NOTHING if kept is None else _decoder.decode(kept.document)


def entry_for(kept: Stored, checkpoint: Checkpoint, now: Millis) -> AuditEntry:
    """The entry that names the document."""
    return AuditEntry(
        audit_id="",
        at=now,
        session_ref="",
        agent_ref="",
        cursor=None,
        kind=AuditKind.POLICY,
        outcome=OUTCOME,
        reason="retention",
        versions={OUTCOME: kept.digest},
        note=str(checkpoint.entries),
    )


def flaw_of(kept: Stored | None, named: str | None) -> str | None:
    """What is wrong with the stored document; None when it is the one that the chain's last such entry names."""
    if kept is None:
        return None if named is None else "the checkpoint of the entries before was removed"
    if bytes_digest(kept.document) != kept.digest:
        return "the checkpoint was changed"
    if named != kept.digest:
        return "no entry names the checkpoint: it was replaced"
    return None


def walked(walk: Walked, rows: Sequence[Row]) -> Walked:
    """The walk with these rows behind it, up to the first that does not hold."""
    link, named, named_at = walk.link, walk.named, walk.named_at
    for place, row in enumerate(rows):
        problem = flaw(row, link)
        if problem is not None:
            return msgspec.structs.replace(
                walk,
                link=link,
                entries=walk.entries + place,
                named=named,
                named_at=named_at,
                problem=problem,
                row=row.row,
            )
        link = Link(row=row.row, digest=row.digest)
        if row.kind == AuditKind.POLICY and row.outcome == OUTCOME:
            named, named_at = entry_of(row.entry, row.digest).versions.get(OUTCOME), row.row
    return msgspec.structs.replace(walk, link=link, entries=walk.entries + len(rows), named=named, named_at=named_at)
