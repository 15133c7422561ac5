"""What `assemble` costs: a memory as large as may be, told to a product for the first time, again, and after a change.

`python -m tests.bench.team_assembly [--json] [--entries N] [--scenes N] [--skills N] [--rounds N]`
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from governance.migrations import queue_steps
from governance.team.assembling import Assembling
from governance.team.contracts.base import Bound
from governance.team.files import MOST_ENTRIES
from governance.team.tree import read_tree
from governance.team.trees import Tree
from host.database import open_database
from host.maintained import RULES
from tests.bench.measure import Figure, of, run
from tests.support.assembling import Assembled
from tests.support.consolidating import FORMATS, a_scene, put_doctrine, put_scene
from tests.support.team_entries import an_entry, write_entry

BOUND = 200  # ms
WORDS = "The heron gateway retries a publish three times, and only from the release branch. "
STEPS = "".join(f"{number}. Look at it, then go on.\n" for number in range(1, 60))


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    figures: list[Figure] = []
    for entries in (100, options.entries):
        costs = asyncio.run(_costs(entries, options))
        figures += [of(f"{what}, {entries} entries", "ms", values) for what, values in costs.items()]
    return [replace(one, bound=f"p99 ≤ {BOUND}", holds=(one.p99 or 0) <= BOUND) for one in figures]


async def _costs(entries: int, options: argparse.Namespace) -> dict[str, list[float]]:
    costs: dict[str, list[float]] = {"first assembly": [], "nothing changed": [], "a scene changed": []}
    with tempfile.TemporaryDirectory() as folder:
        repository = Assembled(Path(folder) / "repository")
        _filled(repository, entries, options)
        async with open_database(Path(folder) / "governance.db", queue_steps()) as database:
            assembling = Assembling(database=database, formats=FORMATS, read=_read, rules=RULES)
            await database.write(lambda connection: repository.trust_in(connection))
            for number in range(options.rounds):
                for name in ("CLAUDE.md", ".claude"):
                    _gone(repository.root / name)
                costs["first assembly"].append(await _timed(lambda: assembling.assemble(repository.bound, "claude")))
                costs["nothing changed"].append(await _timed(lambda: assembling.assemble(repository.bound, "claude")))
                put_scene(repository.root, a_scene("scene-0", 1_000 + number))
                put_doctrine(repository.root, f"{WORDS * 8}{number}")
                costs["a scene changed"].append(await _timed(lambda: assembling.assemble(repository.bound, "claude")))
    return costs


def _read(bound: Bound) -> Tree:
    return read_tree(bound.root, bound.binding.memory_root, entries=False)


def _filled(repository: Assembled, entries: int, options: argparse.Namespace) -> None:
    for number in range(1, entries + 1):
        write_entry(repository.root, an_entry(f"Fact {number}. {WORDS * 8}", number))
    for number in range(options.scenes):
        put_scene(repository.root, a_scene(f"scene-{number}", number + 1, body=(WORDS * 17).strip()))
    for number in range(options.skills):
        repository.skill(f"skill-{number}", STEPS)
    put_doctrine(repository.root, (WORDS * 14).strip())


def _gone(path: Path) -> None:
    if path.is_dir():
        for one in path.iterdir():
            _gone(one)
        path.rmdir()
    elif path.exists():
        path.unlink()


async def _timed(act: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await act()
    return (time.perf_counter() - begun) * 1000


if __name__ == "__main__":
    run("team assembly", measure, entries=MOST_ENTRIES, scenes=14, skills=20, rounds=20)
