"""What becomes of one stored event: a pass, a reset, a seed, a piece of evidence, or nothing."""

import asyncio
from pathlib import Path

import pytest

from governance.contracts import AuditEntry, AuditKind, EvidenceKind
from host.contracts import Claimed, Reason, Rollout, Silence, Surface
from host.runtime import SESSION_SET
from recall.attention import attention_of
from recall.contracts import Attention, EventEnvelope, EventType
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result, a_start, an_event
from tests.support.reading import a_printing, a_read, window
from tests.support.world import FAILURE, LESSON, World, a_world

MINUTE = 60_000
UNREADABLE = [
    (EventType.SESSION_START, {"source": 5}),
    (EventType.USER_MESSAGE, {"text": ["not", "a", "text"]}),
    (EventType.TOOL_RESULT, {"text": "x", "read": {"path": 1}}),
    (SESSION_SET, {"muted": "very"}),
]


def a_need(world: World, call_id: str = "c1") -> tuple[EventEnvelope, EventEnvelope]:
    """A failure that LESSON helps with."""
    folder = world.workspace()
    return (
        a_call("make integration-test", call_id=call_id, workspace=folder),
        a_result(FAILURE, call_id=call_id, workspace=folder),
    )


def a_wish(world: World, **wanted: bool) -> EventEnvelope:
    return an_event(SESSION_SET, wanted, workspace=world.workspace())


async def last_pass(world: World) -> AuditEntry:
    return (await world.audit(kind=AuditKind.PASS))[-1]


async def drops(world: World) -> list[str]:
    return [entry.reason for entry in await world.audit(kind=AuditKind.DROP)]


# ---------------------------------------------------------------------------------------------------- lifecycle


async def test_the_end_of_a_session_drops_what_waits_and_lets_its_runtime_go(world: World) -> None:
    await world.remember(LESSON)
    await world.feed(*a_need(world))

    await world.parts.host.on_event([an_event(EventType.SESSION_END, {}, workspace=world.workspace())])
    async with asyncio.timeout(5):
        await world.parts.tasks.settled()

    assert await drops(world) == [Reason.SESSION_CLOSED]
    assert world.parts.sessions.known(SESSION, AGENT) is None


@pytest.mark.parametrize(("wish", "reason"), [("muted", Reason.USER_MUTED), ("incognito", Reason.INCOGNITO)])
async def test_a_session_that_wants_quiet_gets_it_at_once_and_until_it_says_otherwise(
    world: World, wish: str, reason: Reason
) -> None:
    await world.remember(LESSON)
    await world.feed(*a_need(world))

    await world.feed(a_wish(world, **{wish: True}))

    assert await drops(world) == [reason]
    assert await world.claim() == Silence(reason=Reason.NONE_PENDING)
    await world.feed(*a_need(world, "c2"))
    assert (await last_pass(world)).reason == reason
    await world.feed(a_wish(world, **{wish: False}), *a_need(world, "c3"))
    assert isinstance(await world.claim(), Claimed)


async def test_a_new_window_of_a_quiet_session_is_quiet(world: World) -> None:
    await world.remember("Answer in British English.", pinned=True)

    await world.feed(a_wish(world, incognito=True), a_start("clear", workspace=world.workspace()))

    entry = await last_pass(world)
    assert (entry.trigger, entry.reason, entry.arms) == ("seed", Reason.INCOGNITO, ())


@pytest.mark.promise("bad-input")
async def test_a_payload_of_wrong_types_stops_neither_its_session_nor_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await world.remember(LESSON)
        for event, payload in UNREADABLE:
            await world.feed(an_event(event, payload, workspace=world.workspace()))
        await world.feed(*a_need(world))
        assert isinstance(await world.claim(), Claimed)
    async with a_world(tmp_path / "data") as world:
        runtime = await world.parts.sessions.find(SESSION, AGENT)
        assert runtime.event_seq == len(UNREADABLE) + 2


async def test_a_workspace_that_is_off_leaves_no_trace_of_what_was_said(world: World) -> None:
    await world.remember(LESSON)
    runtime = await world.feed(a_prompt("Good morning.", workspace=world.workspace()))
    before = await world.audit()
    await world.parts.rollouts.set(runtime.scope.workspace, Rollout.OFF)

    await world.feed(*a_need(world), an_event(EventType.TURN_END, {}, workspace=world.workspace()))

    assert await world.audit() == before
    assert runtime.context_version == 3  # the session is followed all the same


