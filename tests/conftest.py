"""What every test gets: no home but its own, and no timed assertion from Hypothesis."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["tests.support.scratch"]
settings.register_profile("suite", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder of the test's own, so that nothing can reach the real one. A numbered one would read all others."""
    for name in [one for one in os.environ if one.startswith(("XDG_", "REMORA_PRE_", "CLAUDE_CONFIG", "CODEX_"))]:
        monkeypatch.delenv(name)
    with tempfile.TemporaryDirectory(prefix="home", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("HOME", folder)
        yield Path(folder)
