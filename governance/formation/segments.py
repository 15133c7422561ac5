"""How a range of a session is cut into segments, each formed by itself (formation.md 5.2, 2 and 6). Pure.

A segment holds no span that the user denied and no two workspaces, at most 64 records and 12 000 characters of JSON.
What is larger is split at the turn nearest half of its weight, again and again; nothing is shrunk to fit. The oldest
come first, and what goes beyond eight waits.
"""

from collections.abc import Iterable, Iterator, Sequence

from governance.formation.contracts import Barrier
from governance.formation.projecting import LONGEST_EVIDENCE, MOST_RECORDS, Evidence
from recall.contracts import Frozen

MOST_SEGMENTS = 8  # of a job, such as are shown to a model
MOST_PLANNED = MOST_SEGMENTS * LONGEST_EVIDENCE  # characters that a job looks at


class Segment(Frozen, frozen=True, kw_only=True):
    """Events `from_seq` to `through_seq`, both inside. `denied`: not to be read. `floor`: nothing before this event may
    help to understand it."""

    from_seq: int
    through_seq: int
    workspace_key: str
    evidence: tuple[Evidence, ...] = ()
    denied: bool = False
    floor: int = 0


def denied_within(denied: Iterable[Barrier], first: int, last: int) -> tuple[tuple[int, int], ...]:
    """The denied spans that lie within these events, cut to them, merged, in their order."""
    inside = sorted((max(one.from_seq, first), min(one.through_seq, last)) for one in denied)
    merged: list[tuple[int, int]] = []
    for start, end in inside:
        if start > end:
            continue
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def floor_of(denied: Iterable[Barrier], before: int) -> int:
    """The first event that may help to understand what stands at `before`: nothing from across a denied span may."""
    return max((one.through_seq + 1 for one in denied if one.through_seq < before), default=0)


def fits(evidence: Sequence[Evidence]) -> bool:
    """Whether a segment keeps to its bounds."""
    return len(evidence) <= MOST_RECORDS and sum(one.weight for one in evidence) <= LONGEST_EVIDENCE


def in_one_job(segments: Sequence[Segment], most: int = MOST_SEGMENTS) -> tuple[Segment, ...]:
    """As many as a job takes, oldest first: what no model is asked about costs nothing."""
    kept: list[Segment] = []
    shown = 0
    for one in segments:
        shown += bool(one.evidence)
        if shown > most:
            break
        kept.append(one)
    return tuple(kept)


def plan(
    span: tuple[int, int], workspace_key: str, denied: Sequence[Barrier], shown: Iterable[Evidence]
) -> tuple[Segment, ...]:
    """The segments of a range, oldest first. `span`: its first and last event; `workspace_key`: where nothing of it is
    evidence. `shown`: its evidence, taken only as far as a job goes; the last segment ends where that ends."""
    first, last = span
    taken, last = _taken(shown, last)
    found: list[Segment] = []
    for start, end, barred in pieces(first, last, denied_within(denied, first, last)):
        inside = [one for one in taken if start <= one.record.event_seq <= end]
        if barred or not inside:
            found.append(Segment(from_seq=start, through_seq=end, workspace_key=workspace_key, denied=barred))
        else:
            found += _segments(start, end, inside, floor_of(denied, start))
    return tuple(found)


def _taken(shown: Iterable[Evidence], last: int) -> tuple[list[Evidence], int]:
    taken: list[Evidence] = []
    weight = 0
    for one in shown:
        weight += one.weight
        if taken and (weight > MOST_PLANNED or len(taken) >= MOST_SEGMENTS * MOST_RECORDS):
            return taken, one.record.event_seq - 1
        taken.append(one)
    return taken, last


def pieces(first: int, last: int, barred: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """A span cut at the denied ones within it: first and last event, and whether it is denied."""
    for start, end in barred:
        if first < start:
            yield first, start - 1, False
        yield start, end, True
        first = end + 1
    if first <= last:
        yield first, last, False


def _segments(start: int, end: int, inside: Sequence[Evidence], floor: int) -> Iterator[Segment]:
    """The segments of a piece without barriers: one workspace each, and none too large."""
    groups = [part for workspace in _by_workspace(inside) for part in _halved(workspace)]
    for place, group in enumerate(groups):
        through = groups[place + 1][0].record.event_seq - 1 if place + 1 < len(groups) else end
        yield Segment(
            from_seq=start,
            through_seq=through,
            workspace_key=group[0].record.workspace_key,
            evidence=tuple(group),
            floor=floor,
        )
        start = through + 1


def _by_workspace(inside: Sequence[Evidence]) -> Iterator[list[Evidence]]:
    group: list[Evidence] = []
    for one in inside:
        if group and group[-1].record.workspace_key != one.record.workspace_key:
            yield group
            group = []
        group.append(one)
    yield group


def _halved(group: list[Evidence]) -> list[list[Evidence]]:
    """The group in parts that fit. Between turns where that is possible; never within an event."""
    weight = sum(one.weight for one in group)
    if len(group) == 1 or fits(group):
        return [group]
    best, behind = 0, 0
    choice: tuple[bool, int] | None = None
    for place in range(1, len(group)):
        behind += group[place - 1].weight
        before, after = group[place - 1].record, group[place].record
        if before.event_seq == after.event_seq:
            continue
        here = (before.turn == after.turn, abs(2 * behind - weight))
        if choice is None or here < choice:
            best, choice = place, here
    return [*_halved(group[:best]), *_halved(group[best:])] if best else [group]
