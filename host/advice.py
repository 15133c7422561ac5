"""From what people said of packets to a proposal: another point of the curve, a mute, a look. Pure.

Nothing is changed here or anywhere else by feedback alone. A feedback entry holds the evidence that its packet had, so
what another point would have given is counted, not guessed: what it speaks on, and whether the margin over the bar
covers the difference. A packet without a margin (pinned records at a session's start) is given at every point.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from governance.contracts import AuditEntry
from recall.attention import attention_of, clears
from recall.contracts import Attention, Frozen

MILLION = 1_000_000
LADDER = (Attention.QUIET, Attention.NORMAL, Attention.EAGER)
Share = Annotated[float, Meta(ge=0, le=1)]


class Opinion(StrEnum):
    """What a person says of a packet or a memory."""

    USEFUL = "useful"
    NOISE = "noise"
    LATE = "late"  # right, and after the moment when it was needed
    WRONG = "wrong"
    HARMFUL = "harmful"
    MISSED = "missed"  # of a memory that should have come


class AdvicePolicy(Frozen, frozen=True, kw_only=True):
    """When feedback is enough to propose something. Constants, not settings: nothing follows by itself."""

    packets: Annotated[int, Meta(ge=1)] = 5  # judged packets below which nothing is said of the point
    noisy: Share = 0.5  # share of noise from which a quieter point is proposed
    tolerable: Share = 0.2  # share of noise up to which a more eager one is
    missed: Annotated[int, Meta(ge=1)] = 3  # memories
    again: Annotated[int, Meta(ge=1)] = 3  # packets of noise from which one memory is named


POLICY = AdvicePolicy()


class Point(Frozen, frozen=True, kw_only=True):
    """What a point of the curve would have given of the judged packets, and of those the noisy and the useful ones."""

    attention: Attention
    given: int
    noise: int
    useful: int


class Proposal(Frozen, frozen=True, kw_only=True):
    """Something to consider. `kind`: `attention`, `mute` (a memory that was noise again and again) or `look` (one that
    was called wrong or harmful). `count`: how many judgements, or missed memories, speak for it."""

    kind: str
    count: int
    attention: Attention | None = None
    memory_id: str | None = None


class Advice(Frozen, frozen=True, kw_only=True):
    """What the feedback of a workspace comes to. `points`: what each would have given of the judged packets. `missed`:
    memories that should have come, by what holds now; `reached`: those whose evidence clears the next lower bar."""

    judged: int = 0
    opinions: dict[str, int] = {}
    points: tuple[Point, ...] = ()
    missed: int = 0
    reached: int = 0
    proposals: tuple[Proposal, ...] = ()


def advise(
    entries: Iterable[AuditEntry],
    attention: Attention,
    muted: frozenset[str] = frozenset(),
    policy: AdvicePolicy = POLICY,
) -> Advice:
    """`entries`: the feedback of one workspace, newest first; of several on one packet the newest counts. `attention`:
    what holds there now. `muted`: memories that need no proposal any more."""
    packets: dict[str, AuditEntry] = {}
    records: dict[str, AuditEntry] = {}
    for entry in entries:
        if entry.outcome in tuple(Opinion):
            if entry.packet is not None:
                packets.setdefault(entry.packet.packet_id, entry)
            elif entry.memory_id is not None:
                records.setdefault(entry.memory_id, entry)
    judged = list(packets.values())
    missed = [
        entry
        for entry in records.values()
        if entry.outcome == Opinion.MISSED and (_held(entry) is attention or not _reached(entry, attention))
    ]
    points = {one: _point(judged, one) for one in LADDER}
    reached = [e for e in missed if _reached(e, _beside(attention, 1)) and not _reached(e, attention)]
    said = Counter(entry.outcome for entry in (*judged, *records.values()))
    proposals = (
        *_quieter(points, attention, policy),
        *_more_eager(len(missed), len(reached), points[attention], policy),
        *_of_records((*judged, *records.values()), muted, policy),
    )
    return Advice(
        judged=len(judged),
        opinions=dict(sorted(said.items())),
        points=tuple(points.values()) if judged else (),
        missed=len(missed),
        reached=len(reached),
        proposals=proposals,
    )


def _point(judged: Sequence[AuditEntry], attention: Attention) -> Point:
    given = [entry for entry in judged if _given(entry, attention)]
    return Point(
        attention=attention,
        given=len(given),
        noise=sum(entry.outcome == Opinion.NOISE for entry in given),
        useful=sum(entry.outcome == Opinion.USEFUL for entry in given),
    )


def _given(entry: AuditEntry, attention: Attention) -> bool:
    """Whether a packet would have been given at that point: any of its records would. One that was given below the bar
    (more of a record that was shown before) has no margin to compare."""
    weighed = [row for row in entry.candidates if row.margin is not None and row.margin >= 0]
    return not weighed or _reached(entry, attention)


def _reached(entry: AuditEntry, attention: Attention) -> bool:
    """Whether any of the entry's memories would clear the bar there."""
    return any(
        clears(row.margin / MILLION, (entry.trigger, row.door or ""), _held(entry), attention)
        for row in entry.candidates
        if row.margin is not None
    )


def _held(entry: AuditEntry) -> Attention:
    return attention_of(entry.versions.get("confidence", ""))


def _beside(attention: Attention, step: int) -> Attention:
    """The point one step quieter (-1) or more eager (1); at the end of the curve the same."""
    return LADDER[min(max(LADDER.index(attention) + step, 0), len(LADDER) - 1)]


def _quieter(points: Mapping[Attention, Point], attention: Attention, policy: AdvicePolicy) -> Iterable[Proposal]:
    """The next quieter point, when half of what is given is noise, and it spares more than twice what it loses."""
    quieter = _beside(attention, -1)
    now, then = points[attention], points[quieter]
    if quieter is attention or now.given < policy.packets:
        return
    if now.noise >= policy.noisy * now.given and now.noise - then.noise > 2 * (now.useful - then.useful):
        yield Proposal(kind="attention", count=now.noise, attention=quieter)


def _more_eager(missed: int, reached: int, now: Point, policy: AdvicePolicy) -> Iterable[Proposal]:
    """The next more eager point, when half of what was missed clears its bar and there is little noise."""
    wider = _beside(now.attention, 1)
    enough = missed >= policy.missed and 2 * reached >= missed
    if wider is not now.attention and enough and now.noise <= policy.tolerable * now.given:
        yield Proposal(kind="attention", count=reached, attention=wider)


def _of_records(entries: Iterable[AuditEntry], muted: frozenset[str], policy: AdvicePolicy) -> Iterable[Proposal]:
    noise: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for entry in entries:
        named = entry.packet.items if entry.packet is not None else (entry.memory_id or "",)
        counter = {Opinion.NOISE: noise, Opinion.WRONG: bad, Opinion.HARMFUL: bad}.get(Opinion(entry.outcome))
        if counter is not None:
            counter.update(memory_id for memory_id in named if memory_id not in muted)
    for memory_id, count in sorted(noise.items()):
        if count >= policy.again:
            yield Proposal(kind="mute", count=count, memory_id=memory_id)
    for memory_id, count in sorted(bad.items()):
        yield Proposal(kind="look", count=count, memory_id=memory_id)
