"""Fit and judge the bar of the confidence gate on the labelled sessions.

    python -m tests.calibration.calibrate SETS FIXTURES [--rows] [--grid]

SETS: the folder of labelled sessions, which also holds `score.py`; FIXTURES: the folder of recorded transcripts.
Without options: the shipped policy, by session. --rows: every record handed over. --grid: the curve over theta, with
one session left out and with one repository left out. The background of a session never holds its own repository.
"""

import argparse
import importlib.util
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from msgspec import structs

from recall.confidence import ConfidencePolicy
from tests.calibration.background import by_project, without
from tests.calibration.corpus import Labelled, labelled
from tests.calibration.replay import Row, Setting, poison_left, replayed

THETAS = [half / 2 for half in range(20, 50)]
SMOOTH = 2  # neighbours on each side

Tallies = dict[float, dict[str, object]]


def scorer(folder: Path) -> ModuleType:
    """The set's own scoring program."""
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["score"] = module
    spec.loader.exec_module(module)
    return module


def figures(score: ModuleType, tallies: Sequence[object]) -> dict[str, object]:
    """The set's figures over some sessions."""
    total = score.Tally()
    for one in tallies:
        total.add(one)
    return dict(total.figures())


def smoothed(curve: Mapping[float, float]) -> dict[float, float]:
    """The mean of each point and its neighbours."""
    points = sorted(curve)
    found = {}
    for place, point in enumerate(points):
        near = points[max(0, place - SMOOTH) : place + SMOOTH + 1]
        found[point] = sum(curve[one] for one in near) / len(near)
    return found


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


def left_out(
    score: ModuleType,
    tallies: Tallies,
    sessions: Sequence[Labelled],
    same: Callable[[Labelled, Labelled], bool],
    criterion: Callable[[ModuleType, Sequence[object]], float],
) -> tuple[dict[str, object], list[float]]:
    """Figures with theta fitted on the sessions that are not `same` as the judged one, and the thetas used."""
    judged, used = [], []
    for session in sessions:
        others = [one.name for one in sessions if not same(session, one)]
        curve = {theta: criterion(score, [each[name] for name in others]) for theta, each in tallies.items()}
        smooth = smoothed(curve)
        theta = max(smooth, key=lambda one: (round(smooth[one], 4), -one))
        used.append(theta)
        judged.append(tallies[theta][session.name])
    return figures(score, judged), sorted(set(used))


def spread(score: ModuleType, tallies: Mapping[str, object], draws: int = 1000) -> dict[str, tuple[float, float]]:
    """10 % and 90 % of each figure when sessions are drawn with replacement."""
    chance, names = random.Random(1), sorted(tallies)
    drawn = [figures(score, [tallies[chance.choice(names)] for _ in names]) for _ in range(draws)]
    found = {}
    for name in ("f0.5", "precision", "recall"):
        values = sorted(float(str(one[name] or 0)) for one in drawn)
        found[name] = (values[draws // 10], values[draws * 9 // 10])
    return found


def line(found: Mapping[str, object]) -> str:
    names = ("f0.5", "precision", "recall", "hits", "false_per_100_steps", "never_violations", "quiet_violations")
    return (
        " ".join(f"{name} {found[name]}" for name in names)
        + f" lead {found['mean_lead_steps']} {found['recall_by_class']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Judge the confidence gate on labelled sessions.")
    parser.add_argument("sets", type=Path)
    parser.add_argument("fixtures", type=Path)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--later", action="store_true", help="handed over at the next tool result or prompt")
    parser.add_argument("--no-answers", action="store_true")
    parser.add_argument("--no-replies", action="store_true")
    options = parser.parse_args()
    score = scorer(options.sets)
    sessions, sets = labelled(options.sets), score.load_set(options.sets)
    counts = by_project(options.sets, options.fixtures)
    tables = {project: without(counts, project) for project in {session.project for session in sessions}}
    setting = Setting(answers=not options.no_answers, replies=not options.no_replies)

    def run(theta: float | None) -> tuple[dict[str, object], list[Row]]:
        policy = ConfidencePolicy() if theta is None else structs.replace(ConfidencePolicy(), theta=theta)
        one = Setting(policy, setting.answers, setting.replies)
        rows = {session.name: replayed(session, tables[session.project], one) for session in sessions}
        if options.later:
            rows = {session.name: [_later(session, row) for row in rows[session.name]] for session in sessions}
        judged = {
            name: score.score_session(sets[name], [row.prediction() for row in each]) for name, each in rows.items()
        }
        return judged, [row for each in rows.values() for row in each]

    judged, rows = run(None)
    print("shipped   ", line(figures(score, list(judged.values()))))
    print("80 % of resampled sessions", spread(score, judged))
    print("poison that the screen lets through:", sorted({text for one in sessions for text in poison_left(one)}))
    for name, tally in judged.items():
        print(f"  {name:28}", line(figures(score, [tally])))
    if options.rows:
        for row in rows:
            verdict = _verdict(score, sets, row)
            print(f"{row.session[:3]} {row.seq:4} {row.door:8} {row.score:5.1f} {verdict} {row.text[:100]}")
    if options.grid:
        tallies: Tallies = {theta: run(theta)[0] for theta in THETAS}
        for theta, each in tallies.items():
            print(f"theta {theta:5}", line(figures(score, list(each.values()))))
        for name, criterion in CRITERIA.items():
            for what, same in FOLDS.items():
                found, used = left_out(score, tallies, sessions, same, criterion)
                print(f"theta by {name}, one {what} left out: {used}", line(found))


def _later(session: Labelled, row: Row) -> Row:
    """The same record at the next boundary where a host takes text."""
    boundaries = ("tool/result", "user/message")
    found = [one.event_seq for one in session.envelopes[row.seq - 1 :] if one.event_type in boundaries]
    return replace(row, seq=found[0] if found else row.seq)


def _verdict(score: ModuleType, sets: Mapping[str, object], row: Row) -> str:
    one = score.score_session(sets[row.session], [row.prediction()])
    return "hit    " if one.hits else "neutral" if one.neutral else "FALSE  "


if __name__ == "__main__":
    main()
