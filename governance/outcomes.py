"""What handing memories over changes: packets that were given beside packets that were kept back. Pure.

Both arms are counted from the moment of the decision. A given packet counts whether or not it was delivered in the end,
as nobody knows which of those that were kept back would have been: leaving out the undelivered of one arm alone would
compare two kinds of moments.
"""

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from governance.contracts import AuditEntry, AuditKind
from recall.contracts import Frozen, Millis

HOLDOUT = "holdout"  # the key of a drawn pass's `versions`
GIVEN, HELD_OUT = "packet", "held-out"  # outcomes of a drawn pass
FAILED = ":failed"  # how the trigger of a failing result ends
Z = 1.959964  # of a two-sided 95 % interval
FEWEST = 20  # packets that each arm needs before a difference is called one


class Outcome(StrEnum):
    """What may happen within the steps after a packet. The first two are signs of use; the others of trouble."""

    FILE_OPENED = "file-opened"
    COMMAND_USED = "command-used"
    FAILURE_REPEATED = "failure-repeated"
    CORRECTED = "corrected"


class Verdict(StrEnum):
    """What an interval allows to say of given compared with held out."""

    TOO_FEW = "too-few"  # an arm has fewer than FEWEST
    NO_DIFFERENCE = "no-difference"  # the interval holds zero
    MORE = "more"
    LESS = "less"


class LeftOut(StrEnum):
    """Why a drawn packet is not compared."""

    NO_STEP = "no-step"  # its session has gone no step further, as far as its host tells of steps
    ERASED = "erased"  # a memory of it was forgotten, and with it the text that says what to look for
    NO_EVENTS = "no-events"  # the log does not hold the events around it any more


class Trial(Frozen, frozen=True, kw_only=True):
    """A packet that was drawn. `event_seq`, `step`: where its session stood; `failed`: by a failing result."""

    packet_id: str
    session_ref: str
    held_out: bool
    event_seq: int
    step: int
    failed: bool
    delivered: bool = False


class Share(Frozen, frozen=True, kw_only=True):
    """In how many of how many cases something happened."""

    happened: int = 0
    of: int = 0

    @property
    def value(self) -> float | None:
        return self.happened / self.of if self.of else None


class Difference(Frozen, frozen=True, kw_only=True):
    """One outcome in both arms. `difference`: given minus held out, −1 … 1, within `low` … `high` at 95 %; None when an
    arm is empty."""

    outcome: Outcome
    given: Share
    held_out: Share
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: Verdict = Verdict.TOO_FEW


class Measured(Frozen, frozen=True, kw_only=True):
    """Packets given beside packets kept back. `given` and `held_out`: how many were drawn and had a step after them;
    `delivered`: how many of the given reached the agent. `share`: what is kept back now. `left_out`: drawn packets that
    are not compared, by the reason."""

    share: float
    steps: int
    fewest: int
    given: int
    delivered: int
    held_out: int
    outcomes: tuple[Difference, ...]
    left_out: dict[LeftOut, int] = {}


class Stats(Frozen, frozen=True, kw_only=True):
    """The audit in numbers. `since`: epoch ms, None: all that is retained."""

    since: Millis | None
    entries: int
    sessions: int
    passes: dict[str, int]  # by outcome
    silences: dict[str, int]  # by reason
    packets: dict[str, int]  # built, held-out, claimed, delivered
    drops: dict[str, int]  # by reason
    bytes: int
    measured: Measured


def trials(entries: Iterable[AuditEntry]) -> tuple[Trial, ...]:
    """The drawn packets among `entries`, which are in their order. A need counts once a session: the first time."""
    drawn: dict[tuple[str, str], Trial] = {}
    delivered: set[tuple[str, str]] = set()
    for entry in entries:
        if entry.packet is None or not entry.packet.items or entry.cursor is None:
            continue
        if entry.kind is AuditKind.DELIVERY:
            delivered.update((entry.session_ref, memory_id) for memory_id in entry.packet.items)
        elif entry.kind is AuditKind.PASS and HOLDOUT in entry.versions and entry.outcome in (GIVEN, HELD_OUT):
            trial = Trial(
                packet_id=entry.packet.packet_id,
                session_ref=entry.session_ref,
                held_out=entry.outcome == HELD_OUT,
                event_seq=entry.cursor.event_seq,
                step=entry.step or 0,
                failed=entry.trigger.endswith(FAILED),
            )
            drawn.setdefault((entry.session_ref, entry.packet.items[0]), trial)
    return tuple(
        msgspec.structs.replace(trial, delivered=need in delivered and not trial.held_out)
        for need, trial in drawn.items()
    )


def compare(observed: Iterable[tuple[bool, Mapping[Outcome, bool]]]) -> tuple[Difference, ...]:
    """Each outcome in both arms. `observed`: whether a packet was held out, and what happened; an outcome that could
    not happen (no command named, no failure before) is absent and not counted."""
    counts: dict[tuple[Outcome, bool], Share] = {}
    for held_out, happened in observed:
        for outcome, did in happened.items():
            share = counts.get((outcome, held_out), Share())
            counts[outcome, held_out] = Share(happened=share.happened + did, of=share.of + 1)
    return tuple(
        _difference(outcome, counts.get((outcome, False), Share()), counts.get((outcome, True), Share()))
        for outcome in Outcome
    )


def wilson(share: Share) -> tuple[float, float]:
    """The 95 % interval of a proportion (Wilson's score); 0 … 1 when nothing was counted."""
    if not share.of:
        return 0.0, 1.0
    rate, square = share.happened / share.of, Z * Z
    scale = 1 + square / share.of
    middle = (rate + square / (2 * share.of)) / scale
    half = Z * math.sqrt(rate * (1 - rate) / share.of + square / (4 * share.of * share.of)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def newcombe(one: Share, other: Share) -> tuple[float, float]:
    """The 95 % interval of the difference of two independent proportions, `one` minus `other` (Newcombe's hybrid score
    interval: right also for few cases and for shares near 0 and 1)."""
    rate, rate_other = one.value or 0.0, other.value or 0.0
    (low, high), (low_other, high_other) = wilson(one), wilson(other)
    down = math.hypot(rate - low, high_other - rate_other)
    up = math.hypot(high - rate, rate_other - low_other)
    return max(-1.0, rate - rate_other - down), min(1.0, rate - rate_other + up)


def _difference(outcome: Outcome, given: Share, held_out: Share) -> Difference:
    both = Difference(outcome=outcome, given=given, held_out=held_out)
    if given.value is None or held_out.value is None:
        return both
    low, high = newcombe(given, held_out)
    difference, verdict = given.value - held_out.value, _verdict(given, held_out, low, high)
    return msgspec.structs.replace(both, difference=difference, low=low, high=high, verdict=verdict)


def _verdict(given: Share, held_out: Share, low: float, high: float) -> Verdict:
    if min(given.of, held_out.of) < FEWEST:
        return Verdict.TOO_FEW
    if low > 0:
        return Verdict.MORE
    return Verdict.LESS if high < 0 else Verdict.NO_DIFFERENCE
