"""Golden files of hook captures: what each payload tells, what its transcript adds, and what its own hooks answered.

    python -m tests.host.adapters.goldens claude-code

writes `expected.jsonl` beside every capture of that host anew. Read the difference before it is committed.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from host.adapters import ADAPTERS
from host.contracts import Heard
from host.transcripts import OVERHEARERS
from recall.contracts import EventEnvelope

Json = dict[str, Any]
HOSTS = Path(__file__).resolve().parents[2] / "data" / "hosts"
NOW = 1_795_980_000_000  # epoch ms: payloads carry no time


def captures(host: str) -> Sequence[Path]:
    """The captures of a host that hold hook payloads."""
    return sorted(file.parent for file in (HOSTS / host).glob("*/hook_payloads.jsonl"))


def payloads(capture: Path) -> Iterator[Json]:
    """What the hooks of a capture received, in order."""
    for line in (capture / "hook_payloads.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        yield told["payload"] if "payload" in told else told["input"]


def told(host: str, capture: Path) -> list[str]:
    """One line a payload, then one for what is overheard of the transcript."""
    adapter, lines, session = ADAPTERS[host], [], None
    for payload in payloads(capture):
        heard = adapter.decode(json.dumps(payload).encode(), NOW)
        session = session or heard
        lines.append(_line({"event": heard.event, "agent": heard.agent_id, "surface": heard.surface} | _said(heard)))
    transcript = capture / "transcript.jsonl"
    if host in OVERHEARERS and transcript.exists() and session is not None:
        overhears = OVERHEARERS[host](session.session_id, "", 0)
        overheard = overhears.hear(transcript.read_bytes().splitlines(keepends=True))
        lines.append(_line({"overheard": [_fields(one) for one in overheard.envelopes], "shown": overheard.shown}))
    return lines


def expected(capture: Path) -> list[str]:
    return (capture / "expected.jsonl").read_text("utf-8").splitlines()


def outputs(capture: Path) -> Iterator[tuple[str, str, Json]]:
    """What the capture's own hooks answered: the event, the text, and the whole document."""
    file = capture / "hook_outputs.json"
    answers: Json = json.loads(file.read_text("utf-8")) if file.exists() else {}
    for answer in answers.values():
        if isinstance(answer, dict) and "hookSpecificOutput" in answer:
            specific = answer["hookSpecificOutput"]
            yield specific["hookEventName"], specific["additionalContext"], {"hookSpecificOutput": specific}


def _said(heard: Heard) -> Json:
    return {"transcript": heard.transcript is not None, "told": [_fields(one) for one in heard.envelopes]}


def _fields(envelope: EventEnvelope) -> Json:
    """An envelope without what is the same in all of them."""
    fields: Json = json.loads(msgspec.json.encode(envelope))
    dull = ("schemaVersion", "eventSeq", "sessionId", "observedAt")
    return {key: value for key, value in fields.items() if value is not None and key not in dull}


def _line(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


if __name__ == "__main__":
    for each in captures(sys.argv[1]):
        name = "claude-code" if sys.argv[1] == "claude-agent-sdk" else sys.argv[1]
        (each / "expected.jsonl").write_text("\n".join(told(name, each)) + "\n", encoding="utf-8")