async def test_how_often_it_speaks_changes_with_a_pass_that_says_so(world: World) -> None:
    folder = world.workspace()
    runtime = await world.feed(a_prompt("Good morning.", workspace=folder))
    await world.parts.attentions.set(runtime.scope.workspace, Attention.EAGER)

    await world.feed(an_event(EventType.TURN_END, {}, workspace=folder), a_wish(world, muted=False))
    before = runtime.attention  # a restart would find nothing written of another
    await world.feed(a_prompt("", workspace=folder))

    assert (before, runtime.attention) == (Attention.NORMAL, Attention.EAGER)
    assert attention_of((await last_pass(world)).versions["confidence"]) is Attention.EAGER


async def test_an_empty_prompt_is_a_silence_with_its_reason(world: World) -> None:
    await world.feed(a_prompt("", workspace=world.workspace()))

    entry = await last_pass(world)

    assert (entry.trigger, entry.reason) == (EventType.USER_MESSAGE, Reason.NO_SEGMENT)


# ---------------------------------------------------------------------------------------------------- seed passes


async def test_a_window_without_anything_pinned_begins_in_silence(world: World) -> None:
    await world.remember(LESSON)

    await world.feed(a_start(workspace=world.workspace()))

    entry = await last_pass(world)
    assert (entry.trigger, entry.outcome, entry.reason) == ("seed", "silence", Reason.NO_CANDIDATES)


@pytest.mark.parametrize(
    ("host", "agent", "reason"), [("no-such-host", AGENT, Reason.NO_SURFACE), ("socket", "sub-1", Reason.SUBAGENT)]
)
async def test_where_nothing_can_be_handed_over_nothing_is_looked_up(
    world: World, host: str, agent: str, reason: Reason
) -> None:
    await world.remember("Answer in British English.", pinned=True)
    await world.feed(a_prompt("Good morning.", workspace=world.workspace()), host=host)

    await world.feed(a_start(workspace=world.workspace(), agent_id=agent), host=host)

    assert (await last_pass(world)).reason == reason


async def test_a_window_begins_with_the_pinned_record_that_is_first_among_equals(world: World) -> None:
    for text, priority in (("Answer in English.", None), ("Pair on Tuesdays.", 100), ("Ask before pushing.", -1)):
        await world.remember(text, pinned=True, priority=priority)

    await world.feed(a_start("clear", workspace=world.workspace()))

    claim = await world.claim(Surface.SESSION_START)
    assert isinstance(claim, Claimed)
    assert [item.text for item in claim.packet.items] == [
        "Ask before pushing.",
        "Pair on Tuesdays.",
        "Answer in English.",
    ]


async def test_after_a_compaction_the_pinned_and_what_the_work_still_needs_come_again(world: World) -> None:
    pinned = await world.remember("Answer in British English.", pinned=True)
    lesson = await world.remember(LESSON)
    await world.feed(*a_need(world))
    await world.deliver(await world.claim())

    await world.feed(a_start("compact", workspace=world.workspace()))

    claim = await world.claim(Surface.SESSION_START)
    assert isinstance(claim, Claimed)
    assert [item.memory_id for item in claim.packet.items] == [pinned, lesson]


async def test_after_a_compaction_what_the_work_no_longer_speaks_of_stays_away(world: World) -> None:
    await world.remember(LESSON)
    await world.feed(*a_need(world))
    await world.deliver(await world.claim())
    world.clock.set(world.clock.now() + 16 * MINUTE)

    await world.feed(a_start("compact", workspace=world.workspace()))

    entry = await last_pass(world)
    assert (entry.trigger, entry.reason) == ("seed", Reason.NO_CANDIDATES)
    assert await world.claim(Surface.SESSION_START) == Silence(reason=Reason.NONE_PENDING)


@pytest.mark.promise("silence-has-a-reason")
async def test_a_broken_index_makes_a_silent_start_and_stops_nothing(world: World) -> None:
    await world.remember(LESSON)
    await world.feed(*a_need(world))
    await world.deliver(await world.claim())
    await damaged(world, "df")

    folder = world.workspace()
    await world.feed(a_start("compact", workspace=folder), a_prompt("Hello again.", workspace=folder))

    seed, prompt = (await world.audit(kind=AuditKind.PASS))[-2:]
    assert (seed.trigger, seed.reason, seed.note) == ("seed", Reason.FAULT, "IndexFault")
    assert prompt.trigger == "prompt"


async def damaged(world: World, table: str = "record") -> None:
    await world.parts.library._database.write(lambda connection: connection.execute(f"DROP TABLE {table}"))


# ---------------------------------------------------------------------------------------------------- reads


async def the_file(world: World, memory_id: str) -> Path:
    runtime = await world.parts.sessions.find(SESSION, AGENT)
    found = await world.parts.library.get(memory_id, runtime.scope)
    assert found is not None
    return Path(found[1].source_file)


async def kinds(world: World, memory_id: str) -> list[EvidenceKind]:
    return [row.kind for row in await world.parts.evidence.of_memory(memory_id)]


