"""N-01: the log is idempotent, gap-free, atomic, and says so in kinds."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.screen import redact as screened
from host.database import open_database
from host.errors import ProtocolFault
from host.eventlog import SCHEMA, EventLog, Extent, LoggedSession
from host.payloads import PAYLOAD_BYTES
from recall.canonical import keyed
from recall.contracts import Database, EventEnvelope
from tests.support.builders import a_prompt, an_event
from tests.support.fakes import FakeDatabase

KEY = b"k" * 32
NOW = 1_795_910_400_500


def redact(text: str) -> tuple[str, tuple[()]]:
    return text.replace("hush", "[secret]"), ()


def a_log(database: Database | None = None) -> EventLog:
    return EventLog(database or FakeDatabase([SCHEMA]), KEY, redact)


def numbered(number: int, text: str | None = None, **fields: Any) -> EventEnvelope:
    return a_prompt(text or f"event {number}", event_id=f"e{number}", **fields)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "log.db", [SCHEMA]) as opened:
        yield opened


@pytest.mark.promise("append-only")
async def test_events_get_the_next_numbers_of_their_session_across_agents() -> None:
    log = a_log()

    await log.append([a_prompt("a", session_id="s1"), a_prompt("b", session_id="s1", agent_id="sub")], NOW)
    await log.append([a_prompt("c", session_id="s2")], NOW)
    third = await log.append([a_prompt("d", session_id="s1")], NOW)

    assert (third.session_id, third.event_seq, third.accepted) == ("s1", 3, 1)
    assert [(event.event_seq, event.agent_id) for event in await log.replay("s1")] == [
        (1, "main"),
        (2, "sub"),
        (3, "main"),
    ]
    assert [event.event_seq for event in await log.replay("s2")] == [1]


async def test_what_is_replayed_is_what_was_stored(database: Database) -> None:
    log = a_log(database)
    event = an_event(
        "their/type",
        {"text": "a hush word", "ratio": 0.5},
        event_id="e1",
        native_seq=9,
        turn=2,
        step=3,
        message_id="m",
        call_id="c",
        root_call_id="r",
        event_seq=77,
        observed_at=1,
    )

    appended = await log.append([event], NOW)

    (stored,) = appended.stored
    assert await log.replay(event.session_id) == (stored,)
    assert bytes(stored.payload) == b'{"text":"a [secret] word","ratio":0.5}'
    assert stored.payload_digest == keyed(KEY, bytes(event.payload))
    kept = msgspec.structs.replace(event, payload=stored.payload, payload_digest=stored.payload_digest)
    assert stored == msgspec.structs.replace(kept, event_seq=1, observed_at=NOW)


async def test_the_same_event_again_is_a_duplicate_and_takes_no_number() -> None:
    log = a_log()
    await log.append([numbered(1), numbered(2)], NOW)

    again = await log.append([numbered(1), numbered(3), numbered(3), numbered(2)], NOW + 1)

    assert (again.accepted, again.duplicates, again.event_seq) == (1, 3, 3)
    assert [event.event_id for event in again.stored] == ["e3"]
    assert [event.event_seq for event in await log.replay(numbered(1).session_id)] == [1, 2, 3]


async def test_a_native_number_is_a_key_as_well() -> None:
    log = a_log()
    await log.append([a_prompt("a", native_seq=4), a_prompt("b", native_seq=5, event_id="x")], NOW)

    again = await log.append([a_prompt("a", native_seq=4), a_prompt("b", native_seq=5)], NOW)

    assert (again.accepted, again.duplicates) == (0, 2)


async def test_events_without_a_key_are_all_new() -> None:
    log = a_log()

    appended = await log.append([a_prompt("same"), a_prompt("same")], NOW)

    assert appended.accepted == 2


async def test_the_same_key_in_another_session_is_another_event() -> None:
    log = a_log()
    await log.append([numbered(1, session_id="s1")], NOW)

    other = await log.append([numbered(1, "other words", session_id="s11")], NOW)

    assert other.accepted == 1


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize("key", [{"event_id": "k"}, {"native_seq": 1}])
async def test_a_known_key_with_other_content_is_a_conflict_and_nothing_of_the_call_is_stored(
    key: dict[str, Any],
) -> None:
    log = a_log()
    await log.append([a_prompt("first", **key)], NOW)

    with pytest.raises(ProtocolFault) as caught:
        await log.append([a_prompt("before", session_id="new"), a_prompt("after"), a_prompt("second", **key)], NOW)

    assert caught.value.kind == "conflict"
    assert len(await log.replay(a_prompt().session_id)) == 1
    assert await log.last("new") is None
    assert log.counts["conflict"] == 1


async def test_the_digest_decides_over_the_bytes_as_received() -> None:
    log = a_log()
    event = a_prompt("x", event_id="k")
    spaced = msgspec.structs.replace(event, payload=msgspec.Raw(b'{"text": "x"}'))
    await log.append([event], NOW)

    with pytest.raises(ProtocolFault):
        await log.append([spaced], NOW)


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"schema_version": 2}, "unsupported-schema"),
        ({"session_id": ""}, "no-owner"),
        ({"agent_id": ""}, "no-owner"),
        ({"session_id": "a\0"}, "invalid-params"),
        ({"payload": msgspec.Raw(b"[]")}, "invalid-params"),
        ({"payload_digest": "0" * 64}, "invalid-params"),
    ],
)
async def test_a_refused_event_is_counted_and_refuses_its_call(fields: dict[str, Any], kind: str) -> None:
    log = a_log()

    with pytest.raises(ProtocolFault) as caught:
        await log.append([numbered(1), msgspec.structs.replace(numbered(2), **fields)], NOW)

    assert caught.value.kind == kind
    assert log.counts == {kind: 1}
    assert await log.sessions() == ()


async def test_an_unknown_type_is_stored_and_counted() -> None:
    log = a_log()

    appended = await log.append([an_event("their/own", {"anything": 1}), a_prompt()], NOW)

    assert appended.accepted == 2
    assert log.counts == {"accepted": 2, "duplicates": 0, "unknown-type": 1}


async def test_an_empty_append_is_refused() -> None:
    with pytest.raises(ProtocolFault, match="empty"):
        await a_log().append([], NOW)


@pytest.mark.promise("acknowledged-is-kept")
async def test_a_failing_commit_is_an_error_and_stores_nothing() -> None:
    database = FakeDatabase([SCHEMA])
    log = a_log(database)
    database.fail_next = sqlite3.OperationalError("database or disk is full")

    with pytest.raises(ProtocolFault) as caught:
        await log.append([numbered(1)], NOW)

    assert caught.value.kind == "store-unavailable"
    assert (log.problem, await log.sessions()) == ("database or disk is full", ())
    assert ((await log.append([numbered(1)], NOW)).event_seq, log.problem) == (1, "")


@pytest.mark.promise("acknowledged-is-kept")
async def test_what_was_acknowledged_is_there_after_a_restart(tmp_path: Path) -> None:
    async with open_database(tmp_path / "log.db", [SCHEMA]) as database:
        await a_log(database).append([numbered(1), numbered(2)], NOW)

    async with open_database(tmp_path / "log.db", [SCHEMA]) as database:
        log = a_log(database)
        again = await log.append([numbered(2), numbered(3)], NOW)
        assert (again.duplicates, again.event_seq) == (1, 3)
        assert [event.event_id for event in await log.replay(numbered(1).session_id)] == ["e1", "e2", "e3"]


async def test_a_large_payload_is_stored_in_bounds() -> None:
    log = a_log()

    (stored,) = (await log.append([a_prompt("word " * 100_000)], NOW)).stored

    assert len(bytes(stored.payload)) <= PAYLOAD_BYTES


async def test_a_replay_can_be_paged_and_kept_to_one_agent() -> None:
    log = a_log()
    await log.append([a_prompt(str(n), agent_id="sub" if n % 2 else "main") for n in range(6)], NOW)
    session = a_prompt().session_id

    assert [event.event_seq for event in await log.replay(session, after=2, limit=2)] == [3, 4]
    assert [event.event_seq for event in await log.replay(session, agent_id="sub")] == [2, 4, 6]
    assert await log.replay("unknown") == ()


async def test_the_first_event_of_each_agent_is_known() -> None:
    log = a_log()
    await log.append([a_prompt("a"), a_prompt("b", agent_id="sub"), a_prompt("c", agent_id="sub")], NOW)
    await log.append([a_prompt("d", agent_id="third"), a_prompt("e")], NOW)

    firsts = await log.agents(a_prompt().session_id)

    assert [(event.agent_id, event.event_seq) for event in firsts] == [("main", 1), ("sub", 2), ("third", 4)]


async def test_the_folder_that_an_agent_named_last_is_known() -> None:
    log = a_log()
    for agent, folder in (("main", "/one"), ("sub", "/two"), ("main", "/three"), ("main", ""), ("sub", "")):
        await log.append([a_prompt(f"in {folder}", session_id="s1", agent_id=agent, workspace=folder)], NOW)

    assert [await log.workspace("s1", agent) for agent in ("main", "sub", "nobody")] == ["/three", "/two", ""]


async def test_sessions_are_listed_newest_first() -> None:
    log = a_log()
    await log.append([a_prompt("a", session_id="s1", workspace="/one")], NOW)
    await log.append([a_prompt("b", session_id="s2")], NOW + 1)
    await log.append([a_prompt("c", session_id="s1", workspace="/two")], NOW + 2)

    assert [session.session_id for session in await log.sessions()] == ["s1", "s2"]
    assert await log.last("s1") == LoggedSession(
        session_id="s1", event_seq=2, workspace="/two", first_at=NOW, last_at=NOW + 2
    )
    assert await log.last("none") is None


async def test_appends_at_the_same_time_leave_no_gap(database: Database) -> None:
    log = a_log(database)

    await asyncio.gather(*(log.append([numbered(n), numbered(n + 100)], NOW) for n in range(40)))

    stored = await log.replay(numbered(1).session_id)
    assert [event.event_seq for event in stored] == list(range(1, 81))
    assert len({event.event_id for event in stored}) == 80


@settings(max_examples=40)
@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=5), max_size=8))
async def test_the_log_is_what_a_plain_dictionary_would_be(calls: list[list[tuple[int, int]]]) -> None:
    log = a_log()
    kept: dict[int, int] = {}
    for call in calls:
        wanted = dict(kept)
        fits = all(wanted.setdefault(key, content) == content for key, content in call)
        try:
            await log.append([numbered(key, f"text {content}") for key, content in call], NOW)
            assert fits
            kept = wanted
        except ProtocolFault:
            assert not fits
    stored = await log.replay(numbered(1).session_id)
    assert [event.event_id for event in stored] == [f"e{key}" for key in kept]
    assert [event.event_seq for event in stored] == list(range(1, len(kept) + 1))


async def test_cost_does_not_grow_with_the_log(database: Database) -> None:
    """Every statement of an append finds its rows by an index."""
    await a_log(database).append([numbered(n) for n in range(5)], NOW)

    def plans(connection: sqlite3.Connection) -> list[str]:
        queries = (
            "SELECT id, event_seq FROM log_session WHERE session_id = 'a'",
            "SELECT event_id FROM event WHERE session = 1 AND event_id IN (SELECT value FROM json_each('[]'))",
            "SELECT native_seq FROM event WHERE session = 1 AND native_seq IN (SELECT value FROM json_each('[]'))",
            "SELECT payload FROM event WHERE session = 1 AND event_seq > 4 ORDER BY event_seq LIMIT 5",
        )
        return [row[3] for query in queries for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]

    scans = [plan for plan in await database.read(plans) if plan.startswith("SCAN") and "json_each" not in plan]
    assert scans == []


@pytest.mark.promise("screen-is-linear")
async def test_long_payloads_are_read_on_a_worker_thread_and_short_ones_at_once() -> None:
    readers: list[int] = []

    def reading(text: str) -> tuple[str, tuple[()]]:
        readers.append(threading.get_ident())
        return redact(text)

    log = EventLog(FakeDatabase([SCHEMA]), KEY, reading)
    await log.append([numbered(1)], NOW)
    assert {*readers} == {threading.get_ident()}

    readers.clear()
    appended = await log.append([numbered(2, "hush " * 7_000), numbered(3, "hush")], NOW)
    assert appended.accepted == 2
    assert readers and threading.get_ident() not in readers


TOKEN = "gh" + "p_" + "aB3d" * 9


@pytest.mark.promise("no-secret-kept")
@pytest.mark.parametrize("field", ["session_id", "agent_id", "event_id", "call_id", "message_id", "workspace"])
async def test_an_id_that_is_a_token_is_refused_and_not_repeated(field: str) -> None:
    log = EventLog(FakeDatabase([SCHEMA]), KEY, screened)
    with pytest.raises(ProtocolFault, match="looks like a secret") as refused:
        await log.append([a_prompt("x", **{field: TOKEN})], NOW)
    assert TOKEN not in str(refused.value)
    with pytest.raises(ProtocolFault, match="`rootCallId`"):
        await log.append([a_prompt("x", root_call_id=TOKEN)], NOW)
    await log.append([a_prompt("x", call_id="toolu_01A9xYk2LmNop3Qrs4Tuv5W", session_id="0f9b" * 8)], NOW)


async def test_events_of_some_types_are_read_alone_from_a_number_on(database: Database) -> None:
    log = a_log(database)
    await log.append([a_prompt("a"), an_event("session/set", {"muted": True}), a_prompt("b"), a_prompt("c")], NOW)

    found = await log.of_types("session-1", ["user/message"], after=1)

    assert [event.event_seq for event in found] == [3, 4]
    assert await log.of_types("nobody", ["user/message"]) == ()
    heads = await log.heads("session-1", ["user/message"], after=1)
    assert [(event.event_seq, bytes(event.payload)) for event in heads] == [(3, b"{}"), (4, b"{}")]
    assert heads[0].payload_digest == found[0].payload_digest


async def test_what_another_session_told_before_is_known_by_id_bytes_and_time(database: Database) -> None:
    log = a_log(database)
    await log.append([numbered(1, session_id="old"), numbered(2, session_id="old")], NOW)
    copies = [numbered(1, session_id="new"), numbered(2, "other words", session_id="new"), a_prompt(session_id="new")]
    await log.append(copies, NOW)
    stored = await log.replay("new")

    assert [await log.told_before(event) for event in stored] == ["old", "", ""]
    assert await log.told_before((await log.replay("old"))[0]) == "", "the original is no copy"
    assert await log.shared("new", "old") == {1} and await log.shared("new", "nobody") == frozenset()


async def test_the_extent_of_a_session_is_what_is_there(database: Database) -> None:
    log = a_log(database)
    assert await log.extent("session-1") is None
    await log.append([a_prompt("a"), a_prompt("b"), a_prompt("c")], NOW)
    await database.write(lambda c: c.execute("DELETE FROM event WHERE event_seq = 1"))

    assert await log.extent("session-1") == Extent(first=2, last=3, count=2)
