"""Were the deliveries right, and in time? Holds what was handed over against the labels of a session. Pure.

A row is what was handed over after one event. Each memory in it gets the first verdict that fits, in the order of
`Verdict`. docs/how-to/measure-the-decision.md says how to read the figures.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from host.evaluation.sessions import Gold, Overlap, Recording, Span
from recall.contracts import EventType, Frozen

CHINESE = "zh"
EVERY = "all"  # the class that every label belongs to


class Row(Frozen, frozen=True, kw_only=True):
    """Handed over after event `seq` was seen. `bytes`: of the text as the agent got it, UTF-8."""

    session: str
    seq: int
    memories: tuple[str, ...]
    bytes: int


class Verdict(StrEnum):
    """What hindsight says about one memory handed over at one moment; the first that fits."""

    UNKNOWN = "unknown"  # not in the store
    NEVER = "never"  # must not be handed over at all
    HIT = "hit"  # its need was open, and had not been met
    DUPLICATE = "duplicate"  # it, or its paraphrase, was handed over before in this context
    NEUTRAL = "neutral"  # useful there, though not needed; or needed, met, and forgotten by a compaction
    OUTSIDE = "outside"  # none of these


FALSE = (Verdict.UNKNOWN, Verdict.NEVER, Verdict.DUPLICATE, Verdict.OUTSIDE)


class Judged(Frozen, frozen=True, kw_only=True):
    """One memory of one row. `why`: the reason of a NEVER, the need of a HIT. `quiet`: nothing at all was right there.

    Of a HIT: `lead` is how many steps the session still took until its need was over, `possible` how many it would
    have been from the first event of the window on.
    """

    seq: int
    memory: str
    verdict: Verdict
    why: str = ""
    quiet: bool = False
    lead: int = 0
    possible: int = 0


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one session or of many, by the names that the format gives them.

    `f_half_macro`: the mean of the sessions' own, of many alone.
    """

    f_half: float = msgspec.field(name="f0.5")
    f_half_macro: float | msgspec.UnsetType = msgspec.field(name="f0.5_macro", default=msgspec.UNSET)
    precision: float | None
    recall: float
    recall_by_class: dict[str, float | None]
    mean_lead_steps: float | None
    lead_share: float
    false_per_100_steps: float
    injections: int
    hits: int
    labels: int
    neutral: int
    false: dict[str, int]
    duplicates: int
    quiet_violations: int
    never_violations: int
    never_by_reason: dict[str, int]
    bytes_per_session: int
    sessions: int
    steps: int


@dataclass(frozen=True, slots=True)
class Scored:
    """A session and what was judged of it. `met`: the needs that were met."""

    recording: Recording
    judged: tuple[Judged, ...]
    met: tuple[Gold, ...]
    bytes: int


@dataclass(slots=True)
class _Walk:
    """What is known on the way through a session's rows."""

    met: dict[str, Gold] = field(default_factory=dict)  # by group
    given: dict[str, int] = field(default_factory=dict)  # group -> seq of the last time


