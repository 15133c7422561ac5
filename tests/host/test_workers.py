"""Session tasks: the log's order, bounded queues, appends first; forced interleavings over a log in memory."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import msgspec
import pytest
import structlog

from governance.errors import AuditUnavailable
from host.runtime import RuntimePolicy, SessionRuntime
from host.sessions import QUEUE_MAX, History, Sessions, Stores
from host.tasks import Tasks
from host.workers import BACKLOG, BUSY_APPENDS, ROUND, Workers
from recall.contracts import EventEnvelope
from tests.support.builders import AGENT, SESSION, a_prompt
from tests.support.runtimes import a_runtime


class Rig:
    """Workers over sessions, a log in memory, and an ear that remembers whom it heard when."""

    def __init__(self) -> None:
        self.log: list[EventEnvelope] = []
        self.read = asyncio.Event()  # the log answers while it is set
        self.read.set()
        self.reading = asyncio.Event()  # somebody has asked the log
        self.open_gate = asyncio.Event()  # histories are found while it is set
        self.open_gate.set()
        self.ear = asyncio.Event()  # passes end while it is set
        self.ear.set()
        self.heard: dict[str, list[int]] = defaultdict(list)
        self.in_flight: dict[str, int] = defaultdict(int)
        self.most_in_flight: dict[str, int] = defaultdict(int)
        self.broken: set[int] = set()
        self.unrecorded: set[int] = set()
        self.lines = structlog.testing.CapturingLogger()
        self.tasks = Tasks(structlog.wrap_logger(self.lines, processors=[]))
        stores = Stores(
            replay=self.replay, history=self.history, adopt=self.adopt, wake=lambda one: self.workers.wake(one)
        )
        self.sessions = Sessions(stores, RuntimePolicy(), "user")
        self.workers = Workers(self.sessions, self.tasks)
        self.workers.hear = self.hear

    async def replay(self, session: str, agent: str, after: int, limit: int) -> Sequence[EventEnvelope]:
        found = [e for e in self.log if (e.session_id, e.agent_id) == (session, agent) and e.event_seq > after]
        self.reading.set()
        await self.read.wait()
        return found[:limit]

    async def history(self, session: str, agent: str) -> History:
        await self.open_gate.wait()
        return History(root_agent=AGENT, entries=(), packets={}, evidence={})

    async def adopt(self, path: str, key: str) -> None:
        return None

    async def hear(self, envelope: EventEnvelope, runtime: SessionRuntime) -> None:
        session = envelope.session_id
        self.in_flight[session] += 1
        self.most_in_flight[session] = max(self.most_in_flight[session], self.in_flight[session])
        try:
            await self.ear.wait()
            if envelope.event_seq in self.broken:
                raise OSError("a canary of the event")
            if envelope.event_seq in self.unrecorded:
                raise AuditUnavailable("The audit could not be written.", "Check the disk.")
            self.heard[session].append(envelope.event_seq)
        finally:
            self.in_flight[session] -= 1

    def commit(self, *sessions: str, agent: str = AGENT) -> list[EventEnvelope]:
        """One event of each of these sessions, in the log."""
        made = []
        for session in sessions:
            number = 1 + sum(one.session_id == session for one in self.log)
            made.append(msgspec.structs.replace(a_prompt(session_id=session, agent_id=agent), event_seq=number))
            self.log.append(made[-1])
        return made

    async def append(self, *sessions: str, host: str = "socket") -> None:
        self.workers.enqueue(self.commit(*sessions), host)

    async def calm(self, session: str = SESSION) -> SessionRuntime:
        runtime = await self.sessions.find(session, AGENT)
        async with asyncio.timeout(5):
            await runtime.idle.wait()
        return runtime


@pytest.fixture
async def rig() -> Rig:
    return Rig()


async def breathe() -> None:
    """Let every task go as far as it can."""
    for _ in range(50):
        await asyncio.sleep(0)


def everything(count: int) -> list[int]:
    return list(range(1, count + 1))


# ------------------------------------------------------------------------------------------------ order and bounds


async def test_envelopes_are_heard_in_the_logs_order_one_at_a_time(rig: Rig) -> None:
    rig.ear.clear()
    for size in (1, 3, 2 * ROUND, 5):
        await rig.append(*[SESSION] * size)
    await breathe()
    rig.ear.set()

    runtime = await rig.calm()

    assert rig.heard[SESSION] == everything(9 + 2 * ROUND)
    assert rig.most_in_flight[SESSION] == 1
    assert rig.sessions.known(SESSION, AGENT) is runtime


async def test_each_session_has_its_own_task(rig: Rig) -> None:
    rig.ear.clear()
    await rig.append("one", "two", "one")

    await breathe()

    assert rig.in_flight == {"one": 1, "two": 1}
    rig.ear.set()
    await rig.tasks.settled()
    assert rig.heard == {"one": [1, 2], "two": [1]}


async def test_a_full_queue_takes_no_more_and_the_rest_is_read_from_the_log(rig: Rig) -> None:
    rig.ear.clear()
    for _ in range(QUEUE_MAX + 300):
        await rig.append(SESSION)
    runtime = await rig.sessions.find(SESSION, AGENT)
    waiting, behind = len(runtime.queue), runtime.behind

    rig.ear.set()
    await rig.calm()

    assert (waiting, behind) == (QUEUE_MAX, True)
    assert rig.heard[SESSION] == everything(QUEUE_MAX + 300)
    assert not runtime.behind


async def test_what_is_told_again_is_heard_once(rig: Rig) -> None:
    stored = rig.commit(SESSION, SESSION)

    rig.workers.enqueue(stored, "socket")
    rig.workers.enqueue(stored, "socket")

    await rig.calm()
    assert rig.heard[SESSION] == [1, 2]


@pytest.mark.parametrize(
    ("waiting", "behind", "overtaken"),
    [(0, False, False), (BACKLOG, False, False), (BACKLOG + 1, False, True), (0, True, True)],
)
async def test_a_pass_comes_too_late_only_above_the_backlog(
    rig: Rig, waiting: int, behind: bool, overtaken: bool
) -> None:
    runtime = a_runtime()
    runtime.queue.extend([a_prompt()] * waiting)
    runtime.behind = behind

    assert rig.workers.overtaken(runtime) is overtaken


async def test_the_host_of_the_latest_event_is_known(rig: Rig) -> None:
    await rig.append(SESSION, host="claude-code")
    runtime = await rig.calm()
    first = runtime.host
    await rig.append(SESSION)

    assert (first, runtime.host) == ("claude-code", "socket")


# ------------------------------------------------------------------------------------------------ interleavings


@pytest.mark.promise("acknowledged-is-kept")
async def test_an_event_that_is_told_while_the_log_is_read_is_heard_too(rig: Rig) -> None:
    rig.commit(SESSION, SESSION)
    runtime = await rig.sessions.open(SESSION, AGENT)
    rig.read.clear()
    rig.reading.clear()
    await rig.reading.wait()  # the log has been asked: what is stored from here on is not in its answer

    await rig.append(SESSION)
    rig.read.set()

    assert await rig.calm() is runtime
    assert rig.heard[SESSION] == [1, 2, 3]


@pytest.mark.promise("acknowledged-is-kept")
async def test_a_call_that_waits_for_one_session_loses_nothing_of_another(rig: Rig) -> None:
    rig.commit("old")
    rig.open_gate.clear()
    waiting = asyncio.create_task(rig.append("new", "old", "new"))
    await breathe()
    await rig.append("new")  # the next call overtakes the one that waits
    rig.open_gate.set()
    await waiting

    await rig.calm("new")
    await rig.calm("old")

    assert rig.heard == {"new": [1, 2, 3], "old": [1, 2]}


async def test_a_session_that_is_asked_for_while_its_first_event_comes_is_one_session(rig: Rig) -> None:
    stored = rig.commit(SESSION)
    rig.open_gate.clear()
    asked = asyncio.create_task(rig.sessions.find(SESSION, AGENT))
    await breathe()
    rig.workers.enqueue(stored, "socket")
    await breathe()
    rig.open_gate.set()

    assert await asked is await rig.calm()
    assert rig.heard[SESSION] == [1]


async def test_a_session_that_is_live_is_not_restored_again(rig: Rig) -> None:
    await rig.append(SESSION)
    runtime = await rig.calm()

    assert await rig.sessions.open(SESSION, AGENT) is runtime
    assert rig.sessions.all() == rig.sessions.agents(SESSION) == [runtime]


async def test_a_pass_that_fails_is_said_and_the_next_event_goes_on_with_what_waits(rig: Rig) -> None:
    rig.broken = {2}
    await rig.append(SESSION, SESSION, SESSION)
    runtime = await rig.calm()
    await rig.tasks.settled()
    before, failed = list(rig.heard[SESSION]), dict(rig.tasks.failed)
    await rig.append(SESSION)

    await rig.calm()

    assert (before, rig.heard[SESSION]) == ([1], [1, 3, 4])
    assert failed == {"session": 1}
    assert not runtime.lock.locked()
    assert "canary" not in str(rig.lines.calls)


async def test_what_could_not_be_recorded_is_heard_again_from_the_log(rig: Rig) -> None:
    rig.unrecorded = {2}
    await rig.append(SESSION, SESSION, SESSION)
    await rig.tasks.settled()
    before = rig.sessions.all()
    rig.unrecorded = set()

    await rig.append(SESSION)
    await rig.tasks.settled()

    assert before == []
    assert rig.heard[SESSION][-3:] == [2, 3, 4]


@pytest.mark.promise("acknowledged-is-kept")
async def test_a_session_whose_hearing_was_cut_short_is_nobodys_any_more(rig: Rig) -> None:
    await rig.append(SESSION)
    whole = await rig.calm()
    rig.unrecorded = {2}
    await rig.append(SESSION)
    await rig.tasks.settled()
    rig.unrecorded = set()
    await rig.append(SESSION)
    again = await rig.calm()
    async with again.lock:  # it is stopped while it waits
        await rig.append(SESSION)
        await breathe()
        await rig.tasks.close()

    assert (whole.forsaken, again is whole) == (True, False)
    assert again.forsaken
    assert rig.sessions.all() == []


# ------------------------------------------------------------------------------------------------ appends go first


@pytest.fixture
def appends(rig: Rig) -> Iterator[ExitStack]:
    """As many appends under way as hold passes back."""
    with ExitStack() as under_way:
        for _ in range(BUSY_APPENDS):
            under_way.enter_context(rig.workers.appending())
        yield under_way


async def test_many_appends_under_way_hold_passes_back_until_they_are_fewer(
    rig: Rig, appends: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.workers.PAUSE_SECONDS", 3600)
    with rig.workers.appending():
        await rig.append(SESSION)
        await breathe()
        held_back = list(rig.heard[SESSION])
    await breathe()
    still_held_back = list(rig.heard[SESSION])

    appends.close()

    await rig.calm()
    assert (held_back, still_held_back, rig.heard[SESSION]) == ([], [], [1])


async def test_a_few_appends_hold_nothing_back(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.workers.PAUSE_SECONDS", 3600)
    with ExitStack() as under_way:
        for _ in range(BUSY_APPENDS - 1):
            under_way.enter_context(rig.workers.appending())
        await rig.append(SESSION)

        await rig.calm()

    assert rig.heard[SESSION] == [1]


async def test_appends_without_end_hold_passes_back_for_a_pause_only(
    rig: Rig, appends: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.workers.PAUSE_SECONDS", 0)
    await rig.append(*[SESSION] * (2 * ROUND))

    await rig.calm()

    assert rig.heard[SESSION] == everything(2 * ROUND)


async def test_an_append_that_fails_is_no_longer_under_way(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.workers.PAUSE_SECONDS", 3600)
    for _ in range(BUSY_APPENDS):
        with pytest.raises(OSError), rig.workers.appending():
            raise OSError
    await rig.append(SESSION)

    await rig.calm()

    assert rig.heard[SESSION] == [1]
