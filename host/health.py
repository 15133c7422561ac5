"""`health`: how each part of the daemon stands, and what of the memory files is not used."""

import os
import sqlite3
from collections import Counter

from governance.review import WAITING
from host.build import running
from host.capability import version_of
from host.connection import Shell
from host.memory_upkeep import IndexProgress, progress
from host.parts import Parts
from host.team.trusting import trusting_of
from recall.associate import resting
from recall.contracts import Frozen
from recall.engine import EngineState, EngineStatus
from recall.library import LibraryStatus, Reported

PROBLEMS_TOLD = 20  # of the memory files
UNASKED_TOLD = 20  # repositories
ENGINE = "engine"


class Unasked(Frozen, frozen=True, kw_only=True):
    """A repository with memory of which nobody was asked whether it is trusted: until then it is shown as hints."""

    repository: str
    records: int


class MemoryHealth(Frozen, frozen=True, kw_only=True):
    """How the memory files stand. `problems`: the first of `problem_count` places that are not used, and why."""

    files: int
    records: int
    problem_count: int
    problems: tuple[Reported, ...]
    missing: tuple[str, ...]
    unasked: tuple[Unasked, ...] = ()


class Waiting(Frozen, frozen=True, kw_only=True):
    """What waits for a person. `approvals`: high-risk procedures that a pass would have shown; `review`: items of the
    queue. `checkpoints`: ranges of conversations that wait for a model."""

    approvals: int
    review: int
    checkpoints: int = 0


class Speaking(Frozen, frozen=True, kw_only=True):
    """An agent product that sessions speak from, at one version, or, when nothing is handed to it, spoke from since the
    start. `watched`: why it is not; `sessions`: those that are live."""

    host: str
    version: str
    sessions: int
    watched: str = ""


class Health(Frozen, frozen=True, kw_only=True):
    """`data`: the folder that this daemon keeps, whatever the environment of the one who asks names. `index`: what is
    being taken in. `hosts`: by name. `code`: a stamp of the code that runs. The engine makes nobody wait: it is no
    reason not to be `ready`."""

    ready: bool
    parts: dict[str, str]
    data: str
    pid: int
    memory: MemoryHealth
    index: IndexProgress
    waiting: Waiting
    hosts: tuple[Speaking, ...] = ()
    code: str = ""


async def health(parts: Parts, shell: Shell) -> Health:
    """How everything stands now."""
    library = await parts.library.status()
    written = {"log": parts.eventlog.problem or "ok", "audit": parts.audit.problem or "ok"}
    states = shell.parts() | written | {"index": _index(library)}
    states |= resting(parts.host.arms, parts.clock.micros())
    failing = parts.tasks.failing()
    if failing:
        states["tasks"] = ", ".join(f"{name} failed {count} times" for name, count in failing.items())
    ready = all(state == "ok" or state.startswith("off") for state in states.values())
    if parts.formation.problem():  # memories are found and handed over all the same
        states["formation"] = f"state-failed: {parts.formation.problem()}"
    kept = parts.retention.problem or parts.tally.problem
    if kept:  # what is old is not let go, or not counted: nobody waits for that
        states["retention"] = kept
    if parts.engine is not None:
        states[ENGINE] = _engine(parts.engine.status())
    memory = MemoryHealth(
        files=library.files,
        records=library.records,
        problem_count=len(library.findings),
        problems=library.findings[:PROBLEMS_TOLD],
        missing=library.missing,
        unasked=tuple(
            Unasked(repository=top, records=count)
            for top, count in sorted((await trusting_of(parts).untold()).items())[:UNASKED_TOLD]
        ),
    )
    data = str(parts.roots.data)
    return Health(
        ready=ready,
        parts=states,
        data=data,
        pid=os.getpid(),
        memory=memory,
        index=progress(parts),
        waiting=await _waiting(parts),
        hosts=_speaking(parts),
        code=running(),
    )


def _speaking(parts: Parts) -> tuple[Speaking, ...]:
    """Who speaks now, and who was met and is only watched. A version goes by its numbers: what a product says of itself
    is not repeated."""
    capabilities = parts.rollouts.capabilities
    clients = {one.scope.session_id: one.client for one in parts.sessions.all() if not one.subagent}
    counted = Counter((one.host, version_of(one), capabilities.of(one).why) for one in clients.values())
    for one in capabilities.met():
        if why := capabilities.of(one).why:
            counted.setdefault((one.host, version_of(one), why), 0)
    return tuple(
        Speaking(host=host, version=version, sessions=count, watched=why)
        for (host, version, why), count in sorted(counted.items())
    )


async def _waiting(parts: Parts) -> Waiting:
    try:
        depths = await parts.queue.depths()
    except sqlite3.Error:  # `tasks` and the next command that writes there say so
        depths = {}
    return Waiting(
        approvals=len(parts.asks.at),
        review=sum(depths.get(state, 0) for state in WAITING),
        checkpoints=parts.formation.waits(""),
    )


def _index(library: LibraryStatus) -> str:
    if library.damaged:
        return "damaged"
    return f"degraded: {library.problem}" if library.problem else "ok"


def _engine(status: EngineStatus) -> str:
    """Not asked yet and ready are well; else what it does, or what is to be done."""
    if status.state in (EngineState.OFF, EngineState.READY):
        return "ok"
    return f"{status.state}: {status.problem}" if status.problem else str(status.state)
