"""A restart at any point changes nothing: what a session knows, what waits, and all that is decided later."""

import asyncio
import copy
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.contracts import Stage
from governance.lives import Life
from host.clock import SetClock
from host.contracts import Claimed, Rollout, Surface
from host.holdout import HoldoutPolicy
from host.mutes import EVERYTHING
from host.policy import Policy
from host.runtime import SESSION_SET, SessionRuntime
from recall.contracts import Attention, EventEnvelope, EventType, MemoryKind
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_reply, a_result, a_start, an_event
from tests.support.clock import START
from tests.support.pins import set_pin
from tests.support.reading import a_read, window
from tests.support.world import World, a_world

NEEDS = (
    ("make integration-test", "psycopg.OperationalError: port 5433 failed: ECONNREFUSED pg-fixture"),
    ("cargo build --target thumbv7em", "error[E0463]: can't find crate for core, thumbv7em rustup target"),
    ("helm upgrade kiwi-gateway", "UPGRADE FAILED: timed out waiting, kiwi-gateway token expired"),
)
LESSONS = (
    "make integration-test fails with ECONNREFUSED on port 5433 until the pg-fixture container of psycopg was started.",
    "cargo build fails with E0463 can't find crate for core until rustup target add thumbv7em was run.",
    "helm upgrade kiwi-gateway fails with UPGRADE FAILED: timed out waiting until the kiwi-gateway token is rotated.",
)
PINNED = "Answer in British English."
PROCEDURE = f"mem_{99:032x}"
POLICY = Policy(holdout=HoldoutPolicy(share=0.3))
# What a runtime holds that is no part of its past: locks and queues, and how far they were read.
PASSING = frozenset(
    {"lock", "idle", "queue", "enqueued_seq", "stored_seq", "behind", "policy", "evicted", "host", "forsaken"}
)
LAST = "SELECT coalesce(max(rowid), 0) FROM audit"
TORN = (
    "CREATE TRIGGER torn BEFORE INSERT ON audit WHEN (SELECT count(*) FROM audit WHERE rowid > {1}) >= {0}"
    " BEGIN SELECT RAISE(FAIL, 'killed'); END"
)


