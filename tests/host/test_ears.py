"""Transcripts are listened to at hook time: from the right place, once, and again after a daemon was away."""

import pytest

from governance.contracts import AuditKind
from host import ears as module
from host.errors import ProtocolFault
from host.hooks import Hooks
from recall.contracts import EventType
from tests.support.claude_code import ClaudeCode
from tests.support.world import FAILURE, LESSON, World

PROMPT = {"prompt": "Good morning, please go on where we stopped."}
SAID = {"type": "user", "message": {"role": "user", "content": "Good morning"}}


@pytest.fixture
async def claude(world: World) -> ClaudeCode:
    """A session that has begun, in a workspace where LESSON was learned."""
    await world.remember(LESSON)
    claude = ClaudeCode(world)
    await claude.hook("SessionStart", source="startup")
    await claude.hook("UserPromptSubmit", **PROMPT)
    return claude


async def settled(world: World) -> list[str]:
    """What became of claims, deliveries and drops, in order."""
    kinds = (AuditKind.CLAIM, AuditKind.DELIVERY, AuditKind.DROP)
    return [one.outcome for one in await world.audit() if one.kind in kinds]


async def test_a_subagents_hook_does_not_tell_the_main_agents_words(claude: ClaudeCode) -> None:
    claude.replies("I delegate.")

    await claude.hook("SubagentStart", agent_id="sub-1", agent_type="Plan")

    assert [kind for kind, _ in await claude.events()][-1] == EventType.AGENT_SPAWN


async def test_only_so_many_transcripts_are_followed_and_one_given_up_is_taken_up_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TAILS_KEPT", 1)
    hooks = Hooks(world.parts)
    sessions = [ClaudeCode(world, "cc-1", hooks), ClaudeCode(world, "cc-2", hooks)]
    for turn, claude in enumerate(sessions * 2):
        claude.replies(f"Words {turn}.", message_id=f"msg_{turn}")
        await claude.hook("Stop", prompt_id=f"p{turn}")

    assert [await claude.replied() for claude in sessions] == [["Words 0.", "Words 2."], ["Words 1.", "Words 3."]]


async def test_what_happened_while_nobody_listened_is_told_once_somebody_does(claude: ClaudeCode) -> None:
    """The daemon was away, and comes back in mid-session: hooks that find nobody are lost, the transcript is not."""
    world, now = claude.world, claude.world.clock.now()
    lint, docs = ("make lint", "fine", "t1"), ("make docs", "built", "t2")
    await claude.hook("PostToolUse", **called(*lint))
    claude.runs("make lint", "fine", now, "t1")
    before = await claude.events()
    claude.types("Now without you.", now + 60_000, "p2")
    claude.runs("make docs", "built", now + 61_000, "t2")
    world.clock.set(now + 120_000)
    claude.hooks = Hooks(world.parts)

    await claude.hook("SubagentStart", agent_id="sub-1", agent_type="Plan")
    for call in (docs, lint):  # and the hooks of both come once more
        await claude.hook("PostToolUse", **called(*call))

    missed = [each for each in (await claude.events())[len(before) :] if each[0] != EventType.AGENT_SPAWN]
    assert [(kind, told.get("text") or told.get("args")) for kind, told in missed] == [
        (EventType.USER_MESSAGE, "Now without you."),
        (EventType.TOOL_CALL, "make docs"),
        (EventType.TOOL_RESULT, "built"),
    ]


