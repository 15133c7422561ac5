"""A host's hooks over a whole remora: what they tell is kept, and what they are given is settled as it went."""

import json

import msgspec
import pytest

from governance.contracts import AuditKind, EvidenceKind
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


async def test_a_call_that_another_hook_has_changed_keeps_its_first_telling_and_loses_nothing(
    claude: ClaudeCode,
) -> None:
    call = {"tool_name": "Bash", "tool_use_id": "t1"}
    await claude.hook("PreToolUse", tool_input={"command": "make"}, **call)

    changed = {"tool_input": {"command": "make -j4"}, "tool_response": {"stdout": "built"}}
    await claude.hook("PostToolUse", **call, **changed)
    await claude.hook("PostToolUse", **call, **changed)

    told = [(kind, payload.get("args"), payload.get("text")) for kind, payload in await claude.events()]
    assert told[-2:] == [(EventType.TOOL_CALL, "make", None), (EventType.TOOL_RESULT, None, "built")]


@pytest.mark.parametrize(
    ("client", "event", "told"),
    [
        ("claude-code_2-1-332_harness", "SessionStart", [{"version": "2.1.332"}]),
        ("claude-code_3-0", "SessionStart", [{"version": "3.0"}]),
        ("claude-code_2-1-332_harness", "UserPromptSubmit", []),
        ("codex_2-1-332", "SessionStart", []),
        ("claude-code", "SessionStart", []),
        ("", "SessionStart", []),
    ],
)
async def test_the_version_that_a_hooks_process_was_told_begins_the_session(
    world: World, client: str, event: str, told: list[dict[str, str]]
) -> None:
    claude = ClaudeCode(world)
    payload = {"session_id": "cc-1", "cwd": claude.cwd, "hook_event_name": event, "prompt": "Hello."}
    params = msgspec.Raw(msgspec.json.encode({"host": HOST, "client": client, "payload": payload}))

    await claude.hooks.called(Request(id=1, method="hook", params=params))

    events = await claude.events()
    assert [what for kind, what in events if kind == EventType.SESSION_CLIENT] == told
    assert len(events) == len(told) + 1


async def test_a_session_whose_start_two_registrations_tell_is_given_its_pinned_memories_once(world: World) -> None:
    await world.remember("Answer in British English.", pinned=True)
    claude = ClaudeCode(world)

    for _ in range(2):
        await claude.given("SessionStart", source="startup")

    assert len(claude.said) == 1


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
    assert json.loads(msgspec.json.encode(second.result)) == {"output": None}
    assert await settled(claude.world) == ["claimed", "delivered"]


@pytest.mark.parametrize("verb", ["inbox.delivered", "inbox.release"])
async def test_a_caller_that_acknowledges_says_itself_what_became_of_the_text(claude: ClaudeCode, verb: str) -> None:
    await claude.fails(FAILURE)
    told = {"session_id": "cc-1", "cwd": claude.cwd, "hook_event_name": "PostToolBatch"}
    params = msgspec.Raw(msgspec.json.encode({"host": HOST, "payload": told, "acknowledge": True}))

    reply = await claude.hooks.called(Request(id=1, method="hook", params=params))
    await reply.written()

    assert await settled(claude.world) == ["claimed"]
    claim = json.loads(msgspec.json.encode(reply.result))["claim"]
    assert (claim["sessionId"], claim["agentId"]) == ("cc-1", AGENT)
    claims, runtime = claude.world.parts.claims, await claude.world.parts.sessions.find("cc-1", AGENT)
    act = claims.delivered if verb == "inbox.delivered" else claims.release
    assert (await act(runtime, claim["packetId"], claim["claimId"])).settled
    assert await settled(claude.world) == ["claimed", "delivered" if verb == "inbox.delivered" else "released"]


async def test_a_caller_that_would_acknowledge_and_is_gone_gives_the_text_back(claude: ClaudeCode) -> None:
    await claude.fails(FAILURE)
    told = {"session_id": "cc-1", "cwd": claude.cwd, "hook_event_name": "PostToolBatch"}
    params = msgspec.Raw(msgspec.json.encode({"host": HOST, "payload": told, "acknowledge": True}))

    await (await claude.hooks.called(Request(id=1, method="hook", params=params))).lost()

    assert await settled(claude.world) == ["claimed", "released"]


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
