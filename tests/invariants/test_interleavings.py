"""Many sessions at once, in any order: whatever clients do, the stores hold what was promised afterwards."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.contracts import AuditEntry, AuditKind, EvidenceKind
from host.contracts import Claim, Claimed, MemoryPacket, Reason, Silence
from recall.contracts import EventEnvelope, EventType
from tests.support.builders import AGENT, a_call, a_prompt, a_reply, a_result, a_start, an_event
from tests.support.world import World, a_world

SESSIONS = 4
NEEDS = (
    ("pg-fixture", "make integration-test", "psycopg.OperationalError: port 5433 failed: ECONNREFUSED pg-fixture"),
    ("thumbv7em", "cargo build --target thumbv7em", "error[E0463]: can't find crate for core, thumbv7em rustup target"),
    ("kiwi-gateway", "helm upgrade kiwi-gateway", "UPGRADE FAILED: timed out waiting, kiwi-gateway token expired"),
)
LESSONS = (
    "make integration-test fails with ECONNREFUSED on port 5433 until the pg-fixture container of psycopg was started.",
    "cargo build fails with E0463 can't find crate for core until rustup target add thumbv7em was run.",
    "helm upgrade kiwi-gateway fails with UPGRADE FAILED: timed out waiting until the kiwi-gateway token is rotated.",
)


@dataclass
class Client:
    """The agents of one session: what they sent, and what they were answered."""

    session: str
    folder: str
    sent: int = 0
    claims: list[Claimed] = field(default_factory=list)
    answers: dict[str, list[Claim]] = field(default_factory=lambda: defaultdict(list))

    def events(self, number: int) -> Sequence[EventEnvelope]:
        """The next thing that happens in the session."""
        self.sent += 1
        call_id = f"c{self.sent}"
        where = {"session_id": self.session, "workspace": self.folder}
        _, call, failure = NEEDS[number % len(NEEDS)]
        acted = (a_call(call, call_id=call_id, **where), a_result(failure, call_id=call_id, **where))
        reply = a_reply(f"I will look at attempt {self.sent}.", **where)
        prompt = a_prompt(f"Try again, attempt {self.sent}: {call}", **where)
        start = a_start(("clear", "compact", "resume")[self.sent % 3], **where)
        end = an_event(EventType.SESSION_END, {}, **where), a_start("resume", **where)
        usual = (acted, (*acted, reply), (reply,), (prompt,), acted[:1], acted[1:])
        return (*usual * 2, (start,), end)[number // len(NEEDS) % (2 * len(usual) + 2)]


class Play:
    """The verbs that are interleaved. Each may run while any other does."""

    def __init__(self, world: World, memories: list[str]) -> None:
        self.world = world
        self.memories = memories
        self.forgotten: set[str] = set()
        self.clients = [
            Client(f"session-{number}", world.workspace(f"project-{number % 2}")) for number in range(SESSIONS)
        ]

    async def append(self, client: Client, number: int) -> None:
        await self.world.parts.host.on_event(client.events(number))

    async def claim(self, client: Client, number: int) -> None:
        request = f"r{number}" if number % 3 else None
        claim = await self.world.claim(session=client.session, request_id=request, wait_ms=(0, 2_000)[number % 2])
        if isinstance(claim, Claimed):
            client.claims.append(claim)
        if request is not None and claim != Silence(reason=Reason.LATE):
            client.answers[request].append(claim)

    async def hand_over(self, client: Client, number: int) -> None:
        """As a hook does it: claim, then say that it is in the request."""
        claim = await self.world.claim(session=client.session)
        if isinstance(claim, Claimed):
            client.claims.append(claim)
            for _ in range(number):
                await asyncio.sleep(0)
            await self.world.deliver(claim, client.session)

    async def deliver(self, client: Client, number: int) -> None:
        if client.claims:
            await self.world.deliver(client.claims[-1 - number % len(client.claims)], client.session)

    async def release(self, client: Client, number: int) -> None:
        if client.claims:
            await self.world.release(client.claims[-1 - number % len(client.claims)], client.session)

    async def forget(self, client: Client, number: int) -> None:
        """As `memory.forget` does it."""
        parts, memory_id = self.world.parts, self.memories[number % len(self.memories)]
        runtime = await parts.sessions.find(client.session, AGENT)
        if await parts.library.forget(memory_id, runtime.scope) is True:
            self.forgotten.add(memory_id)
            await parts.claims.purge(memory_id, parts.sessions.known)
            await parts.inbox.erase(memory_id)

    async def wait(self, client: Client, number: int) -> None:
        self.world.clock.set(self.world.clock.now() + (1_000, 31_000, 1_000, 31_000, 300_000)[number % 5])

    async def idle(self, client: Client, number: int) -> None:
        runtime = self.world.parts.sessions.known(client.session, AGENT)
        if runtime is not None and runtime.idle.is_set() and not runtime.lock.locked():
            self.world.parts.sessions.let_go(runtime)


verbs = st.sampled_from(
    [Play.append] * 6
    + [Play.hand_over] * 4
    + [Play.claim] * 4
    + [Play.deliver] * 3
    + [Play.release] * 2
    + [Play.forget, Play.wait, Play.idle]
)
moves = st.tuples(verbs, st.integers(0, SESSIONS - 1), st.integers(0, 41), st.integers(0, 20))


async def play(folder: Path, order: list[tuple[object, int, int, int]]) -> None:
    async with a_world(folder) as world:
        memories = [await world.remember(text, world.workspace(f"project-{n}")) for text in LESSONS for n in (0, 1)]
        game = Play(world, memories)
        for client in game.clients:
            await world.feed(*client.events(0))
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for verb, session, number, pauses in order:
                group.create_task(verb(game, game.clients[session], number))  # type: ignore[operator]
                for _ in range(pauses):
                    await asyncio.sleep(0)
        for client in game.clients:
            await world.settled(await world.parts.sessions.find(client.session, AGENT))
        await judge(game)


async def judge(game: Play) -> None:
    world = game.world
    assert (await world.parts.audit.verify()).ok
    entries = await world.audit()
    assert len(entries) < 1_000
    packets = await stored(world)
    delivered = [entry for entry in entries if entry.kind is AuditKind.DELIVERY]
    told_of = Counter(packet_of(entry) for entry in delivered)
    assert max(told_of.values(), default=0) <= 1, "a packet was delivered twice"
    assert set(told_of) == {packet_id for packet_id, (state, _) in packets.items() if state == "delivered"}
    assert max(offers(entries).values(), default=0) <= 1, "a packet was offered twice"
    pending = Counter(owner(packet) for state, packet in packets.values() if state == "pending")
    assert max(pending.values(), default=0) <= 1, "two packets wait in one slot"
    for entry in delivered:
        before = [one.kind for one in entries[: entries.index(entry)] if packet_of(one) == packet_of(entry)]
        assert before[0] is AuditKind.PASS, "it was handed over before it was written down"
        assert before[-1] is AuditKind.CLAIM, "it was delivered without having been claimed"
    shown = Counter(
        (owner(packets[p][1]), packets[p][1].window, i.memory_id) for p in told_of for i in packets[p][1].items
    )
    assert max(shown.values(), default=0) <= 1, "a context window was given a memory twice"
    await judge_evidence(world, [packets[packet_id][1] for packet_id in told_of])
    for client in game.clients:
        await judge_session(world, client, entries)
    for _, packet in packets.values():
        for item in packet.items:
            assert item.memory_id not in game.forgotten or not item.text, "a forgotten text was kept"


async def judge_evidence(world: World, delivered: list[MemoryPacket]) -> None:
    ref = world.parts.audit.ref
    due = Counter((ref(packet.context_cursor.session_id), i.memory_id) for packet in delivered for i in packet.items)
    rows = [row for name in {ref(f"session-{n}") for n in range(SESSIONS)} for row in await seen(world, name)]
    assert Counter(rows) == due, "seen is exactly what was delivered"


async def seen(world: World, ref: str) -> list[tuple[str, str]]:
    rows = await world.parts.evidence.of_session(ref)
    return [(row.session_ref, row.memory_id) for row in rows if row.kind is EvidenceKind.SEEN]


async def judge_session(world: World, client: Client, entries: Sequence[AuditEntry]) -> None:
    """The same request got the same answer, and a request took one packet at most."""
    for answers in client.answers.values():
        given = {one.claim_id if isinstance(one, Claimed) else one.reason for one in answers}
        assert len(given - {Reason.FORGOTTEN}) <= 1, f"one request, several answers: {given}"
    events = await world.parts.eventlog.replay(client.session)
    free = {e.event_seq for e in events if e.event_type not in (EventType.USER_MESSAGE, EventType.SESSION_END)}
    mine = [entry for entry in entries if entry.session_ref == world.parts.audit.ref(client.session)]
    taken: AuditEntry | None = None
    for entry in mine:
        if entry.kind is AuditKind.CLAIM:
            if taken is not None:
                assert free.intersection(range(seq(taken) + 1, seq(entry) + 1)), "one request took two packets"
            taken = entry
        elif entry.kind is AuditKind.DROP and taken is not None and packet_of(entry) == packet_of(taken):
            taken = None


async def stored(world: World) -> dict[str, tuple[str, MemoryPacket]]:
    rows = await world.parts.inbox._database.read(
        lambda connection: connection.execute("SELECT packet_id, state FROM packet").fetchall()
    )
    found = {}
    for packet_id, state in rows:
        slot = await world.parts.inbox.find(packet_id)
        assert slot is not None
        found[packet_id] = (state, slot.packet)
    return found


def offers(entries: Sequence[AuditEntry]) -> Counter[str]:
    return Counter(packet_of(entry) for entry in entries if entry.kind is AuditKind.PASS and entry.outcome == "packet")


def packet_of(entry: AuditEntry) -> str:
    return "" if entry.packet is None else entry.packet.packet_id


def owner(packet: MemoryPacket) -> tuple[str, str]:
    return packet.context_cursor.session_id, packet.agent_id


def seq(entry: AuditEntry) -> int:
    return 0 if entry.cursor is None else entry.cursor.event_seq


@pytest.mark.promise("seen-only-delivered")
@pytest.mark.promise("audit-first")
@pytest.mark.promise("sent-is-final")
@settings(max_examples=8)
@given(st.lists(moves, min_size=30, max_size=60))
def test_whatever_clients_do_the_stores_hold_what_was_promised(
    tmp_path_factory: pytest.TempPathFactory, order: list[tuple[object, int, int, int]]
) -> None:
    asyncio.run(play(tmp_path_factory.mktemp("world"), order))
