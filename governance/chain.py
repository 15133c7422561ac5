"""The audit's hash chain: what is digested, how entries are linked, and what is wrong with a row. Pure.

`digest` is the SHA-256 of the stored bytes: the canonical JSON of the entry with an empty `digest` field and the digest
of the entry before it as `prevDigest`. `decisionDigest` covers the decision alone, so that a replay can be compared.
"""

import hashlib

import msgspec

from governance.contracts import AuditEntry
from recall.canonical import NotCanonical, canonical
from recall.contracts import ArmReport, Frozen

# What a decision is not made of: when it was made, how long it took, its ids, what it proves, its place in the chain.
UNDECIDED = frozenset({"audit_id", "at", "latency", "claim_id", "evidence", "prev_digest", "digest", "decision_digest"})
_DECIDED = tuple(
    (field.name, field.encode_name) for field in msgspec.structs.fields(AuditEntry) if field.name not in UNDECIDED
)
_UNDECIDED_KEYS = frozenset(
    field.encode_name for field in msgspec.structs.fields(AuditEntry) if field.name in UNDECIDED
)
_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(AuditEntry)


class Link(Frozen, frozen=True, kw_only=True):
    """The end of the chain so far: its row and digest. The chain begins at row 0 with an empty digest."""

    row: int = 0
    digest: str = ""


class Row(Frozen, frozen=True, kw_only=True):
    """One stored row: the entry's bytes, and the columns that repeat parts of it."""

    row: int
    audit_id: str
    at: int
    session_ref: str
    kind: str
    outcome: str
    reason: str
    step: int | None
    packet_id: str | None
    digest: str
    entry: bytes


def canonical_bytes(value: object) -> bytes:
    """As recall.canonical.canonical, in one step where that is the same: data without floats whose JSON is ASCII."""
    data = _encoder.encode(value)
    return data if data.isascii() else canonical(value)


def decision_digest(entry: AuditEntry) -> str:
    """The digest that a replay compares."""
    decided: dict[str, object] = {key: getattr(entry, name) for name, key in _DECIDED}
    decided["arms"] = [(arm.name, arm.hits, arm.shortfall) for arm in entry.arms]
    return _sha256(canonical_bytes(decided))


def _stored_decision(data: bytes) -> str:
    """The same digest from what is stored: an entry of before a field was added is judged by the fields it has."""
    stored: dict[str, object] = msgspec.json.decode(data)
    decided = {key: value for key, value in stored.items() if key not in _UNDECIDED_KEYS}
    arms = msgspec.convert(stored["arms"], list[ArmReport])
    decided["arms"] = [(arm.name, arm.hits, arm.shortfall) for arm in arms]
    return _sha256(canonical_bytes(decided))


def chained(entry: AuditEntry, previous: str) -> tuple[AuditEntry, Row]:
    """The entry behind the one whose digest is `previous`, and the row it makes; the row's number is not known yet (0).

    Raises msgspec.ValidationError for an entry that could not be read back.
    """
    bare = msgspec.structs.replace(entry, prev_digest=previous, digest="", decision_digest=decision_digest(entry))
    data = canonical_bytes(bare)
    row = _row(bare, 0, _sha256(data), data)
    return entry_of(data, row.digest), row


def entry_of(data: bytes, digest: str) -> AuditEntry:
    """The entry that a row holds."""
    return msgspec.structs.replace(_decoder.decode(data), digest=digest)


def flaw(row: Row, link: Link) -> str | None:
    """What is wrong with the row that should follow `link`; None when it holds."""
    if row.row != link.row + 1:
        return "entries before this one were removed"
    if _sha256(row.entry) != row.digest:
        return "the entry was changed"
    try:
        entry = _decoder.decode(row.entry)
        decided = _stored_decision(row.entry)
    except (msgspec.MsgspecError, NotCanonical, UnicodeError):
        return "the entry cannot be read"
    if entry.prev_digest != link.digest:
        return "the entry does not follow the one before it: one of them was replaced or moved"
    if _row(entry, row.row, row.digest, row.entry) != row:
        return "a column differs from the entry"
    return None if decided == entry.decision_digest else "the decision's digest does not fit"


def _row(entry: AuditEntry, row: int, digest: str, data: bytes) -> Row:
    return Row(
        row=row,
        audit_id=entry.audit_id,
        at=entry.at,
        session_ref=entry.session_ref,
        kind=entry.kind.value,
        outcome=entry.outcome,
        reason=entry.reason,
        step=entry.step,
        packet_id=entry.packet.packet_id if entry.packet is not None else None,
        digest=digest,
        entry=data,
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
