"""The parts of the recall bench that run in this process, over an index of its own in the daemon's data folder."""

import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import ne
from pathlib import Path
from typing import Any

from host.clock import SystemClock
from host.compose import Recall, open_recall
from host.evaluation.baselines import exhaustive
from host.evaluation.store import memory_id, number_of
from host.namespace import INDEX_FILE
from host.runtime import USER_KEY
from recall.analyzer import distinct
from recall.associate import Arm, AssociationPolicy, associate
from recall.contracts import Cue, CuePart, EventType, Origin, RuntimeScope, Scope, ScopeRef, SegmentKind, SourceName
from recall.engine import Engine, EngineSetup, EngineState
from recall.fallback import Breaker
from recall.fusion import FusionPolicy, fuse
from recall.kept import Kept
from recall.library import Library, Root
from recall.sources.engine import engine_source
from tests.bench import corpus, recorded
from tests.bench.measure import Figure, of
from tests.support.daemon import ROOT

BOUNDS = {1_000: (2, 6), 100_000: (4, 15), 1_000_000: (10, 40)}  # ms, p50 and p99 of one recall
SCOPE = RuntimeScope(session_id="bench", agent_id="bench", workspace="bench", user=USER_KEY)
OPENINGS, EDITS, WARM, ROUNDS = 7, 20, 30, 3
COMPARED = {1_000: 100, 100_000: 50}  # needles that the exhaustive baseline is asked too
COMPARED_AT_MOST = 10  # of a larger store: a quarter of a minute each
MANY = 10_000  # records from which a rate is promised; below, what is done once decides
BUILD_BOUND, OPEN_BOUND, EDIT_BOUND, ENGINE_BOUND = 6_000, 50, 200, 15
CLOCK = SystemClock()

Ask = Callable[[str, str], Awaitable[list[int]]]


@dataclass(frozen=True)
class Needle:
    """A long event, and the record that is hidden in it."""

    text: str
    number: int


