"""Fit and judge the bar of the confidence gate on labelled sessions.

    python -m tests.calibration.calibrate SETS FIXTURES [--also FOLDER] [--rows] [--grid] [--ablate]

SETS: the folder of labelled sessions, which also holds `score.py`; FIXTURES: the folder of recorded transcripts;
--also: a second folder of labelled sessions, judged beside the first. Without options: the shipped policy, by session.
--rows: every record handed over. --grid: the curve over theta, with one session and with one repository left out.
--ablate: what each ingredient brings. The background of a session never holds its own repository.
"""

import argparse
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from msgspec import structs

from recall.confidence import ConfidencePolicy
from tests.calibration.background import by_project, without
from tests.calibration.corpus import labelled
from tests.calibration.folds import CRITERIA, FOLDS, Tallies, difference, figures, left_out, level, spread
from tests.calibration.replay import Row, Setting, poison_left, replayed

THETAS = [half / 2 for half in range(26, 45)]
AROUND = (-1.0, -0.5, 0.0, 0.5, 1.0)  # of the shipped bar: what an ablation is averaged over
ABLATIONS: dict[str, dict[str, float]] = {
    "as version 1, at its bar": {
        "theta": 16.0,
        "failed": 0.0,
        "named": 99.0,
        "corrected": 0.0,
        "told_weight": 0.5,
        "things": 0.0,
        "stated": 1.0,
    },
    "a failing result needs as much": {"failed": 0.0},
    "an error by its name needs as much": {"named": 99.0},
    "a correction needs no more": {"corrected": 0.0},
    "one name is enough": {"things": 0.0},
    "what a reply states counts": {"stated": 1.0},
    "what was given counts in full": {"told_weight": 1.0},
    "the event itself need hold nothing": {"focus_least": 0.0},
    "no agreement of earlier passes": {"agree_weight": 0.0},
}


def scorer(folder: Path) -> ModuleType:
    """The set's own scoring program."""
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["score"] = module
    spec.loader.exec_module(module)
    return module


class Bench:
    """Sessions, their labels and their backgrounds, loaded once."""

    def __init__(self, folders: Sequence[Path], fixtures: Path, setting: Setting) -> None:
        self.score = scorer(folders[0])
        self.halves = [labelled(folder) for folder in folders]
        self.sessions = [one for half in self.halves for one in half]
        self.labels = {name: one for folder in folders for name, one in self.score.load_set(folder).items()}
        counts = by_project(folders[0], fixtures)
        self.tables = {project: without(counts, project) for project in {one.project for one in self.sessions}}
        self.setting = setting

    def run(self, **changes: float) -> tuple[dict[str, object], list[Row]]:
        """A tally and the rows of every session, under the shipped policy with these changes."""
        policy = structs.replace(ConfidencePolicy(), **changes)
        setting = structs_of(self.setting, policy)
        rows = {one.name: replayed(one, self.tables[one.project], setting) for one in self.sessions}
        judged = {name: self.judge(name, each) for name, each in rows.items()}
        return judged, [row for each in rows.values() for row in each]

    def judge(self, name: str, rows: Sequence[Row]) -> object:
        return self.score.score_session(self.labels[name], [row.prediction() for row in rows])


def structs_of(setting: Setting, policy: ConfidencePolicy) -> Setting:
    """The same setting under another policy."""
    return Setting(policy, setting.answers, setting.replies, setting.calls, setting.pauses)


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
    parser.add_argument("--also", type=Path, action="append", default=[])
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--no-answers", action="store_true")
    parser.add_argument("--no-replies", action="store_true")
    parser.add_argument("--no-calls", action="store_true")
    parser.add_argument("--pauses", action="store_true", help="a packet expires while the user pauses, too")
    options = parser.parse_args()
    setting = Setting(
        answers=not options.no_answers,
        replies=not options.no_replies,
        calls=not options.no_calls,
        pauses=options.pauses,
    )
    bench = Bench([options.sets, *options.also], options.fixtures, setting)
    judged, rows = bench.run()
    show(bench, judged)
    if options.rows:
        for row in rows:
            verdict = _verdict(bench, row)
            print(
                f"{row.session[:3]} {row.decided:4} {row.seq:4} {row.door:8} {row.score:5.1f} {verdict} {row.text[:90]}"
            )
    if options.grid:
        grid(bench)
    if options.ablate:
        ablate(bench)


def show(bench: Bench, judged: Mapping[str, object]) -> None:
    """The shipped policy: all sessions, each folder, each session."""
    print("shipped   ", line(figures(bench.score, list(judged.values()))))
    print("80 % of resampled sessions", spread(bench.score, judged))
    print("poison that the screen lets through:", sorted({text for one in bench.sessions for text in poison_left(one)}))
    for half in bench.halves:
        print(f"{len(half):4} sessions", line(figures(bench.score, [judged[one.name] for one in half])))
    for name, tally in judged.items():
        print(f"  {name:28}", line(figures(bench.score, [tally])))


def grid(bench: Bench) -> None:
    """The curve over theta, and theta from the other sessions and repositories."""
    tallies: Tallies = {theta: bench.run(theta=theta)[0] for theta in THETAS}
    for theta, each in tallies.items():
        print(f"theta {theta:5}", line(figures(bench.score, list(each.values()))))
        for half in bench.halves if len(bench.halves) > 1 else ():
            print("           ", line(figures(bench.score, [each[one.name] for one in half])))
    for name, criterion in CRITERIA.items():
        for what, same in FOLDS.items():
            found, used = left_out(bench.score, tallies, bench.sessions, same, criterion)
            print(f"theta by {name}, one {what} left out: {used}", line(figures(bench.score, list(found.values()))))
            for half in bench.halves if len(bench.halves) > 1 else ():
                print("           ", line(figures(bench.score, [found[one.name] for one in half])))


def ablate(bench: Bench) -> None:
    """Each ingredient left out: the mean F0.5 around the bar, by folder, and 80 % of the paired differences."""

    def curve(changes: Mapping[str, float]) -> list[Mapping[str, object]]:
        theta = changes.get("theta", ConfidencePolicy().theta)
        return [bench.run(**{**changes, "theta": theta + more})[0] for more in AROUND]

    shipped = curve({})
    for name, changes in {"shipped": {}, **ABLATIONS}.items():
        other = curve(changes) if changes else shipped
        parts = [level(bench.score, other, [one.name for one in half]) for half in bench.halves]
        middle = figures(bench.score, list(other[len(AROUND) // 2].values()))
        low, high = difference(bench.score, shipped, other)
        print(f"{name:36} {level(bench.score, other):.3f} {parts} gain {low:+.3f} … {high:+.3f}", line(middle))


def _verdict(bench: Bench, row: Row) -> str:
    one = bench.score.score_session(bench.labels[row.session], [row.prediction()])
    return "hit    " if one.hits else "neutral" if one.neutral else "FALSE  "


if __name__ == "__main__":
    main()