@dataclass
class Agent:
    """One agent, what it was handed, and the daemon that it talks to."""

    world: World
    memories: list[str]
    sent: int = 0
    place: str = "project"
    claims: list[Claimed] = field(default_factory=list)
    tear: int | None = None  # how many entries are written before the kill; None: no kill

    @property
    def folder(self) -> str:
        return self.world.workspace(self.place)

    async def runtime(self) -> SessionRuntime:
        runtime = await self.world.parts.sessions.find(SESSION, AGENT)
        await self.world.settled(runtime)
        return runtime

    async def does(self, act: "Act", number: int) -> None:
        self.world.clock.set(self.world.clock.now() + 1000)
        await act(self, number)

    async def say(self, *envelopes: EventEnvelope) -> None:
        """Tell it; with a tear, the daemon gets no further than that many entries of its audit."""
        if self.tear is None:
            await self.world.feed(*envelopes)
            return
        database, tasks = self.world.parts.inbox._database, self.world.parts.tasks
        await database.write(
            lambda connection: connection.execute(TORN.format(self.tear, connection.execute(LAST).fetchone()[0]))
        )
        await self.world.parts.host.on_event(envelopes)
        await tasks.settled()
        tasks.failed.clear()
        await database.write(lambda connection: connection.execute("DROP TRIGGER torn"))

    # ---------------------------------------------------------------- what may happen

    async def fails(self, number: int) -> None:
        call, failure = NEEDS[number % len(NEEDS)]
        self.sent += 1
        one = f"c{self.sent}"
        await self.say(
            a_call(call, call_id=one, workspace=self.folder), a_result(failure, call_id=one, workspace=self.folder)
        )

    async def speaks(self, number: int) -> None:
        self.sent += 1
        said = a_reply(f"I will look at attempt {self.sent}.", workspace=self.folder)
        asked = a_prompt(f"Try again, attempt {self.sent}: {NEEDS[number % 3][0]}", workspace=self.folder)
        await self.say(*((said,), (asked,), (said, asked))[number % 3])

    async def says_nothing(self, number: int) -> None:
        where = {"workspace": self.folder}
        kinds = (
            an_event(EventType.TURN_END, {}, **where),
            an_event("step/end", {}, **where),
            a_reply("", **where),
            a_result("", ok=True, call_id=f"n{self.sent}-{number}", **where),
            an_event("somebody/else", {"text": "unheard of"}, **where),
            a_start("resume", **where),
        )
        self.sent += 1
        await self.say(msgspec.structs.replace(kinds[number % len(kinds)], event_id=f"n{self.sent}"))

    async def begins_anew(self, number: int) -> None:
        await self.say(a_start(("compact", "clear", "startup", "compact")[number % 4], workspace=self.folder))

    async def goes(self, number: int) -> None:
        self.place = ("project", "other")[number % 2]
        await self.say(a_prompt(f"Now in {self.place}.", workspace=self.folder))

    async def ends(self, number: int) -> None:
        await self.say(an_event(EventType.SESSION_END, {}, workspace=self.folder))

    async def wishes(self, number: int) -> None:
        wish = {("muted", "incognito")[number % 2]: bool(number // 2 % 2)}
        await self.say(an_event(SESSION_SET, wish, workspace=self.folder))

    async def reads(self, number: int) -> None:
        self.sent += 1
        files = sorted(self.world.folder.rglob("*.md"))
        shown = window(files[number % len(files)])
        await self.say(a_read(shown, call_id=f"read-{self.sent}", workspace=self.folder))

    async def uses(self, number: int) -> None:
        self.sent += 1
        one, memory_id = f"u{self.sent}", self.memories[number % len(self.memories)]
        told = (
            a_call(f"notes show {memory_id}", call_id=one, workspace=self.folder),
            a_result("shown", ok=number % 2 == 0, call_id=one, workspace=self.folder),
            a_reply(f"As {memory_id} says.", workspace=self.folder),
            a_prompt("that fixed it, thanks!", workspace=self.folder, event_id=f"prompt:{one}"),
        )
        await self.say(*told[: 1 + number % 4], *(told[3:] if number > 7 else ()))

    async def claims_one(self, number: int) -> None:
        claim = await self.world.claim((Surface.POST_TOOL, Surface.USER_PROMPT)[number % 2])
        if isinstance(claim, Claimed):
            self.claims.append(claim)

    async def delivers(self, number: int) -> None:
        if self.claims:
            await self.world.deliver(self.claims[-1 - number % len(self.claims)])

    async def takes(self, number: int) -> None:
        claim = await self.world.claim()
        if isinstance(claim, Claimed):
            self.claims.append(claim)
            await self.world.deliver(claim)

    async def releases(self, number: int) -> None:
        if self.claims:
            await self.world.release(self.claims[-1 - number % len(self.claims)])

    async def finds_it_said(self, number: int) -> None:
        """The product's own transcript shows the frame of a packet whose claim was never settled."""
        if self.claims:
            shown = self.claims[-1 - number % len(self.claims)].packet.rendered
            await self.world.parts.claims.settle_shown(await self.runtime(), [shown])

    async def waits(self, number: int) -> None:
        seconds = (1, 31, 5, 40, 700)[number % 5]
        self.world.clock.set(self.world.clock.now() + seconds * 1000)

    async def is_tuned(self, number: int) -> None:
        runtime = await self.runtime()
        await self.world.parts.attentions.set(runtime.scope.workspace, list(Attention)[number % 3])

    async def is_muted(self, number: int) -> None:
        parts, key, now = self.world.parts, (await self.runtime()).scope.workspace, self.world.clock.now()
        what = (EVERYTHING, MemoryKind.SEMANTIC)[number % 2]
        if number // 2 % 2:
            await parts.marks.workspaces.unmute(key, what, now)
            return
        await parts.marks.workspaces.mute(key, what, now, now + 60_000)
        await parts.claims.withdraw([await self.runtime()])

    async def is_rolled_out(self, number: int) -> None:
        level = (Rollout.ACTIVE, Rollout.OFF, Rollout.ACTIVE, Rollout.SHADOW)[number % 4]
        runtime = await self.runtime()
        await self.world.parts.rollouts.set(runtime.scope.workspace, level, self.world.clock.now())
        await self.world.parts.claims.withdraw([runtime])

    async def pins(self, number: int) -> None:
        """What is kept in view changes: a lesson, or what was pinned from the first."""
        memory_id = self.memories[number % len(self.memories)]
        await set_pin(self.world, memory_id, pinned=number // 2 % 2 == 0, workspace=self.world.workspace())

    async def moves_a_procedure(self, number: int) -> None:
        life = Life(stage=(Stage.ACTIVE, Stage.DEPRECATED)[number % 2], since=self.world.clock.now(), reason="kept")
        await self.world.parts.lives.move(PROCEDURE, life)

    async def mutes_one(self, number: int) -> None:
        memory_id = self.memories[number % len(self.memories)]
        await self.world.parts.marks.mute(memory_id, self.world.clock.now(), self.world.clock.now() + 60_000)
        await self.world.parts.claims.purge(memory_id, self.world.parts.sessions.known)


Act = Callable[[Agent, int], Awaitable[None]]
ACTS: list[Act] = [
    *[Agent.fails] * 5,
    *[Agent.uses] * 2,
    *[Agent.speaks] * 3,
    *[Agent.says_nothing] * 4,
    *[Agent.takes] * 3,
    *[Agent.claims_one] * 3,
    *[Agent.delivers] * 2,
    *[Agent.begins_anew, Agent.goes, Agent.ends, Agent.wishes, Agent.reads, Agent.releases, Agent.finds_it_said],
    *[Agent.waits, Agent.is_tuned, Agent.is_muted, Agent.is_rolled_out, Agent.mutes_one],
    *[Agent.pins] * 3,
    Agent.moves_a_procedure,
]


class Stop(Enum):
    """How the daemon stops around an act, if it does."""

    NEVER = "never"
    LET_GO = "the session was let go"
    IN_MID_PASS = "killed when it had written some of what the act makes it write"
    AFTERWARDS = "stopped after the act"


moves = st.tuples(st.sampled_from(ACTS), st.integers(0, 11), st.sampled_from(Stop))
Script = Sequence[tuple[Act, int, Stop]]


@asynccontextmanager
async def an_agent(folder: Path, start: int = START) -> AsyncIterator[Agent]:
    async with a_world(folder, POLICY, clock=SetClock(start)) as world:
        yield Agent(world, [f"mem_{number:032x}" for number in range(1, len(LESSONS) + 2)])


async def prepared(agent: Agent) -> None:
    for text in LESSONS:
        await agent.world.remember(text)
    await agent.world.remember(PINNED, pinned=True)
    procedure = {"title": "Ship it", "kind": MemoryKind.PROCEDURAL, "memory_id": PROCEDURE}
    await agent.world.remember("Run `make ship`, then tag the release.", **procedure)
    await agent.say(a_start(workspace=agent.folder))


async def known(agent: Agent) -> dict[str, object]:
    """All that the daemon knows of the session, and what waits for it."""
    runtime = await agent.runtime()
    fold = {name: value for name, value in vars(runtime).items() if name not in PASSING}
    fold["known"] = {
        name: getattr(runtime.known, name) for name in ("records", "calls", "unproven", "proven", "prompts")
    }
    pending, claimed = await agent.world.parts.inbox.slot(SESSION, AGENT)
    slots = [None if slot is None else (slot.packet, slot.state) for slot in (pending, *claimed)]
    return copy.deepcopy(fold | {"hesitation": runtime.hesitation, "window": runtime.visible(), "slots": slots})


async def written(agent: Agent) -> list[object]:
    """The audit without ids and times."""
    return [(one.kind, one.outcome, one.reason, one.trigger, one.step, one.cursor, one.packet, one.gate, one.votes,
             one.versions.get("confidence"), one.versions.get("holdout"), one.activation, one.evidence)
            for one in await agent.world.audit()]  # fmt: skip


Seen = tuple[list[dict[str, object]], list[object]]  # the state after each act, and the audit


async def uninterrupted(folder: Path, script: Script) -> Seen:
    async with an_agent(folder) as agent:
        await prepared(agent)
        states = []
        for act, number, _ in script:
            await agent.does(act, number)
            states.append(await known(agent))
        return states, await written(agent)


async def interrupted(folder: Path, script: Script) -> Seen:
    """The same with all the stops."""
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(an_agent(folder))
        await prepared(agent)
        states = []
        for act, number, stop in script:
            agent.tear = number % 3 if stop is Stop.IN_MID_PASS else None
            await agent.does(act, number)
            if stop is Stop.LET_GO:
                agent.world.parts.sessions.let_go(await agent.runtime())
            if stop in (Stop.IN_MID_PASS, Stop.AFTERWARDS):
                await stack.aclose()
                then = agent
                agent = await stack.enter_async_context(an_agent(folder, then.world.clock.now()))
                agent.sent, agent.place, agent.claims = then.sent, then.place, then.claims
            states.append(await known(agent))
        return states, await written(agent)


def told(script: Script) -> str:
    return ", ".join(f"(Agent.{act.__name__}, {number}, {stop})" for act, number, stop in script)


async def compare(folder: Path, script: Script) -> None:
    folder = folder / "data"  # the same for both: a workspace goes by its path
    states, audit = await uninterrupted(folder, script)
    shutil.rmtree(folder)
    others, other_audit = await interrupted(folder, script)
    for place, (state, other) in enumerate(zip(states, others, strict=True)):
        for name, value in state.items():
            assert other[name] == value, f"{name} after {told(script[: place + 1])}"
    assert other_audit == audit, told(script)


@pytest.mark.promise("deterministic", "kill-nine")
@settings(max_examples=6)
@given(st.lists(moves, min_size=4, max_size=14))
def test_wherever_the_daemon_stops_it_goes_on_as_if_it_had_not(
    tmp_path_factory: pytest.TempPathFactory, script: Script
) -> None:
    asyncio.run(compare(tmp_path_factory.mktemp("restarts"), script))


@pytest.mark.reliability
@pytest.mark.promise("deterministic", "kill-nine")
@settings(max_examples=60)
@given(st.lists(moves, min_size=8, max_size=24))
def test_in_long_sessions_too_it_goes_on_as_if_it_had_not_stopped(
    tmp_path_factory: pytest.TempPathFactory, script: Script
) -> None:
    asyncio.run(compare(tmp_path_factory.mktemp("restarts"), script))
