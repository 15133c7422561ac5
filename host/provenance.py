"""Why a record is shown and when it happened, as a packet's line of provenance says it. Pure."""

from datetime import UTC, datetime

from recall.contracts import Candidate, Millis, Origin, RecordState, Scored

LAST_DAY = 253_402_300_799_999  # 9999-12-31, the last time that has a date

TRIGGERS: dict[str, str] = {
    "explicit-request": "the user asks about it",
    "correction": "the user corrects",
    "tool-failure": "a tool call failed",
    "repeated-failure": "failed again",
    "first-prompt": "a task begins",
    "hesitation": "tried again",
    "intention": "fits the next step",
    "unresolved-need": "a failure is open",
    "prompt": "fits the request",
    "reply": "fits the reply",
    "seed": "pinned, or shown before",
}


# What ranking and the confidence gate say for short, as the agent reads it; nothing for what says only that it fits.
FINDINGS: dict[str, str] = {
    "evidence": "",
    "answer": "it answers the question",
    "degraded": "found by a simpler search",
    "episode": "it came up before",
}


def why(scored: Scored, trigger: str) -> str:
    """What it is by trust, then why now, then what ranking found."""
    candidate = scored.candidate
    said = []
    if candidate.origin is Origin.EXTRACTED:
        said.append("noted automatically, not reviewed")
    elif candidate.origin is Origin.IMPORTED or candidate.state is not RecordState.ANCHORED:
        said.append("imported, not reviewed")
    said.append(TRIGGERS.get(trigger, "fits the current step"))
    said.extend(found for found in (FINDINGS.get(reason, reason) for reason in scored.reasons) if found)
    return "; ".join(said)


def when(candidate: Candidate) -> str:
    """The days on which it happened, if known, else the day of the record, if it has one. UTC, ISO 8601."""
    if candidate.occurred is None:
        return _day(candidate.created_at) if candidate.created_at > 0 else "undated"
    start, end = _day(candidate.occurred.start), candidate.occurred.end
    return start if end is None or _day(end) == start else f"{start} to {_day(end)}"


def _day(at: Millis) -> str:
    return datetime.fromtimestamp(min(max(at, 0), LAST_DAY) / 1000, UTC).date().isoformat()
