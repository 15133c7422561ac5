"""A thread's rollout is found beside another one, whatever the machine's day was."""

from pathlib import Path

import pytest

from host.transcripts.codex_files import rollout_of

THREAD = "01a22bfb-71ed-7640-af21-7fe370ac3085"  # made at 2026-11-30T10:23Z


def a_rollout(sessions: Path, day: str, thread: str) -> str:
    path = sessions / day / f"rollout-2026-11-30T10-23-48-{thread}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


@pytest.mark.parametrize("day", ["2026/11/29", "2026/11/30", "2026/12/01"])
def test_a_parent_of_another_day_is_found_by_the_time_in_its_id(tmp_path: Path, day: str) -> None:
    parent = a_rollout(tmp_path, day, THREAD)
    fork = a_rollout(tmp_path, "2027/02/03", "01a5c2a0-0000-7640-af21-7fe370ac3085")

    assert rollout_of(fork, THREAD) == parent


def test_one_of_the_same_folder_is_found_without_a_time(tmp_path: Path) -> None:
    parent, fork = a_rollout(tmp_path, "2026/11/30", "a-thread"), a_rollout(tmp_path, "2026/11/30", "another")

    assert rollout_of(fork, "a-thread") == parent


@pytest.mark.parametrize("thread", [THREAD, "", "*", "../../x", "x" * 65])
def test_what_is_not_there_is_not_found(tmp_path: Path, thread: str) -> None:
    fork = a_rollout(tmp_path, "2026/11/30", "another")

    assert rollout_of(fork, thread) is None
    assert rollout_of("", thread) is None
    assert rollout_of("rollout.jsonl", thread) is None
