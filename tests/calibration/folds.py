"""Figures of tallies, folds and noise: what a calibration is judged by. `score` is the scoring program of a set."""

import random
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

from tests.calibration.corpus import Labelled

SMOOTH = 2  # neighbours on each side
DRAWS = 1000

Tallies = dict[float, dict[str, object]]


def figures(score: ModuleType, tallies: Sequence[object]) -> dict[str, object]:
    """The set's figures over some sessions."""
    total = score.Tally()
    for one in tallies:
        total.add(one)
    return dict(total.figures())


def pooled(score: ModuleType, tallies: Sequence[object]) -> float:
    """F0.5 over all sessions together."""
    return float(str(figures(score, tallies)["f0.5"]))


def by_session(score: ModuleType, tallies: Sequence[object]) -> float:
    """The mean of the sessions' F0.5: being silent in a session costs as much as being wrong in one."""
    return sum(pooled(score, [one]) for one in tallies) / len(tallies)


FOLDS: dict[str, Callable[[Labelled, Labelled], bool]] = {
    "session": lambda one, other: one.name == other.name,
    "repository": lambda one, other: one.project == other.project,
}
CRITERIA = {"mean of sessions": by_session, "pooled": pooled}


def smoothed(curve: Mapping[float, float]) -> dict[float, float]:
    """The mean of each point and its neighbours."""
    points = sorted(curve)
    found = {}
    for place, point in enumerate(points):
        near = points[max(0, place - SMOOTH) : place + SMOOTH + 1]
        found[point] = sum(curve[one] for one in near) / len(near)
    return found


def left_out(
    score: ModuleType,
    tallies: Tallies,
    sessions: Sequence[Labelled],
    same: Callable[[Labelled, Labelled], bool],
    criterion: Callable[[ModuleType, Sequence[object]], float],
) -> tuple[dict[str, object], list[float]]:
    """Tallies with theta fitted on the sessions that are not `same` as the judged one, and the thetas used."""
    judged: dict[str, object] = {}
    used: dict[tuple[str, ...], float] = {}
    for session in sessions:
        others = tuple(one.name for one in sessions if not same(session, one))
        if others not in used:
            curve = {theta: criterion(score, [each[name] for name in others]) for theta, each in tallies.items()}
            smooth = smoothed(curve)
            used[others] = max(smooth, key=lambda one: (round(smooth[one], 4), -one))
        judged[session.name] = tallies[used[others]][session.name]
    return judged, sorted(set(used.values()))


def spread(score: ModuleType, tallies: Mapping[str, object], draws: int = DRAWS) -> dict[str, tuple[float, float]]:
    """10 % and 90 % of each figure when sessions are drawn with replacement."""
    chance, names = random.Random(1), sorted(tallies)
    drawn = [figures(score, [tallies[chance.choice(names)] for _ in names]) for _ in range(draws)]
    found = {}
    for name in ("f0.5", "precision", "recall"):
        values = sorted(float(str(one[name] or 0)) for one in drawn)
        found[name] = (values[draws // 10], values[draws * 9 // 10])
    return found


def level(score: ModuleType, curve: Sequence[Mapping[str, object]], names: Sequence[str] | None = None) -> float:
    """The mean F0.5 over the points of a curve: less a matter of chance than one of them."""
    kept = [[each[name] for name in names or sorted(each)] for each in curve]
    return round(sum(pooled(score, one) for one in kept) / len(kept), 3)


def difference(
    score: ModuleType, one: Sequence[Mapping[str, object]], other: Sequence[Mapping[str, object]], draws: int = 300
) -> tuple[float, float]:
    """10 % and 90 % of how much the first curve lies above the other, when sessions are drawn with replacement."""
    chance, names = random.Random(1), sorted(one[0])
    found = []
    for _ in range(draws):
        drawn = [chance.choice(names) for _ in names]
        found.append(level(score, one, drawn) - level(score, other, drawn))
    found.sort()
    return round(found[draws // 10], 3), round(found[draws * 9 // 10], 3)