async def a_lesson_at_hand(world: World) -> tuple[str, Path]:
    """A remembered lesson, its file, and a session that has begun."""
    memory_id = await world.remember(LESSON)
    await world.feed(a_prompt("Good morning.", workspace=world.workspace()))
    return memory_id, await the_file(world, memory_id)


@pytest.mark.promise("read-is-no-citation")
async def test_reading_a_memory_in_full_is_read_and_no_citation(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)

    await world.feed(a_read(window(file), workspace=world.workspace()))

    (row,) = await world.parts.evidence.of_memory(memory_id)
    assert (row.kind, row.coverage, row.call_id, row.event_seq) == (EvidenceKind.READ, 1_000_000, "read-1", 2)
    assert row.session_ref == world.parts.audit.ref(SESSION)


async def test_what_the_agent_has_read_is_not_handed_over_in_this_window_but_in_the_next(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)
    await world.feed(a_read(window(file), workspace=world.workspace()))

    await world.feed(*a_need(world))
    within = await last_pass(world)
    await world.feed(a_start("clear", workspace=world.workspace()), *a_need(world, "c2"))

    assert [(one.memory_id, one.drop_reason) for one in within.candidates] == [(memory_id, "already-read")]
    assert isinstance(await world.claim(), Claimed)


@pytest.mark.promise("coverage-exact")
async def test_what_a_command_printed_in_full_is_read_and_not_handed_over(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)

    await world.feed(a_printing(f"cat {file}", file.read_text("utf-8"), workspace=world.workspace()))
    assert await kinds(world, memory_id) == [EvidenceKind.READ]

    await world.feed(*a_need(world))
    assert [one.drop_reason for one in (await last_pass(world)).candidates] == ["already-read"]


async def test_a_producer_that_tells_only_call_and_output_is_understood_too(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)
    folder = world.workspace()

    await world.feed(
        a_call(f"sed -n '1,80p' {file}", call_id="s1", workspace=folder),
        a_result(file.read_text("utf-8"), ok=True, call_id="s1", workspace=folder),
    )

    assert await kinds(world, memory_id) == [EvidenceKind.READ]


async def test_a_command_that_only_names_a_file_is_no_read(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)

    await world.feed(a_printing(f"wc -l {file}", file.read_text("utf-8"), workspace=world.workspace()))

    assert await kinds(world, memory_id) == []


async def test_a_restart_remembers_what_was_read(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        _, file = await a_lesson_at_hand(world)
        await world.feed(a_read(window(file), workspace=world.workspace()))
    async with a_world(tmp_path / "data") as world:
        await world.feed(*a_need(world))

        assert await world.claim() == Silence(reason=Reason.NONE_PENDING)


async def test_reading_a_part_is_seen_and_the_memory_is_handed_over_all_the_same(world: World) -> None:
    memory_id = await world.remember(LESSON + "\nThe compose file is ops/compose.yaml.")
    await world.feed(a_prompt("Good morning.", workspace=world.workspace()))

    await world.feed(a_read(window(await the_file(world, memory_id), first=1, count=2), workspace=world.workspace()))

    assert await kinds(world, memory_id) == [EvidenceKind.SEEN]
    await world.feed(*a_need(world))
    assert isinstance(await world.claim(), Claimed)


@pytest.mark.promise("read-is-no-citation")
async def test_a_read_that_shows_nothing_of_a_memory_leaves_no_evidence(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)

    await world.feed(a_read(window(file, first=1, count=1), workspace=world.workspace()))  # its marker alone

    assert await kinds(world, memory_id) == []


@pytest.mark.promise("read-is-no-citation")
async def test_reading_a_file_that_has_changed_leaves_no_evidence(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)
    file.write_text(file.read_text("utf-8").replace("5433", "5434"), "utf-8")

    await world.feed(a_read(window(file), workspace=world.workspace()))

    assert await kinds(world, memory_id) == []


async def test_a_read_that_failed_leaves_no_evidence(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)

    await world.feed(a_read(window(file), payload={"ok": False}, workspace=world.workspace()))

    assert await kinds(world, memory_id) == []


async def test_what_a_subagent_or_an_incognito_session_reads_is_nobodys_business(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)

    await world.feed(a_read(window(file), workspace=world.workspace(), agent_id="sub-1"))
    await world.feed(a_wish(world, incognito=True))
    await world.feed(a_read(window(file), "read-2", workspace=world.workspace()))

    assert await kinds(world, memory_id) == []


async def test_a_read_while_the_index_is_broken_proves_nothing_and_stops_nothing(world: World) -> None:
    memory_id, file = await a_lesson_at_hand(world)
    await damaged(world)

    await world.feed(a_read(window(file), workspace=world.workspace()), *a_need(world))

    assert await kinds(world, memory_id) == []
    assert (await last_pass(world)).trigger == "result:failed"
