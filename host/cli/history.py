"""`import` of past sessions: what Claude Code and Codex wrote down becomes history, session by session.

Read here, line by line, and sent in batches. The daemon says how much of a file it has already, so a stopped import
goes on where it was; what is sent twice is stored once.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from host.cli.bars import Told, bar
from host.cli.link import ask, paths
from host.cli.output import count_of, say, show_json, unbroken
from host.cli.wording import folder
from host.client import Refused
from host.config import environment
from host.errors import RemoraError
from host.homes import homes_of
from host.models import SCRATCH, is_own
from host.namespace import SCRIPT
from host.past_sessions import PastSession, events, find, folder_of, opened, ordered
from host.transcripts.records import MAIN, Place, forked
from recall.contracts import EventEnvelope, EventType, Frozen
from recall.workspace import workspace_key

BATCH_EVENTS = 256
BATCH_BYTES = 480_000  # as JSON: the daemon takes frames of 1 MiB
SUFFIX = ".jsonl"
FOLDERS = 3  # so many are named


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
    as they happened; `elsewhere`: those about other workspaces; `own`: those of our own, in which a command was
    asked as a model; `unreadable`: those of a format that we do not know.
    `folders`: the other workspaces that something was taken in of, each by one of its folders."""

    dry_run: bool
    files: int
    events: int
    known: int
    live: int
    elsewhere: int
    own: int
    refused_events: int
    unreadable: tuple[str, ...]
    folders: tuple[str, ...] = ()


def import_history(
    given: Sequence[Path], workspace: Path, *, everywhere: bool, dry_run: bool, as_json: bool
) -> HistoryReport:
    """As `take_in`, and say what became of it."""
    report = take_in(given, workspace, everywhere=everywhere, dry_run=dry_run)
    show_json(report) if as_json else tell(report)
    return report


def take_in(given: Sequence[Path], workspace: Path, *, everywhere: bool, dry_run: bool) -> HistoryReport:
    """Take in the sessions of these files or folders; without any, those that the products keep for the workspace."""
    counts: Counter[str] = Counter()
    unreadable: list[str] = []
    here = workspace_key(folder(workspace))
    wanted = "" if everywhere or given else here
    folders: dict[str, str] = {}
    pasts = _given(given) if given else _found()
    scratch = paths().state / SCRATCH
    seen: dict[str, str] = {}
    try:
        with bar("taking in sessions") as told:
            done, whole = 0, sum(past.size for past in pasts)
            for past in pasts:
                try:
                    about = folder_of(past) if past.host else ""
                    if not past.host:
                        unreadable.append(str(past.path))
                    elif is_own(about, scratch):
                        counts["own"] += 1
                    elif wanted and workspace_key(about) != wanted:
                        counts["elsewhere"] += 1
                    else:
                        before = counts["events"]
                        _take(past, seen, _beyond(told, done, whole), counts, dry_run=dry_run)
                        if about and counts["events"] > before:
                            folders.setdefault(workspace_key(about), about)
                except OSError:  # gone since it was found
                    unreadable.append(str(past.path))
                done += past.size
                told(done, whole)
    except (KeyboardInterrupt, RemoraError):
        say(f"Stopped. {_said(counts)} Run it again: it goes on from there.", err=True)
        raise
    return HistoryReport(
        dry_run=dry_run,
        files=counts["files"],
        events=counts["events"],
        known=counts["known"],
        live=counts["live"],
        elsewhere=counts["elsewhere"],
        own=counts["own"],
        refused_events=counts["refused"],
        unreadable=tuple(unreadable),
        folders=tuple(sorted(about for key, about in folders.items() if key != here)),
    )


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


def _take(past: PastSession, seen: dict[str, str], shown: Told, counts: Counter[str], *, dry_run: bool) -> None:
    """Send what is new in one file, and count it. `seen`: the sessions of events of files before it, by their ids,
    whose history it may repeat. `shown` is told how many of its bytes are done."""
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


def _batches(told: Iterator[EventEnvelope], seen: dict[str, str]) -> Iterator[Batch]:
    batch: list[EventEnvelope] = []
    size = through = 0
    for number, event in _descended(enumerate(told, start=1), seen):
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


def _descended(told: Iterable[tuple[int, EventEnvelope]], seen: dict[str, str]) -> Iterator[tuple[int, EventEnvelope]]:
    """The events that are new, with their numbers. A session that repeats another one's history goes on from it: that
    is said before its first own event."""
    parents: dict[str, str] = {}
    for number, event in told:
        session = event.session_id
        if event.event_id is not None and event.event_id in seen:
            if seen[event.event_id] != session:
                parents.setdefault(session, seen[event.event_id])
            continue
        if session in parents and event.event_type != EventType.SESSION_START:
            place = Place(session_id=session, agent_id=MAIN, workspace=event.workspace, at=event.timestamp)
            descent = forked(place, parents.pop(session))
            if seen.setdefault(descent.event_id or "", session) == session:
                yield number, descent
        if event.event_id is not None:
            seen[event.event_id] = session
        yield number, event


def _sent(past: PastSession, batch: Batch) -> Taken:
    params = {
        "file": past.name,
        "host": past.host,
        "through": batch.through,
        "events": batch.events,
        "last": batch.last,
    }
    try:
        return ask("history.append", params, Taken)
    except Refused as refused:
        raise RemoraError(f"{past.path}: {refused}", "Nothing of that batch was stored.") from refused


def _said(counts: Counter[str]) -> str:
    return (
        f"Taken in for certain: {count_of(counts['events'], 'event')} of {count_of(counts['files'], 'session file')}."
    )


def tell(report: HistoryReport) -> None:
    what = f"{count_of(report.events, 'event')} of {count_of(report.files, 'session file')}"
    say(f"{what} {'would be' if report.dry_run else 'were'} taken in as history.")
    for number, why in (
        (report.known, "nothing new"),
        (report.live, "heard as it happened"),
        (report.own, "a model that was asked by us"),
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
        for one in report.folders[:FOLDERS]:
            say(unbroken(f"  of another workspace: {SCRIPT} list --workspace {shlex.quote(one)}"))
        if len(report.folders) > FOLDERS:
            say(f"  and of {len(report.folders) - FOLDERS} more.")
