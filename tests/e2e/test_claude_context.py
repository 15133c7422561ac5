"""The runtime context on the real Claude Code, offline: told once, replaced once, cleared once, and never again."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.projection import BEGINS, CLEARED, REPLACES
from tests.e2e.driver import Json, Model, Request, bash, read, reply, summaries
from tests.e2e.installed import client, install
from tests.e2e.pinning import BRITISH, SMALL, pin, remembered, restart
from tests.support.daemon import RunningDaemon

pytestmark = [pytest.mark.client, pytest.mark.promise("context-maintained")]

SUMMARY = "Your task is to create a"
STEPS = 20


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    install(tmp_path / "project", daemon)
    return tmp_path


def steps(count: int) -> list[Json]:
    return [reply(f"Step {number}.", bash(f"echo step {number}")) for number in range(count)]


def talk(model: Model) -> list[Request]:
    return [request for request in model.requests if SUMMARY not in request.whole()]


def counts(requests: list[Request], text: str) -> list[int]:
    return [request.mentions(text) for request in requests]


def test_it_is_told_once_replaced_once_and_cleared_once(daemon: RunningDaemon, folder: Path) -> None:
    """Twenty steps in which nothing changes; one pin; steps; all unpinned; steps. The daemon is killed and started
    again in each stretch, and the session is resumed in a process of its own."""
    british = remembered(daemon, folder, BRITISH, pinned=True)
    small = remembered(daemon, folder, SMALL, pinned=False)
    changed, emptied = STEPS + 1, STEPS + 7

    acts = {
        6: lambda: restart(daemon),
        changed: lambda: pin(daemon, folder, small),
        changed + 3: lambda: restart(daemon),
        emptied: lambda: pin(daemon, folder, british, small, pinned=False),
        emptied + 2: lambda: restart(daemon),
    }
    replies = [*steps(emptied + 5), reply("Enough."), reply("Still here."), *steps(3), reply("Done.")]
    with Model(replies, at=acts) as model:
        claude = client(folder, model, daemon)
        first = claude.say("Please go on with the work")
        second = claude.say("Good, and now the rest", resume=first.session_id)
    assert (first.code, second.code) == (0, 0)
    requests = talk(model)
    assert len(requests) > emptied + 6

    assert set(counts(requests[: changed + 1], BRITISH)) == {1}  # in full at the start, and not again
    assert not any(counts(requests, BEGINS))  # the start said it all
    told = counts(requests, REPLACES)
    assert told[: changed + 1] == [0] * (changed + 1) and set(told[changed + 1 :]) == {1}
    assert set(counts(requests[changed + 1 :], SMALL)) == {1} and set(counts(requests[changed + 1 :], BRITISH)) == {2}
    cleared = counts(requests, CLEARED)
    assert cleared[: emptied + 1] == [0] * (emptied + 1) and set(cleared[emptied + 1 :]) == {1}
    for text in (BRITISH, SMALL, REPLACES, CLEARED):
        assert not any(request.in_system(text) for request in requests)


def test_after_a_compaction_it_is_told_once_more(daemon: RunningDaemon, folder: Path) -> None:
    british = remembered(daemon, folder, BRITISH, pinned=True)
    small = remembered(daemon, folder, SMALL, pinned=False)
    notes = folder / "project" / "notes.txt"
    notes.write_text("one\ntwo\nthree\n", encoding="utf-8")
    replies = [
        *summaries("The user wants the work to go on."),
        *steps(3),
        reply("Enough for one window.", read(notes), tokens=97_000),
        *steps(6),
        reply("Done."),
    ]
    acts = {1: lambda: pin(daemon, folder, small), 7: lambda: restart(daemon)}
    with Model(replies, at=acts) as model:
        claude = client(folder, model, daemon, CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000")
        assert claude.say("Please go on with the work").code == 0
    place = next(n for n, request in enumerate(model.requests) if SUMMARY in request.whole())
    before, after = model.requests[:place], [one for one in model.requests[place:] if SUMMARY not in one.whole()]
    assert counts(before, REPLACES)[-1] == 1
    assert len(after) >= 6
    for text in (BRITISH, SMALL):
        seen = counts(after, text)
        assert seen[-1] >= 1 and len(set(seen)) == 1, seen  # with the first request of the window, and no more
    assert set(counts(after, BEGINS)) == {0}
    assert {british, small} <= {one for request in after for one in (british, small) if request.mentions(one)}
