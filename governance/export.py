"""The audit for other programs: an entry a line, as JSON whose bytes the chain covers, or as CSV. Pure.

A JSON line is the entry's stored bytes with its digest filled in: emptied again, and written with sorted keys and no
spaces, its SHA-256 is that digest. The document that entries which were let go left comes first, on a line of its own.
"""

import csv
import io
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

import msgspec

from governance.chain import Row, entry_of
from governance.checkpoint import Stored
from governance.contracts import AuditEntry

_Cell = str | int | None
_lines: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encoder = msgspec.json.Encoder()
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would carry out what begins so

_COLUMNS: Mapping[str, Callable[[AuditEntry], _Cell]] = MappingProxyType(
    {
        "auditId": lambda entry: entry.audit_id,
        "at": lambda entry: datetime.fromtimestamp(entry.at / 1000, UTC).isoformat(timespec="milliseconds"),
        "sessionRef": lambda entry: entry.session_ref,
        "agentRef": lambda entry: entry.agent_ref,
        "eventSeq": lambda entry: entry.cursor.event_seq if entry.cursor else None,
        "step": lambda entry: entry.step,
        "kind": lambda entry: entry.kind.value,
        "outcome": lambda entry: entry.outcome,
        "reason": lambda entry: entry.reason,
        "trigger": lambda entry: entry.trigger,
        "surface": lambda entry: entry.surface,
        "need": lambda entry: entry.gate.score if entry.gate else None,
        "hits": lambda entry: " ".join(f"{arm.name}:{arm.hits}" for arm in entry.arms),
        "candidates": lambda entry: len(entry.candidates),
        "kept": lambda entry: " ".join(one.memory_id for one in entry.candidates if one.kept),
        "removed": lambda entry: (
            " ".join(f"{one.candidate_id}:{one.reason}" for one in entry.verdict.removed) if entry.verdict else ""
        ),
        "verdict": lambda entry: entry.verdict.action.value if entry.verdict else None,
        "packetId": lambda entry: entry.packet.packet_id if entry.packet else None,
        "items": lambda entry: " ".join(entry.packet.items) if entry.packet else "",
        "bytes": lambda entry: entry.packet.bytes if entry.packet else None,
        "level": lambda entry: entry.packet.level.value if entry.packet else None,
        "evidence": lambda entry: " ".join(f"{one.kind.value}:{one.memory_id}" for one in entry.evidence),
        "claimId": lambda entry: entry.claim_id,
        "memoryId": lambda entry: entry.memory_id,
        "micros": lambda entry: sum(entry.latency.values()),
        "note": lambda entry: entry.note,
        "digest": lambda entry: entry.digest,
    }
)
HEADINGS = tuple(_COLUMNS)


def json_line(row: Row) -> bytes:
    """An entry. Whatever fields its time knew are there, to the byte."""
    entry = _lines.decode(row.entry)
    entry["digest"] = msgspec.Raw(_encoder.encode(row.digest))
    return _encoder.encode(entry)


def first_line(kept: Stored) -> bytes:
    """What entries that were let go left."""
    return kept.document


def csv_line(row: Row) -> str:
    """An entry under HEADINGS, without the line's end."""
    entry = entry_of(row.entry, row.digest)
    return _written([column(entry) for column in _COLUMNS.values()])


def csv_headings() -> str:
    """The first line of a CSV export."""
    return _written(list(HEADINGS))


def _written(cells: list[_Cell]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([_cell(cell) for cell in cells])
    return line.getvalue()


def _cell(cell: _Cell) -> str:
    text = "" if cell is None else str(cell)
    return "'" + text if text.startswith(FORMULA) else text
