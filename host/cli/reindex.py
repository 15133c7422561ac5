"""`reindex`: the index is made again from the memory files, or the engine's vectors from the index. The daemon does it;
this looks on."""

import time
from collections.abc import Callable

import click

from host.cli.answers import EngineStatus, Health, Progress
from host.cli.bars import bar
from host.cli.link import ask, ask_running
from host.cli.memory_answers import Started
from host.cli.output import count_of, json_option, say, show_json
from host.errors import RemoraError
from host.namespace import SCRIPT

PAUSE_SECONDS = 0.1
IDLE = "idle"
AT_WORK = ("loading", "embedding")
QUIET_LOOKS = 10  # at an engine that does not get to work: it was told only just now, or it has done it all


@click.command()
@click.option("--vectors", is_flag=True, help="Make the engine's vectors again, not the index.")
@json_option
def reindex(vectors: bool, as_json: bool) -> None:
    """Make the index again from the memory files.

    Searches and hand-overs go on with the old one meanwhile. With --vectors the engine embeds every memory again, as it
    must after its model was changed; the index stays.

    \b
    Examples:
      remora-pre reindex
      remora-pre reindex --vectors
    """
    try:
        progress = _embed() if vectors else _rebuild()
    except KeyboardInterrupt:
        say(f"The daemon goes on with it. Look with: {SCRIPT} status", err=True)
        raise
    if as_json:
        memory = ask_running("health", {}, Health).memory
        show_json({"records": memory.records, "files": memory.files, "engine": progress.engine})
    elif vectors and progress.engine is not None:
        engine = progress.engine
        say(f"{count_of(engine.embedded, 'record')} embedded with {engine.model}, {engine.dimension} dimensions.")
    else:
        memory = ask_running("health", {}, Health).memory
        say(f"The index is made anew: {count_of(memory.records, 'record')} in {count_of(memory.files, 'file')}.")
        if memory.problem_count:
            say(f"{count_of(memory.problem_count, 'place')} could not be used. See: {SCRIPT} lint")


def _rebuild() -> Progress:
    ask("index.rebuild", {}, Started)
    with bar("reading memory files") as told:

        def tell(seen: Progress) -> None:
            if seen.stage != IDLE:  # at the end there is nothing left to count
                told(seen.done, seen.total)

        progress = _watched(lambda seen: seen.stage == IDLE, tell)
    if progress.problem:
        raise RemoraError(f"The index could not be made anew: {progress.problem}", "The old one is still in use.")
    return progress


def _embed() -> Progress:
    ask("engine.reembed", {}, Started)
    at_work: list[bool] = []  # one a look
    with bar("embedding memories") as told:

        def tell(seen: Progress) -> None:
            at_work.append(seen.engine is not None and seen.engine.state in AT_WORK)
            if seen.engine is not None:
                told(seen.engine.embedded, seen.engine.records)

        progress = _watched(lambda seen: not at_work[-1] and (any(at_work) or len(at_work) >= QUIET_LOOKS), tell)
    engine = progress.engine or EngineStatus(state="off")
    if engine.state != "ready":
        why = f"{engine.state}, {engine.problem}" if engine.problem else engine.state
        raise RemoraError(f"The memories could not be embedded: the engine is {why}.", f"See: {SCRIPT} status")
    return progress


def _watched(ended: Callable[[Progress], bool], tell: Callable[[Progress], None]) -> Progress:
    """Look until the work has ended."""
    while True:
        seen = ask_running("index.progress", {}, Progress)
        tell(seen)
        if ended(seen):
            return seen
        time.sleep(PAUSE_SECONDS)
