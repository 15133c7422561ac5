"""Build the background table: how often terms turn up in coding sessions.

    python -m tests.calibration.background SETS FIXTURES --leave-out PROJECT [--write FILE] [--least N]

SETS: folder of labelled sessions; FIXTURES: folder of recorded transcripts. The texts of PROJECT are left out.
"""

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from recall.background import Background, packed
from tests.calibration.corpus import counted, labelled, transcripts

SHARED = 2  # projects that a term of the table stands in
LARGE = 3000  # terms counted; of a smaller project, a share is chance


def by_project(sets: Path, fixtures: Path) -> dict[str, Counter[str]]:
    """Term counts of every project. The labelled sessions and transcripts of one project are counted together."""
    counts: dict[str, Counter[str]] = {}
    for session in labelled(sets):
        counts.setdefault(session.project, Counter()).update(counted(session.envelopes))
    known = set(counts)
    for project, envelopes in transcripts(fixtures):
        if project not in known:  # the labelled sessions hold the same texts
            counts.setdefault(project, Counter()).update(counted(envelopes))
    return counts


def without(counts: Mapping[str, Counter[str]], project: str) -> Background:
    """The background of all projects but one. A term of a single project is its name for something, not how people
    talk: it is left out, or a session of that project would take its own words for common ones."""
    others = [one for name, one in counts.items() if name != project]
    total, holders = Counter[str](), Counter[str]()
    for one in others:
        total.update(one)
        holders.update(one.keys())
    shared = {term: count for term, count in total.items() if holders[term] >= SHARED}
    return Background(shared, max(1, total.total()))


def general(counts: Mapping[str, Counter[str]]) -> Background:
    """The background for a session of whatever project, one of these or another: of each term, the counts of all
    projects but the one that uses it most, as a share of what those projects count."""
    total = sum(one.total() for one in counts.values())
    large = [one for one in counts.values() if one.total() >= LARGE]
    kept: dict[str, int] = {}
    for term in sorted(set().union(*counts.values())):
        most = max(large, key=lambda one: one[term] / one.total())
        rest = sum(one[term] for one in counts.values()) - most[term]
        count = round(rest * total / (total - most.total()))
        if count:
            kept[term] = count
    return Background(kept, total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", type=Path)
    parser.add_argument("fixtures", type=Path)
    parser.add_argument("--leave-out", required=True)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--least", type=int, default=1)
    options = parser.parse_args()
    counts = by_project(options.sets, options.fixtures)
    table = general({name: one for name, one in counts.items() if name != options.leave_out})
    data = packed(table.counts, table.total, options.least)
    kept = sum(1 for count in table.counts.values() if count >= options.least)
    print(f"{len(table.counts)} terms, {kept} kept, total {table.total}, {len(data)} bytes")
    for name, one in counts.items():
        print(f"  {name:45} {one.total():8} {'left out' if name == options.leave_out else ''}")
    if options.write:
        options.write.write_bytes(data)


if __name__ == "__main__":
    main()