async def test_what_was_missed_and_could_not_be_kept_is_told_with_the_next_hook(
    claude: ClaudeCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, now = claude.world, claude.world.clock.now()
    claude.types("Now without you.", now + 60_000, "p2")
    world.clock.set(now + 120_000)
    claude.hooks = Hooks(world.parts)

    async def refused(*_: object) -> None:
        raise ProtocolFault("store-unavailable", "The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(type(world.parts.host), "on_event", refused)
        with pytest.raises(ProtocolFault):
            await claude.hook("Stop", prompt_id="p2")

    await claude.hook("Stop", prompt_id="p2")

    assert [told["text"] for kind, told in await claude.events() if kind == EventType.USER_MESSAGE][-1] == (
        "Now without you."
    )


async def test_a_transcript_that_moved_is_followed_to_its_new_place(claude: ClaudeCode) -> None:
    claude.replies("Here.")
    await claude.hook("UserPromptSubmit", prompt="And there?", prompt_id="p2")
    claude.transcript = claude.transcript.with_name("elsewhere.jsonl")
    claude.replies("There.", message_id="msg_2")
    await claude.hook("UserPromptSubmit", prompt="And everywhere?", prompt_id="p3")

    assert await claude.replied() == ["Here.", "There."]


@pytest.mark.parametrize("written", ["before", "after"])
async def test_a_fork_begins_with_what_its_parent_was_given(claude: ClaudeCode, written: str) -> None:
    """The new transcript repeats the parent's, before the start is told or after it."""
    await claude.fails(FAILURE)
    given = await claude.given("PostToolBatch")
    fork = ClaudeCode(claude.world, "cc-2", claude.hooks)
    if written == "before":
        fork.writes(SAID)
        fork.puts_before_the_model(given)
    await fork.hook("SessionStart", source="fork")
    if written == "after":
        fork.writes(SAID)
        fork.puts_before_the_model(given)
    await fork.hook("UserPromptSubmit", **PROMPT)

    await fork.fails(FAILURE)

    assert await fork.given("PostToolBatch") == ""
    assert await settled(claude.world) == ["claimed", "delivered"]


async def test_a_fork_whose_transcript_is_copied_late_is_waited_for_at_its_first_step(
    claude: ClaudeCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    await claude.fails(FAILURE)
    given = await claude.given("PostToolBatch")
    fork = ClaudeCode(claude.world, "cc-2", claude.hooks)
    await fork.hook("SessionStart", source="fork")
    await fork.fails(FAILURE)
    begun, looks = module.advance, list[object]()

    fork.writes({"type": "queue-operation", "operation": "enqueue"})  # what the host notes before the conversation

    def copied_meanwhile(tail: module.Tail) -> object:
        found = begun(tail)
        if not looks:
            fork.writes(SAID)
            fork.puts_before_the_model(given)
        looks.append(found)
        return found

    monkeypatch.setattr(module, "advance", copied_meanwhile)

    assert given and await fork.given("PostToolBatch") == ""
    assert len(looks) == 2


async def test_a_fork_whose_conversation_is_not_there_in_time_is_given_nothing_at_that_step(
    claude: ClaudeCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COPY_LOOKS", 1)
    fork = ClaudeCode(claude.world, "cc-2", claude.hooks)
    await fork.hook("SessionStart", source="fork")
    await fork.fails(FAILURE)
    unread = await fork.given("PostToolBatch")
    fork.writes(SAID)

    assert unread == ""
    assert "pg-fixture" in await fork.given("PostToolBatch")


async def test_a_fork_whose_parent_was_compacted_is_given_what_that_wiped(claude: ClaudeCode) -> None:
    await claude.fails(FAILURE)
    given = await claude.given("PostToolBatch")
    fork = ClaudeCode(claude.world, "cc-2", claude.hooks)
    fork.writes(SAID)
    fork.puts_before_the_model(given)
    fork.writes({"type": "system", "subtype": "compact_boundary"})
    await fork.hook("SessionStart", source="fork")
    await fork.hook("UserPromptSubmit", **PROMPT)

    await fork.fails(FAILURE)

    assert "pg-fixture" in await fork.given("PostToolBatch")


def called(command: str, output: str, call_id: str) -> dict[str, object]:
    """What the hook of a call that went well says."""
    call = {"tool_name": "Bash", "tool_use_id": call_id, "tool_input": {"command": command}}
    return call | {"tool_response": {"stdout": output}}


async def test_a_fork_says_once_which_session_it_goes_on_from(claude: ClaudeCode) -> None:
    fork = ClaudeCode(claude.world, "cc-2", claude.hooks)
    fork.writes({"type": "attachment", "forkedFrom": {"sessionId": "cc-1", "messageUuid": "u1"}, "attachment": {}})
    await fork.hook("SessionStart", source="fork")
    for _ in range(2):
        await fork.hook("UserPromptSubmit", **PROMPT)

    told = [said for kind, said in await fork.events() if kind == "session/forked"]

    assert told == [{"parent": "cc-1"}]
