"""Two agent products, three subagents and two terminals in one repository, all at once: each is given what it needs,
and none what another needs. Real clients; every one of the six fails at the same moment."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import codex_driver
from tests.e2e.driver import Json, Model, bash, delegate, reply
from tests.e2e.installed import client, install, logged
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

PARTIES = 6
DELEGATING = "I will delegate."
WAITS = 1000  # of 20 ms: so long the failing commands wait for one another


@dataclass(frozen=True)
class Need:
    """A step that fails, what it prints, and what was learned about it: `words` stand in the memory alone."""

    step: str
    prints: str
    words: str
    memory: str

    def failing(self, who: str, meeting: Path) -> str:
        """A command that waits until all parties run theirs, and fails."""
        there = f"[ $(ls {meeting} | wc -l) -ge {PARTIES} ] && break; sleep 0.02"
        return f"touch {meeting}/{who}; for n in $(seq {WAITS}); do {there}; done; echo '{self.prints}' >&2; exit 2"


SEAL = Need(
    "seal",
    "make seal: SealBrokenError: wax_plate of hull 4 is torn",
    "press it anew with the small iron",
    "SealBrokenError from `make seal` about a torn wax_plate: press it anew with the small iron, and seal again.",
)
BERTH = Need(
    "berth",
    "pnpm release:berth refused with E_TARIFF_LOCK",
    "wait for the green dot on the board",
    "`pnpm release:berth` refuses with E_TARIFF_LOCK while the nightly import of prices holds its lease: give it back "
    "with `hctl unlock --env staging`, wait for the green dot on the board, and only then publish.",
)
MOOR = Need(
    "moor",
    "cargo moor: MooringLost: rope 2 of cleat 7",
    "untie the second rope first",
    "MooringLost from `cargo moor` means that two ropes share a cleat: untie the second rope first and moor anew.",
)
NEEDS = (SEAL, BERTH, MOOR)


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


def with_helpers(need: Need, helpers: dict[str, Need], meeting: Path) -> list[Json]:
    """A session that delegates to helpers in the background, and fails at its own step meanwhile."""
    children: list[Json] = []
    for task, other in helpers.items():
        child: Json = {"when": task, "unless": DELEGATING}
        children.append(child | reply(f"Working on {task}.", bash(other.failing(task, meeting))))
        children.append(child | reply(f"The report of {task}."))
    main: Json = {"when": DELEGATING}
    return [
        {"unless": list(helpers)} | reply(DELEGATING, *(delegate(task) for task in helpers)),
        *children,
        main | reply("Now my own step.", bash(need.failing(f"main-{need.step}", meeting))),
        *(main | reply("Looking.", bash(f"sleep 1; echo looking {n}")) for n in range(2)),  # as long as steps take
        main | {"repeat": True} | reply("That is all for now."),
    ]


def test_each_gets_its_own_and_none_anothers(daemon: RunningDaemon, tmp_path: Path) -> None:
    project, meeting, start = tmp_path / "project", tmp_path / "meeting", threading.Barrier(3)
    install(project, daemon)
    meeting.mkdir()
    with daemon.connect() as wire:
        for need in NEEDS:
            wire.call("memory.remember", text=need.memory, workspace=str(project))

    def together() -> None:
        start.wait(60)

    first = Model(with_helpers(SEAL, {"HELPER-A": BERTH, "HELPER-B": MOOR}, meeting), at={0: together})
    second = Model(with_helpers(BERTH, {"HELPER-C": SEAL}, meeting), at={0: together})
    other = codex_driver.Model(
        [
            codex_driver.reply("My step.", codex_driver.shell(MOOR.failing("codex", meeting), yield_time_ms=30_000)),
            *(codex_driver.reply("Looking.", codex_driver.shell(f"sleep 1; echo looking {n}")) for n in range(2)),
            codex_driver.reply("Done."),
        ],
        at={0: together},
    )
    with first, second, other, ThreadPoolExecutor(3) as terminals:
        clients: list[Callable[[str], Any]] = [
            client(tmp_path, first, daemon).say,
            client(tmp_path, second, daemon).say,
            codex_driver.client_of(tmp_path, other, daemon).say,
        ]
        prompts = [f"Please do job number {number}" for number, _ in enumerate(NEEDS)]
        going = [terminals.submit(say, prompt) for say, prompt in zip(clients, prompts, strict=True)]
        runs = [each.result(120) for each in going]

    assert [run.code for run in runs] == [0, 0, 0]
    assert len(list(meeting.iterdir())) == PARTIES
    children = [request for model in (first, second) for request in model.requests if request.agent]
    assert len({request.agent for request in children}) == 3
    assert not any(request.mentions(need.words) for request in children for need in NEEDS)
    for need, model in ((SEAL, first), (BERTH, second), (MOOR, other)):
        own = [request for request in model.requests if not getattr(request, "agent", "")]
        seen = [[request.mentions(each.words) for request in own] for each in NEEDS]
        mine = seen.pop(NEEDS.index(need))
        assert mine == sorted(mine) and set(mine) == {0, 1}, (need.step, mine)  # once, and it stays
        assert not any(map(any, seen)), (need.step, seen)
    with daemon.connect() as wire:
        given = wire.call("audit.query", kind="delivery", outcome="delivered")["entries"]
    assert len(given) == len({entry["sessionRef"] for entry in given}) == 3
    for run, prompt in zip(runs, prompts, strict=True):
        told = [payload["text"] for kind, payload in logged(daemon, run.session_id, "main") if kind == "user/message"]
        assert told[0] == prompt
        assert not set(told) & (set(prompts) - {prompt})
