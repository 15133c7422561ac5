"""The session files that agent products left on this machine, and their events in order. Used by `import`.

Claude Code: `projects/<folder>/<session>.jsonl`, and below `<session>/subagents/` one file a subagent. Codex:
`sessions/YYYY/MM/DD/rollout-*.jsonl`, subagents' among them. A file is read line by line; its size does not matter.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from host.homes import Homes
from host.transcripts import READERS, recognise
from host.transcripts.records import MAIN, Place, forked
from recall.contracts import EventEnvelope

LINES_FOR_FOLDER = 2_000  # of a file, that are looked through for the folder that it is about
LONGEST = 64 * 1024 * 1024  # bytes; a longer line is passed over


@dataclass(frozen=True, kw_only=True, slots=True)
class PastSession:
    """One file. `host`: the product that wrote it; empty: none that we know."""

    path: Path
    host: str
    size: int

    @property
    def name(self) -> str:
        """What names the file for good: its real path."""
        return os.path.realpath(self.path)


def find(homes: Homes) -> list[PastSession]:
    """All session files of this user, oldest first, so that a copied history follows its original."""
    files = [*homes.claude.glob("projects/*/*.jsonl"), *homes.claude.glob("projects/*/*/subagents/*.jsonl")]
    files += homes.codex.glob("sessions/**/rollout-*.jsonl")
    return ordered(files)


def ordered(files: list[Path]) -> list[PastSession]:
    """The files, oldest first; an agent's own before those of its subagents. One that cannot be opened has no host;
    one that is gone or empty is left out."""
    found: list[tuple[bool, int, str, PastSession]] = []
    for path in files:
        host, size, at = "", 0, 0
        try:
            with opened(path) as file:
                told = os.fstat(file.fileno())
                size, at = told.st_size, told.st_mtime_ns
                if not size:
                    continue
                host = recognise(_lines(file)) or ""
        except FileNotFoundError:
            continue
        except OSError:
            pass
        past = PastSession(path=path, host=host, size=size)
        found.append((path.parent.name == "subagents", at, str(path), past))
    return [past for *_, past in sorted(found, key=lambda one: one[:3])]


def folder_of(past: PastSession) -> str:
    """The folder that the session is about, as its first event names it; empty: none does."""
    with opened(past.path) as file:
        reader = READERS[past.host](past.path.stem)
        for line in islice(_lines(file), LINES_FOR_FOLDER):
            for event in reader.feed(line):
                if event.workspace:
                    return event.workspace
    return ""


def events(past: PastSession, file: BinaryIO) -> Iterator[EventEnvelope]:
    """The events of an opened file, in its order; last, which session it goes on from."""
    reader = READERS[past.host](past.path.stem)
    latest: EventEnvelope | None = None
    for line in _lines(file):
        for latest in reader.feed(line):
            yield latest
    for latest in reader.finish():
        yield latest
    told = reader.report()
    if latest is not None and told.parent not in (None, latest.session_id) and not told.is_sidechain:
        yield forked(_at(latest), told.parent or "")


def _at(event: EventEnvelope) -> Place:
    return Place(session_id=event.session_id, agent_id=MAIN, workspace=event.workspace, at=event.timestamp)


def opened(path: Path) -> BinaryIO:
    """A plain file, for reading. A pipe or a device would never end. Raises OSError."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "Not a plain file", str(path))
    return os.fdopen(number, "rb")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file with their ends, but for those that are too long."""
    within = False  # a line that is passed over
    while piece := file.readline(LONGEST):
        whole = piece.endswith(b"\n")
        if not within and (whole or len(piece) < LONGEST):
            yield piece
        within = not whole
