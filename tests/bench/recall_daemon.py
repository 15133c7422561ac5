"""The parts of the recall bench that go through a real daemon: memory, a search over the socket, an edit by hand."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.bench import corpus, recorded
from tests.bench.measure import Figure, of, timed
from tests.bench.recall_index import EDIT_BOUND, EDITS, edited, fresh_word, needles
from tests.support.daemon import RunningDaemon, Wire

MIB = 1024 * 1024
MEMORY = {1_000: 100, 100_000: 250, 1_000_000: 700}  # MiB
SHORT = 8  # words of a search by a person
PATIENCE_SECONDS = 10.0


def measure(daemon: RunningDaemon, memory: Path, records: int, events: int) -> Sequence[Figure]:
    """`daemon` is not running yet, its index is made."""
    workspace = daemon.folder / "project"
    workspace.mkdir()
    with daemon, daemon.connect() as wire:
        first = timed(lambda: wire.call("memory.search", query="anything at all", workspace=str(workspace)))
        searches = _searches(wire, str(workspace), records, events)
        waits = [_visible(wire, memory, str(workspace), edit, records) for edit in range(EDITS)]
        resident = daemon.rss_bytes() / MIB
    edits = of(f"an edit by hand of one of {records} records → found over the socket", "ms", waits)
    held = Figure(f"resident memory of the daemon, {records} records", "MiB", round(resident, 1))
    if records in MEMORY:
        held = replace(held, bound=f"≤ {MEMORY[records]}", holds=resident <= MEMORY[records])
    return [
        replace(edits, bound=f"≤ {EDIT_BOUND} p50", holds=edits.median <= EDIT_BOUND),
        *searches,
        replace(held, notes={"first search after the start, ms": round(first, 1)}),
    ]


def _searches(wire: Wire, workspace: str, records: int, events: int) -> list[Figure]:
    """A person's few words, and a long event, as `memory.search`."""
    short = [" ".join(text.split()[:SHORT]) for text in corpus.texts(min(records, events))]
    long = [one.text for one in needles(records, events)] + [text for _, text in recorded.long_events()]
    figures = []
    for name, texts in ((f"{SHORT} words", short), ("an event of 2 to 4 KB", long)):
        waits = [_search(wire, text, workspace) for text in [*texts[:20], *texts]][20:]
        figures.append(of(f"search over the socket, {records} records, {name}", "ms", waits))
    return figures


def _search(wire: Wire, text: str, workspace: str) -> float:
    return timed(lambda: wire.call("memory.search", query=text, workspace=workspace, limit=10))


def _visible(wire: Wire, memory: Path, workspace: str, edit: int, records: int) -> float:
    """Milliseconds from the new name of a file to a search that finds its new word; nobody tells the daemon."""
    word = fresh_word("byhand", edit)
    edited(memory, edit * records // EDITS, word)
    begun = time.perf_counter()
    while not wire.call("memory.search", query=word, workspace=workspace, limit=1)["hits"]:
        if time.perf_counter() - begun > PATIENCE_SECONDS:
            raise TimeoutError(f"{word} is not found")
        time.sleep(0.002)
    return (time.perf_counter() - begun) * 1000
