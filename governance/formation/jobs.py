"""The life of a job: what a trigger asks for, and what the daemon does about it (formation.md 1). Pure.

    queued ─▶ running ─▶ done | denied
       ▲         │
       ├─────────┤ a provider was away, or the daemon died: later again
       │         └─▶ failed   begun a fourth time without ever ending in order; a person has it tried again
       └────────────────┘

That a provider is away costs no start and has no end: an outage must not erase a day. What kills the daemon does.
"""

from collections.abc import Sequence

import msgspec

from governance.formation.contracts import Job, JobState, Pipeline, RangeResult, RangeStatus, Trigger
from governance.formation.errors import ModelErrorKind
from recall.canonical import short_id
from recall.contracts import Millis

MOST_STARTS = 3
MOST_RUNNING = 2
MINUTE = 60_000
BACK_OFF = (MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE)
LONGEST_BACK_OFF = 12 * 60 * MINUTE
POISON = "poison"  # the reason of a job that is begun no more
NO_DRIVER = "no-driver"  # nobody is there who could form it: the range waits
EMPTY = "empty"  # its user said nothing there
STORE = "store"  # the reason of a result that could not be written down
AWAY = frozenset({*(str(kind) for kind in ModelErrorKind), STORE})  # reasons that cost no start


def job_id(pipeline: Pipeline, session_id: str, trigger: Trigger, boundary_seq: int) -> str:
    """One job a boundary, however often it is told."""
    return short_id("job_", [pipeline, session_id, trigger, boundary_seq])


def back_off(waits: int) -> Millis:
    """How long to wait after so many attempts in a row (from 1) that met nobody, in milliseconds."""
    return BACK_OFF[waits - 1] if 1 <= waits <= len(BACK_OFF) else LONGEST_BACK_OFF


def forward(waiting: Job, newer: Job) -> Job:
    """The job of a session that waits still, with the boundary that was reached meanwhile. Its patience stays."""
    if newer.boundary_seq <= waiting.boundary_seq:
        return waiting
    return msgspec.structs.replace(
        waiting, trigger=newer.trigger, boundary_seq=newer.boundary_seq, workspace_key=newer.workspace_key
    )


def begun(job: Job, owner: str, now: Millis) -> Job:
    """The job once more at work; failed, when it was begun too often."""
    if job.starts >= MOST_STARTS:
        return msgspec.structs.replace(job, state=JobState.FAILED, reason=POISON, owner="", changed_at=now)
    return msgspec.structs.replace(
        job, state=JobState.RUNNING, starts=job.starts + 1, owner=owner, reason="", changed_at=now
    )


def orphaned(job: Job, now: Millis) -> Job:
    """A job whose daemon is gone: queued again, its start counted."""
    return msgspec.structs.replace(job, state=JobState.QUEUED, owner="", reason="interrupted", changed_at=now)


def ended(job: Job, results: Sequence[RangeResult], now: Millis) -> Job:
    """The job after its run came back in order."""
    away = next((one for one in results if _away(one)), None)
    if away is not None:
        waits = job.waits + 1
        return msgspec.structs.replace(
            job,
            state=JobState.QUEUED,
            starts=0,
            waits=waits,
            owner="",
            reason=away.reason,
            not_before=now + max(back_off(waits), away.retry_after_ms or 0),
            changed_at=now,
        )
    return answered(job, results, now)


def answered(job: Job, results: Sequence[RangeResult], now: Millis) -> Job:
    """The job after a run whose outcome somebody was told: it is over, whatever it was. What was not formed waits as a
    range."""
    reason = next((one.reason for one in results if one.reason), "")
    denied = bool(results) and all(one.status is RangeStatus.DENIED for one in results)
    state = JobState.DENIED if denied else JobState.DONE
    return msgspec.structs.replace(job, state=state, owner="", reason=reason, waits=0, changed_at=now)


def broken(job: Job, reason: str, now: Millis) -> Job:
    """The job after its run raised what nobody foresaw. Its start counts."""
    later = now + back_off(job.starts)
    return msgspec.structs.replace(
        job, state=JobState.QUEUED, owner="", reason=reason, not_before=later, changed_at=now
    )


def again(job: Job, now: Millis) -> Job:
    """A failed job that a person wants to be tried again."""
    return msgspec.structs.replace(
        job, state=JobState.QUEUED, starts=0, waits=0, owner="", reason="", not_before=0, changed_at=now
    )


def startable(queued: Sequence[Job], running: Sequence[Job], now: Millis) -> tuple[Job, ...]:
    """Which of the queued jobs begin now: the oldest first, one a session, few in all."""
    busy = {one.session_id for one in running}
    chosen: list[Job] = []
    for job in sorted(queued, key=lambda one: (one.created_at, one.job_id)):
        if len(running) + len(chosen) >= MOST_RUNNING:
            break
        if job.not_before <= now and job.session_id not in busy:
            busy.add(job.session_id)
            chosen.append(job)
    return tuple(chosen)


def next_at(queued: Sequence[Job], now: Millis) -> Millis | None:
    """When the next job that waits for its time may begin; None: none waits."""
    return min((one.not_before for one in queued if one.not_before > now), default=None)


def _away(result: RangeResult) -> bool:
    return result.status is RangeStatus.UNAVAILABLE and result.reason.partition(":")[0] in AWAY
