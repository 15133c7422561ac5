"""What comparison costs: drafts against a memory as large as may be, whose entries share many words.

Told apart are the comparison itself, as it is made within a transaction, a whole `stage` of drafts and of decisions
(which read the files again), and the first sync of such a memory. One draft in two is long.
`python -m tests.bench.team_comparing [--json] [--entries N] [--drafts N] [--rounds N]`
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from governance.migrations import queue_steps
from governance.team.comparing import Asked, compare
from governance.team.contracts.ports import Private
from governance.team.contracts.staging import AdjudicationTask
from governance.team.files import MOST_ENTRIES
from host.database import open_database
from tests.bench.measure import Figure, of, run
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_recall import a_turn
from tests.support.team_stage import FakePrivates, Stage

BOUND = 300  # ms
NOUNS = ("gateway", "heron", "release", "branch", "ledger", "harbour", "queue", "importer", "scheduler", "token")
VERBS = ("publish", "retry", "restart", "compact", "rotate", "archive", "verify", "deploy", "migrate")


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    costs = asyncio.run(_costs(options))
    what = f"{options.drafts} drafts, {options.entries} entries"
    figures = []
    for name, values in costs.items():
        bounded = {"bound": f"p99 ≤ {BOUND}", "holds": max(values) <= BOUND} if name == "comparison" else {}
        figures.append(of(f"{name}, {what}", "ms", values, **bounded))
    return figures


def sentence(number: int) -> str:
    """One of many that are alike: of few words, with numbers of its own."""
    noun, other = NOUNS[number % len(NOUNS)], NOUNS[number * 7 % len(NOUNS)]
    verb = VERBS[number * 3 % len(VERBS)]
    return (
        f"Before we {verb} the {noun} of zone {number % 97}, the {other} {number} has to be idle for {number % 13} s."
    )


async def _costs(options: argparse.Namespace) -> dict[str, list[float]]:
    costs: dict[str, list[float]] = {"comparison": [], "stage drafts": [], "stage decisions": [], "first sync": []}
    with tempfile.TemporaryDirectory(prefix="b") as folder:
        root = (Path(folder) / "repository").resolve()
        root.mkdir()
        for number in range(1, options.entries + 1):
            text = " ".join(sentence(number * 5 + place) for place in range(1 + number % 6))
            write_entry(root, an_entry(text, number))
        turns = [a_turn(place, session=f"session-{n:03}") for n in range(options.rounds) for place in range(3)]
        near = [Private(memory_id=f"mem_p{n}", text=sentence(n), revision="r") for n in range(200)]
        async with open_database(Path(folder) / "governance.db", queue_steps()) as database:
            stage = Stage(database, root, *turns, privates=FakePrivates(*near))
            costs["first sync"].append(await _timed(lambda: stage.syncing.synced(stage.bound, stage.now)))
            await stage.tasks()
            for number in range(options.rounds):
                await _round(stage, number, options.drafts, costs)
    return costs


async def _round(stage: Stage, number: int, drafts: int, costs: dict[str, list[float]]) -> None:
    said = [" ".join(sentence(number * 31 + n + place) for place in range(1 + 11 * (n % 2))) for n in range(drafts)]
    asked = [
        Asked(draft_ref=f"d{n}", content=text, near=tuple(await stage.privates.near(stage.bound, text, 15)))
        for n, text in enumerate(said)
    ]
    costs["comparison"].append(
        await _timed(lambda: stage.database.write(lambda c: compare(c, stage.bound.owner, asked)))
    )
    task = await stage.task()
    batch = stage.batch(task, *said)
    answers: list[Any] = []

    async def draft() -> None:
        answers.append(await stage.staging.draft(stage.bound, stage.call(), batch))

    costs["stage drafts"].append(await _timed(draft))
    (answer,) = answers
    assert isinstance(answer, AdjudicationTask)
    assert all(len(one.ordered) == 5 for one in answer.recall_sets)
    costs["stage decisions"].append(await _timed(lambda: stage.adjudicate(answer)))


async def _timed(act: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await act()
    return (time.perf_counter() - begun) * 1000


if __name__ == "__main__":
    run("Comparison", measure, entries=MOST_ENTRIES, drafts=8, rounds=10)