class Judge:
    """Judges the rows of one session, in their order."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._labels = recording.labels
        self._group = {memory.id: memory.id for memory in recording.memories}
        for group in recording.labels.duplicates:
            self._group.update(dict.fromkeys(group, group[0]))
        self._gold = {self._group[gold.memory]: gold for gold in recording.labels.gold}
        self._compactions = [one.seq for one in recording.events if one.type == EventType.SESSION_COMPACT]
        self._step = {event.seq: event.step for event in recording.events}

    def judge(self, rows: Iterable[Row]) -> Scored:
        """Raises ValueError for a row at an event that is not there."""
        walk = _Walk()
        judged: list[Judged] = []
        size = 0
        for row in sorted(rows, key=lambda row: row.seq):
            if row.seq not in self._step:
                raise ValueError(f"{self._recording.name}: no event {row.seq}")
            size += row.bytes
            judged += [self._one(memory, row.seq, walk) for memory in row.memories]
        return Scored(self._recording, tuple(judged), tuple(walk.met.values()), size)

    def _one(self, memory: str, seq: int, walk: _Walk) -> Judged:
        group = self._group.get(memory)
        quiet = _within(seq, self._labels.quiet) is not None
        if group is None:
            return Judged(seq=seq, memory=memory, verdict=Verdict.UNKNOWN, quiet=quiet)
        gold = self._gold.get(group)
        open_now = _within(seq, gold.windows) if gold else None
        before, walk.given[group] = walk.given.get(group), seq
        found = Judged(seq=seq, memory=memory, verdict=Verdict.OUTSIDE, quiet=quiet)
        never = self._labels.never_reason.get(memory)
        if never is not None:
            return msgspec.structs.replace(found, verdict=Verdict.NEVER, why=never)
        if gold is not None and open_now is not None and group not in walk.met:
            walk.met[group] = gold
            end = self._step[max(open_now[1], gold.window[1])]
            return msgspec.structs.replace(
                found,
                verdict=Verdict.HIT,
                why=gold.why,
                lead=end - self._step[seq],
                possible=end - self._step[open_now[0]],
            )
        if before is not None and not any(before < one <= seq for one in self._compactions):
            return msgspec.structs.replace(found, verdict=Verdict.DUPLICATE)
        if open_now is not None or self._acceptable(memory, seq):
            return msgspec.structs.replace(found, verdict=Verdict.NEUTRAL)
        return found

    def _acceptable(self, memory: str, seq: int) -> bool:
        return _within(seq, [one.window for one in self._labels.acceptable if one.memory == memory]) is not None


def figures(scored: Sequence[Scored]) -> Figures:
    """The figures of these sessions together. At least one."""
    judged = [one for session in scored for one in session.judged]
    verdicts = Counter(one.verdict for one in judged)
    hits = [one for one in judged if one.verdict is Verdict.HIT]
    false = {str(verdict): verdicts[verdict] for verdict in FALSE if verdicts[verdict]}
    wrong = sum(false.values())
    precision = len(hits) / (len(hits) + wrong) if hits or wrong else None
    every = _weights(gold for session in scored for gold in session.recording.labels.gold)
    met = _weights(gold for session in scored for gold in session.met)
    recall = met[EVERY] / every[EVERY] if every[EVERY] else 0.0
    possible = sum(one.possible for one in hits)
    steps = sum(session.recording.steps for session in scored)
    never = Counter(one.why for one in judged if one.verdict is Verdict.NEVER)
    return Figures(
        f_half=round(f_half(precision or 0.0, recall), 3),
        precision=None if precision is None else round(precision, 3),
        recall=round(recall, 3),
        recall_by_class={
            name: round(met[name] / every[name], 3) if every[name] else None for name in (*Overlap, CHINESE)
        },
        mean_lead_steps=round(sum(one.lead for one in hits) / len(hits), 2) if hits else None,
        lead_share=round(sum(one.lead for one in hits) / possible, 3) if possible else 0.0,
        false_per_100_steps=round(100 * wrong / steps, 2),
        injections=len(judged),
        hits=len(hits),
        labels=sum(len(session.recording.labels.gold) for session in scored),
        neutral=verdicts[Verdict.NEUTRAL],
        false=false,
        duplicates=verdicts[Verdict.DUPLICATE],
        quiet_violations=sum(one.quiet for one in judged),
        never_violations=never.total(),
        never_by_reason=dict(sorted(never.items())),
        bytes_per_session=round(sum(session.bytes for session in scored) / len(scored)),
        sessions=len(scored),
        steps=steps,
    )


def of_set(scored: Sequence[Scored]) -> Figures:
    """The figures of a set: with the mean of its sessions' own F0.5."""
    own = [figures([one]).f_half for one in scored]
    return msgspec.structs.replace(figures(scored), f_half_macro=round(sum(own) / len(own), 3))


def f_half(precision: float, recall: float) -> float:
    """F0.5: precision counts twice as much as recall; 0 for silence."""
    bottom = 0.25 * precision + recall
    return 1.25 * precision * recall / bottom if bottom else 0.0


def _weights(gold: Iterable[Gold]) -> dict[str, float]:
    """The sum of weights of each class."""
    found = dict.fromkeys((EVERY, *Overlap, CHINESE), 0.0)
    for one in gold:
        for name in (EVERY, one.overlap, *([CHINESE] if one.lang == CHINESE else [])):
            found[name] += one.weight
    return found


def _within(seq: int, spans: Sequence[Span]) -> Span | None:
    return next((span for span in spans if span[0] <= seq <= span[1]), None)
