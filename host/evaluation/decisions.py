"""Labelled sessions through the real host: events in, packets out, as a session of that host would have got them.

Each session has a host of its own over a temporary folder: the store as memory files, the events one by one, a claim
wherever a host like Claude Code asks. No time limit cuts a pass short, no clock but that of the events is read, and
nothing outside the folder: the same sessions, policy and table give the same rows on every machine.
"""

import asyncio
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import structlog

from governance.contracts import AuditFilter, AuditKind
from host.clock import SetClock
from host.compose import Setup, open_parts
from host.contracts import MemoryPacket
from host.errors import RemoraError
from host.evaluation.ready import embedded, searchable
from host.evaluation.scoring import Row
from host.evaluation.session_store import stored_id, write_store
from host.evaluation.sessions import FORMAT, Recording, envelope, load
from host.namespace import name
from host.parts import Parts
from host.policy import Policy
from host.replay import Replay, counted_ids
from host.tasks import Tasks
from recall.background import Background
from recall.canonical import short_id
from recall.contracts import Attention, EventEnvelope, Frozen
from recall.workspace import workspace_key

KEY = bytes(32)  # a replay's own: the same tags on every machine
MOST = 100_000  # drops of one session
SILENCE = "silence"


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What the sessions are replayed with. `background` None: the table that ships."""

    policy: Policy = field(default_factory=Policy)
    background: Background | None = None
    engine: bool = False
    attention: Attention = Attention.NORMAL


class Handed(Frozen, frozen=True, kw_only=True):
    """One packet with where and how it was handed over: a row, and what a reader of it wants to know."""

    row: Row
    step: int
    trigger: str
    levels: tuple[str, ...]  # of its items
    why: tuple[str, ...]
    rendered: str


class Played(Frozen, frozen=True, kw_only=True):
    """What came of one session. `silences` and `drops`: how many passes, and packets, by reason; `shortfalls`: how
    often an arm had no answer, by arm and why."""

    session: str
    handed: tuple[Handed, ...]
    passes: int
    silences: dict[str, int]
    drops: dict[str, int]
    shortfalls: dict[str, int]
    left_out: dict[str, int]

    @property
    def rows(self) -> tuple[Row, ...]:
        """As a scorer reads them."""
        return tuple(one.row for one in self.handed)


def run(
    folders: Sequence[Path], options: Options, jobs: int = 1, hear: Callable[[int], None] = lambda _: None
) -> list[Played]:
    """Replay the sessions of these folders in so many processes; the results are in the order of the folders.

    `hear` is told how many are done. Raises RemoraError for a session that cannot be replayed.
    """
    if jobs <= 1 or len(folders) <= 1:
        return [_told(played_in(folder, options), done, hear) for done, folder in enumerate(folders, start=1)]
    context = get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(folders)), mp_context=context) as pool:
        longest_first = sorted(folders, key=lambda folder: -(folder / "events.jsonl").stat().st_size)
        begun = {folder: pool.submit(played_in, folder, options) for folder in longest_first}
        try:
            return _gathered([begun[folder] for folder in folders], hear)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def played_in(folder: Path, options: Options) -> Played:
    """Replay the session of one folder. Raises RemoraError."""
    return asyncio.run(decisions(load(folder), options))


async def decisions(recording: Recording, options: Options | None = None) -> Played:
    """Replay one session. Raises RemoraError when its store cannot be taken in, or the host fails."""
    chosen = options or Options()
    with tempfile.TemporaryDirectory(prefix=f"{name('eval')}-") as folder:
        place = Path(folder)
        keys = {each: workspace_key(_path(each)) for each in _workspaces(recording)}
        try:
            write_store(recording.memories, keys, place / "memory")
        except RemoraError as error:
            raise RemoraError(f"{recording.name}: {error.problem}", FORMAT) from None
        setup = Setup(
            data=place,
            database=place / "log.db",
            index=place / "index.db",
            key=KEY,
            policy=chosen.policy,
            engine=chosen.engine,
            attention=chosen.attention,
            background=chosen.background,
            patient=True,
        )
        log = structlog.wrap_logger(
            structlog.PrintLogger(sys.stderr), wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL)
        )
        clock, tasks = SetClock(), Tasks(log)
        async with open_parts(setup, clock, counted_ids(), tasks, log) as parts:
            await _taken_in(parts, sorted(keys.values()))
            played = await _played(recording, parts, clock)
            await tasks.settled()
            if tasks.failed:
                raise RemoraError(f"{recording.name}: the host failed: {', '.join(sorted(tasks.failed))}.")
        return played


async def _taken_in(parts: Parts, keys: Sequence[str]) -> None:
    """The index holds every workspace, as it would after a year of work."""
    for root in (parts.roots.user(), *(parts.roots.private(key) for key in keys)):
        await parts.library.adopt(root)
        await parts.library.refresh(root.path)  # adopting may go on in the background: this waits for it
    found = await searchable(parts.library)
    if parts.engine is not None:
        await embedded(parts.engine, found, lambda *_: None)


async def _played(recording: Recording, parts: Parts, clock: SetClock) -> Played:
    own = {stored_id(memory.id): memory.id for memory in recording.memories}
    player = Replay(parts, clock)
    decided, silences, short = 0, Counter[str](), Counter[str]()  # an entry holds all that was weighed: none is kept
    handed: list[Handed] = []
    async for one in player.play(_envelopes(recording)):
        decided += len(one.passes)
        silences.update(entry.reason for entry in one.passes if entry.outcome == SILENCE)
        arms = [arm for entry in one.passes for arm in entry.arms if arm.shortfall]
        short.update(f"{arm.name}: {arm.shortfall}" for arm in arms)
        if one.packet is not None and one.packet.items:  # the runtime context alone answers no need
            handed.append(_handed(recording, one.envelope, one.packet, own))
    dropped = await parts.audit.query(AuditFilter(kind=AuditKind.DROP, limit=MOST))
    return Played(
        session=recording.name,
        handed=tuple(handed),
        passes=decided,
        silences=_counted(silences),
        drops=_counted(Counter(entry.reason for entry in dropped)),
        shortfalls=_counted(short),
        left_out=_counted(player.left_out),
    )


def _handed(recording: Recording, after: EventEnvelope, packet: MemoryPacket, own: dict[str, str]) -> Handed:
    row = Row(
        session=recording.name,
        seq=after.native_seq or 0,
        memories=tuple(own[item.memory_id] for item in packet.items),
        bytes=len(packet.rendered.encode("utf-8")),
    )
    return Handed(
        row=row,
        step=after.step or 0,
        trigger=packet.trigger_reason,
        levels=tuple(item.level for item in packet.items),
        why=tuple(item.why for item in packet.items),
        rendered=packet.rendered,
    )


def _envelopes(recording: Recording) -> Iterator[EventEnvelope]:
    session = short_id("ses_", {"recorded": recording.name})
    path = _path(recording.labels.workspace)
    return (envelope(event, session, Path(path)) for event in recording.events)


def _workspaces(recording: Recording) -> list[str]:
    return sorted({one.workspace for one in recording.memories if one.workspace} | {recording.labels.workspace})


def _path(workspace: str) -> str:
    """A folder of that name which is nowhere: a relative path is not looked up, whatever the machine holds. Spelled as
    a path spells it: the events name it so, and must mean the same workspace as the memories."""
    return str(Path(f"w/{workspace}"))


def _counted(counts: Counter[str]) -> dict[str, int]:
    """Most first, then by name."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _gathered(begun: Sequence[Future[Played]], hear: Callable[[int], None]) -> list[Played]:
    for done, each in enumerate(as_completed(begun), start=1):
        _told(each.result(), done, hear)
    return [each.result() for each in begun]


def _told(played: Played, done: int, hear: Callable[[int], None]) -> Played:
    hear(done)
    return played
