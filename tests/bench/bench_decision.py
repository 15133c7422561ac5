"""One decision: gate, recall, rank, confidence, safety and packet, for every event of recorded sessions.

The host is the real one over a real index, in this process; its audit tells what each stage took. Counted are the
passes that looked something up: what the need gate turned away cost next to nothing. What comes before (the append) and
after (the audit's commit, the inbox) is in `bench_pass`. Memory is collected as the daemon has it. The same texts come
again in each round but the first, which is told apart: look-ups keep what they have read.

`python -m tests.bench.bench_decision [--json] [--records N,N] [--rounds N]`
"""

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import structlog

from governance.contracts import AuditEntry
from host.clock import SetClock
from host.compose import Setup, open_parts
from host.daemon import GC_THRESHOLDS
from host.demo import recording
from host.evaluation.sessions import envelope, load
from host.namespace import DATABASE_FILE, INDEX_FILE
from host.replay import Replay, counted_ids
from host.tasks import Tasks
from host.transcripts import READERS, read, recognise
from recall.contracts import EventEnvelope
from tests.bench import corpus, recorded
from tests.bench.bench_recall import sizes
from tests.bench.measure import Figure, of, run
from tests.bench.recall_index import taken_in

BOUNDS = {1_000: (5, 20), 100_000: (10, 40)}  # ms, p50 and p99 of one decision
STAGES = ("gate", "association", "rank", "safety", "broker")
WARM = 20  # decisions of the first session, which find cold caches


class ReplayClock(SetClock):
    """Stands where the events are, but tells how long a stage takes."""

    def micros(self) -> int:
        return time.monotonic_ns() // 1_000


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    figures: list[Figure] = []
    for records in sizes(options.records):
        with tempfile.TemporaryDirectory(prefix="b") as name:
            memory = Path(name) / "memory" / "user"
            corpus.write(memory, records)
            passes = asyncio.run(_decided(Path(name), memory, options.rounds))
        figures += _figures(passes, records, options.rounds)
    return figures


def _figures(passes: Sequence[AuditEntry], records: int, rounds: int) -> list[Figure]:
    looked = [entry for entry in passes if entry.arms][WARM:]
    turned_away = [entry for entry in passes if not entry.arms]
    name = f"one decision, {records} records"
    notes = {f"{stage}, median ms": _median([_ms(entry, (stage,)) for entry in looked]) for stage in STAGES}
    first = looked[: max(1, len(looked) // rounds)]
    notes["of the first round, median ms"] = _median([_ms(entry, STAGES) for entry in first])
    figure = of(name, "ms", [_ms(entry, STAGES) for entry in looked], notes=notes)
    if records in BOUNDS:
        median, tail = BOUNDS[records]
        holds = figure.median <= median and (figure.p99 or 0) <= tail
        figure = replace(figure, bound=f"p50 ≤ {median}, p99 ≤ {tail}", holds=holds)
    return [figure, of(f"{name}, turned away by the need gate", "ms", [_ms(e, STAGES) for e in turned_away])]


def _ms(entry: AuditEntry, stages: Sequence[str]) -> float:
    return sum(entry.latency.get(stage, 0) for stage in stages) / 1000


def _median(values: Sequence[float]) -> float:
    return round(sorted(values)[len(values) // 2], 3)


async def _decided(folder: Path, memory: Path, rounds: int) -> list[AuditEntry]:
    """The passes of all recorded sessions, each round under other session ids."""
    setup = Setup(data=folder, database=folder / DATABASE_FILE, index=folder / INDEX_FILE, key=bytes(32), patient=True)
    clock, tasks, log = ReplayClock(), Tasks(structlog.get_logger()), structlog.get_logger()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    async with open_parts(setup, clock, counted_ids(), tasks, log) as parts:
        await taken_in(parts.library, memory)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        passes: list[AuditEntry] = []
        for number in range(rounds):
            for events in _sessions(folder, number):
                async for done in Replay(parts, clock).play(events):
                    passes += done.passes
        await tasks.close()
        return passes


def _sessions(folder: Path, number: int) -> Iterator[list[EventEnvelope]]:
    """The demo's session and the recorded transcripts, under ids of this round."""
    shipped = load(recording.SHIPPED)
    yield [envelope(one, f"demo-{number}", folder) for one in shipped.events]
    for place, path in enumerate(sorted(recorded.TRANSCRIPTS.rglob("*.jsonl"))):
        with path.open("rb") as lines:
            known = recognise(lines)
            lines.seek(0)
            events = list(read(READERS[known](path.stem), lines)) if known else []
        session = f"transcript-{place}-{number}"
        yield [msgspec.structs.replace(one, session_id=session, workspace=str(folder)) for one in events]


if __name__ == "__main__":
    run("decision", measure, records="1000,100000", rounds=2)
