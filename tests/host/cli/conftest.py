"""A real daemon for the walks of this folder; each test has a workspace of its own in it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import RunningDaemon
from tests.support.prompt import Prompt


@pytest.fixture(scope="session")
def daemon() -> Iterator[RunningDaemon]:
    with tempfile.TemporaryDirectory(prefix="r") as folder, RunningDaemon(Path(folder)) as running:
        yield running


@pytest.fixture
def prompt(daemon: RunningDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prompt:
    for name, value in daemon.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return Prompt(tmp_path, monkeypatch)
