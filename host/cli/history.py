"""`import` of past sessions: what Claude Code and Codex wrote down becomes history, session by session.

Read here, line by line, and sent in batches. The daemon says how much of a file it has already, so a stopped import
goes on where it was; what is sent twice is stored once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from host.cli.bars import Told, bar
from host.cli.link import ask
from host.cli.output import count_of, say, show_json, unbroken
from host.cli.wording import folder
from host.client import Refused
from host.config import environment
from host.errors import RemoraError
from host.homes import homes_of
from host.namespace import SCRIPT
from host.past_sessions import PastSession, events, find, folder_of, opened, ordered
from recall.contracts import EventEnvelope, Frozen
from recall.workspace import workspace_key

BATCH_EVENTS = 256
BATCH_BYTES = 480_000  # as JSON: the daemon takes frames of 1 MiB
SUFFIX = ".jsonl"


class Begun(Frozen, frozen=True, kw_only=True):
    through: int
    live: bool = False


class Taken(Frozen, frozen=True, kw_only=True):
    accepted: int
    duplicates: int
    refused: int
    live: bool


class HistoryReport(Frozen, frozen=True, kw_only=True):
    """What became of an import of sessions. `known`: files with nothing new; `live`: those of sessions that were heard
    as they happened; `elsewhere`: those about other workspaces; `unreadable`: those of a format that we do not know."""

    dry_run: bool
    files: int
    events: int
    known: int
    live: int
    elsewhere: int
    refused_events: int
    unreadable: tuple[str, ...]


def import_history(
    given: Sequence[Path], workspace: Path, *, everywhere: bool, dry_run: bool, as_json: bool
) -> HistoryReport:
    """Take in the sessions of these files or folders; without any, those that the products keep for the workspace."""
    counts: Counter[str] = Counter()
    unreadable: list[str] = []
    wanted = "" if everywhere or given else workspace_key(folder(workspace))
    pasts = _given(given) if given else _found()
    seen: set[str] = set()
    try:
        with bar("taking in sessions") as told:
            done, whole = 0, sum(past.size for past in pasts)
            for past in pasts:
                try:
                    if not past.host:
                        unreadable.append(str(past.path))
                    elif wanted and workspace_key(folder_of(past)) != wanted:
                        counts["elsewhere"] += 1
                    else:
                        _take(past, seen, _beyond(told, done, whole), counts, dry_run=dry_run)
                except OSError:  # gone since it was found
                    unreadable.append(str(past.path))
                done += past.size
                told(done, whole)
    except (KeyboardInterrupt, RemoraError):
        say(f"Stopped. {_said(counts)} Run it again: it goes on from there.", err=True)
        raise
    report = HistoryReport(
        dry_run=dry_run,
        files=counts["files"],
        events=counts["events"],
        known=counts["known"],
        live=counts["live"],
        elsewhere=counts["elsewhere"],
        refused_events=counts["refused"],
        unreadable=tuple(unreadable),
    )
    if as_json:
        show_json(report)
    else:
        _show(report)
    return report


def _found() -> list[PastSession]:
    homes = homes_of(environment())
    if homes is None:
        raise RemoraError("There is no home folder to look in.", "Name the session files.")
    return find(homes)


def _given(given: Sequence[Path]) -> list[PastSession]:
    files: list[Path] = []
    for path in given:
        files += sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
    return ordered(files)


def _beyond(told: Told, done: float, whole: float) -> Told:
    """Tells of one file what it means for all of them."""
    return lambda at, _: told(done + at, whole)


def _take(past: PastSession, seen: set[str], shown: Told, counts: Counter[str], *, dry_run: bool) -> None:
    """Send what is new in one file, and count it. `seen`: ids of events of files before it, whose history it may
    repeat. `shown` is told how many of its bytes are done."""
    known, before = ask("history.begin", {"file": past.name}, Begun).through, counts["events"]
    with opened(past.path) as lines:
        for batch in _batches(events(past, lines), seen):
            shown(lines.tell(), past.size)
            if batch.through <= known:
                continue
            done = _would(past, batch, known) if dry_run else _sent(past, batch)
            counts["events"] += done.accepted
            counts["refused"] += done.refused
            if done.live:
                counts["live"] += 1
                return
    counts["files" if counts["events"] > before else "known"] += 1


def _would(past: PastSession, batch: "Batch", known: int) -> Taken:
    """What sending this batch would come to, as far as it can be known before."""
    session_id = batch.events[0].session_id
    live = ask("history.begin", {"file": past.name, "sessionId": session_id}, Begun).live
    new = 0 if live else min(len(batch.events), batch.through - known)
    return Taken(accepted=new, duplicates=len(batch.events) - new, refused=0, live=live)


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Events of one session. `through`: how many events of the file there are up to its end. `last`: none of that
    session follows at once."""

    events: Sequence[EventEnvelope]
    through: int
    last: bool


def _batches(told: Iterator[EventEnvelope], seen: set[str]) -> Iterator[Batch]:
    batch: list[EventEnvelope] = []
    size = through = 0
    for number, event in enumerate(told, start=1):
        if event.event_id is not None and event.event_id in seen:
            continue
        seen.add(event.event_id or "")
        weight = len(msgspec.json.encode(event))
        other = bool(batch) and batch[0].session_id != event.session_id
        if batch and (other or len(batch) >= BATCH_EVENTS or size + weight > BATCH_BYTES):
            yield Batch(events=batch, through=through, last=other)
            batch, size = [], 0
        batch.append(event)
        size += weight
        through = number
    if batch:
        yield Batch(events=batch, through=through, last=True)


def _sent(past: PastSession, batch: Batch) -> Taken:
    params = {"file": past.name, "through": batch.through, "events": batch.events, "last": batch.last}
    try:
        return ask("history.append", params, Taken)
    except Refused as refused:
        raise RemoraError(f"{past.path}: {refused}", "Nothing of that batch was stored.") from refused


def _said(counts: Counter[str]) -> str:
    return (
        f"Taken in for certain: {count_of(counts['events'], 'event')} of {count_of(counts['files'], 'session file')}."
    )


def _show(report: HistoryReport) -> None:
    what = f"{count_of(report.events, 'event')} of {count_of(report.files, 'session file')}"
    say(f"{what} {'would be' if report.dry_run else 'were'} taken in as history.")
    for number, why in (
        (report.known, "nothing new"),
        (report.live, "heard as it happened"),
        (report.elsewhere, "about another workspace (--everywhere takes it too)"),
    ):
        if number:
            say(f"  {count_of(number, 'session file')}: {why}.")
    if report.refused_events:
        say(f"  {count_of(report.refused_events, 'event')} could not be stored and were left out.")
    for path in report.unreadable:
        say(unbroken(f"  {path}: no session file that we can read."))
    if report.events and not report.dry_run:
        say(f"What each session did is noted in a moment. See it with: {SCRIPT} list")
