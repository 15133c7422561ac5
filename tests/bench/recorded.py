"""What agents and people really said: tool outputs and prompts of the recorded sessions in the repository, always the
same. Their words are the vocabulary of the made-up stores, their long events are what the recall bench asks."""

import functools
import re
from collections import Counter
from pathlib import Path

import msgspec

from host.demo import recording
from host.evaluation.sessions import load
from host.transcripts import READERS, read, recognise
from recall.analyzer import STOP_WORDS
from recall.contracts import EventPayload, EventType

TRANSCRIPTS = Path(__file__).resolve().parents[1] / "data" / "transcripts"
LEAST, MOST = 2_000, 4_000  # characters of a long event
SAID = (EventType.TOOL_RESULT, EventType.USER_MESSAGE)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,24}")


@functools.cache
def texts() -> tuple[tuple[str, str], ...]:
    """(event type, text) of every tool output and prompt."""
    found: dict[tuple[str, str], None] = {}
    for path in sorted(TRANSCRIPTS.rglob("*.jsonl")):
        with path.open("rb") as lines:
            known = recognise(lines)
            lines.seek(0)
            for event in read(READERS[known](path.stem), lines) if known else ():
                text = msgspec.json.decode(event.payload, type=EventPayload).text
                if event.event_type in SAID and text:
                    found[event.event_type, text] = None
    for one in load(recording.SHIPPED).events:
        if one.type in SAID and one.text:
            found[one.type, one.text] = None
    return tuple(found)


@functools.cache
def long_events() -> tuple[tuple[str, str], ...]:
    """(event type, text) of those with 2 to 4 KB; of a longer one the end, where a tool says what went wrong."""
    return tuple((kind, text[-MOST:]) for kind, text in texts() if len(text) >= LEAST)


@functools.cache
def words() -> tuple[str, ...]:
    """The words and names that were said, the most frequent first, stop-words left out."""
    counts = Counter(word for _, text in texts() for word in WORD.findall(text) if word.lower() not in STOP_WORDS)
    return tuple(sorted(counts, key=lambda word: (-counts[word], word)))
