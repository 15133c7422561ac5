"""Hooks and rollout of a Codex session together tell each event once, and what a hook does not know."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from host.adapters.codex import decode
from host.contracts import Heard
from host.transcripts.codex_overhear import KEPT, CodexOverhearing
from recall.contracts import EventEnvelope, SourceKind
from tests.host.adapters import goldens
from tests.host.adapters.goldens import NOW, payloads

CODEX = Path(__file__).parents[2] / "data" / "hosts" / "codex"
SESSIONS = ["basic", "subagent", "compact_auto"]
Json = dict[str, Any]


def line(kind: str, payload: Json, at: str = "2026-11-30T10:00:00.000Z") -> bytes:
    return json.dumps({"timestamp": at, "type": kind, "payload": payload}).encode() + b"\n"


def call(call_id: str, command: str = "make") -> bytes:
    given = json.dumps({"cmd": command})
    return line(
        "response_item", {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call_id}
    )


def output(call_id: str, text: str) -> bytes:
    return line("response_item", {"type": "function_call_output", "call_id": call_id, "output": text})


def ended(call_id: str, code: int, printed: str = "") -> bytes:
    item = {"type": "CommandExecution", "id": call_id, "exit_code": code, "aggregated_output": printed}
    return line("event_msg", {"type": "item_completed", "turn_id": "t1", "item": item})


def said(text: str, turn: str = "t1", kind: str = "AgentMessage") -> bytes:
    item = {"type": kind, "id": "m", "content": [{"type": "Text", "text": text}]}
    return line("event_msg", {"type": "item_completed", "turn_id": turn, "item": item})


def posted(call_id: str, command: str = "make", text: str = "") -> Heard:
    tool = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call_id, "tool_response": text}
    return hook("PostToolUse", **tool)


def hook(event: str, **fields: object) -> Heard:
    base = {"session_id": "s", "cwd": "/p", "turn_id": "t1", "hook_event_name": event}
    return decode(json.dumps(base | fields).encode(), NOW)


def brief(envelopes: Sequence[EventEnvelope]) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for envelope in envelopes:
        payload = json.loads(bytes(envelope.payload))
        outcome = (payload.get("ok"),) if envelope.event_type == "tool/result" else ()
        found.append((envelope.event_type, *outcome, payload.get("text", payload.get("args"))))
    return found


@pytest.fixture
def ear() -> CodexOverhearing:
    return CodexOverhearing("s", "/p")


# ---------------------------------------------------------------------------------------------------------- captures


def played(capture: Path) -> Iterator[tuple[Json, list[bytes]]]:
    """Each hook payload with the lines of its agent's rollout that were written before it was answered.

    The hooks of these captures answered with a mark: where it stands in the rollout the hook had just run.
    """
    files = {"": capture / "rollout.jsonl", "child": capture / "rollout_1.jsonl"}
    lines = {who: file.read_bytes().splitlines(keepends=True) for who, file in files.items() if file.exists()}
    places = dict.fromkeys(lines, 0)
    for payload in payloads(capture):
        who = "child" if payload.get("agent_id") else ""
        place, own = places[who], lines[who]
        mark = f"MARK-{payload['hook_event_name']} ".encode()
        until = next((n for n in range(place, len(own)) if mark in own[n]), None)
        if until is None:  # an event without a mark: what was written before the next one with one
            until = place if payload["hook_event_name"] in ("PreCompact", "PostCompact") else len(own) - 1
        yield payload, own[place:until]
        places[who] = max(place, until)


def session(capture: Path, silent: Sequence[str] = ()) -> list[EventEnvelope]:
    """All that a session tells, as the daemon hears it. `silent`: hook events that are not registered."""
    ears: dict[str, CodexOverhearing] = {}
    events: list[EventEnvelope] = []
    waiting: dict[str, list[bytes]] = {}
    for payload, lines in played(capture):
        agent = payload.get("agent_id", "main")
        waiting.setdefault(agent, []).extend(lines)
        if payload["hook_event_name"] in silent:
            continue
        ear = ears.setdefault(agent, CodexOverhearing(payload["session_id"], payload["cwd"], 0, agent))
        heard = decode(json.dumps(payload).encode(), NOW)
        events += [*ear.hear(waiting.pop(agent)).envelopes, *ear.placed(heard).envelopes]
    return events


def stored(events: Sequence[EventEnvelope]) -> list[EventEnvelope]:
    """As the log keeps them: each id once. The same id with other bytes would be refused, with all of its hook."""
    kept: dict[str, EventEnvelope] = {}
    for number, event in enumerate(events):
        first = kept.setdefault(event.event_id or str(number), event)
        assert bytes(first.payload) == bytes(event.payload), event
    return list(kept.values())


@pytest.mark.parametrize("name", SESSIONS)
def test_a_captured_session_tells_what_is_expected(name: str) -> None:
    events = [goldens._line(goldens._fields(event)) for event in stored(session(CODEX / name, ["PreToolUse"]))]
    file = CODEX / name / "expected_session.jsonl"

    assert events == file.read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", SESSIONS)
def test_what_hooks_and_rollout_both_tell_is_the_same_to_the_byte(name: str) -> None:
    """The log takes an id once, and refuses other bytes under it: nothing of such a hook would be stored."""
    for silent in ((), ("PreToolUse",), ("PreToolUse", "PostToolUse"), ("UserPromptSubmit",)):
        events = session(CODEX / name, silent)
        kinds = [event.event_type for event in stored(events)]
        assert kinds.count("tool/result") == kinds.count("tool/call") == len({e.call_id for e in events if e.call_id})
        assert kinds.count("user/message") == len({e.event_id for e in events if e.event_type == "user/message"})


@pytest.mark.parametrize("silent", ["PostToolUse", "UserPromptSubmit", "Stop"])
def test_the_rollout_tells_what_a_hook_that_never_came_would_have(silent: str) -> None:
    """As with hooks over MCP, which miss the first events of a session."""
    whole = {event.event_id for event in session(CODEX / "basic", ["PreToolUse"])}
    without = {event.event_id for event in session(CODEX / "basic", ["PreToolUse", silent])}

    missing = {each for each in whole - without if each is not None}
    assert missing == set() if silent != "Stop" else all(each.startswith("turn:") for each in missing)


# ------------------------------------------------------------------------------------------------------ calls, results


def test_calls_of_one_reply_are_told_before_the_first_result(ear: CodexOverhearing) -> None:
    """So that the second call is no answer to what was handed over with the first result."""
    first = ear.hear([said("Both."), call("a", "x"), call("b", "y"), ended("a", 0)])

    assert brief(first.envelopes) == [("assistant/message", "Both."), ("tool/call", "x"), ("tool/call", "y")]
    assert brief(ear.placed(posted("a", "x")).envelopes) == [("tool/result", True, "")]
    assert ear.hear([ended("b", 2)]).envelopes == ()
    assert brief(ear.placed(posted("b", "y", "no")).envelopes) == [("tool/result", False, "Exit code 2\nno")]
    assert ear.hear([output("a", "Output:\n"), output("b", "Output:\nno")]).envelopes == ()


def test_a_failed_command_shows_no_file(ear: CodexOverhearing) -> None:
    ear.hear([call("a", "cat a.md"), ended("a", 1)])

    (result,) = ear.placed(posted("a", "cat a.md", "half")).envelopes

    assert json.loads(bytes(result.payload)) == {
        "tool": "shell",
        "nativeTool": "Bash",
        "ok": False,
        "text": "Exit code 1\nhalf",
    }


def test_without_a_rollout_line_nothing_is_claimed_about_the_outcome(ear: CodexOverhearing) -> None:
    assert brief(ear.placed(posted("a", "x", "out")).envelopes) == [("tool/call", "x"), ("tool/result", None, "out")]


@pytest.mark.parametrize(
    "text",
    [
        'exec_command failed: CreateProcess { message: "Rejected" }',
        "apply_patch verification failed: Failed to find expected lines in a.py",
        "write_stdin failed: Unknown process id 7",
        "unsupported call: nosuchtool",
        "failed to parse function arguments: missing field",
        "exec_command failed for `/bin/bash -lc x`: SandboxDenied",
        "patch rejected by user",
        "unable to locate image at `/none.png`: No such file or directory (os error 2)",
        "aborted by user after 2.0s",
        "Wall time: 0.5 seconds\naborted by user",
    ],
)
def test_a_tool_that_could_not_be_run_is_told_by_the_rollout(ear: CodexOverhearing, text: str) -> None:
    told = ear.hear([call("a"), output("a", text)])

    assert brief(told.envelopes) == [("tool/call", "make"), ("tool/result", False, text)]
    assert ear.placed(posted("a")).envelopes == ()


def test_a_command_that_prints_of_a_failure_has_not_failed(ear: CodexOverhearing) -> None:
    text = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nbuild failed: none\n"

    assert brief(ear.hear([call("a"), output("a", text)]).envelopes)[1] == ("tool/result", True, "build failed: none\n")


def test_a_command_in_the_background_has_its_result_when_it_ends(ear: CodexOverhearing) -> None:
    running = "Chunk ID: 1\nWall time: 0.3 seconds\nProcess running with session ID 7\nOutput:\n"
    look = line(
        "response_item",
        {"type": "function_call", "name": "write_stdin", "arguments": '{"session_id":7,"chars":""}', "call_id": "look"},
    )
    typed = json.loads(look)
    typed["payload"] |= {"arguments": '{"session_id":7,"chars":"yes\\n"}', "call_id": "typed"}

    assert brief(ear.hear([call("a"), output("a", running)]).envelopes) == [("tool/call", "make")]
    told = ear.hear([look, ended("a", 4, "late"), json.dumps(typed).encode(), output("typed", running)])
    assert brief(told.envelopes) == [("tool/call", "yes\n"), ("tool/result", True, running)]
    assert brief(ear.placed(posted("a", "make", "late")).envelopes) == [("tool/result", False, "Exit code 4\nlate")]


def test_two_registrations_tell_a_result_once(ear: CodexOverhearing) -> None:
    ear.hear([call("a"), ended("a", 0)])

    assert len(ear.placed(posted("a")).envelopes) == 1
    assert ear.placed(posted("a")).envelopes == ()


@pytest.mark.parametrize(("status", "ok"), [("completed", True), ("failed", False)])
def test_a_servers_tool_is_one_tool_by_both_names_and_its_failure_has_no_hook(
    ear: CodexOverhearing, status: str, ok: bool
) -> None:
    made = {"type": "function_call", "name": "table", "namespace": "mcp__tides", "call_id": "m"}
    result = {"content": [{"type": "text", "text": "no moon"}], "isError": not ok}
    item = {"type": "McpToolCall", "id": "m", "server": "tides", "tool": "table", "status": status, "result": result}
    shown = [{"type": "input_text", "text": text} for text in ("Wall time: 0.0035 seconds\nOutput:", "no moon")]
    records = [
        line("response_item", made | {"arguments": '{"harbour": "Husum", "n": 1}'}),
        line("event_msg", {"type": "item_completed", "turn_id": "t1", "item": item}),
        line("response_item", {"type": "function_call_output", "call_id": "m", "output": shown}),
    ]
    hooked = hook("PreToolUse", tool_name="mcp__tides__table", tool_input={"harbour": "Husum", "n": 1}, tool_use_id="m")

    call, told = ear.hear(records).envelopes

    assert bytes(call.payload) == bytes(hooked.envelopes[0].payload)
    assert json.loads(bytes(told.payload)) == {
        "tool": "mcp:tides__table",
        "nativeTool": "mcp__tides__table",
        "ok": ok,
        "text": "no moon",
    }


# ------------------------------------------------------------------------------------------------------------ messages


def test_a_reply_of_the_same_words_is_another_reply(ear: CodexOverhearing) -> None:
    ids = [
        event.event_id for event in ear.hear([said("Checking."), said("Checking."), said("Checking.", "t2")]).envelopes
    ]

    assert len(set(ids)) == 3
    (last, _) = hook("Stop", last_assistant_message="Checking.").envelopes
    assert last.event_id == ids[0]


def test_a_prompt_is_told_by_the_rollout_only_if_no_hook_told_it(ear: CodexOverhearing) -> None:
    for _ in range(2):  # by two registrations
        ear.placed(hook("UserPromptSubmit", prompt="with an image"))
    assert ear.hear([said("with an image, written otherwise", kind="UserMessage")]).envelopes == ()

    (steered,) = ear.hear([said("and this, too", kind="UserMessage")]).envelopes
    assert (steered.source_kind, steered.event_type) == (SourceKind.USER, "user/message")


def test_a_subagents_report_is_told_and_the_preamble_is_not(ear: CodexOverhearing) -> None:
    def user(text: str) -> bytes:
        return line(
            "response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        )

    told = ear.hear([user("<environment_context>x"), user("# AGENTS.md instructions for /p\nx"), user("hello")])
    assert told.envelopes == ()
    (report,) = ear.hear([user('<subagent_notification>\n{"status":"done"}')]).envelopes
    assert report.source_kind is SourceKind.LIFECYCLE


def test_a_summary_is_not_the_agents_word(ear: CodexOverhearing) -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "HANDOFF"}]}

    assert ear.hear([line("response_item", item)]).envelopes == ()


# ------------------------------------------------------------------------------------- shown texts, windows, who speaks


def shown(text: str) -> bytes:
    notes = {"content_item_kinds": ["hooks.additional_context"]}
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "developer", "content": content}
    return line("response_item", item | {"internal_chat_message_metadata_passthrough": notes})


def test_shown_texts_are_those_that_no_compaction_has_wiped(ear: CodexOverhearing) -> None:
    compacted = line("compacted", {"message": "the summary"})

    assert ear.hear([shown("one"), shown("two")]).shown == ("one", "two")
    told = ear.hear([shown("three"), compacted, shown("four")])
    assert told.shown == ("four",)
    assert brief(told.envelopes) == [("session/compact", "the summary")]


def test_who_speaks_is_told_once_and_again_when_it_changes(ear: CodexOverhearing) -> None:
    meta = line("session_meta", {"id": "s", "cli_version": "0.171.0"})

    def context(model: str) -> bytes:
        return line("turn_context", {"turn_id": "t1", "model": model})

    (client,) = ear.hear([meta, context("gpt-5.5")]).envelopes
    assert json.loads(bytes(client.payload)) == {"version": "0.171.0", "model": "gpt-5.5"}
    assert ear.hear([context("gpt-5.5")]).envelopes == ()
    (client,) = ear.hear([context("gpt-6")]).envelopes
    assert json.loads(bytes(client.payload)) == {"version": "0.171.0", "model": "gpt-6"}
    start = ear.placed(hook("SessionStart", source="resume", model="gpt-6"))
    assert [event.event_type for event in start.envelopes] == ["session/start"]


def test_of_the_past_only_what_is_still_seen_is_heard() -> None:
    ear = CodexOverhearing("s", "/p", since=1_796_032_800_000)
    before, now = "2026-11-30T09:59:59.000Z", "2026-11-30T10:00:00.000Z"

    def at(record: bytes, when: str) -> bytes:
        return json.dumps(json.loads(record) | {"timestamp": when}).encode()

    told = ear.hear(
        [at(said("old"), before), at(call("a"), before), at(ended("a", 3), before), at(shown("kept"), before)]
    )
    assert (told.envelopes, told.shown) == ((), ("kept",))
    assert brief(ear.placed(posted("a")).envelopes) == [("tool/call", "make"), ("tool/result", False, "Exit code 3")]
    assert brief(ear.hear([at(said("new"), now)]).envelopes) == [("assistant/message", "new")]


def test_a_forks_copy_of_its_parents_history_is_not_told() -> None:
    ear = CodexOverhearing("01a22bdc-1241-77a1-afa2-d00fb9f02b0b", "/p")
    own, parent = "01a22bdc-1241-77a1-afa2-d00fb9f02b0b", "01a22bda-0000-77a1-afa2-d00fb9f02b0b"
    copied = [
        line("session_meta", {"id": own, "forked_from_id": parent, "cli_version": "0.171.0"}),
        line("session_meta", {"id": parent, "cli_version": "0.170.0"}),
        said("of the parent", "01a22bda-0001-77a1-afa2-d00fb9f02b0b"),
        call("of-the-parent"),
    ]

    told = ear.hear([*copied, said("mine", "01a22bdd-0000-77a1-afa2-d00fb9f02b0b")])

    assert [kind for kind, *_ in brief(told.envelopes)] == ["session/client", "assistant/message"]
    assert json.loads(bytes(told.envelopes[0].payload))["version"] == "0.171.0"


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"not json\n",
        b"[]\n",
        b'{"type":5}\n',
        b'{"type":"event_msg","payload":7}\n',
        b'{"type":"of_tomorrow"}\n',
        b'{"type":"response_item","payload":{"type":"function_call","call_id":5,"name":[],"arguments":{}}}\n',
        b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"x"}}}\n',
        b'{"type":"response_item","payload":{"type":"function_call_output","call_id":"x","output":[{"a":1}]}}\n',
    ],
)
def test_no_line_breaks_anything(ear: CodexOverhearing, odd: bytes) -> None:
    ear.hear([call("x"), odd])
    assert ear.placed(posted("x")).session_id == "s"


def test_what_is_remembered_is_bounded(ear: CodexOverhearing) -> None:
    ear.hear([record for n in range(KEPT * 2) for record in (call(f"c{n}"), ended(f"c{n}", 0), said(f"words {n}"))])

    kept = [len(value) for value in vars(ear).values() if isinstance(value, dict)]
    assert max(kept) == KEPT


def test_a_turn_that_was_broken_off_and_turns_that_were_rolled_back_are_told() -> None:
    session = CodexOverhearing("s", "/p")
    heard = session.hear(
        [
            line("event_msg", {"type": "task_started", "turn_id": "t1"}),
            line("event_msg", {"type": "turn_aborted", "turn_id": "t1", "reason": "interrupted"}),
            line("event_msg", {"type": "thread_rolled_back", "num_turns": 2}),
            line("event_msg", {"type": "thread_rolled_back", "num_turns": "all"}),
        ]
    ).envelopes

    (interrupted,) = hook("Interrupt", turn_id="t1").envelopes
    assert [(event.event_type, bytes(event.payload)) for event in heard] == [
        ("turn/end", b'{"aborted":true}'),
        ("session/rewound", b'{"turns":2}'),
    ]
    assert (heard[0].event_id, bytes(heard[0].payload)) == (interrupted.event_id, bytes(interrupted.payload))
