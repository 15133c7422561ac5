"""The runtime context on the real Codex CLI, offline: told once, replaced once, cleared once, across a compaction."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.projection import BEGINS, CLEARED, REPLACES
from tests.e2e.codex_driver import Json, Model, client_of, reply, shell, summary
from tests.e2e.installed import repository
from tests.e2e.pinning import BRITISH, SMALL, pin, remembered, restart
from tests.support.daemon import RunningDaemon

pytestmark = [pytest.mark.client, pytest.mark.promise("context-maintained")]


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


def steps(count: int) -> list[Json]:
    return [reply(f"Step {number}.", shell(f"echo step {number}")) for number in range(count)]


def test_it_is_told_once_replaced_once_and_cleared_once(daemon: RunningDaemon, tmp_path: Path) -> None:
    repository(tmp_path / "project")
    british = remembered(daemon, tmp_path, BRITISH, pinned=True)
    small = remembered(daemon, tmp_path, SMALL, pinned=False)
    changed, emptied = 5, 9
    acts = {
        2: lambda: restart(daemon),
        changed: lambda: pin(daemon, tmp_path, small),
        emptied: lambda: pin(daemon, tmp_path, british, small, pinned=False),
        emptied + 2: lambda: restart(daemon),
    }
    with Model([*steps(emptied + 4), reply("Done.")], at=acts) as model:
        assert client_of(tmp_path, model, daemon).say("Please go on with the work").code == 0

    assert set(model.shown(BRITISH)[: changed + 1]) == {1}
    assert not any(model.shown(BEGINS))
    replaced, cleared = model.shown(REPLACES), model.shown(CLEARED)
    assert replaced == [0] * (changed + 1) + [1] * (len(replaced) - changed - 1)
    assert cleared == [0] * (emptied + 1) + [1] * (len(cleared) - emptied - 1)
    assert not any(request.in_instructions(text) for request in model.requests for text in (BRITISH, SMALL, CLEARED))


def test_after_a_compaction_it_is_told_once_more(daemon: RunningDaemon, tmp_path: Path) -> None:
    repository(tmp_path / "project")
    remembered(daemon, tmp_path, BRITISH, pinned=True)
    small = remembered(daemon, tmp_path, SMALL, pinned=False)
    replies = [
        summary("The user wants the work to go on."),
        *steps(3),
        reply("Enough for one window.", shell("echo enough"), tokens=99_000),
        *steps(4),
        reply("Done."),
    ]
    with Model(replies, at={1: lambda: pin(daemon, tmp_path, small), 6: lambda: restart(daemon)}) as model:
        codex = client_of(tmp_path, model, daemon)
        codex.settings.append("model_auto_compact_token_limit=50000")
        assert codex.say("Please go on with the work").code == 0

    assert model.summaries == 1
    told = model.shown(SMALL)
    assert told[:3] == [0, 0, 1] and set(told[3:]) == {1}
    assert model.shown(REPLACES)[3] == 1 and model.shown(REPLACES)[-1] == 0  # the new window begins with both in full
    assert set(model.shown(BRITISH)[4:]) == {1}
