"""What the review queue costs a person when 10 000 notes wait, asked over the wire's own handlers on real files.

Told apart are the first page, the last one, a page of what is flagged, of one kind and of what was noted automatically,
one item with what stands beside it, a decision to keep, which writes database and memory file, one to archive, and a
proposal that is looked up among as many graves.
`python -m tests.bench.bench_review [--json] [--notes N] [--rounds N]`
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from governance.formation.contracts import Attribution, EvidenceNote, NoteBody, NoteKind, Quote
from governance.formation.decisions import propose_evidence_note
from governance.formation.saving import Occasion, item_of
from governance.formation.store.tombstones import Grave
from governance.review import ItemFlag, ItemKind, QueueItem, State
from recall.workspace import workspace_key
from tests.bench.measure import Figure, of, run
from tests.support.asking import Asking
from tests.support.builders import a_memory_id
from tests.support.formed import ON
from tests.support.noting import a_message, a_packet
from tests.support.world import a_world

BOUND = 100  # ms
PAGE = 50


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    costs = asyncio.run(_costs(options.notes, options.rounds))
    figures = [of(f"{what}, {options.notes} notes", "ms", values) for what, values in costs.items()]
    return [replace(one, bound=f"p99 ≤ {BOUND}", holds=(one.p99 or 0) <= BOUND) for one in figures]


async def _costs(count: int, rounds: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory(prefix="b") as folder:
        async with a_world(Path(folder) / "data", formation=ON) as world:
            remora, where = Asking(world), world.workspace()
            await world.remember("The staging port is 7070.", where)
            await remora.ask("memory.list", workspace=where)
            items = _items(workspace_key(where), count)
            await world.parts.kept.write(lambda connection: _fill(connection, world.parts.queue, items))
            return await _timed(remora, where, items, rounds)


async def _timed(remora: Asking, where: str, items: Sequence[QueueItem], rounds: int) -> dict[str, list[float]]:
    async def listed(**params: Any) -> Any:
        return await remora.ask("review.list", workspace=where, limit=PAGE, **params)

    async def decided(item: QueueItem, decision: str) -> None:
        given = {"itemId": item.item_id, "workspace": where, "expectedRevision": 1, "principal": "human"}
        await remora.ask("review.decide", decision=decision, reason="measured", **given)

    waits = [item for item in items if item.state is State.PENDING and not item.flags]
    last = f"{items[PAGE].created_at}:{items[PAGE].item_id}"
    fresh = [msgspec.structs.replace(one, item_id=f"new_{one.item_id}", text=f"{one.text} Or so.") for one in waits]
    acts: dict[str, Callable[[int], Awaitable[object]]] = {
        "the first page": lambda number: listed(),
        "the last page": lambda number: listed(after=last),
        "what is flagged": lambda number: listed(flagged=True),
        "what was noted automatically": lambda number: listed(states=["committed"]),
        "one kind of two states": lambda number: listed(states=["pending", "kept"], kinds=["memory"]),
        "one item": lambda number: remora.ask("review.get", itemId=waits[-1 - number].item_id, workspace=where),
        "keep one": lambda number: decided(waits[number], "keep"),
        "archive one": lambda number: decided(waits[rounds + number], "archive"),
        "propose one among as many graves": lambda number: remora.world.parts.queue.propose(fresh[number]),
    }
    costs: dict[str, list[float]] = {name: [] for name in acts}
    for number in range(rounds):
        for name, act in acts.items():
            begun = time.perf_counter()
            await act(number)
            costs[name].append((time.perf_counter() - begun) * 1000)
    return costs


def _items(workspace: str, count: int) -> list[QueueItem]:
    """Notes of a conversation, each with a quote; every tenth is flagged, every fifth a memory that is in use."""
    return [_item(workspace, number) for number in range(count)]


def _item(workspace: str, number: int) -> QueueItem:
    text = f"Step {number} of the release needs part {number * 7} of the harbour."
    message = a_message(number + 1, f"Let us go on with what we planned for today.\n{text}")
    packet = a_packet(message)
    body = NoteBody(
        kind=NoteKind.FACT,
        title=f"Step {number}",
        content=text,
        attribution=Attribution.USER_STATEMENT,
        citations=(Quote(message_id=message.id, quote=text),),
    )
    note = propose_evidence_note(packet, body)
    assert isinstance(note, EvidenceNote), note
    made = item_of(note, packet, Occasion(at=1_780_000_000_000 + number, scope_key=workspace, stream_id="s-one"))
    item = msgspec.structs.replace(made, workspace_key=workspace)
    if number % 10 == 0:
        return msgspec.structs.replace(item, flags=(ItemFlag.TRUNCATED_EVIDENCE,))
    if number % 5 == 0:
        memory_id = a_memory_id(number)
        kind = {"kind": ItemKind.MEMORY, "pipeline": "checkpoint", "state": State.COMMITTED, "record_id": memory_id}
        return msgspec.structs.replace(item, item_id=memory_id, **kind)
    return item


def _fill(connection: sqlite3.Connection, queue: Any, items: Sequence[QueueItem]) -> None:
    for number, item in enumerate(items):
        queue.put(connection, item)
        gone = f"Nobody wants rule {number} of the {number % 97} harbours."
        grave = Grave(workspace_key=item.workspace_key, text=gone, at=number)
        queue._tombstones.bury(connection, grave)


if __name__ == "__main__":
    run("Review", measure, notes=10_000, rounds=60)
