"""Reading a repository's memory: one as large as may be, and ones that were made to keep us busy.

`python -m tests.bench.team_files [--json] [--rounds N]`
"""

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from governance.team.files import MOST_ENTRIES
from governance.team.formats import Formats
from governance.team.linting import lint
from governance.team.tree import read_tree
from host.namespace import MARK, REPOSITORY_FOLDER, name
from tests.bench.measure import Figure, of, run, timed
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_hostile import HOSTILE

FORMATS = Formats(prefix=name(), mark=MARK, folder=REPOSITORY_FOLDER)
HOSTILE_MS = 2_000
WORDS = "The heron gateway retries a publish three times, and only from the release branch. "


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    return [*_hostile(options.rounds), *_largest(options.rounds)]


def _hostile(rounds: int) -> list[Figure]:
    figures: list[Figure] = []
    for how in HOSTILE:
        with tempfile.TemporaryDirectory() as folder:
            top, outside = Path(folder, "repository"), Path(folder, "outside")
            write_entry(top, an_entry())
            write_entry(outside, an_entry("A canary.", 9), path="canary.md")
            how(top, outside)
            took = [timed(partial(_linted, str(top))) for _ in range(rounds)]
        figures.append(
            of(
                f"hostile repository ({how.__name__}): read and linted",
                "ms",
                took,
                bound=f"≤ {HOSTILE_MS}",
                holds=max(took) <= HOSTILE_MS,
            )
        )
    return figures


def _linted(top: str) -> None:
    lint(read_tree(top, FORMATS.memory_root), FORMATS)


def _largest(rounds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, MOST_ENTRIES + 1):
            write_entry(Path(folder), an_entry(f"Fact {number}. {WORDS * 8}", number))
        first = timed(lambda: read_tree(folder, FORMATS.memory_root))
        again = [timed(lambda: read_tree(folder, FORMATS.memory_root)) for _ in range(rounds)]
        tree = read_tree(folder, FORMATS.memory_root)
        words = timed(lambda: lint(tree, FORMATS))
    return [
        of(f"{MOST_ENTRIES} entries: read for the first time", "ms", [first]),
        of(f"{MOST_ENTRIES} entries: read again", "ms", again),
        of(f"{MOST_ENTRIES} entries: linted", "ms", [words]),
    ]


if __name__ == "__main__":
    run("team files", measure, rounds=5)
