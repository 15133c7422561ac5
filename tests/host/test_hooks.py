"""A host's hooks over a whole remora: what they tell is kept, and what they are given is settled as it went."""

import json

import msgspec
import pytest

from governance.contracts import AuditKind, EvidenceKind
from host import hooks as module
from host.adapters import ADAPTERS
from host.contracts import Heard, Reason, Rollout, Surface
from host.errors import ProtocolFault
from host.hooks import Hooks
from host.protocol import Request
from recall.contracts import EventType
from recall.workspace import workspace_key
from tests.support.builders import AGENT
from tests.support.claude_code import HOST, ClaudeCode, said
from tests.support.world import FAILURE, LESSON, World

PROMPT = {"prompt": "Good morning, please go on where we stopped."}
NOTIFICATION = (
    "<task-notification>\n<task-id>b5x</task-id>\n<summary>make integration-test: ECONNREFUSED on port 5433, "
    "pg-fixture</summary>\n</task-notification>"
)


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


async def pending(world: World) -> bool:
    slot, _ = await world.parts.inbox.slot("cc-1", AGENT)
    return slot is not None


# ---------------------------------------------------------------------------------------------------- what is told


@pytest.mark.promise("bad-input")
async def test_what_cannot_be_understood_is_refused_by_kind_and_nothing_is_kept(world: World) -> None:
    hooks, kinds = Hooks(world.parts), []
    for host, raw in [
        ("no-such-agent", b"{}"),
        (HOST, b"not json"),
        (HOST, b'{"hook_event_name":"Stop","cwd":"/p"}'),
        (HOST, b'{"hook_event_name":"Stop","cwd":"/p","session_id":"../../x"}'),
    ]:
        with pytest.raises(ProtocolFault) as refused:
            await hooks.heard(host, raw)
        kinds.append(refused.value.kind)

    assert kinds == ["unknown-host", "bad-payload", "no-owner", "invalid-params"]
    assert await world.parts.eventlog.sessions() == ()


async def test_lone_surrogates_in_a_payload_are_mended_before_it_is_read(claude: ClaudeCode) -> None:
    raw = json.dumps({"session_id": "cc-1", "cwd": claude.cwd, "hook_event_name": "UserPromptSubmit"})
    await claude.heard(raw[:-1].encode() + rb', "prompt": "broken \ud83d emoji"}')

    assert (await claude.events())[-1] == (EventType.USER_MESSAGE, {"text": "broken \ufffd emoji"})


async def test_sessions_of_our_own_are_not_listened_to(world: World) -> None:
    claude = ClaudeCode(world, hooks=Hooks(world.parts, own=(world.workspace(),)))

    reply = await claude.hook("UserPromptSubmit", **PROMPT)

    assert reply.result == b""
    assert await world.parts.eventlog.sessions() == ()


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


async def test_a_transcript_that_moved_is_followed_to_its_new_place(claude: ClaudeCode) -> None:
    claude.replies("Here.")
    await claude.hook("UserPromptSubmit", prompt="And there?", prompt_id="p2")
    claude.transcript = claude.transcript.with_name("elsewhere.jsonl")
    claude.replies("There.", message_id="msg_2")
    await claude.hook("UserPromptSubmit", prompt="And everywhere?", prompt_id="p3")

    assert await claude.replied() == ["Here.", "There."]


# ---------------------------------------------------------------------------------------------------- what is given


@pytest.mark.promise("seen-only-delivered", "sent-is-final")
async def test_a_lesson_is_delivered_when_the_answer_was_written_and_not_before(claude: ClaudeCode) -> None:
    await claude.fails(FAILURE)

    reply = await claude.hook("PostToolBatch")

    assert "pg-fixture container is not running" in said(reply)
    assert await settled(claude.world) == ["claimed"]
    await reply.written()
    assert await settled(claude.world) == ["claimed", "delivered"]
    rows = await claude.world.parts.evidence.of_session(claude.world.parts.audit.ref("cc-1"))
    assert [row.kind for row in rows] == [EvidenceKind.SEEN]
    assert await claude.given("PostToolBatch") == ""


@pytest.mark.promise("seen-only-delivered")
async def test_a_lesson_is_delivered_also_when_its_session_was_found_again_meanwhile(claude: ClaudeCode) -> None:
    await claude.fails(FAILURE)
    reply = await claude.hook("PostToolBatch")
    sessions = claude.world.parts.sessions
    sessions.forsake(await sessions.find("cc-1", AGENT))

    await reply.written()

    assert await settled(claude.world) == ["claimed", "delivered"]
    assert (await sessions.find("cc-1", AGENT)).shown


@pytest.mark.promise("packet-released", "seen-only-delivered")
async def test_a_lesson_whose_answer_was_lost_is_given_at_the_next_boundary(claude: ClaudeCode) -> None:
    await claude.fails(FAILURE)
    reply = await claude.hook("PostToolBatch")

    await reply.lost()

    assert await settled(claude.world) == ["claimed", "released"]
    assert await claude.world.parts.evidence.of_session(claude.world.parts.audit.ref("cc-1")) == ()
    assert "pg-fixture" in await claude.given("PostToolBatch")


async def test_over_the_socket_the_output_is_the_hosts_own_document(claude: ClaudeCode) -> None:
    await claude.fails(FAILURE)
    told = {"session_id": "cc-1", "cwd": claude.cwd, "hook_event_name": "PostToolBatch"}
    params = msgspec.Raw(msgspec.json.encode({"host": HOST, "payload": told}))

    first = await claude.hooks.called(Request(id=1, method="hook", params=params))
    await first.written()
    second = await claude.hooks.called(Request(id=2, method="hook", params=params))

    answer = json.loads(msgspec.json.encode(first.result))["output"]["hookSpecificOutput"]
    assert (answer["hookEventName"], "pg-fixture" in answer["additionalContext"]) == ("PostToolBatch", True)
    assert second.result == {"output": None}
    assert await settled(claude.world) == ["claimed", "delivered"]


