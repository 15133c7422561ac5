"""What each signal of the need gate is worth: the labelled sessions without it, through the real host.

    python -m tests.calibration.signals SETS FIXTURES

SETS: the folder of labelled sessions; FIXTURES: the folder of recorded transcripts. For each signal that is taken out,
and for each one that was tried and not kept, a row: the packets handed over, the figures, and of those packets how many
came at another moment, with another explanation, at another level; then passes that looked, and those that only
prefetched. The background of a session never holds its own repository. Some ten minutes on one core.
"""

import argparse
import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from host import gate as gate_module
from host.contracts import Window
from host.evaluation.decisions import Options, Played, decisions
from host.evaluation.scoring import Figures, Judge, of_set
from host.evaluation.sessions import Recording, folders, load
from host.gate import GatePolicy
from host.gate_signals import SIGNALS, TRIGGER, Signal
from host.policy import Policy
from recall.background import Background
from recall.contracts import Segment, SegmentKind
from tests.calibration.background import by_project, without

SHORTEST_PHASE = 4  # calls
PHASES = {"read": 0, "search": 0, "web": 0, "edit": 1, "write": 1, "shell": 2, "agent": 3, "todo": 3}


def novelty(segment: Segment, window: Window) -> float:
    """The share of what the segment names that nothing in the window has named."""
    named = set(segment.entities)
    return len(named.difference(*(one.entities for one in window.recent))) / len(named) if named else 0.0


def phase_shift(segment: Segment, window: Window) -> float:
    """1: the latest call does another kind of work than most calls before it."""
    phases = [PHASES.get(one.tool or "", 9) for one in window.recent if one.kind is SegmentKind.CALL]
    if len(phases) < SHORTEST_PHASE:
        return 0.0
    *before, last = phases
    return float(before.count(last) * 2 < len(before))


TRIED: dict[str, tuple[Signal, float]] = {"novelty": (novelty, 0.15), "phase-shift": (phase_shift, 0.08)}


@dataclass(frozen=True)
class Run:
    """What a gate makes of all sessions."""

    played: tuple[Played, ...]
    figures: Figures

    def handed(self) -> dict[tuple[str, int, str], tuple[str, str]]:
        """(session, event, memory) -> (explanation, level)."""
        return {
            (one.session, each.row.seq, memory): (each.trigger, level)
            for one in self.played
            for each in one.handed
            for memory, level in zip(each.row.memories, each.levels, strict=True)
        }

    def silent(self, *reasons: str) -> int:
        return sum(one.silences.get(reason, 0) for one in self.played for reason in reasons)


def run(recordings: Mapping[Path, Recording], tables: Mapping[str, Background], policy: GatePolicy) -> Run:
    """All sessions under one gate."""
    played = []
    for recording in recordings.values():
        background = tables[recording.labels.workspace]
        options = Options(policy=Policy(gate=policy), background=background)
        played.append(asyncio.run(decisions(recording, options)))
    judged = [Judge(recording).judge(one.rows) for recording, one in zip(recordings.values(), played, strict=True)]
    return Run(tuple(played), of_set(judged))


@contextmanager
def changed(name: str, signal: Signal | None, weight: float = 0.0) -> Iterator[GatePolicy]:
    """The gate's policy with another signal under this name; None: without it, wherever the gate asks for it."""
    before, policy = dict(SIGNALS), GatePolicy()
    others = tuple(pair for pair in policy.weights if pair[0] != name)
    try:
        SIGNALS[name] = signal or (lambda segment, window: 0.0)
        yield structs.replace(policy, weights=(*others, (name, weight)))
    finally:
        SIGNALS.clear()
        SIGNALS.update(before)


# Silences of passes that asked recall nothing.
UNSEEN = ("unsupported-trigger", "empty-signal", "no-segment", "below-threshold", "duplicate-context", "cooldown")
NO_PREFETCH = GatePolicy(prefetch=1.0, off=1.0, on=1.0)


@contextmanager
def without_repeats() -> Iterator[GatePolicy]:
    """The gate that looks at no call but those which are hard to take back."""
    before = gate_module.ACTS
    try:
        gate_module.ACTS = ("intention",)
        yield GatePolicy()
    finally:
        gate_module.ACTS = before


def row(name: str, one: Run, shipped: Run) -> str:
    """A line of the table."""
    ours, theirs, of = one.handed(), shipped.handed(), one.figures
    common = ours.keys() & theirs.keys()
    explained = sum(ours[key][0] != theirs[key][0] for key in common)
    levelled = sum(ours[key][1] != theirs[key][1] for key in common)
    looked = sum(each.passes for each in one.played) - one.silent(*UNSEEN)
    cells = (
        *(name, len(ours), f"{of.f_half:.3f}", f"{of.precision or 0:.3f}", f"{of.recall:.3f}"),
        *(len(ours.keys() ^ theirs.keys()), explained, levelled, looked, one.silent("prefetched")),
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description="What each signal of the need gate is worth.")
    parser.add_argument("sets", type=Path)
    parser.add_argument("fixtures", type=Path)
    options = parser.parse_args()
    recordings = {folder: load(folder) for folder in folders(options.sets)}
    counts = by_project(options.sets, options.fixtures)
    tables = {project: without(counts, project) for project in {one.labels.workspace for one in recordings.values()}}
    every: Callable[[GatePolicy], Run] = lambda policy: run(recordings, tables, policy)  # noqa: E731
    shipped = every(GatePolicy())
    print("| gate | handed over | F0.5 | precision | recall | others | explained | level | looked | prefetched |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print(row("as it ships", shipped, shipped), flush=True)
    for name in SIGNALS:
        if name != TRIGGER:
            with changed(name, None) as policy:
                print(row(f"without {name}", every(policy), shipped), flush=True)
    print(row("without prefetch", every(NO_PREFETCH), shipped), flush=True)
    with without_repeats() as policy:
        print(row("without calls that failed before", every(policy), shipped), flush=True)
    for name, (signal, weight) in TRIED.items():
        with changed(name, signal, weight) as policy:
            print(row(f"with {name}", every(policy), shipped), flush=True)


if __name__ == "__main__":
    main()
