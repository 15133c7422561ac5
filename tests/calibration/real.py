"""Real prompts out of recorded sessions, by rule: tests/data/prompts/real.json is made by

    python -m tests.calibration.real TRANSCRIPTS PROACTIVE --write

In the order of the files, what people typed (as the host's own readers tell it), each text once, acknowledgements and
translations left out. Where the transcripts give fewer than sixty, the labelled sessions go on; those made from one of
the transcripts are passed over, and so are transcripts that somebody made up.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from host.gate_words import is_empty
from host.transcripts import READERS, read, recognise
from recall.contracts import EventPayload, EventType, SourceKind
from tests.calibration.texts import PROMPTS

WANTED = 60
MADE_UP = frozenset(
    {
        "cc-2.1.x-all-record-types.jsonl",
        "cc-2025-edge-cases.jsonl",
        "cc-2025-session-b.jsonl",
        "codex-all-record-types.jsonl",
        "codex-edges.jsonl",
    }
)
SAME = ("d01-", "d02-", "d03-")  # labelled sessions that are transcripts as well
LICENCE = (
    "MIT, some MIT or Apache-2.0: words of users in recorded sessions, sanitised. Origins by file:"
    " ../transcripts/README.md; sessions d05 to d13: github entireio/cli. Licence texts: ../transcripts/LICENSES"
    " and LICENSES here."
)


def typed(transcripts: Path, labelled: Path) -> dict[str, str]:
    """Text -> the file or session that it was typed in."""
    found: dict[str, str] = {}
    for place, text in [*_recorded(transcripts), *_labelled(labelled)]:
        if len(found) < WANTED and not is_empty(text):
            found.setdefault(text, place)
    return found


def _recorded(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted([*(folder / "claude").rglob("*.jsonl"), *(folder / "codex").rglob("*.jsonl")]):
        if path.name in MADE_UP:
            continue
        with path.open("rb") as lines:
            known = recognise(lines)
            lines.seek(0)
            for event in read(READERS[known](path.stem), lines) if known else ():
                text = msgspec.json.decode(event.payload, type=EventPayload).text
                if text and event.event_type == EventType.USER_MESSAGE and event.source_kind is SourceKind.USER:
                    yield path.name, text


def _labelled(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("*/events.jsonl")):
        if path.parent.name.startswith(SAME):
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["type"] == EventType.USER_MESSAGE and not event.get("translated"):
                yield path.parent.name, event["text"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Take real prompts out of recorded sessions.")
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("labelled", type=Path)
    parser.add_argument("--write", action="store_true", help="write tests/data/prompts/real.json")
    options = parser.parse_args()
    found = typed(options.transcripts, options.labelled)
    prompts = [
        {"id": f"u{number:03}", "prompt": text, "from": place} for number, (text, place) in enumerate(found.items(), 1)
    ]
    print(f"{len(prompts)} prompts, {sum(place.endswith('.jsonl') for place in found.values())} from transcripts")
    if options.write:
        text = json.dumps({"licence": LICENCE, "prompts": prompts}, ensure_ascii=False, indent=1)
        (PROMPTS / "real.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
