"""What every test gets: no home but its own, and no timed assertion from Hypothesis."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own, so that nothing can reach the real one."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    for name in [one for one in os.environ if one.startswith(("XDG_", "REMORA_PRE_", "CLAUDE_CONFIG", "CODEX_"))]:
        monkeypatch.delenv(name)
    return folder


@pytest.fixture
def run_dir() -> Iterator[Path]:
    """A folder with a short path: a Unix socket's name has room for about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        yield Path(folder)
