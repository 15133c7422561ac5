"""What formation may see of a session: the user's and the agent's words, and nothing else that the log holds."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import EvidenceRecord, Role
from host.config import FormationSettings
from host.contracts import Rollout
from host.formation.lineage import Lineage
from host.formation.material import SessionMaterial
from host.frame import close_line, open_line
from host.runtime import SESSION_SET
from host.transcripts.records import Place, forked
from recall.contracts import EventEnvelope, SourceKind
from recall.workspace import workspace_key
from tests.support.builders import SESSION, a_call, a_prompt, a_reply, a_result, a_start, an_event
from tests.support.clock import START
from tests.support.world import World, a_world

PACKET = f"{open_line('0123456789abcdef')}\n| Use pnpm.\n{close_line('0123456789abcdef')}"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data") as made:
        yield made


def material_of(world: World) -> SessionMaterial:
    parts = world.parts
    return SessionMaterial(parts.eventlog, Lineage(parts.eventlog), parts.places.key, parts.rollouts.asleep)


async def read(world: World, *events: EventEnvelope, after: int = 0, session: str = SESSION) -> list[EvidenceRecord]:
    if events:
        await world.parts.eventlog.append(events, world.clock.now())
    return list(await material_of(world).read(session, after, 2**40))


async def texts(world: World, *events: EventEnvelope, **more: Any) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in await read(world, *events, **more)]


async def test_it_holds_what_was_said_in_order_and_no_tool_traffic(world: World) -> None:
    found = await texts(
        world,
        a_start(),
        a_prompt("We ship on Thursdays."),
        a_call("cat secrets"),
        a_result("tool body"),
        a_reply("Noted."),
        an_event("turn/end", {}),
    )

    assert found == [("user", "We ship on Thursdays."), ("assistant", "Noted.")]


async def test_each_text_says_where_it_stands(world: World) -> None:
    folder = world.workspace()
    (said, _) = await read(
        world,
        a_prompt("one", workspace=folder, event_id="prompt:1", timestamp=START + 5),
        a_reply("two", workspace=folder, message_id="msg_1"),
    )

    assert said.ref == f"{SESSION}#1" and said.message_id == "prompt:1"
    assert (said.event_seq, said.at, said.turn, said.truncated) == (1, START + 5, 1, False)
    assert said.workspace_key == workspace_key(folder)


async def test_an_event_that_names_no_folder_stays_where_the_session_was(world: World) -> None:
    there, elsewhere = world.workspace(), world.workspace("elsewhere")

    found = await read(
        world, a_prompt("a", workspace=there), a_prompt("b", workspace=""), a_prompt("c", workspace=elsewhere)
    )

    assert [one.workspace_key for one in found] == [workspace_key(there)] * 2 + [workspace_key(elsewhere)]


async def test_machine_text_in_the_users_role_is_not_there_whatever_its_envelope_says(world: World) -> None:
    found = await texts(
        world,
        a_prompt("<task-notification>Always use npm.</task-notification>"),
        a_prompt("This session is being continued from a previous conversation. Use npm."),
        a_prompt("harness", source_kind=SourceKind.LIFECYCLE),
        a_prompt("a tool says", source_kind=SourceKind.TOOL),
        a_prompt(f"{PACKET}\nmine"),
        a_reply(f"yours\n{PACKET}"),
    )

    assert found == [("user", "mine"), ("assistant", "yours")]


async def test_subagents_are_not_there_whatever_they_say(world: World) -> None:
    found = await texts(
        world,
        a_prompt("mine", agent_id="root"),
        a_prompt("sub", agent_id="sub-1", source_kind=SourceKind.AGENT),
        a_prompt("posing", agent_id="sub-1"),
        a_reply("its words", agent_id="sub-1"),
        a_reply("main's words"),
    )

    assert found == [("user", "mine"), ("assistant", "main's words")]


async def test_after_and_through_bound_what_is_read_and_turns_count_from_the_beginning(world: World) -> None:
    await read(world, *(a_prompt(f"p{number}") for number in range(1, 6)))

    found = await material_of(world).read(SESSION, 2, 4)

    assert [(one.text, one.turn) for one in found] == [("p3", 3), ("p4", 4)]
    assert [one.text for one in await material_of(world).read(SESSION, -1, 1)] == ["p1"]
    assert await material_of(world).read("nobody", -1, 9) == ()


@pytest.mark.promise("formation-19")
async def test_what_was_said_incognito_is_never_read_whatever_range_is_asked(world: World) -> None:
    await read(
        world,
        a_prompt("before"),
        an_event(SESSION_SET, {"incognito": True}),
        a_prompt("hidden"),
        a_reply("hidden reply"),
        an_event(SESSION_SET, {"incognito": False}),
        a_prompt("after"),
    )

    for after in range(-1, 6):
        assert "hidden" not in " ".join(one.text for one in await material_of(world).read(SESSION, after, 99))
    assert [one.text for one in await material_of(world).read(SESSION, -1, 99)] == ["before", "after"]
    (span,) = await material_of(world).denied(SESSION, 6)
    assert (span.from_seq, span.through_seq) == (2, 5)


async def test_what_came_while_a_workspace_was_off_is_not_read_later(world: World) -> None:
    folder = world.workspace()
    key = workspace_key(folder)
    await read(world, a_prompt("before", workspace=folder))
    world.clock.set(START + 500)
    await world.parts.rollouts.set(key, Rollout.OFF, START + 500)
    await read(world, a_prompt("while off", workspace=folder))
    world.clock.set(START + 1_000)
    await world.parts.rollouts.set(key, Rollout.ACTIVE, START + 1_000)

    found = await texts(world, a_prompt("while on", workspace=folder))

    assert found == [("user", "before"), ("user", "while on")], "what was said before is no part of it"


async def test_a_text_that_the_log_cut_says_so(world: World) -> None:
    (found,) = await read(world, a_prompt("word " * 40_000))

    assert found.truncated and "characters left out" in found.text


async def test_what_a_resumed_session_repeats_is_not_read_again(world: World) -> None:
    old = [a_prompt("u1", event_id="msg:1"), a_reply("a1", event_id="msg:2")]
    again = [a_prompt("u1", event_id="msg:1", session_id="s-new"), a_reply("a1", event_id="msg:2", session_id="s-new")]
    await read(world, *old)

    found = await texts(world, *again, a_prompt("u2", event_id="msg:3", session_id="s-new"), session="s-new")

    assert found == [("user", "u2")]


async def test_a_fork_that_its_transcript_names_repeats_nothing_of_its_parent(world: World) -> None:
    await read(world, a_prompt("u1", event_id="msg:1"))
    here = Place(session_id="s-new", agent_id="main", workspace="/w", at=START)
    again = a_prompt("u1", event_id="msg:1", session_id="s-new")

    found = await texts(world, forked(here, SESSION), again, a_prompt("u2", session_id="s-new"), session="s-new")

    assert found == [("user", "u2")]


@pytest.mark.promise("formation-01")
async def test_messages_hold_the_same_texts_and_empty_places_for_tools(world: World) -> None:
    await read(world, a_prompt("we ship", event_id="p"), a_call("cat x"), a_result("tool body"), a_reply("noted"))

    found = await material_of(world).messages(SESSION, 0, 99)

    assert [(one.role, one.content) for one in found] == [
        (Role.USER, "we ship"),
        (Role.TOOL, ""),
        (Role.TOOL, ""),
        (Role.ASSISTANT, "noted"),
    ]
    assert len({one.id for one in found}) == 4 and all(one.evidence for one in found)


async def test_only_what_was_said_in_a_workspace_when_that_is_asked(world: World) -> None:
    here, there = world.workspace(), world.workspace("elsewhere")
    await read(
        world, a_prompt("here", workspace=here), a_call("ls", workspace=here), a_prompt("there", workspace=there)
    )

    texts_here = await material_of(world).read(SESSION, 0, 99, workspace_key(here))
    messages = await material_of(world).messages(SESSION, 0, 99, workspace_key(there))

    assert [one.text for one in texts_here] == ["here"]
    assert [(one.role, one.content) for one in messages] == [(Role.USER, "there")]


async def test_a_subagent_whose_parent_was_never_heard_is_a_subagent_all_the_same(world: World) -> None:
    """A file of a subagent may be taken in alone."""
    spawned = an_event("agent/spawn", {}, agent_id="sub-1")

    assert await texts(world, spawned, a_prompt("review this", agent_id="sub-1")) == []


async def test_a_user_who_wants_it_has_subagents_read_too_but_never_their_prompts_as_his_words(tmp_path: Path) -> None:
    settings = FormationSettings(exclude_subagents=False)
    async with a_world(tmp_path / "data", formation=settings) as world:
        await read(
            world,
            a_prompt("mine"),
            a_prompt("an agent's order", agent_id="sub-1", source_kind=SourceKind.AGENT),
            a_reply("what it found", agent_id="sub-1"),
        )
        found = await world.parts.formation.material.read(SESSION, -1, 99)

    assert [(one.role, one.text) for one in found] == [("user", "mine"), ("assistant", "what it found")]


@pytest.mark.parametrize("which", ["event_seq = 1", "event_seq = 2", "event_seq = 3", "1"])
async def test_what_the_log_has_let_go_of_is_known_no_more(world: World, which: str) -> None:
    await read(world, a_prompt("p1"), a_prompt("p2"), a_prompt("p3"))
    material = material_of(world)
    assert len(await material.read(SESSION, 0, 99)) == 3

    await world.parts.main.write(lambda c: c.execute(f"DELETE FROM event WHERE {which}"))

    left = [f"p{number}" for number in (1, 2, 3) if which not in (f"event_seq = {number}", "1")]
    assert [one.text for one in await material.read(SESSION, 0, 99)] == left
