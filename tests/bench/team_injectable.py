"""How soon a promoted entry is given, and how soon it is gone with its branch.

Told apart are the time until the next pass has it, in the worktree and in a sibling, and that from the end of a
checkout until recall finds it no more, or again. With `--entries 0` git takes the folder along.
`python -m tests.bench.team_injectable [--json] [--entries N] [--rounds N]`
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from host.contracts import Claimed
from tests.bench.measure import Figure, of, run
from tests.support.library import following
from tests.support.repositories import GitRepository
from tests.support.team_entries import an_entry, path_of
from tests.support.team_trust import adopted, bound_in, hits, needed, receive, reread
from tests.support.world import LESSON, World, a_world

BOUND = 1_000  # ms
LOOK_SECONDS = 0.005
QUERY = "integration-test pg-fixture container"


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    costs = asyncio.run(_costs(options.entries, options.rounds))
    return [
        of(f"{what}, beside {options.entries} entries", "ms", took, bound=f"≤ {BOUND}", holds=max(took) <= BOUND)
        for what, took in costs.items()
    ]


async def _costs(entries: int, rounds: int) -> dict[str, list[float]]:
    costs: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="b") as folder:
        main = GitRepository(Path(folder) / "main")
        others = [an_entry(f"Rule {n} of the harbour: pier {n * 7}.", 1000 + n) for n in range(entries)]
        main.write({path_of(one): one for one in others})
        main.commit("Memory")
        sibling = main.worktree(Path(folder) / "sibling", "sibling")
        async with a_world(Path(folder) / "data") as world:
            await adopted(world, main.folder, sibling.folder)
            async with following(world.parts.library):
                for number in range(rounds):
                    await _round(world, main, sibling, number, costs)
    return costs


async def _round(
    world: World, main: GitRepository, sibling: GitRepository, number: int, costs: dict[str, list[float]]
) -> None:
    entry = an_entry(f"{LESSON} Round {number}.", number + 1)
    bound = await bound_in(world, main.folder)
    await _git(main, "checkout", "--quiet", "-b", f"round-{number}")
    main.write({path_of(entry): entry})
    await receive(world, bound, main.folder / path_of(entry))

    async def gives(where: GitRepository, session: str) -> bool:
        await needed(world, where.folder, f"{session}-{number}")
        claim = await world.claim(session=f"{session}-{number}")
        return isinstance(claim, Claimed) and entry.id in {item.memory_id for item in claim.packet.items}

    begun = time.perf_counter()
    await reread(world).promoted(bound, [path_of(entry)], [])
    for session, where in (("the next pass", main), ("a pass in a sibling", sibling)):
        assert await gives(where, session.replace(" ", "-"))
        _note(costs, f"promoted to given by {session}", begun)
    main.commit("An entry")

    async def found() -> bool:
        return entry.id in {hit.memory_id for hit in await hits(world, main.folder, QUERY)}

    async def gone() -> bool:
        return not await found()

    for what, branch, seen in (
        ("checkout without it to gone", "main", gone),
        ("checkout with it to found", f"round-{number}", found),
        ("checkout without it to gone", "main", gone),
    ):
        await _git(main, "checkout", "--quiet", branch)
        begun = time.perf_counter()
        await _until(seen)
        _note(costs, what, begun)


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await holds():
            await asyncio.sleep(LOOK_SECONDS)


async def _git(repository: GitRepository, *arguments: str) -> None:
    """Git on a thread: the daemon goes on meanwhile, as it would."""
    await asyncio.to_thread(repository.git, *arguments)


def _note(costs: dict[str, list[float]], what: str, begun: float) -> None:
    costs.setdefault(what, []).append((time.perf_counter() - begun) * 1000)


if __name__ == "__main__":
    run("team injectable", measure, entries=400, rounds=10)
