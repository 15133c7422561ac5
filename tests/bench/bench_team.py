"""What the team workflow costs, part by part: recall, comparison, promotion, assembly, reading a memory, and how soon a
promoted record is given.

Each part is a program of its own in this folder, and says there what it measures; here they run with the sizes that the
promises are about. `--parts recall,promote` runs those alone.
`python -m tests.bench.bench_team [--json] [--parts NAME,…]`
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tests.bench import team_assembly, team_comparing, team_files, team_injectable, team_promote, team_recall
from tests.bench.measure import Figure, run

Measure = Callable[[argparse.Namespace], Sequence[Figure]]
PARTS: Mapping[str, tuple[Measure, Mapping[str, int]]] = {
    "recall": (team_recall.measure, {"turns": 2_000, "commits": 300, "rounds": 8}),
    "comparison": (team_comparing.measure, {"entries": 4_096, "drafts": 8, "rounds": 10}),
    "promote": (team_promote.measure, {"files": 20, "rounds": 12}),
    "assembly": (team_assembly.measure, {"entries": 4_096, "scenes": 14, "skills": 20, "rounds": 20}),
    "files": (team_files.measure, {"rounds": 5}),
    "injectable": (team_injectable.measure, {"entries": 400, "rounds": 10}),
}


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    wanted = [name for name in options.parts.split(",") if name] or list(PARTS)
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise SystemExit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    figures: list[Figure] = []
    for name in wanted:
        part, sizes = PARTS[name]
        figures += [replace(one, name=f"{name}: {one.name}") for one in part(argparse.Namespace(**sizes))]
    return figures


if __name__ == "__main__":
    run("Team workflow", measure, parts="")
