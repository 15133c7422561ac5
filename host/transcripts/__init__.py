"""Readers of the transcripts that agent products write: lines in, envelopes out. One file a format.

A new format is one module with a `Reader` and one line in READERS and in RECORD_TYPES. What a product's hooks do not
tell is overheard while it writes its transcript: one line in OVERHEARERS.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from host.contracts import Heard
from host.transcripts.claude import RECORDS as CLAUDE_RECORDS
from host.transcripts.claude import ClaudeReader
from host.transcripts.codex import RECORDS as CODEX_RECORDS
from host.transcripts.codex import CodexReader
from host.transcripts.codex_files import rollout_of
from host.transcripts.codex_overhear import CodexOverhearing
from host.transcripts.gemini import RECORDS as GEMINI_RECORDS
from host.transcripts.gemini import GeminiReader
from host.transcripts.gemini import kind_of as gemini_kind
from host.transcripts.gemini_tail import GeminiOverhearing
from host.transcripts.records import Reader, Report, parse, text_of
from host.transcripts.tail import Overheard, Overhearing
from recall.contracts import EventEnvelope, Millis


class Overhears(Protocol):
    """What is heard of one session's transcript at hook time: the agent's own words, and texts already shown."""

    def hear(self, lines: Iterable[bytes]) -> Overheard:
        """The events and shown texts of further lines, which keep their line ends."""
        ...

    def placed(self, heard: Heard) -> Heard:
        """A hook call of the same session, after `hear`, put right by what the session knows: most return it as is."""
        ...


READERS: Mapping[str, Callable[[str], Reader]] = {
    "claude-code": ClaudeReader,
    "codex": CodexReader,
    "gemini-cli": GeminiReader,
}
RECORD_TYPES: Mapping[str, frozenset[str]] = {
    "claude-code": CLAUDE_RECORDS,
    "codex": CODEX_RECORDS,
    "gemini-cli": GEMINI_RECORDS,
}
OVERHEARERS: Mapping[str, Callable[[str, str, Millis], Overhears]] = {  # (session id, workspace, since)
    "claude-code": Overhearing,
    "claude-agent-sdk": Overhearing,
    "codex": CodexOverhearing,
    "gemini-cli": GeminiOverhearing,
}
# Products whose subagents write transcripts of their own and name them in their calls: (…, agent id)
APART: Mapping[str, Callable[[str, str, Millis, str], Overhears]] = {"codex": CodexOverhearing}
# Where a forked session's parent is, when its own transcript does not repeat it: (transcript, parent) -> transcript
PARENTS: Mapping[str, Callable[[str, str], str | None]] = {"codex": rollout_of}
CATCHING_UP = frozenset({"claude-code", "claude-agent-sdk", "codex"})  # tell what no hook could while nobody listened
LOOKED_AT = 64  # lines

__all__ = [
    "APART",
    "CATCHING_UP",
    "OVERHEARERS",
    "PARENTS",
    "READERS",
    "Overheard",
    "Overhears",
    "Reader",
    "Report",
    "read",
    "read_all",
    "recognise",
]


def recognise(lines: Iterable[bytes]) -> str | None:
    """The name in READERS whose record types the first lines have, or None."""
    for _, line in zip(range(LOOKED_AT), lines, strict=False):
        record = parse(line) or {}
        kind = text_of(record, "type")
        if not kind and gemini_kind(record) in GEMINI_RECORDS:  # its first line has no type; `user` is another's too
            return "gemini-cli"
        for name, types in RECORD_TYPES.items():
            if kind in types:
                return name
    return None


def read(reader: Reader, lines: Iterable[bytes]) -> Iterator[EventEnvelope]:
    """Every event of a transcript, in file order, one line in memory at a time. Lines keep their line ends."""
    for line in lines:
        yield from reader.feed(line)
    yield from reader.finish()


def read_all(files: Iterable[tuple[Reader, Iterable[bytes]]]) -> Iterator[EventEnvelope]:
    """The events of several transcripts, each once: a resumed session's copy of another's history gives none."""
    seen: set[str] = set()
    for reader, lines in files:
        for event in read(reader, lines):
            if event.event_id is None or event.event_id not in seen:
                yield event
                seen.add(event.event_id or "")
