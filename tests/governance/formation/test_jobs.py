"""The life of a job: one a session, few at once, patience with providers, and no fourth start."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation import jobs
from governance.formation.contracts import Job, JobState, Pipeline, RangeResult, RangeStatus, Trigger

NOW = 1_780_000_000_000


def a_job(number: int = 1, **fields: Any) -> Job:
    given = {
        "job_id": f"job_{number}",
        "pipeline": Pipeline.CHECKPOINT,
        "session_id": f"s-{number}",
        "trigger": Trigger.END,
        "boundary_seq": 10,
        "workspace_key": "ws_1",
        "state": JobState.QUEUED,
        "created_at": NOW + number,
        "changed_at": NOW + number,
    } | fields
    return Job(**given)


def a_result(status: RangeStatus, reason: str = "") -> RangeResult:
    return RangeResult(session_id="s-1", from_seq=0, through_seq=10, status=status, reason=reason)


def test_a_boundary_has_one_job_whoever_tells_it() -> None:
    one = jobs.job_id(Pipeline.CHECKPOINT, "s", Trigger.END, 10)

    assert jobs.job_id(Pipeline.CHECKPOINT, "s", Trigger.END, 10) == one
    assert jobs.job_id(Pipeline.BATCH, "s", Trigger.END, 10) != one
    assert jobs.job_id(Pipeline.CHECKPOINT, "s", Trigger.END, 11) != one


def test_a_waiting_job_takes_the_later_boundary_and_never_an_earlier_one() -> None:
    waiting, newer = a_job(boundary_seq=10, waits=2), a_job(2, boundary_seq=20, trigger=Trigger.COMPACT)

    moved = jobs.forward(waiting, newer)

    assert (moved.job_id, moved.boundary_seq, moved.trigger, moved.waits) == ("job_1", 20, Trigger.COMPACT, 2)
    assert jobs.forward(moved, waiting) == moved


def test_at_most_two_run_and_one_of_a_session_the_oldest_first() -> None:
    queued = [a_job(3), a_job(1), a_job(4, session_id="s-1"), a_job(2)]

    assert [one.job_id for one in jobs.startable(queued, [], NOW)] == ["job_1", "job_2"]
    assert [one.job_id for one in jobs.startable(queued, [a_job(9, session_id="s-1")], NOW)] == ["job_2"]
    assert jobs.startable(queued, [a_job(8), a_job(9)], NOW) == ()


def test_a_job_waits_for_its_time_and_says_when_that_is() -> None:
    later = a_job(1, not_before=NOW + 5)

    assert jobs.startable([later, a_job(2)], [], NOW) == (a_job(2),)
    assert jobs.next_at([later, a_job(2)], NOW) == NOW + 5
    assert jobs.startable([later], [], NOW + 5) == (later,)
    assert jobs.next_at([later], NOW + 5) is None


def test_the_fourth_start_of_a_job_that_never_ended_marks_it_failed_until_a_person_wants_it() -> None:
    job = a_job()
    for _ in range(jobs.MOST_STARTS):
        job = jobs.begun(job, "run_1", NOW)
        assert job.state is JobState.RUNNING
        job = jobs.orphaned(job, NOW)
        assert job.state is JobState.QUEUED

    poison = jobs.begun(job, "run_2", NOW)

    assert (poison.state, poison.reason) == (JobState.FAILED, jobs.POISON)
    assert jobs.begun(jobs.again(poison, NOW), "run_2", NOW).state is JobState.RUNNING


@pytest.mark.promise("formation-17")
def test_an_outage_costs_no_start_however_long_and_waits_longer_each_time() -> None:
    job, waited = a_job(), []
    for _ in range(10):
        running = jobs.begun(job, "run_1", NOW)
        job = jobs.ended(running, [a_result(RangeStatus.UNAVAILABLE, "unavailable")], NOW)
        waited.append(job.not_before - NOW)

    assert job.state is JobState.QUEUED and job.starts == 0
    minute = 60_000
    assert waited[:5] == [minute, 5 * minute, 30 * minute, 120 * minute, 720 * minute]
    assert set(waited[5:]) == {720 * minute}
    assert jobs.ended(job, [a_result(RangeStatus.EXTRACTED)], NOW).waits == 0


@pytest.mark.parametrize(
    ("results", "state"),
    [
        ([a_result(RangeStatus.EXTRACTED), a_result(RangeStatus.DENIED)], JobState.DONE),
        ([a_result(RangeStatus.DENIED)], JobState.DENIED),
        ([a_result(RangeStatus.PENDING, "schema")], JobState.DONE),
        ([a_result(RangeStatus.UNAVAILABLE, "workspace-off")], JobState.DONE),
        ([a_result(RangeStatus.UNAVAILABLE, "rate-limited")], JobState.QUEUED),
        ([a_result(RangeStatus.EXTRACTED), a_result(RangeStatus.UNAVAILABLE, "timeout")], JobState.QUEUED),
        ([a_result(RangeStatus.UNAVAILABLE, "store")], JobState.QUEUED),
        ([], JobState.DONE),
    ],
)
def test_how_a_run_ended_is_how_its_job_stands(results: list[RangeResult], state: JobState) -> None:
    assert jobs.ended(jobs.begun(a_job(), "run_1", NOW), results, NOW).state is state


def test_what_nobody_foresaw_counts_as_a_start_and_is_tried_later() -> None:
    job = jobs.broken(jobs.begun(a_job(), "run_1", NOW), "ValueError", NOW)

    assert (job.state, job.starts, job.reason, job.owner) == (JobState.QUEUED, 1, "ValueError", "")
    assert job.not_before == NOW + 60_000


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=30), st.integers(0, 2))
def test_never_more_than_allowed_and_none_twice(drawn: list[tuple[int, int]], busy: int) -> None:
    queued = [a_job(n, session_id=f"s-{s}", not_before=NOW + t - 2) for n, (s, t) in enumerate(drawn)]
    running = [a_job(100 + n, session_id=f"s-{n}") for n in range(busy)]

    chosen = jobs.startable(queued, running, NOW)

    sessions = [one.session_id for one in (*running, *chosen)]
    assert len(sessions) <= jobs.MOST_RUNNING and len(set(sessions)) == len(sessions)
    assert all(one.not_before <= NOW for one in chosen)
