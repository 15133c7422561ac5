"""How a session is read window by window (formation.md 6.3). Pure.

A window holds ten new messages that qualify, and up to five before them for understanding. Windows follow one another
until every message was in one; what does not qualify is swept along. Nothing crosses a span that the user denied, or
goes from one workspace to another.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from governance.formation.contracts import Barrier, EvidenceRecord
from governance.formation.projecting import plain
from governance.formation.quality import Noise, judged
from governance.formation.segments import denied_within
from recall.canonical import digest, text_digest
from recall.contracts import Frozen

NEW, BACKGROUND = 10, 5
READ_BACK = 40  # messages before a range that are looked at for five that qualify
PROJECTION = "batch_pre_v1"  # changes with what is shown


class BatchMessage(Frozen, frozen=True, kw_only=True):
    """A message that qualifies. `name`: how the model and its answer call it. `record`: its text is cleaned, redacted
    and, beyond 4 000 characters, cut. `coverage`: digest of the text as it came. `suspect`: it reads like an order in
    disguise."""

    name: str
    record: EvidenceRecord
    coverage: str
    suspect: bool = False


class Window(Frozen, frozen=True, kw_only=True):
    """Events `from_seq` to `through_seq`, both inside. `left_out`: messages that did not qualify, by why. `denied`: not
    to be read."""

    from_seq: int
    through_seq: int
    workspace_key: str
    new: tuple[BatchMessage, ...] = ()
    background: tuple[BatchMessage, ...] = ()
    left_out: dict[str, int] = {}
    denied: bool = False

    @property
    def shown(self) -> dict[str, BatchMessage]:
        """Every message of it by name, in order."""
        return {one.name: one for one in (*self.background, *self.new)}

    @property
    def coverage_hash(self) -> str:
        """Which texts are new in it, word for word."""
        return digest([[one.record.message_id, one.record.event_seq, one.coverage] for one in self.new])

    @property
    def request_hash(self) -> str:
        """What an operation over this window was asked to do. Settings are no part of it."""
        span = {"fromSeq": self.from_seq, "throughSeq": self.through_seq}
        return digest({**span, "coverageHash": self.coverage_hash, "projection": PROJECTION})


def windows(
    records: Sequence[EvidenceRecord], span: tuple[int, int], workspace_key: str, denied: Sequence[Barrier] = ()
) -> Iterator[Window]:
    """The windows of a range, oldest first: together they are the range, each of its messages once. `records`: texts of
    the range and, for understanding, of before it, in order. `span`: its first and last event. `workspace_key`: where
    nothing says another."""
    first, last = span
    for start, end, barred in _pieces(last, denied_within(denied, 0, last)):
        if end < first:
            continue
        if barred:
            yield Window(from_seq=max(start, first), through_seq=end, workspace_key=workspace_key, denied=True)
            continue
        inside = [one for one in records if start <= one.event_seq <= end]
        earlier = [one for one in inside if one.event_seq < first]
        before = [_read(one, workspace_key) for one in earlier[-READ_BACK:]]
        new = [_read(one, workspace_key) for one in inside[len(earlier) :]]
        if new:
            yield from _windows(before, new, (max(start, first), end))
        else:
            yield Window(from_seq=max(start, first), through_seq=end, workspace_key=workspace_key)


def without(window: Window, done: Iterable[str]) -> Window:
    """The window without new messages, by reference, that an earlier, cut answer dealt with."""
    gone = frozenset(done)
    new = tuple(one for one in window.new if one.record.ref not in gone)
    return msgspec.structs.replace(window, new=new)


def _pieces(last: int, barred: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """The stretches of a session up to an event, denied and not."""
    at = 0
    for start, end in barred:
        if at < start:
            yield at, start - 1, False
        yield start, end, True
        at = end + 1
    if at <= last:
        yield at, last, False


class _Read(NamedTuple):
    """A text of the log: as it is shown, or why it is not."""

    record: EvidenceRecord
    message: BatchMessage | None
    noise: Noise | None


def _windows(before: Sequence[_Read], records: Sequence[_Read], span: tuple[int, int]) -> Iterator[Window]:
    """The windows of one stretch. At least one: also where nothing qualifies, the range is done."""
    start = span[0]
    groups = _groups(records)
    held = list(before)
    for place, group in enumerate(groups):
        where = group[0].record.workspace_key
        through = groups[place + 1][0].record.event_seq - 1 if place + 1 < len(groups) else span[1]
        new = [one.message for one in group if one.message is not None]
        background = [one.message for one in held if one.message is not None and one.record.workspace_key == where]
        named = _named((*background[-BACKGROUND:], *new))
        yield Window(
            from_seq=start,
            through_seq=through,
            workspace_key=where,
            new=named[len(named) - len(new) :],
            background=named[: len(named) - len(new)],
            left_out=dict(Counter(one.noise for one in group if one.noise is not None)),
        )
        held += group
        start = through + 1


def _groups(records: Sequence[_Read]) -> list[list[_Read]]:
    """The records in runs of one workspace and of ten that qualify; a run ends where an event does."""
    groups: list[list[_Read]] = []
    group: list[_Read] = []
    count = 0
    for one in records:
        ended = bool(group) and group[-1].record.event_seq < one.record.event_seq
        full = count >= NEW and one.message is not None
        if ended and (full or group[-1].record.workspace_key != one.record.workspace_key):
            groups.append(group)
            group, count = [], 0
        group.append(one)
        count += one.message is not None
    return [*groups, group]


def _read(record: EvidenceRecord, workspace_key: str) -> _Read:
    here = msgspec.structs.replace(record, workspace_key=record.workspace_key or workspace_key)
    found = judged(record.text, record.role)
    if found.noise is not None:
        return _Read(here, None, found.noise)
    coverage = text_digest(record.text.encode("utf-8", "replace").decode())
    message = BatchMessage(name=record.message_id, record=plain(here), coverage=coverage, suspect=found.suspect)
    return _Read(here, message, None)


def _named(messages: Sequence[BatchMessage]) -> tuple[BatchMessage, ...]:
    """Each under a name of its own: its message id, or its reference where several have the same."""
    count = Counter(one.record.message_id for one in messages)
    return tuple(one if count[one.name] == 1 else msgspec.structs.replace(one, name=one.record.ref) for one in messages)
