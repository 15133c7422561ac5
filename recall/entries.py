"""From a file's bytes to rows of the index: what is new, what only moved, what is gone. Pure, CPU only.

A record that reads as before keeps its row and its terms; only its place is written anew. So an append to a large file
costs the analysis of one record.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from recall.analyzer import terms
from recall.canonical import bytes_digest
from recall.contracts import Flag, Frozen, MemoryRecord, Status
from recall.documents import Document, Unreadable
from recall.files import FileRecord, Finding, parse
from recall.markers import FileHome

INDEXED = 262_144  # characters of a record's text that can be found: a longer one is no memory but a file
TITLE_WEIGHT = 2  # a word of the title counts as often as that many in the text
KEPT_OUT = frozenset({Flag.QUARANTINED, Flag.RECHECK, Flag.CORRECTED})
_pack = msgspec.msgpack.Encoder().encode

Span = tuple[int, int, int, int]  # line start, line end, byte start, byte end


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One record as the index stores it. `terms`: the most frequent first; `counts`: how often, of those that occur
    more than once, at most 255 times."""

    record: MemoryRecord
    digest: str
    mark: str
    eligible: bool
    span: Span
    length: int
    terms: tuple[str, ...]
    counts: bytes
    body: bytes


class Place(Frozen, frozen=True, kw_only=True):
    """Where a root lies: its real path, the folder its files are relative to, and, if it is one file, its name."""

    path: str
    folder: str
    file: str | None = None


class Known(msgspec.Struct, frozen=True, gc=False):
    """What the index holds of a record of the file already."""

    row: int
    mark: str
    span: Span


class FileChange(msgspec.Struct, frozen=True):
    """A file's new state against the index. `refused`: why nothing of it is used."""

    relative: str
    digest: str
    stamp: str
    same: bool = False  # the bytes are those of the index: only the stamp is news
    refused: str | None = None
    findings: tuple[Finding, ...] = ()
    added: tuple[Entry, ...] = ()
    moved: tuple[tuple[int, Span], ...] = ()  # (row, where it stands now)
    dropped: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """Which texts are never proposed to a pass, and by which rules (`id`): supplied by the composition root, for the
    screen lives above us. A poisoned record must not take the place of a good one."""

    id: str = "open"
    keeps_out: Callable[[str], bool] = lambda text: False


OPEN = Guard()


def changed(
    found: Document | Unreadable, stamp: str, home: FileHome, known: Mapping[str, Known], guard: Guard = OPEN
) -> FileChange:
    """Compare a file as it is now with what the index knows of it (by memory id)."""
    everything = tuple(one.row for one in known.values())
    if isinstance(found, Unreadable):
        return FileChange(home.relative, "", stamp, refused=found.reason, dropped=everything)
    parsed = parse(found.data, home)
    added: list[Entry] = []
    moved: list[tuple[int, Span]] = []
    kept: set[int] = set()
    for one in parsed.records:
        body = _pack(one.record)
        mark = bytes_digest(body)[:32]
        before = known.get(one.record.memory_id)
        if before is None or before.mark != mark:
            added.append(_entry(one, body, mark, guard))
            continue
        kept.add(before.row)
        if before.span != _span(one):
            moved.append((before.row, _span(one)))
    return FileChange(
        relative=home.relative,
        digest=parsed.digest,
        stamp=found.stamp,
        refused=parsed.refused,
        findings=parsed.findings,
        added=tuple(added),
        moved=tuple(moved),
        dropped=tuple(row for row in everything if row not in kept),
    )


def _entry(one: FileRecord, body: bytes, mark: str, guard: Guard) -> Entry:
    record = one.record
    found = Counter(terms(record.text[:INDEXED]))
    for words, weight in ((record.title, TITLE_WEIGHT), (" ".join(record.tags), 1)):
        for term in terms(words) if words else ():
            found[term] += weight
    often = found.most_common()
    return Entry(
        record=record,
        digest=one.locator.record_digest,
        mark=mark,
        eligible=record.status is Status.ACTIVE
        and KEPT_OUT.isdisjoint(record.flags)
        and not guard.keeps_out(f"{record.title or ''}\n{record.text}"),
        span=_span(one),
        length=found.total(),
        terms=tuple(term for term, _ in often),
        counts=bytes(min(count, 255) for _, count in often if count > 1),
        body=body,
    )


def _span(one: FileRecord) -> Span:
    at = one.locator
    return at.line_start, at.line_end, at.byte_start, at.byte_end
