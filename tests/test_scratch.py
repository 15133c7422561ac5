"""The folder of the tests is in memory only where everything can be done in it."""

from pathlib import Path

import pytest

from tests.support import scratch


def test_a_folder_without_room_or_that_is_not_there_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "ROOM", 2**62)
    assert scratch.folder_in_memory(tmp_path) is None
    assert scratch.folder_in_memory(tmp_path / "none") is None


def test_a_folder_that_may_hold_no_programs_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "ROOM", 0)
    assert scratch.folder_in_memory(tmp_path) == str(tmp_path)
    monkeypatch.setattr(scratch.os, "ST_NOEXEC", -1)
    assert scratch.folder_in_memory(tmp_path) is None