async def test_pinned_memories_are_given_at_the_start(world: World) -> None:
    await world.remember("Answer in British English.", pinned=True)

    assert "British English" in await ClaudeCode(world).given("SessionStart", source="startup")


async def test_the_same_is_not_told_twice_until_a_compaction_forgets_it(claude: ClaudeCode) -> None:
    for _ in range(3):
        await claude.fails(FAILURE)
        await claude.given("PostToolBatch")
    assert len(claude.said) == 1

    await claude.given("SessionStart", source="compact")

    assert len(claude.said) == 2  # the work still speaks of it
    await claude.fails(FAILURE)
    assert await claude.given("PostToolBatch") == ""


@pytest.mark.promise("gate-suppresses")
async def test_what_a_machine_says_in_the_users_role_gets_no_answer(claude: ClaudeCode) -> None:
    await claude.fails(FAILURE)

    assert await claude.given("UserPromptSubmit", prompt=NOTIFICATION) == ""

    entry = (await claude.world.audit(kind=AuditKind.PASS))[-1]
    assert (entry.reason, entry.arms) == (Reason.MACHINE_AUTHORED, ())
    assert "pg-fixture" in await claude.given("PostToolBatch")  # it took nothing from the next boundary


async def test_a_stop_is_never_answered(claude: ClaudeCode) -> None:
    await claude.fails(FAILURE)

    assert await claude.given("Stop", last_assistant_message="I give up.") == ""
    assert await pending(claude.world)


class Deaf:
    """Claude Code's adapter, of a host that takes nothing."""

    decode = staticmethod(ADAPTERS[HOST].decode)

    def encode(self, heard: Heard, text: str | None) -> bytes:
        return b""


@pytest.mark.parametrize("outcome", ["written", "lost"])
async def test_an_answer_that_the_host_cannot_take_is_given_back(
    claude: ClaudeCode, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await claude.fails(FAILURE)
    with monkeypatch.context() as patched:
        patched.setitem(ADAPTERS, HOST, Deaf())  # type: ignore[arg-type]
        reply = await claude.hook("PostToolBatch")

    await (reply.written if outcome == "written" else reply.lost)()

    assert reply.result == b""
    assert await settled(claude.world) == ["claimed", "released"]


class Anonymous(Deaf):
    """An adapter that did not understand whose call it was."""

    def decode(self, raw: bytes, now: int = 0, own: tuple[str, ...] = ()) -> Heard:  # type: ignore[override]
        return Heard(envelopes=(), session_id="", agent_id=AGENT, event="?", surface=Surface.USER_PROMPT)


async def test_nobodys_call_is_a_silence(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADAPTERS, "odd", Anonymous())  # type: ignore[arg-type]

    assert (await Hooks(world.parts).heard("odd", b"{}")).result == b""
    assert await world.parts.eventlog.sessions() == ()


# ---------------------------------------------------------------------------------------------------- where it works


async def test_the_agent_may_go_anywhere_the_session_stays_in_its_workspace(claude: ClaudeCode) -> None:
    """`cwd` follows every `cd` of the agent; a compaction in mid-session is no new start."""
    home, claude.cwd = claude.cwd, claude.world.workspace("another")

    await claude.fails(FAILURE)
    assert "pg-fixture" in await claude.given("PostToolBatch")
    await claude.hook("SubagentStart", agent_id="sub-1", agent_type="Plan")
    await claude.hook("SessionStart", source="compact")

    assert {one.workspace for one in await claude.logged()} == {home}


async def test_a_session_that_is_resumed_elsewhere_works_there(claude: ClaudeCode) -> None:
    claude.cwd = claude.world.workspace("another")

    await claude.hook("SessionStart", source="resume")
    await claude.fails(FAILURE)

    assert (await claude.logged())[-1].workspace == claude.cwd
    assert await claude.given("PostToolBatch") == ""  # the lesson is of the other workspace


async def test_a_session_first_heard_of_in_mid_step_gets_its_workspace_from_the_next_hook_that_tells_it(
    world: World,
) -> None:
    await world.remember(LESSON)
    claude = ClaudeCode(world)

    await claude.hook("PostToolBatch")
    await claude.fails(FAILURE)

    assert [one.workspace for one in await claude.logged()] == ["", claude.cwd, claude.cwd]
    assert "pg-fixture" in await claude.given("PostToolBatch")


@pytest.mark.parametrize(
    ("level", "reasons"),
    [
        (Rollout.OFF, [Reason.ROLLOUT_OFF]),
        (Rollout.SHADOW, [Reason.SHADOW]),
        (Rollout.CANARY, [Reason.SHADOW]),  # this session is not of its share
        (Rollout.ACTIVE, []),
    ],
)
async def test_what_waits_is_dropped_where_nothing_may_be_handed_over_any_more(
    claude: ClaudeCode, level: Rollout, reasons: list[Reason]
) -> None:
    world, here = claude.world, workspace_key(claude.cwd)
    await claude.fails(FAILURE)
    elsewhere = workspace_key(world.workspace("another"))
    await world.parts.rollouts.set(elsewhere, Rollout.OFF)
    await world.parts.claims.withdraw(world.parts.sessions.all())
    assert await pending(world)

    await world.parts.rollouts.set(here, level)
    await world.parts.claims.withdraw(world.parts.sessions.all())

    assert [entry.reason for entry in await world.audit(kind=AuditKind.DROP)] == reasons
    assert await pending(world) is not bool(reasons)
