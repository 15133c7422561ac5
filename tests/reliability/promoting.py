"""A program that promotes two writes and a delete in processes that kill themselves where they are told to.

`python -m tests.reliability.promoting FOLDER [--random N SEED | --both N]`: without a number, before and after every
named point of a promotion, and again at points of its recovery. Each promotion, and each recovery, is a process of its
own that sends itself SIGKILL; what it finds at the start is what the last one left, on the disk. A line of JSON a run.
"""

import asyncio
import json
import os
import random
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from governance.formation.contracts import Fault
from governance.team.contracts.rows import CandidateState
from governance.team.errors import TeamFault
from governance.team.store import plans, runs
from tests.support.team_promoting import Promotions, consolidated, promotions, reopened
from tests.support.team_review import AGENT

Point = tuple[str, int]  # a name, and the how-manieth time it is met
SECONDS = 7  # so many points of a recovery are tried in turn


def main(arguments: list[str]) -> None:
    ground = Ground(Path(arguments[0]))
    if "--both" in arguments:
        for _ in range(int(arguments[-1])):
            print(json.dumps(ground.both()), flush=True)
        return
    if "--random" in arguments:
        number, seed = map(int, arguments[arguments.index("--random") + 1 :][:2])
        tries = ground.chosen(number, random.Random(seed))
    else:
        tries = ground.every()
    for first, second in tries:
        print(json.dumps(ground.run(first, second)), flush=True)


class Ground:
    """The folder in which it happens: always the same path, for a worktree is known by it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.saved, self.work = folder / "saved", folder / "work"
        folder.mkdir(parents=True, exist_ok=True)
        apart(lambda: self._prepare())
        shutil.copytree(self.work, self.saved, symlinks=True)
        self.before = self.told()
        self.points = self._met(None)
        self._promoted()
        self.wanted = self.told()

    def every(self) -> Iterator[tuple[Point, Point | None]]:
        """Each point alone, and then with one of its recovery, all of them in turn."""
        for place, first in enumerate(self.points):
            yield first, None
            again = self._met(first)
            if again:
                yield first, again[place * SECONDS % len(again)]

    def chosen(self, number: int, chance: random.Random) -> Iterator[tuple[Point, Point | None]]:
        known: dict[Point, list[Point]] = {}
        for _ in range(number):
            first = chance.choice(self.points)
            again = known[first] = known.get(first) or self._met(first)
            yield first, chance.choice(again) if again and chance.random() < 0.7 else None

    def run(self, first: Point, second: Point | None) -> dict[str, Any]:
        """One promotion killed, its recovery too if that is asked, and what stands after the next start."""
        self._again()
        codes = [apart(lambda: self._promote(killing(first)))]
        if second is not None:
            codes.append(apart(lambda: self._resume(killing(second))))
        apart(lambda: self._resume(lambda point: None))
        found = self.told()
        return {
            "first": first,
            "second": second,
            "killed": codes,
            "end": "new" if found == self.wanted else "old" if found == self.before else "mixed",
            "found": None if found in (self.before, self.wanted) else found,
        }

    def both(self) -> dict[str, Any]:
        """Two processes promote the one plan at once: what each was told, and what stands then."""
        self._again()
        notes = [self.folder / f"both{number}" for number in range(2)]
        children = [begun(lambda note=note: self._promote_and_tell(note)) for note in notes]  # type: ignore[misc]
        codes = [ended(child) for child in children]
        told = [json.loads(note.read_text(encoding="utf-8")) for note in notes]
        return {"codes": codes, "told": sorted(told), "end": "new" if self.told() == self.wanted else "other"}

    async def _promote_and_tell(self, note: Path) -> None:
        async with reopened(self.work) as shop:
            promoting = shop.promoting(wait_seconds=30)
            try:
                result = await promoting.promote(shop.desk.bound, AGENT, await plan_of(shop))
                note.write_text(json.dumps("idempotent" if result.idempotent else "written"))
            except TeamFault as fault:
                note.write_text(json.dumps(fault.kind))

    def told(self) -> dict[str, Any]:
        """The files, and what the database says of the plan, its candidate, its run and its receipts."""
        note = self.folder / "told"
        apart(lambda: self._tell(note))
        found: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
        return found

    def _again(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.saved, self.work, symlinks=True)

    def _met(self, first: Point | None) -> list[Point]:
        """The points of a promotion, or of the recovery from one that was killed there."""
        note = self.folder / "met"
        note.write_text("")
        self._again()
        if first is not None:
            apart(lambda: self._promote(killing(first)))
            apart(lambda: self._resume(noting(note)))
        else:
            apart(lambda: self._promote(noting(note)))
        met = [name for name in note.read_text(encoding="utf-8").split() if name != "disk:read"]  # changes nothing
        return [(name, met[: place + 1].count(name)) for place, name in enumerate(met)]

    def _promoted(self) -> None:
        self._again()
        assert apart(lambda: self._promote(lambda point: None)) == 0

    async def _prepare(self) -> None:
        async with promotions(self.work) as shop:
            await consolidated(shop)

    async def _promote(self, fault: Fault) -> None:
        async with reopened(self.work) as shop:
            await shop.promoting(fault).promote(shop.desk.bound, AGENT, await plan_of(shop))

    async def _resume(self, fault: Fault) -> None:
        async with reopened(self.work) as shop:
            await shop.promoting(fault).resume(shop.desk.now)

    async def _tell(self, note: Path) -> None:
        async with reopened(self.work) as shop:
            note.write_text(json.dumps(await stands(shop)), encoding="utf-8")


async def plan_of(shop: Promotions) -> str:
    (plan,) = await shop.desk.database.read(
        lambda connection: plans.listed(connection, ("approved", "applying", "applied", "voided"))
    )
    return plan.plan_id


async def stands(shop: Promotions) -> dict[str, Any]:
    database, key = shop.desk.database, shop.desk.bound.owner.worktree_key
    plan_id = await plan_of(shop)
    plan = await database.read(lambda connection: plans.needed(connection, plan_id))
    files = await database.read(lambda connection: plans.files(connection, plan_id))
    state, revision = await shop.state(plan.candidate_ids[0])
    run = await database.read(lambda connection: runs.last(connection, key))
    counted = "SELECT count(*) FROM team_receipt"
    return {
        "tree": {path: data if isinstance(data, str) else data.decode() for path, data in shop.tree.items()},
        "plan": [plan.state, plan.phase, plan.cleanup],
        "intents": [file.intent for file in files],
        "old": [file.old is not None for file in files],
        "candidate": [state, revision, state is CandidateState.PROMOTED],
        "run": run.state if run else None,
        "receipts": await database.read(lambda connection: connection.execute(counted).fetchone()[0]),
        "aside": sorted(shop.aside()),
    }


def apart(work: Callable[[], Awaitable[None]]) -> int:
    """Do it in a process of its own; how that ended: 0, or the signal below zero."""
    return ended(begun(work))


def begun(work: Callable[[], Awaitable[None]]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(_awaited(work))
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"a process ended with {code}")
    return code


async def _awaited(work: Callable[[], Awaitable[None]]) -> None:
    await work()


def killing(point: Point) -> Fault:
    met: Counter[str] = Counter()

    def fault(name: str) -> None:
        met[name] += 1
        if (name, met[name]) == tuple(point):
            os.kill(os.getpid(), signal.SIGKILL)

    return fault


def noting(note: Path) -> Fault:
    def fault(name: str) -> None:
        with note.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")

    return fault


if __name__ == "__main__":
    main(sys.argv[1:])
