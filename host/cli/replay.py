"""`replay`: the passes that a transcript would have made, with nothing but its own clock."""

import asyncio
import logging
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
import structlog
from rich import progress
from rich.console import Console

from host.cli.link import paths
from host.cli.output import count_of, json_option, say, show_json
from host.cli.tables import print_panel
from host.clock import SetClock
from host.compose import Setup, open_parts
from host.errors import RemoraError
from host.namespace import name
from host.replay import Replay, Replayed, counted_ids
from host.tasks import Tasks
from host.transcripts import READERS, read, recognise
from recall.contracts import Attention, EventEnvelope, Frozen, Origin, Scope, ScopeRef
from recall.library import Root
from recall.workspace import workspace_key

KEY = bytes(32)  # a replay's own: the same decisions on every machine


class Line(Frozen, frozen=True, kw_only=True):
    """One pass of the replay, as shown. `packet`: the text handed over before this event or after it."""

    event_seq: int
    step: int | None
    trigger: str
    outcome: str
    reason: str
    decision_digest: str
    memories: tuple[str, ...] = ()


class Handed(Frozen, frozen=True, kw_only=True):
    event_seq: int
    packet_id: str
    memories: tuple[str, ...]
    rendered: str


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--memory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of memory files to use in place of your own.",
)
@click.option(
    "--attention",
    type=click.Choice([str(one) for one in Attention]),
    default=str(Attention.NORMAL),
    show_default=True,
    help="How sure a memory has to be.",
)
@click.option("--all", "every", is_flag=True, help="Show also the passes that looked nothing up.")
@json_option
def replay(file: Path, memory: Path | None, attention: str, every: bool, as_json: bool) -> None:
    """Show the passes a transcript would have made.

    Reads a session transcript of Claude Code, Codex or Gemini CLI and plays it through a host of its own, by the
    clock of the transcript. Nothing is kept. Every pass has a decision digest: the same file and memories give the
    same digests.

    \b
    Examples:
      remora-pre replay session.jsonl
      remora-pre replay session.jsonl --memory notes/ --json
      remora-pre replay session.jsonl --attention quiet
    """
    passes: list[Line] = []
    handed: list[Handed] = []
    place = None if memory is None else memory.resolve()
    played, left_out = asyncio.run(_replayed(file, place, Attention(attention)))
    for replayed in played:
        fresh = [_line(replayed, place) for place in range(len(replayed.passes))]
        passes += fresh
        for line in fresh:
            if not as_json and (every or line.outcome == "packet"):
                say(_plain(line))
        if replayed.packet is not None:
            given = _handed(replayed)
            handed.append(given)
            if not as_json:
                print_panel(f"handed over at event {given.event_seq}", given.rendered)
    if as_json:
        show_json({"passes": passes, "handedOver": handed, "leftOut": left_out})
        return
    say(f"{len(passes)} passes, {count_of(len(handed), 'packet')} handed over.")
    if left_out:
        why = ", ".join(f"{count} {kind}" for kind, count in sorted(left_out.items()))
        say(f"Events that could not be used were left out: {why}.")


async def _replayed(file: Path, memory: Path | None, attention: Attention) -> tuple[list[Replayed], Mapping[str, int]]:
    """What came of each event, and how many were left out, by kind."""
    log = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr), wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL)
    )
    clock, tasks = SetClock(), Tasks(log)
    with tempfile.TemporaryDirectory(prefix=f"{name('replay')}-") as folder, _envelopes(file) as envelopes:
        place = Path(folder)
        data = paths().data if memory is None else place
        setup = Setup(
            data=data,
            database=place / "replay.db",
            index=place / "index.db",
            key=KEY,
            attention=attention,
            patient=True,
        )
        async with open_parts(setup, clock, counted_ids(), tasks, log) as parts:
            first = next(envelopes, None)
            if first is None:
                raise RemoraError(f"{file} holds no event.", "Is it a session's transcript?")
            if memory is not None:
                scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace_key(first.workspace))
                await parts.library.adopt(Root(path=str(memory), scope=scope, origin=Origin.USER))
            player = Replay(parts, clock)
            played = [replayed async for replayed in player.play(_again(first, envelopes))]
            await tasks.settled()
    return played, player.left_out


@contextmanager
def _envelopes(file: Path) -> Iterator[Iterator[EventEnvelope]]:
    """The transcript's events, read as they are asked for. Raises RemoraError when no reader knows its format."""
    out = Console(stderr=True)
    with progress.open(
        file, "rb", description="replaying", console=out, transient=True, disable=not out.is_terminal
    ) as lines:
        known = recognise(lines)
        if known is None:
            raise RemoraError(f"{file} is no transcript we can read.", f"Known are: {', '.join(READERS)}.")
        lines.seek(0)
        yield read(READERS[known](file.stem), lines)


def _again(first: EventEnvelope, rest: Iterator[EventEnvelope]) -> Iterator[EventEnvelope]:
    yield first
    yield from rest


def _line(replayed: Replayed, place: int) -> Line:
    entry = replayed.passes[place]
    return Line(
        event_seq=0 if entry.cursor is None else entry.cursor.event_seq,
        step=entry.step,
        trigger=entry.trigger,
        outcome=entry.outcome,
        reason=entry.reason,
        decision_digest=entry.decision_digest,
        memories=() if entry.packet is None else entry.packet.named,
    )


def _handed(replayed: Replayed) -> Handed:
    packet = replayed.packet
    assert packet is not None
    return Handed(
        event_seq=packet.context_cursor.event_seq,
        packet_id=packet.packet_id,
        memories=tuple(one.memory_id for one in packet.named),
        rendered=packet.rendered,
    )


def _plain(line: Line) -> str:
    step = "" if line.step is None else f"step {line.step}"
    what = f"{line.trigger:<14} {line.outcome:<8} {line.reason:<24}"
    return f"event {line.event_seq:>5}  {step:<9} {what} {line.decision_digest[:16]}"
