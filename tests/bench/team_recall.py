"""What recall costs: 200 turns that match, among the sessions of a year, in a repository with a history of its own.

Turns are as agents leave them: a request, a dozen calls with results of a few kilobytes, an answer. Told apart are a
recall by the window and one by a query, each for the first time and again. A first query makes the terms of all turns
in its window, which `TeamHistory.learn` does ahead: what it costs without that is told, and nothing is promised of it.
`python -m tests.bench.team_recall [--json] [--turns N] [--commits N] [--rounds N]`
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from governance.team.collecting import Collector
from governance.team.contracts.recalling import AgentRecall, ExtractionRequest
from governance.team.leases import Issue
from governance.team.recalling import MOST_TURNS, Recalling
from governance.team.store import bindings
from governance.team.surroundings import Surroundings
from governance.team.syncing import Syncing
from governance.team.tree import read_tree
from host.adapters import ADAPTERS
from host.team.privates import LibraryPrivates
from recall.contracts import EventEnvelope, Millis
from tests.bench.corpus import texts
from tests.bench.measure import Figure, of, run
from tests.support.clock import START, CountedIds
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_history import FORMATS, HOUR, Histories, Talk, a_history, a_repository, a_request, commit
from tests.support.team_recall import INSTALLATION, a_call

BOUND = 2_000  # ms
SESSION_TURNS = 25
CALLS = 12  # of a turn
RESULT_BYTES = 3_000
ENTRIES = 400
MARKED = "xylophone"  # what the query asks for: it stands in as many turns as may match
DAY = 24 * HOUR


@dataclass
class Spent:
    """Milliseconds of each run, by the clock and on the processor. `unprepared`: it does what `learn` does ahead."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    unprepared: bool = False

    @contextmanager
    def one(self) -> Iterator[None]:
        wall, processor = time.perf_counter(), time.process_time()
        yield
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.processor.append((time.process_time() - processor) * 1000)


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    costs = asyncio.run(_costs(options.turns, options.commits, options.rounds))
    return [_figure(f"{what}, of {options.turns} in all", spent) for what, spent in costs.items()]


def _figure(name: str, spent: Spent) -> Figure:
    """Of a machine that does other things meanwhile the processor's time tells more than the clock's."""
    figure = of(name, "ms", spent.wall)
    notes = {"of these on the processor, ms": round(statistics.median(spent.processor))} | spent.notes
    if spent.unprepared:
        return replace(figure, notes=notes)
    return replace(figure, bound=f"p99 ≤ {BOUND}", holds=(figure.p99 or 0) <= BOUND, notes=notes)


async def _costs(turns: int, commits: int, rounds: int) -> dict[str, Spent]:
    with tempfile.TemporaryDirectory(prefix="b") as folder:
        root = a_repository(Path(folder) / "project")
        _commits(root, commits)
        for number in range(ENTRIES):
            write_entry(root, an_entry(f"Rule {number} of the harbour: {MARKED} {number * 7}.", number + 1))
        async with a_history(Path(folder), root) as past:
            recent = await _log(past, turns)
            recalling = _recalling(past)
            await past.world.parts.kept.write(lambda connection: bindings.installation(connection, INSTALLATION))
            await past.world.parts.kept.write(lambda connection: bindings.put(connection, past.bound, START))
            asked = {
                f"{MOST_TURNS} turns by the window": a_request(after=recent, before=START + HOUR),
                f"{MOST_TURNS} turns by a query": a_request(after=START - 300 * DAY, before=START + HOUR, query=MARKED),
            }
            return await _timed(past, recalling, asked, rounds)


async def _timed(
    past: Histories, recalling: Recalling, asked: dict[str, ExtractionRequest], rounds: int
) -> dict[str, Spent]:
    """The first recall of all, then for each request the first one and the others."""
    costs: dict[str, Spent] = {}

    async def once(name: str, request: ExtractionRequest) -> AgentRecall:
        with costs.setdefault(name, Spent()).one():
            answer = await recalling.recall(past.bound, a_call(now=START + HOUR), request, 8)
        assert answer.selection.matched_turns == MOST_TURNS, answer.selection.matched_turns
        return answer

    for name, request in asked.items():
        await once(f"{name}, for the first time", request)
        costs[f"{name}, for the first time"].unprepared = request.query is not None
        for _ in range(rounds):
            answer = await once(name, request)
        costs[name].notes["answer of 8 tasks, bytes"] = len(msgspec.json.encode(answer))
    return costs


async def _log(past: Histories, turns: int) -> Millis:
    """A year of sessions of this worktree, the newest last. When the newest 200 sealed turns began."""
    words, told = iter(texts(turns * (CALLS + 2))), 0
    sessions = turns // SESSION_TURNS
    asked_for = {number * (sessions * SESSION_TURNS) // MOST_TURNS for number in range(MOST_TURNS)}
    starts: list[Millis] = []
    for number in range(sessions):
        talk = past.talk(f"session-{number:05}", start=START - (sessions - number) * (300 * DAY // sessions))
        events: list[EventEnvelope] = [talk.begin()]
        for place in range(SESSION_TURNS):
            events += _turn(talk, place, words, MARKED if told in asked_for else "")
            told += 1
            starts.append(talk.at(place))
        await past.log([*events, talk.end(SESSION_TURNS - 1)])
    return starts[-MOST_TURNS]


def _turn(talk: Talk, place: int, words: Iterator[str], marked: str) -> list[EventEnvelope]:
    events = [talk.prompt(place, f"{next(words)} {marked}")]
    for step in range(CALLS):
        line = next(words)
        events.append(talk.call(place, f"grep -rn {place} src/part_{step}.py", step=2 * step + 1))
        result = (f"{line}\n" * (RESULT_BYTES // len(line) + 1))[:RESULT_BYTES]
        events.append(talk.result(place, result, step=2 * step + 1))
    return [*events, talk.reply(place, next(words), step=50)]


def _commits(root: Path, count: int) -> None:
    for number in range(count):
        at = START - 300 * DAY + number * (300 * DAY // count)
        commit(root, {f"src/part_{number % 40}.py": f"step = {number}\n"}, f"Step {number}", at)


def _recalling(past: Histories) -> Recalling:
    parts = past.world.parts
    syncing = Syncing(database=parts.kept, read=lambda bound: read_tree(bound.root, FORMATS.memory_root))
    privates = LibraryPrivates(parts.library, parts.roots, past.world.clock)
    return Recalling(
        database=parts.kept,
        collector=Collector(history=past.history, commits=past.commits, formats=FORMATS),
        context=Surroundings(database=parts.kept, syncing=syncing, privates=privates),
        formats=FORMATS,
        providers=frozenset(ADAPTERS),
        issue=Issue.of(CountedIds()),
    )


if __name__ == "__main__":
    run("Team: recall", measure, turns=2_000, commits=300, rounds=8)