def needles(records: int, count: int) -> list[Needle]:
    """Of records spread over the store."""
    wanted = {place * records // count for place in range(min(count, records))}
    return [
        Needle(corpus.needle(text, number), number)
        for number, text in enumerate(corpus.texts(records))
        if number in wanted
    ]


def root(memory: Path) -> Root:
    return Root(path=str(memory), scope=ScopeRef(kind=Scope.USER, key=USER_KEY), origin=Origin.USER, writable=True)


@asynccontextmanager
async def opened(data: Path, memory: Path) -> Any:
    """Recall over what the folder holds, every file looked at."""
    async with open_recall(data, engine=False) as recall:
        await taken_in(recall.library, memory)
        yield recall


async def taken_in(library: Library, memory: Path) -> None:
    await library.adopt(root(memory))
    await library.refresh(str(memory))  # adopting may go on in the background: this waits for it


async def building(data: Path, memory: Path, records: int) -> Figure:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with open_recall(data, engine=False) as recall:
        begun = time.perf_counter()
        await taken_in(recall.library, memory)
        seconds = time.perf_counter() - begun
        held = (await recall.library.status()).searchable
    assert held > 0.999 * records, f"{held} of {records} records can be found"  # made-up words may look like an order
    rate = records / seconds
    figure = Figure(
        f"index build, {records} records in {-(-records // corpus.PER_FILE)} files, reading and parsing included",
        "records/s",
        round(rate),
        count=records,
        notes={"seconds": round(seconds, 2), "index MiB": round((data / INDEX_FILE).stat().st_size / 2**20, 1)},
    )
    if records < MANY:
        return figure
    return replace(figure, bound=f"≥ {BUILD_BOUND}", holds=rate >= BUILD_BOUND)


async def opening(data: Path, memory: Path, records: int) -> Figure:
    """From nothing to the first answer; and to the point where every file was compared with the index."""
    answered, followed = [], []
    words = corpus.needle(next(corpus.texts(1)), 0)
    for _ in range(OPENINGS):
        begun = time.perf_counter()
        async with open_recall(data, engine=False) as recall:
            found = await asking(recall, lexical(recall))(EventType.TOOL_RESULT, words)
            answered.append((time.perf_counter() - begun) * 1000)
            await taken_in(recall.library, memory)
            followed.append((time.perf_counter() - begun) * 1000)
        assert found
    figure = of(f"open an index of {records} records → first answer", "ms", answered, bound=f"< {OPEN_BOUND}")
    notes = {"every file compared, median ms": round(sorted(followed)[OPENINGS // 2], 1)}
    return replace(figure, holds=figure.median < OPEN_BOUND, notes=notes)


async def looking_up(data: Path, memory: Path, records: int, events: int) -> list[Figure]:
    """One recall for an event of 2 to 4 KB, lexical."""
    hidden = needles(records, events)
    async with opened(data, memory) as recall:
        ask = asking(recall, lexical(recall))
        needle_ms, found = await _timed(ask, [(EventType.TOOL_RESULT, one.text) for one in hidden])
        real_ms, _ = await _timed(ask, recorded.long_events())
    compared = hidden[: COMPARED.get(records, COMPARED_AT_MOST)]
    of_all = _among_ten(found, hidden)
    by_ours = _among_ten(found[: len(compared)], compared)
    with exhaustive(enumerate(corpus.texts(records)), 10) as every:
        begun = time.perf_counter()
        by_all = _among_ten([[number for number, _ in every(one.text)] for one in compared], compared)
        each = (time.perf_counter() - begun) * 1000 / max(1, len(compared))
    notes = {
        "needle among the first ten": f"{of_all:.2f} of {len(hidden)}",
        "the same for all terms (exhaustive)": f"{by_all:.2f}, ours {by_ours:.2f}, of {len(compared)}",
        "ms for one of these, all terms": round(each),
    }
    name = f"one recall, {records} records, lexical"
    both = _bounded(of(f"{name}, all events", "ms", [*needle_ms, *real_ms]), records)
    return [
        both,
        of(f"{name}, needle events", "ms", needle_ms, notes=notes),
        of(f"{name}, recorded events", "ms", real_ms),
    ]


def _bounded(figure: Figure, records: int) -> Figure:
    if records not in BOUNDS:
        return figure
    median, tail = BOUNDS[records]
    holds = figure.median <= median and (figure.p99 or 0) <= tail
    return replace(figure, bound=f"p50 ≤ {median}, p99 ≤ {tail}", holds=holds)


async def refreshing(data: Path, memory: Path, records: int) -> Figure:
    """A record gets another word; the library is told of the file; the word is found."""
    waits = []
    async with opened(data, memory) as recall:
        ask = asking(recall, lexical(recall))
        for edit in range(EDITS):
            number = edit * records // EDITS
            word = fresh_word("refreshed", edit)
            path = edited(memory, number, word)
            begun = time.perf_counter()
            await recall.library.refresh(str(path))
            found = await ask(EventType.TOOL_RESULT, word)
            waits.append((time.perf_counter() - begun) * 1000)
            assert found == [number], f"record {number} is not found by {word}: {found}"
    figure = of(f"an edit of one of {records} records → found, by refresh", "ms", waits, bound=f"≤ {EDIT_BOUND}")
    return replace(figure, holds=max(waits) <= EDIT_BOUND)


def fresh_word(start: str, edit: int) -> str:
    """A word that stands in no record yet: letters alone, so that it is one term."""
    return f"{start}q{chr(97 + edit // 26)}{chr(97 + edit % 26)}x"


def edited(memory: Path, number: int, word: str) -> Path:
    """The file of a record with one more word in its text."""
    path = corpus.file_of(memory, number)
    marker = f"<!-- memory:{memory_id(number)} created={number} -->\n"
    text = path.read_text(encoding="utf-8")
    assert marker in text
    fresh = path.with_suffix(".new")
    fresh.write_text(text.replace(marker, f"{marker}{word} "), encoding="utf-8")
    fresh.replace(path)
    return path


async def engine_added(data: Path, memory: Path, records: int, events: int) -> list[Figure]:
    """What the engine adds to a recall, its query embedded; the records' own vectors are made up."""
    asked = [(EventType.TOOL_RESULT, one.text) for one in needles(records, events)] + list(recorded.long_events())
    async with opened(data, memory) as recall:
        setup = EngineSetup(
            index=data / INDEX_FILE,
            vectors=data / "bench-vectors.db",
            environment={"PYTHONPATH": str(ROOT), "PATH": ""},
            encoder="tests.bench.quick_encoder:QuickEncoder",
            command=(sys.executable, "-P", "-m", "recall.vectors"),
            remembered=0,
        )
        engine = Engine(setup, CLOCK.micros)
        try:
            await _embedded(engine, records)
            arm = Arm(SourceName.ENGINE, engine_source(engine), Breaker())
            alone = asking(recall, lexical(recall))
            both = asking(recall, [*lexical(recall), arm])
            pairs = await _paired(alone, both, asked)
        finally:
            await engine.close()
    added = [more - less for less, more in pairs]
    figure = of(f"the engine adds, {records} records, query embedded", "ms", added, bound=f"p50 ≤ {ENGINE_BOUND}")
    return [replace(figure, holds=figure.median <= ENGINE_BOUND)]


async def _embedded(engine: Engine, records: int) -> None:
    engine.start()
    status = engine.status()
    while not (status.state is EngineState.READY and status.embedded >= records):
        if status.state in (EngineState.BROKEN, EngineState.STALE):
            raise RuntimeError(f"The engine is {status.state}: {status.problem}")
        status = await engine.wait_until(partial(ne, status))


async def _paired(one: Ask, other: Ask, asked: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
    """Milliseconds of both ways for every event, turn about."""
    pairs = []
    for place, event in enumerate([*asked[:WARM], *asked]):
        took = []
        for ask in (one, other):
            distinct.cache_clear()
            begun = time.perf_counter()
            await ask(*event)
            took.append((time.perf_counter() - begun) * 1000)
        if place >= WARM:
            pairs.append((took[0], took[1]))
    return pairs


def lexical(recall: Recall) -> list[Arm]:
    return [arm for arm in recall.arms if arm.name == SourceName.LEXICAL]


def asking(recall: Recall, arms: Sequence[Arm]) -> Ask:
    """A look-up as a pass makes it: text → cue → association → fusion → numbers of records, best first. Nothing is kept
    of the look-ups before: the same events come again in every round."""

    async def ask(kind: str, text: str) -> list[int]:
        index = replace(recall.library.snapshot(CLOCK.now()), kept=Kept())
        found = await associate(_cue(kind, text), index, arms, AssociationPolicy(budget_seconds=5.0), CLOCK.micros)
        assert not [arm for arm in found.arms if arm.shortfall], found.arms
        fused, _ = fuse(found.candidates, FusionPolicy())
        fused.sort(key=lambda one: (-one.relevance, one.candidate.memory_id))
        return [number_of(one.candidate.memory_id) for one in fused]

    return ask


def _cue(kind: str, text: str) -> Cue:
    """The whole text: a pass cuts its event, and adds the two before it and the call."""
    segment = SegmentKind.PROMPT if kind == EventType.USER_MESSAGE else SegmentKind.RESULT
    terms = distinct(text)
    return Cue(
        scope=SCOPE,
        parts=(CuePart(role=segment.value, text=text, weight=1.0),),
        terms=terms,
        focus=terms,
        retrieval_key="bench",
        segment_kind=segment,
    )


async def _timed(ask: Ask, events: Sequence[tuple[str, str]]) -> tuple[list[float], list[list[int]]]:
    """Milliseconds of every look-up, in several rounds, and what was found."""
    for event in events[:WARM]:
        await ask(*event)
    waits: list[float] = []
    found: list[list[int]] = []
    for _ in range(ROUNDS):
        found = []
        for event in events:
            distinct.cache_clear()
            begun = time.perf_counter()
            found.append(await ask(*event))
            waits.append((time.perf_counter() - begun) * 1000)
    return waits, found


def _among_ten(found: Sequence[Sequence[int]], hidden: Sequence[Needle]) -> float:
    return sum(one.number in got[:10] for got, one in zip(found, hidden, strict=True)) / max(1, len(hidden))
