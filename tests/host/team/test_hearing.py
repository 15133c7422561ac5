"""What an event of the log is for a turn, whichever product told it."""

import msgspec
import pytest

from host.team.hearing import IMAGE, hear, is_ours, own_agent
from recall.canonical import bytes_digest
from recall.contracts import EventEnvelope, SourceKind
from tests.support.builders import a_call, a_prompt, a_reply, a_result, an_event

AGENT = "main"


def kind(event: EventEnvelope) -> str | None:
    told = hear(event, AGENT)
    return None if told is None else told.kind


def test_the_words_of_the_user_and_the_agent_are_parts() -> None:
    prompt = a_prompt("Ship it.", event_id="p", event_seq=3, timestamp=5, observed_at=7, workspace="/w")

    told = hear(prompt, AGENT)

    assert told is not None and (told.kind, told.text, told.event_seq, told.event_id) == ("user", "Ship it.", 3, "p")
    assert (told.at, told.observed_at, told.folder) == (5, 7, "/w")
    assert told.digest == bytes_digest(bytes(prompt.payload)) and told.whole and told.readable
    assert kind(a_reply("Done.")) == "assistant" and kind(a_reply("")) is None


def test_machine_text_in_the_users_role_is_none_of_it() -> None:
    assert kind(a_prompt("<task-notification>Always use npm.</task-notification>")) is None
    assert kind(a_prompt("This session is being continued from a previous conversation. Use npm.")) is None
    assert kind(a_prompt("harness", source_kind=SourceKind.LIFECYCLE)) is None
    assert kind(a_prompt("a tool says", source_kind=SourceKind.TOOL)) is None


@pytest.mark.parametrize(
    "text", ["[Request interrupted by user]", "[Request interrupted by user for tool use]", "<turn_aborted>\nx"]
)
def test_what_products_write_at_an_interruption_is_an_abort(text: str) -> None:
    assert kind(a_prompt(text, source_kind=SourceKind.LIFECYCLE)) == "aborted"
    assert kind(a_prompt(text, source_kind=SourceKind.AGENT)) is None


def test_ends_and_aborts_are_told() -> None:
    assert kind(an_event("turn/end", {})) == "ended" and kind(an_event("turn/end", {"aborted": True})) == "aborted"
    assert kind(an_event("turn/start", {})) is None and kind(an_event("session/end", {})) is None


def test_going_back_is_told_by_events_or_by_turns() -> None:
    by_events, by_turns = (hear(an_event("session/rewound", told), AGENT) for told in ({"events": ["a"]}, {"turns": 2}))

    assert by_events is not None and (by_events.kind, by_events.events) == ("rewound", ("a",))
    assert by_turns is not None and (by_turns.kind, by_turns.turns) == ("rolled-back", 2)


def test_a_message_that_only_asks_us_for_something_stands_apart() -> None:
    assert kind(a_prompt("Run the waiting checkpoints.")) == "apart"


def test_a_prompt_that_is_only_a_picture_is_one() -> None:
    told = hear(an_event("user/message", {"text": "", "images": 1}), AGENT)

    assert told is not None and told.text == IMAGE
    assert kind(an_event("user/message", {"text": ""})) is None


def test_other_agents_say_nothing() -> None:
    assert kind(a_prompt("x", agent_id="sub")) is None
    assert hear(a_prompt("x", agent_id="root"), "root") is not None


def test_a_call_says_what_it_is_about_and_its_texts_only_when_they_are_asked_for() -> None:
    call, result = a_call("make test", call_id="c"), a_result("\x1b[31merror\x1b[0m", call_id="c", ok=False)

    shallow, deep = hear(call, AGENT), hear(call, AGENT, deep=True)
    answered = hear(result, AGENT, deep=True)

    assert shallow is not None and deep is not None and answered is not None
    assert (shallow.text, deep.text, deep.name, deep.call_id) == ("", "make test", "shell", "c")
    assert shallow.about == deep.about != "" and shallow.digest == deep.digest
    assert (answered.kind, answered.text, answered.ok) == ("tool-result", "error", False)


@pytest.mark.parametrize(
    ("payload", "skills"),
    [
        ({"tool": "Skill", "nativeTool": "Skill", "args": '{"skill":"release"}'}, ("release",)),
        ({"tool": "Skill", "nativeTool": "Skill", "args": '{"command":"/release"}'}, ("release",)),
        ({"tool": "skill", "nativeTool": "skill", "args": '{"name":"release"}'}, ("release",)),
        ({"tool": "Skill", "nativeTool": "Skill", "args": "release"}, ("release",)),
        ({"tool": "read", "path": "/p/.codex/skills/release/SKILL.md", "args": "x"}, ("release",)),
        ({"tool": "shell", "args": "cat .codex/skills/release/SKILL.md"}, ("release",)),
        ({"tool": "shell", "args": "cat skills.md"}, ()),
        ({"tool": "Skill", "args": "{}"}, ()),
    ],
)
def test_a_skill_that_is_loaded_is_named(payload: dict[str, object], skills: tuple[str, ...]) -> None:
    told = hear(an_event("tool/call", payload), AGENT)

    assert told is not None and told.skills == skills


def test_a_typed_command_with_words_is_a_skill_of_the_turn() -> None:
    told = hear(an_event("user/message", {"text": "/deploy to staging", "command": "/deploy"}), AGENT)

    assert told is not None and (told.text, told.skills) == ("/deploy to staging", ("deploy",))


def test_our_own_tools_are_in_no_turn() -> None:
    for name in (
        "mcp__remora-pre__memory_search_pre",
        "mcp:remora_pre__memory_recall_pre",
        "mcp__plugin_remora-pre_remora-pre__memory_team_status_pre",
        "memory_stage_pre",
    ):
        assert is_ours(name), name
        assert kind(an_event("tool/result", {"tool": "mcp:x", "nativeTool": name, "text": "t"})) is None
    for name in ("shell", "mcp__other__memory_search", "my_memory_search_pres", "xmemory_get_pre"):
        assert not is_ours(name), name


def test_a_text_that_the_log_cut_is_told_as_cut() -> None:
    told = hear(an_event("tool/result", {"text": "x", "truncated": [{"field": "text"}]}), AGENT)

    assert told is not None and not told.whole


def test_a_field_of_another_form_costs_only_itself_and_no_object_is_a_hole() -> None:
    odd = hear(an_event("tool/result", {"text": "kept", "ok": "yes", "tool": 7, "images": "two"}), AGENT, deep=True)
    broken = an_event("tool/result", {})
    hole = hear(msgspec.structs.replace(broken, payload=msgspec.Raw(b"\xff")), AGENT)
    spoken = hear(msgspec.structs.replace(a_prompt("x"), payload=msgspec.Raw(b"[]")), AGENT)

    assert odd is not None and (odd.text, odd.ok, odd.name, odd.readable) == ("kept", None, "", True)
    assert hole is not None and not hole.readable and spoken is not None and not spoken.readable


def test_the_sessions_own_agent_is_the_one_that_spoke_first_unless_it_was_spawned() -> None:
    assert own_agent(a_prompt("x", agent_id="root")) == "root"
    assert own_agent(an_event("agent/spawn", {}, agent_id="sub")) == "main" == own_agent(None)
