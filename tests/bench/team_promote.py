"""What a promotion costs: 20 new entries with one yes, every step of them on the disk; and beside it what the disk
alone takes for as many files that are written and made durable one by one.

`python -m tests.bench.team_promote [--json] [--files N] [--rounds N]`
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.bench.measure import Figure, of, run
from tests.support.team_promoting import Promotions, promotions

BOUND = 500  # ms


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    promoted, again, alone = asyncio.run(_costs(options.files, options.rounds))
    bounded = of(f"promote of {options.files} files", "ms", promoted)
    return [
        replace(bounded, bound=f"p99 ≤ {BOUND}", holds=(bounded.p99 or 0) <= BOUND),
        of("the same plan again, which only syncs", "ms", again),
        of(f"{options.files} files written and made durable, nothing else", "ms", alone),
    ]


async def _costs(files: int, rounds: int) -> tuple[list[float], list[float], list[float]]:
    promoted: list[float] = []
    again: list[float] = []
    alone: list[float] = []
    with tempfile.TemporaryDirectory(prefix="b") as folder:
        async with promotions(Path(folder) / "work") as shop:
            for number in range(rounds):
                await _round(shop, number, files, promoted, again)
                alone.append(_durable(Path(folder) / f"alone{number}", files))
    return promoted, again, alone


async def _round(shop: Promotions, number: int, files: int, promoted: list[float], again: list[float]) -> None:
    made = [
        await shop.desk.entry(f"Rule {number} number {place}: the {place * 7} reeds of the harbour are cut by hand.")
        for place in range(files)
    ]
    plan = await shop.planned(*made)
    for costs in (promoted, again):
        begun = time.perf_counter()
        result = await shop.promote(plan)
        costs.append((time.perf_counter() - begun) * 1000)
        assert len(result.files) == files and result.problem is None


def _durable(folder: Path, files: int) -> float:
    folder.mkdir()
    begun = time.perf_counter()
    for place in range(files):
        with (folder / f"{place}.md").open("wb") as file:
            file.write(b"x" * 800)
            file.flush()
            os.fsync(file.fileno())
    return (time.perf_counter() - begun) * 1000


if __name__ == "__main__":
    run("Promotion", measure, files=20, rounds=12)
