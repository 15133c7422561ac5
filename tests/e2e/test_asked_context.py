"""The runtime context on the real OpenCode and Gemini CLI, offline: told once, replaced once, cleared once."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host.projection import BEGINS, CLEARED, REPLACES
from tests.e2e.asked import Asked, Json, reply
from tests.e2e.gemini_driver import Gemini, shell
from tests.e2e.installed import ours, repository
from tests.e2e.opencode_driver import OpenCode, bash
from tests.e2e.pinning import BRITISH, SMALL, pin, remembered, restart
from tests.support.daemon import RunningDaemon

pytestmark = [pytest.mark.client, pytest.mark.promise("context-maintained")]

CLIENTS: dict[str, tuple[Callable[..., OpenCode | Gemini], Callable[[str], Json]]] = {
    "opencode": (OpenCode, bash),
    "gemini-cli": (Gemini, shell),
}


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.mark.parametrize("host", CLIENTS)
def test_it_is_told_once_replaced_once_and_cleared_once(daemon: RunningDaemon, tmp_path: Path, host: str) -> None:
    client, command = CLIENTS[host]
    repository(tmp_path / "project")
    ours(daemon, tmp_path / "project", "init", "--host", host, "--yes")
    british = remembered(daemon, tmp_path, BRITISH, pinned=True)
    small = remembered(daemon, tmp_path, SMALL, pinned=False)
    changed, emptied = 2, 4
    acts = {
        changed: lambda: pin(daemon, tmp_path, small),
        changed + 1: lambda: restart(daemon),
        emptied: lambda: pin(daemon, tmp_path, british, small, pinned=False),
    }
    replies = [*(reply(f"Step {n}.", command(f"echo step {n}")) for n in range(emptied + 2)), reply("Done.")]
    with Asked(replies, at=acts) as model:
        shared = {name: value for name, value in daemon.environment().items() if name not in ("HOME", "PATH")}
        assert client(tmp_path, model, env=shared).say("Please go on with the work").code == 0

    def told(text: str) -> list[int]:
        return [request.mentions(text) for request in model.requests]

    assert set(told(BRITISH)[: changed + 1]) == {1} and not any(told(BEGINS))
    replaced, cleared = told(REPLACES), told(CLEARED)
    assert replaced == [0] * (changed + 1) + [1] * (len(replaced) - changed - 1)
    assert cleared == [0] * (emptied + 1) + [1] * (len(cleared) - emptied - 1)
