"""Measure the three points of attention on the labelled sessions, through the whole host.

    python -m tests.calibration.points FIXTURES SETS [SETS …] [--json]

FIXTURES: the folder of recorded transcripts; SETS: folders of labelled sessions. The background is made of the
transcripts and the first set, for each session without its own repository. Each is replayed as `eval decisions` does
it, at each point, by words alone. Prints what `recall/attention.py` tells people, and more.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec

from host.evaluation.decisions import Options, Played, played_in
from host.evaluation.scoring import Figures, Judge, of_set
from host.evaluation.sessions import folders, load
from recall.contracts import Attention
from tests.calibration.background import by_project, without
from tests.calibration.corpus import labelled

JOBS = 2


def measured(fixtures: Path, sets: Sequence[Path]) -> dict[Attention, Figures]:
    """The figures of each point."""
    counts = by_project(sets[0], fixtures)
    projects = {session.name: session.project for each in sets for session in labelled(each)}
    tables = {project: without(counts, project) for project in set(projects.values())}
    places = [place for each in sets for place in folders(each)]
    judges = {place: Judge(load(place)) for place in places}
    found: dict[Attention, Figures] = {}
    with ProcessPoolExecutor(JOBS, mp_context=get_context("spawn")) as pool:
        for attention in Attention:
            options = [
                Options(engine=False, attention=attention, background=tables[projects[place.name]]) for place in places
            ]
            played: list[Played] = list(pool.map(played_in, places, options))
            found[attention] = of_set(
                [judges[place].judge(one.rows) for place, one in zip(places, played, strict=True)]
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure quiet, normal and eager on labelled sessions.")
    parser.add_argument("fixtures", type=Path)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    found = measured(options.fixtures, options.sets)
    if options.as_json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return
    for attention, one in found.items():
        share = "-" if one.precision is None else f"{one.precision:.3f}"
        lead = "-" if one.mean_lead_steps is None else f"{one.mean_lead_steps:.1f}"
        print(
            f"{attention:7} F0.5 {one.f_half:.3f} precision {share} recall {one.recall:.3f} hits {one.hits} of"
            f" {one.injections} false/100 {one.false_per_100_steps:.2f} lead {lead} quiet {one.quiet_violations}"
            f" never {one.never_violations} bytes {one.bytes_per_session}"
        )


if __name__ == "__main__":
    main()
